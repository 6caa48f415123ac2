package sim

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hedgesched/hedge/adapters/sim/event"
	"github.com/hedgesched/hedge/sched"
)

// state is where a job is in its life.
type state uint8

const (
	coming state = iota
	pending
	running
	finished
	dropped
)

// placement is a number of tasks on the node of an index.
type placement struct {
	node, tasks int32
}

// job is the world's view of one job.
type job struct {
	sched.Job
	arrive, runtime time.Duration
	slowedRuntime   time.Duration
	// done is the work, at full speed, of earlier runs that a job with checkpoints keeps, and kept how long they took.
	done, kept time.Duration
	demand     []float64
	end        event.Handle
	places     []placement
	state      state
	class      uint8 // index into levels: 0 SLO, 1 best effort
	record     *JobRecord
	// vain counts its preemptions since so many arrivals and completions as news says.
	news, vain int
}

// world is the simulated cluster. It implements sched.Cluster.
type world struct {
	nodes   *sched.NodeSet
	width   int // number of resources
	jobs    []job
	records []JobRecord // by job
	index   index
	next    int // in jobs, the first that has not arrived
	now     time.Duration
	done    event.Queue[int32]
	free    []float64
	holding []int32 // tasks by node
	told    []sched.Event
	spare   []sched.Event
	names   arena[sched.NodeTasks]
	places  arena[placement]
	level   level
	rec     recorder
	tally   tally
	log     *logger
	charge  func() time.Duration
}

// tally counts what has happened.
type tally struct {
	events, finished, dropped, preemptions, refused int

	starts       int // ever
	lastStop     time.Duration
	goodput      [2]taskTime
	workInWindow [2]taskTime
	lost         taskTime
}

// maxTime bounds arrivals and runtimes, so that sums of a few cannot overflow.
const maxTime = 50 * 365 * 24 * time.Hour

func newWorld(cfg *Config) (*world, error) {
	nodes, err := sched.NewNodeSet(cfg.Nodes)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNode, err)
	}
	if nodes.Len() == 0 {
		return nil, fmt.Errorf("%w: no nodes", ErrConfig)
	}
	w := &world{
		nodes:   nodes,
		width:   len(nodes.Resources()),
		index:   newIndex(len(cfg.Jobs)),
		free:    slices.Clone(nodes.Capacity()),
		holding: make([]int32, nodes.Len()),
		told:    make([]sched.Event, 0, nodes.Len()+16),
	}
	for i := range cfg.Nodes {
		w.told = append(w.told, sched.Event{Kind: sched.NodeUp, Time: epoch, Node: nodes.Node(i)})
	}
	if err := w.addJobs(cfg.Jobs); err != nil {
		return nil, err
	}
	window := cfg.Span
	if window == 0 && len(w.jobs) > 0 {
		window = w.jobs[len(w.jobs)-1].arrive
	}
	w.rec = newRecorder(window)
	return w, nil
}

// addJobs takes in the jobs in order of arrival, ties by id.
func (w *world) addJobs(jobs []Job) error {
	order := make([]int32, len(jobs))
	for i := range order {
		order[i] = int32(i)
	}
	arrival := func(a, b int32) int {
		return cmp.Or(cmp.Compare(jobs[a].Arrive, jobs[b].Arrive), strings.Compare(jobs[a].ID, jobs[b].ID))
	}
	if !slices.IsSortedFunc(order, arrival) { // logs are, as a rule
		slices.SortFunc(order, arrival)
	}
	room := roomCache{nodes: w.nodes, demands: map[string][]float64{}, tasks: map[string]int{}}
	w.jobs = make([]job, len(jobs))
	w.records = make([]JobRecord, len(jobs))
	for at, i := range order {
		from := &jobs[i]
		if err := checkJob(from); err != nil {
			return err
		}
		if !w.index.add(w.jobs, at, from.ID) {
			return fmt.Errorf("%w: %q", ErrDuplicateJob, from.ID)
		}
		demand, err := room.admit(&from.Job)
		if err != nil {
			return err
		}
		w.jobs[at].fill(from, demand, &w.records[at])
	}
	return nil
}

func (j *job) fill(from *Job, demand []float64, record *JobRecord) {
	j.Job = from.Job
	j.Submitted = epoch.Add(from.Arrive)
	j.arrive, j.runtime, j.demand = from.Arrive, from.Runtime, demand
	j.slowedRuntime = stretch(from.Runtime, from.SlowdownOrOne())
	j.record = record
	*record = JobRecord{
		ID: j.ID, Class: SLO, Tasks: j.Tasks, Submit: j.arrive,
		FirstStart: -1, Start: -1, Finish: -1, Told: sched.UnknownProbability,
	}
	if j.Deadline > 0 {
		j.record.Deadline = j.arrive + j.Deadline
	} else {
		j.record.Class = BestEffort
		j.class = 1
	}
}

// stretch is d times slowdown, rounded to the nanosecond.
func stretch(d time.Duration, slowdown float64) time.Duration {
	if slowdown == 1 {
		return d
	}
	return time.Duration(math.Round(float64(d) * slowdown))
}

func checkJob(j *Job) error {
	if err := j.Validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrJob, err)
	}
	bad := func(field string, value any, want string) error {
		return fmt.Errorf("%w: job %q: %s is %v, want %s", ErrJob, j.ID, field, value, want)
	}
	switch {
	case !utf8.ValidString(j.ID):
		return bad("ID", "not UTF-8", "UTF-8")
	case j.Tasks > math.MaxInt32:
		return bad("Tasks", j.Tasks, "at most 2^31-1")
	case j.Arrive < 0 || j.Arrive > maxTime:
		return bad("Arrive", j.Arrive, "0 to 50 years")
	case j.Deadline > maxTime:
		return bad("Deadline", j.Deadline, "at most 50 years")
	case j.Runtime < 0 || j.Runtime.Seconds()*j.SlowdownOrOne() > maxTime.Seconds():
		return bad("Runtime", j.Runtime, "0 to 50 years, slow-down included")
	}
	return nil
}

// roomCache knows how many tasks of each kind the idle cluster holds.
type roomCache struct {
	nodes   *sched.NodeSet
	demands map[string][]float64
	tasks   map[string]int
	key     []byte
}

// admit returns the job's demand as a vector, or why it can never run.
func (r *roomCache) admit(j *sched.Job) ([]float64, error) {
	r.key = r.key[:0]
	if len(j.Demand) > 0 {
		r.key = fmt.Append(r.key, j.Demand) // maps print in order of keys
	}
	demand, ok := r.demands[string(r.key)]
	if !ok {
		var err error
		if demand, err = r.nodes.Demand(j.Demand); err != nil {
			return nil, fmt.Errorf("%w: job %q: %w", ErrJob, j.ID, err)
		}
		r.demands[string(r.key)] = demand
	}
	r.key = append(append(r.key, 0), j.Required.String()...)
	room, ok := r.tasks[string(r.key)]
	if !ok {
		room = r.nodes.Holds(demand, r.nodes.NodesOf(j.Required))
		r.tasks[string(r.key)] = room
	}
	if j.Tasks > room {
		where := "the idle cluster has"
		if !j.Required.IsAny() {
			where = "the nodes it requires (" + j.Required.String() + ") have"
		}
		return nil, fmt.Errorf("%w: job %q of %d tasks, %s room for %d", ErrTooWide, j.ID, j.Tasks, where, room)
	}
	return demand, nil
}

// nextInstant is when next a job arrives or finishes.
func (w *world) nextInstant() (at time.Duration, ok bool) {
	at, _, ok = w.done.Peek()
	if w.next < len(w.jobs) && (!ok || w.jobs[w.next].arrive < at) {
		return w.jobs[w.next].arrive, true
	}
	return at, ok
}

// advance lets everything happen up to and including a time; of one instant, completions come before
// submissions.
func (w *world) advance(to time.Duration) {
	for {
		at, _, ok := w.done.Peek()
		arrives := w.next < len(w.jobs) && w.jobs[w.next].arrive <= to
		switch {
		case ok && at <= to && (!arrives || at <= w.jobs[w.next].arrive):
			e, _ := w.done.Pop()
			w.pass(e.At)
			w.finish(&w.jobs[e.Payload])
		case arrives:
			j := &w.jobs[w.next]
			w.next++
			w.pass(j.arrive)
			w.submit(j)
		default:
			w.pass(to)
			return
		}
	}
}

// pass moves the clock forward.
func (w *world) pass(to time.Duration) {
	w.rec.advance(to, &w.level)
	w.now = max(w.now, to)
}

func (w *world) submit(j *job) {
	j.state = pending
	w.level.pending++
	w.tally.events++
	w.told = append(w.told, sched.Event{Kind: sched.Submitted, Time: j.Submitted, ID: j.ID, Job: &j.Job})
	w.log.submit(j)
}

func (w *world) finish(j *job) {
	j.state = finished
	j.record.Finish = w.now
	ran := w.now - j.record.Start
	w.tally.events++
	w.tally.finished++
	w.tally.lastStop = w.now
	w.tally.goodput[j.class].add(j.Tasks, ran+j.kept)
	if w.now <= w.rec.window {
		w.tally.workInWindow[j.class].add(j.Tasks, j.runtime)
	}
	w.release(j)
	w.told = append(w.told, sched.Event{
		Kind: sched.Finished, Time: epoch.Add(w.now), ID: j.ID, Runtime: max(1, ran), // 0 would say that it is not known
	})
	w.log.plain(finishEvent, w.now, j, "")
}

func (w *world) drop(j *job, why string) {
	j.state = dropped
	w.level.pending--
	w.tally.events++
	w.tally.dropped++
	w.log.plain(dropEvent, w.now, j, why)
}

// release gives back what a running job holds.
func (w *world) release(j *job) {
	w.level.running--
	w.level.tasks[j.class] -= j.Tasks
	for _, p := range j.places {
		w.put(j, p)
	}
}

func (w *world) put(j *job, p placement) {
	n := int(p.node)
	row := w.free[n*w.width : (n+1)*w.width]
	w.holding[n] -= p.tasks
	if w.holding[n] == 0 { // no rounding survives an idle moment
		copy(row, w.nodes.Capacity()[n*w.width:])
		return
	}
	for r, d := range j.demand {
		row[r] += float64(d * float64(p.tasks))
	}
}

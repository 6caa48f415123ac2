package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/schedtest"
)

// errDead is what the gate of an instance that has crashed says.
var errDead = errors.New("adaptertest: the scheduler is dead")

// host is a scheduler and the user and operator around it.
type host struct {
	testing.TB
	World
	traits Traits
	shape  Shape
	epochs uint64
	jobs   map[string]*handed
	first  *scheduler // the instance that is stepped by default
}

// handed is a job that was handed in.
type handed struct {
	Job
	id        string
	times     int // it was handed in
	withdrawn bool
	taken     int // times it was withdrawn
}

// scheduler is an instance with its loop.
type scheduler struct {
	*host
	Session
	instance Instance
	loop     *sched.Loop
	shown    *sched.Snapshot
	policy   sched.Policy
	starts   map[string][][]sched.NodeTasks // that were planned, by job
	reasons  map[string]sched.Reason        // of the last plan, by job
	learnt   map[string][]float64
	failed   []sched.Event
	fenced   bool
	dead     bool
}

func newHost(t testing.TB, w World, s Shape) *host {
	h := &host{TB: t, World: w, traits: w.Traits(), shape: s, jobs: map[string]*handed{}}
	h.first = h.open(Session{})
	return h
}

// open opens an instance that leads from now on.
func (h *host) open(s Session) *scheduler {
	h.epochs++
	s.Epoch = h.epochs
	if s.StartTimeout == 0 {
		s.StartTimeout = h.traits.Patience / 4
	}
	if ask := s.Gate; ask != nil { // calls may be made at the same time
		var mu sync.Mutex
		s.Gate = func(call string, done bool) error {
			mu.Lock()
			defer mu.Unlock()
			return ask(call, done)
		}
	}
	x := &scheduler{host: h, Session: s, policy: baseline.NewPrio(), starts: map[string][][]sched.NodeTasks{}, learnt: map[string][]float64{}}
	x.instance = h.Open(h.TB, s)
	loop, err := sched.NewLoop(x.instance.Cluster, x, x, sched.WithObserver(x.observe))
	require.NoError(h, err)
	x.loop = loop
	return x
}

// Name is that of the policy.
func (x *scheduler) Name() string { return x.policy.Name() }

// Plan has the policy plan and remembers what was started where.
func (x *scheduler) Plan(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	x.shown = s.Clone()
	p, err := x.policy.Plan(ctx, s)
	if err == nil {
		x.reasons = map[string]sched.Reason{}
		for d := range p.All(s) {
			x.reasons[d.Job] = d.Reason
			if d.Kind == sched.Start {
				x.starts[d.Job] = append(x.starts[d.Job], d.Nodes)
			}
		}
	}
	return p, err
}

// Predict knows nothing in particular.
func (x *scheduler) Predict(j predict.Job) predict.Prediction {
	return schedtest.Forecasts().Predict(j)
}

// Observe remembers runtimes.
func (x *scheduler) Observe(o predict.Observation) error {
	x.learnt[o.Job.ID] = append(x.learnt[o.Job.ID], o.Runtime)
	return nil
}

func (x *scheduler) observe(c *sched.Cycle) {
	x.failed = append(x.failed, c.Failed...)
	for _, err := range c.Ignored {
		x.Errorf("the loop was told nonsense at %v: %v", c.Now, err)
	}
	for _, r := range c.Rejected {
		x.Errorf("the loop was told of a job that it refuses: %v", r.Err)
	}
}

// step does one cycle.
func (x *scheduler) step() {
	x.Helper()
	if x.fenced || x.dead {
		return
	}
	_, err := x.loop.Step(context.Background(), x.Now())
	switch {
	case x.dead || err == nil || errors.Is(err, adapters.ErrUnavailable):
	case errors.Is(err, adapters.ErrFenced):
		x.fenced = true
	default:
		x.Fatalf("a cycle failed: %v", err)
	}
}

// close ends the instance.
func (x *scheduler) close() {
	x.dead = true
	if x.instance.Close != nil {
		x.instance.Close()
	}
}

// restart ends the instance and opens another. What it has learnt is kept.
func (h *host) restart(s Session) {
	old := h.first
	old.close()
	h.first = h.open(s)
	h.first.learnt = old.learnt
	for id, starts := range old.starts {
		h.first.starts[id] = starts
	}
}

// can skips a case that the World cannot do.
func can(t testing.TB, traits *Traits, needs []Ability) {
	t.Helper()
	for _, a := range needs {
		if why, lacks := traits.Missing[a]; lacks {
			t.Skipf("this world lacks an ability: %s: %s", a, why)
		}
	}
}

// submit hands in a job of one slot a task that runs for some units.
func (h *host) submit(name string, tasks int, units float64, change ...func(*Job)) string {
	h.Helper()
	j := Job{Spec: sched.Job{ID: name, Tasks: tasks, Demand: h.traits.Slot}, Runtime: time.Duration(units * float64(h.traits.Unit))}
	for _, c := range change {
		c(&j)
	}
	return h.hand(j)
}

func (h *host) hand(j Job) string {
	h.Helper()
	id := h.Submit(h, j)
	if known := h.jobs[id]; known != nil {
		known.times++
		known.withdrawn = false
		return id
	}
	h.jobs[id] = &handed{Job: j, id: id, times: 1}
	return id
}

func priority(p int) func(*Job) { return func(j *Job) { j.Spec.Priority = p } }

func (h *host) withdraw(id string) {
	h.Helper()
	h.do(Deed{Do: Withdraw, Job: id})
	h.jobs[id].withdrawn = true
	h.jobs[id].taken++
}

func (h *host) do(d Deed) {
	h.Helper()
	if why, lacks := h.traits.Missing[Ability(d.Do)]; lacks {
		h.Fatalf("a deed that this world lacks, and that the case does not name as a need: %s: %s", d.Do, why)
	}
	h.Do(h, d)
}

// of are the records of a job.
func (h *host) of(id string) []Record {
	return slices.DeleteFunc(h.Records(h), func(r Record) bool { return r.Job != id })
}

// count is how many of the records are in one of the states and not ended, or ended so.
func count(records []Record, states ...adapters.TaskState) int {
	n := 0
	for i := range records {
		if slices.Contains(states, records[i].State) {
			n++
		}
	}
	return n
}

// live is how many tasks of the job hold a slot.
func (h *host) live(id string) int {
	n := 0
	for _, r := range h.of(id) {
		if r.live() {
			n++
		}
	}
	return n
}

// runs tells whether all of the job runs.
func (h *host) runs(id string) bool {
	n := 0
	for _, r := range h.of(id) {
		if r.live() && r.State == adapters.Running {
			n++
		}
	}
	return n == h.jobs[id].Spec.Tasks
}

// forever is a runtime in units that no case waits for the end of.
const forever = 60

// up tells whether all of the job runs and the loop knows, or whether it has finished: a poll may come too late to see a short job run.
func (h *host) up(id string) bool {
	return h.runs(id) && h.first.known(id) || h.finished(id)
}

// end takes a job back that would run for ever, or waits for its end where that cannot be.
func (h *host) end(ids ...string) {
	h.Helper()
	if _, lacks := h.traits.Missing[Withdraw]; !lacks {
		for _, id := range ids {
			h.withdraw(id)
		}
	}
	h.allFinish()
}

// finished tells whether the job as it was handed in last has finished.
func (h *host) finished(id string) bool { return finishedWhole(h.of(id), h.jobs[id].Spec.Tasks) }

// finishedWhole tells whether all tasks of a job have finished, of whichever that had its name.
func finishedWhole(records []Record, tasks int) bool {
	for _, of := range group(records, func(r *Record) string { return r.UID }) {
		if whole, _ := completions(of, tasks); whole > 0 {
			return true
		}
	}
	return false
}

// known tells whether the loop knows that the job runs.
func (x *scheduler) known(id string) bool {
	return x.shown != nil && slices.ContainsFunc(x.shown.Running, func(r sched.Running) bool { return r.Job.ID == id })
}

// waits tells whether the loop was shown the job pending.
func (x *scheduler) waits(id string) bool {
	return x.shown != nil && slices.ContainsFunc(x.shown.Pending, func(p sched.Pending) bool { return p.Job.ID == id })
}

// closed tells whether the loop knows that the node takes nothing, though no job of its holds anything there.
func (x *scheduler) closed(node string) bool {
	if x.shown == nil {
		return false
	}
	for i := range x.shown.Running {
		if slices.ContainsFunc(x.shown.Running[i].Nodes, func(nt sched.NodeTasks) bool { return nt.Node == node }) {
			return false
		}
	}
	n, ok := x.shown.Nodes.Index(node)
	demand, err := x.shown.Nodes.Demand(x.traits.Slot)
	if !ok || err != nil {
		return true
	}
	for r, d := range demand {
		if d > 0 && x.shown.Free[n*len(demand)+r] < d {
			return true
		}
	}
	return false
}

// until steps the first instance until something holds.
func (h *host) until(what string, holds func() bool) {
	h.Helper()
	h.untilBy(what, holds, func() { h.first.step() })
}

func (h *host) untilBy(what string, holds func() bool, step func()) {
	h.Helper()
	for end := h.Now().Add(h.traits.Patience); ; {
		step()
		if holds() {
			return
		}
		if h.Now().After(end) {
			h.Fatalf("it did not come about that %s:\n%s", what, h.outline())
		}
		h.Pass(h)
	}
}

// cycles lets some cycles pass.
func (h *host) cycles(n int) {
	h.Helper()
	for range n {
		h.first.step()
		h.Pass(h)
	}
}

// allFinish waits until every job that was not withdrawn has finished and the loop has learnt of it, and judges.
func (h *host) allFinish() {
	h.Helper()
	h.until("all jobs finish and no task is left", h.allDone)
	h.judge()
}

// allDone tells whether every job that was not withdrawn has finished and no task is left.
func (h *host) allDone() bool {
	records := h.Records(h)
	if slices.ContainsFunc(records, func(r Record) bool { return r.live() }) {
		return false
	}
	done := make(map[string]bool, len(h.jobs))
	for _, of := range group(records, func(r *Record) string { return r.Job }) {
		if j := h.jobs[of[0].Job]; j != nil {
			done[of[0].Job] = finishedWhole(of, j.Spec.Tasks)
		}
	}
	for id, j := range h.jobs {
		if !j.withdrawn && !done[id] {
			return false
		}
	}
	return true
}

// allLearn waits until the loop has learnt of every job that has finished, and compares what it was told with the records.
func (h *host) allLearn() {
	h.Helper()
	h.until("the loop is told of all that has finished", func() bool {
		for _, id := range h.ids() {
			if h.finished(id) && len(h.first.learnt[id]) == 0 {
				return false
			}
		}
		return true
	})
	for _, id := range h.ids() {
		if !h.finished(id) || h.jobs[id].times > 1 {
			continue
		}
		require.Len(h, h.first.learnt[id], 1, "job %s: learnt once", id)
		if h.jobs[id].Spec.Checkpoint {
			continue // it is learnt of as a whole
		}
		h.sameRuntime(id, h.first.learnt[id][0])
	}
}

// sameRuntime compares a runtime with the job's records, up to what those are exact to.
func (h *host) sameRuntime(id string, seconds float64) {
	h.Helper()
	var started, ended time.Time
	slack := 2*h.traits.Exact + time.Microsecond
	unsure := time.Duration(0)
	for _, r := range h.of(id) {
		if r.State != adapters.Finished {
			continue
		}
		if r.Started.After(started) {
			started = r.Started
		}
		if r.Ended.After(ended) {
			ended = r.Ended
		}
		unsure = max(unsure, r.Unsure)
	}
	told, want := time.Duration(seconds*float64(time.Second)), ended.Sub(started)
	if diff := (told - want).Abs(); diff > slack+2*unsure { // of the start, and of the end
		h.Errorf("job %s ran %v by the cluster's records, from %v to %v; the loop was told %v", id, want, started, ended, told)
	}
}

// judge checks what must hold at any time.
func (h *host) judge() {
	h.Helper()
	law := Law{Slots: h.shape.Slots, Tasks: map[string]int{}, Withdrawn: map[string]int{}, Exact: h.traits.Exact}
	for id, j := range h.jobs {
		law.Tasks[id], law.Withdrawn[id] = j.Spec.Tasks, j.taken
	}
	for _, fault := range Judge(h.Records(h), law) {
		h.Errorf("%s", fault)
	}
	if h.Failed() {
		h.Logf("the records:\n%s", h.outline())
	}
}

// ids are the jobs handed in, in order.
func (h *host) ids() []string {
	out := make([]string, 0, len(h.jobs))
	for id := range h.jobs {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// outline is what the cluster's records say, for whoever reads a failure.
func (h *host) outline() string {
	out := fmt.Sprintf("now %v\n", h.Now())
	for _, id := range h.ids() {
		j := h.jobs[id]
		out += fmt.Sprintf("job %s: %d tasks, withdrawn %v, notes %q\n", id, j.Spec.Tasks, j.withdrawn, h.Notes(h, id))
	}
	for i, r := range h.Records(h) {
		if i == 100 {
			return out + "...\n"
		}
		out += fmt.Sprintf("  %s attempt %d task %s on %s: %v to %v to %v, %v\n", r.Job, r.Attempt, r.Task, r.Node, clock(r.Placed), clock(r.Started), clock(r.Ended), r.State)
	}
	if s := h.first.shown; s != nil {
		out += fmt.Sprintf("the loop sees %d pending, %d running, free %v\n", len(s.Pending), len(s.Running), s.Free)
	}
	return out
}

func clock(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Format("15:04:05.000")
}

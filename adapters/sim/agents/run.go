package agents

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/event"
	"github.com/hedgesched/hedge/adapters/sim/tasklog"
	"github.com/hedgesched/hedge/sched/agent"
)

// ErrConfig is wrapped by errors about parameters of a run.
var ErrConfig = errors.New("bad parameters")

// ErrCrashes is wrapped, beside [ErrConfig], by the error about crashes so frequent that tasks would begin for ever.
var ErrCrashes = errors.New("too many crashes")

// ErrSystem is wrapped by errors about a system that broke the rules of package agent.
var ErrSystem = errors.New("the system is wrong")

// maxWorkers and maxSlots are limits of [Config].
const (
	maxWorkers = 10_000_000
	maxSlots   = 1_000_000
)

// Config is what a run is told, beside the system. The zero value of a field means nothing but itself, save Slots.
type Config struct {
	// Slots is the number of tasks that a worker runs at once, up to 1,000,000; 0 means 1.
	Slots int
	// Delay is what a message takes, 0 or more. Distributed schedulers are commonly simulated with 0.5 ms.
	Delay time.Duration
	// Cutoff makes a job long whose mean task takes longer, by the trace's mean whatever the estimate; 0 or more.
	Cutoff time.Duration
	// Low and High are the range of the factor from the mean to the estimate, uniform, one draw a job; both 0 means the
	// mean itself. Otherwise 0 < Low <= High <= 1000.
	Low, High float64
	// PauseCost and ResumeCost, from 0 to an hour, are what a pause and a resumption take from their slot: the task that
	// has a worker's next slot after a pause takes so much longer, and so does a task that goes on.
	PauseCost, ResumeCost time.Duration
	// Crashes is how many workers crash an hour, of all and on average, until all jobs are done; from 0 to 1,000,000, and
	// so few that the tasks need no more than ten million starts beside ten each, on average: see [ErrCrashes].
	Crashes float64
	// Repair is how long a crashed worker is away; it must be above Delay if there are crashes.
	Repair time.Duration
	// Seed is of the draws of the run itself; a system has its own.
	Seed uint64
	// Observer, if any, is told of everything that becomes of tasks; a [tasklog.Writer] is one.
	Observer tasklog.Observer
	// Interrupted, if any, is asked now and then whether to go on; its error ends the run. A context's Err will do.
	Interrupted func() error
}

// patience is how many events come between two questions whether to go on.
const patience = 1 << 16

// Result is what a run found. Times are since the workload's origin.
type Result struct {
	// Jobs are in the workload's order.
	Jobs []JobResult
	// Busy is the mean share of slots in use from the first submission to the last.
	Busy float64
	// Makespan is from the first submission to the last end.
	Makespan time.Duration
	// Events is the number of steps and of ends, Messages of those sent over the network.
	Events, Messages int64
	// Launches counts the tasks that were started, Crashed the workers that crashed.
	Launches, Crashed int64
	// Pauses counts those of tasks.
	Pauses int64
}

// JobResult is what became of a job: when it was submitted, and when its last task ended.
type JobResult struct {
	Submit, End time.Duration
	// Wait is the time from submission to launch, in seconds, added up over all launches of its tasks. A crash adds some.
	Wait float64
	Long bool
}

// The kinds of events, in their order at one instant.
const (
	submitted uint8 = iota
	ended
	received
	fired
	restarted
	crashed
)

// happening is the payload of an event. A message goes to part to; a timer is in number; an end is that of task number.
type happening[M any] struct {
	to, from    agent.Addr
	job, number int32
	life        uint32 // of the worker that it is about
	msg         M
}

// world is a run.
type world[M any] struct {
	Config
	work    *Workload
	system  agent.System[M]
	workers int
	core    event.Core[happening[M]]
	event   event.Event[happening[M]] // the one that happens
	lanes   struct{ submit, network, instant, soon *event.Lane[happening[M]] }
	timers  [timerLanes]*event.Lane[happening[M]]
	nodes   []node
	tasks   []task
	random  agent.Random
	in      agent.Input[M]
	out     agent.Output[M]
	job     agent.Job
	open    int // jobs that are not done
	// With Workload.After: by job, how many it waits for, and which jobs wait for it.
	waits    []int32
	children [][]int32
	load     load
	note     tasklog.Record // for the observer, used again
	result   Result
	err      error
}

// Run simulates a system on a workload: it delivers messages after a constant delay, one after the other, and runs the
// tasks. Errors are an [ErrConfig], an [ErrWorkload], an [ErrSystem] for a system that breaks the rules, leaves a job
// undone or keeps anything after the last, or that of Config.Interrupted.
func Run[M any](work *Workload, system agent.System[M], c Config) (*Result, error) {
	if err := c.check(work, system.Workers()); err != nil {
		return nil, err
	}
	w := newWorld(work, system, c)
	w.arrive(0)
	w.crashLater()
	for w.err == nil && w.core.Take(&w.event) {
		if w.result.Events++; w.result.Events%patience == 0 && w.Interrupted != nil {
			if w.err = w.Interrupted(); w.err != nil {
				break
			}
		}
		w.happen(w.event.Class, &w.event.Payload)
	}
	if w.err != nil {
		return nil, w.err
	}
	return w.finish()
}

func (c *Config) check(work *Workload, workers int) error {
	wrong := func(what string, found any, expected string) error {
		return fmt.Errorf("%w: %s is %v, expected %s", ErrConfig, what, found, expected)
	}
	if c.Slots == 0 {
		c.Slots = 1
	}
	switch {
	case len(work.Jobs) == 0:
		return fmt.Errorf("%w: no jobs", ErrWorkload)
	case workers < 1 || workers > maxWorkers:
		return wrong("the number of workers", workers, "1 to 10000000")
	case c.Slots < 0 || c.Slots > maxSlots:
		return wrong("the number of slots", c.Slots, "1 to 1000000")
	case c.Delay < 0 || c.Delay > time.Hour:
		return wrong("the delay", c.Delay, "0 to an hour")
	case c.Cutoff < 0:
		return wrong("the cutoff", c.Cutoff, "at least 0")
	case c.PauseCost < 0 || c.PauseCost > time.Hour:
		return wrong("the cost of a pause", c.PauseCost, "0 to an hour")
	case c.ResumeCost < 0 || c.ResumeCost > time.Hour:
		return wrong("the cost of a resumption", c.ResumeCost, "0 to an hour")
	case !(c.Low >= 0 && c.High >= c.Low && c.High <= 1000) || c.Low == 0 && c.High > 0:
		return wrong("the factor of estimates", fmt.Sprintf("%g to %g", c.Low, c.High), "above 0 and in order, at most 1000")
	case !(c.Crashes >= 0 && c.Crashes <= 1e6):
		return wrong("the crashes an hour", c.Crashes, "0 to 1000000")
	case c.Crashes > 0 && (c.Repair <= c.Delay || c.Repair > 1000*time.Hour):
		return wrong("the time of repair", c.Repair, "above the delay, at most 1000 hours")
	}
	if err := checkWork(work); err != nil {
		return err
	}
	return c.checkCrashes(work, workers)
}

// mostStarts is how many starts are expected of a workload at most, beside ten of each task.
const mostStarts = 1e7

// checkCrashes refuses crashes that leave tasks no time. Of the starts of a task that takes d, a share of exp(-d/life)
// is not cut short, where life is a worker's mean time to its crash.
func (c *Config) checkCrashes(work *Workload, workers int) error {
	if c.Crashes == 0 {
		return nil
	}
	life := float64(workers) / c.Crashes * float64(time.Hour)
	starts, longest := 0.0, time.Duration(0)
	for _, d := range work.Runtimes {
		starts += math.Exp(float64(d) / life)
		longest = max(longest, d)
	}
	if starts <= mostStarts+float64(10*float64(len(work.Runtimes))) {
		return nil
	}
	return fmt.Errorf("%w: %w: %g an hour on %d workers, so that a task of %v would have to start %.3g times on average",
		ErrConfig, ErrCrashes, c.Crashes, workers, longest, math.Exp(float64(longest)/life))
}

func checkWork(work *Workload) error {
	if work.After != nil && len(work.After) != len(work.Jobs) {
		return fmt.Errorf("%w: %d jobs, %d lists of what they wait for", ErrWorkload, len(work.Jobs), len(work.After))
	}
	if work.Attributes != nil && len(work.Attributes) != len(work.Jobs) {
		return fmt.Errorf("%w: %d jobs, attributes of %d", ErrWorkload, len(work.Jobs), len(work.Attributes))
	}
	for i, after := range work.After {
		for _, p := range after {
			if p < 0 || int(p) >= i {
				return fmt.Errorf("%w: job %d waits for job %d, expected one in front of it", ErrWorkload, i, p)
			}
		}
	}
	phase := int32(-1)
	for i := range work.Jobs {
		if p := work.Jobs[i].Phase; p != 0 && p != phase+1 {
			return fmt.Errorf("%w: job %d is in phase %d, expected 0 or %d", ErrWorkload, i, p, phase+1)
		}
		phase = work.Jobs[i].Phase
	}
	for i := range work.Jobs {
		left := time.Duration(math.MaxInt64)
		for _, r := range work.Tasks(&work.Jobs[i]) {
			if r < 0 {
				return fmt.Errorf("%w: a task of job %d takes %v", ErrWorkload, i, r)
			}
			if left -= r; left < 0 {
				return fmt.Errorf("%w: the tasks of job %d take more than %v together", ErrWorkload, i,
					time.Duration(math.MaxInt64))
			}
		}
	}
	return nil
}

// random is the source of estimates and crashes.
func (c *Config) random() agent.Random { return agent.NewRandom(c.Seed, -1) }

// factor draws that of one job.
func (c *Config) factor(random *agent.Random) float64 {
	return c.Low + float64((c.High-c.Low)*random.Unit())
}

// Factors are those from the mean to the estimate of the first jobs, in order of submission, in a run without crashes:
// for who must be told the same as a system.
func (c *Config) Factors(jobs int) []float64 {
	out := make([]float64, jobs)
	random := c.random()
	for i := range out {
		if out[i] = 1; c.High > 0 {
			out[i] = c.factor(&random)
		}
	}
	return out
}

func newWorld[M any](work *Workload, system agent.System[M], c Config) *world[M] {
	w := &world[M]{Config: c, work: work, system: system, workers: system.Workers(), open: len(work.Jobs)}
	w.random = c.random()
	w.lanes.submit, w.lanes.network = w.core.Lane(submitted), w.core.Lane(received)
	w.lanes.instant, w.lanes.soon = w.core.Lane(received), w.core.Lane(fired)
	for i := range w.timers {
		w.timers[i] = w.core.Lane(fired)
	}
	w.nodes = make([]node, w.workers)
	for i := range w.nodes {
		n := &w.nodes[i]
		n.running = n.room[:0]
	}
	w.tasks = make([]task, len(work.Runtimes))
	w.result.Jobs = make([]JobResult, len(work.Jobs))
	for i := range work.Jobs {
		w.result.Jobs[i].Submit = never
		if j := &work.Jobs[i]; j.Phase == 0 {
			w.load.to = j.Submit
		}
	}
	w.load.from = work.Jobs[0].Submit
	if work.After != nil {
		w.waits, w.children = make([]int32, len(work.Jobs)), make([][]int32, len(work.Jobs))
		for i, after := range work.After {
			w.waits[i] = int32(len(after))
			for _, p := range after {
				w.children[p] = append(w.children[p], int32(i))
			}
		}
	}
	return w
}

// never is when a job is submitted that waits for its earlier phase.
const never = time.Duration(math.MaxInt64)

// arrive schedules the submission of the next job from id on that does not wait for another.
func (w *world[M]) arrive(id int) {
	for id < len(w.work.Jobs) && w.later(id) {
		id++
	}
	if id < len(w.work.Jobs) {
		w.lanes.submit.At(w.work.Jobs[id].Submit, happening[M]{number: int32(id)})
	}
}

// later tells whether a job is submitted when others are done.
func (w *world[M]) later(id int) bool {
	if w.work.After != nil {
		return len(w.work.After[id]) > 0
	}
	return w.work.Jobs[id].Phase > 0
}

func (w *world[M]) happen(class uint8, h *happening[M]) {
	switch class {
	case submitted:
		w.submit(h.number)
	case ended:
		w.end(h.to, h.job, h.number)
	case received:
		if !w.gone(h) {
			w.in.Kind, w.in.From, w.in.Msg = agent.Received, h.from, h.msg
			w.step(h.to)
		}
	case fired:
		if !w.gone(h) {
			w.in.Kind, w.in.Timer = agent.Fired, uint32(h.number)
			w.step(h.to)
		}
	case crashed:
		w.crash()
	case restarted:
		w.restart(h.to)
	}
}

// gone tells whether what an event is for was lost in a crash.
func (w *world[M]) gone(h *happening[M]) bool {
	return w.Crashes > 0 && int(h.to) < w.workers && h.life != w.nodes[h.to].life
}

func (w *world[M]) submit(id int32) {
	j := &w.work.Jobs[id]
	w.job = agent.Job{ID: id, Of: id - j.Phase, Tasks: j.Tasks, Estimate: j.Mean, Long: j.Mean > w.Cutoff,
		Submitted: w.core.Now()}
	if w.work.Attributes != nil {
		w.job.Attributes = w.work.Attributes[id]
	}
	if w.High > 0 {
		w.job.Estimate = time.Duration(float64(float64(j.Mean) * w.factor(&w.random)))
	}
	w.result.Jobs[id] = JobResult{Submit: w.core.Now(), Long: w.job.Long}
	w.in.Kind, w.in.Job = agent.Submitted, &w.job
	if w.Observer != nil {
		w.note = tasklog.Record{Kind: tasklog.Submit, At: w.core.Now(), Job: id, Long: w.job.Long,
			Durations: w.work.Tasks(j)}
		w.Observer.Observe(&w.note)
	}
	at := w.system.Entry(&w.job)
	w.step(at)
	if !w.later(int(id)) {
		w.arrive(int(id) + 1)
	}
}

// step lets a part act on the input, and does what it asks for.
func (w *world[M]) step(at agent.Addr) {
	if at < 0 || int(at) >= w.system.Parts() {
		w.fail("there is no part %d", at)
		return
	}
	w.out.Reset()
	w.system.Step(at, w.core.Now(), &w.in, &w.out)
	for i := range w.out.Actions {
		w.act(at, &w.out.Actions[i])
	}
}

func (w *world[M]) act(at agent.Addr, a *agent.Action[M]) {
	switch a.Do {
	case agent.Send:
		w.send(at, a)
	case agent.Wake:
		w.wake(at, a)
	case agent.Done:
		w.done(a.Task.Job)
	default:
		w.physics(at, a)
	}
}

func (w *world[M]) send(from agent.Addr, a *agent.Action[M]) {
	if a.To < 0 || int(a.To) >= w.system.Parts() {
		w.fail("part %d sends to part %d, which is not there", from, a.To)
		return
	}
	lane, when := w.lanes.network, w.core.Now()+w.Delay
	if a.Delay == agent.Instant {
		lane, when = w.lanes.instant, w.core.Now()
	} else {
		w.result.Messages++
	}
	h := lane.Place(when)
	h.to, h.from, h.msg, h.life = a.To, from, a.Msg, w.life(a.To)
}

// timerLanes are as many streams of timers as are expected whose times never fall, such as those of one delay.
const timerLanes = 3

// wake sets a timer: in the lane whose last is the latest that is not after it, or in the queue where all are.
func (w *world[M]) wake(at agent.Addr, a *agent.Action[M]) {
	h := happening[M]{to: at, number: int32(a.Timer), life: w.life(at)}
	if a.After <= 0 {
		w.lanes.soon.After(0, h)
		return
	}
	var best *event.Lane[happening[M]]
	when := w.core.Now() + a.After
	for _, l := range w.timers {
		if l.Last() <= when && (best == nil || l.Last() > best.Last()) {
			best = l
		}
	}
	if best == nil {
		w.core.At(when, fired, h)
		return
	}
	best.At(when, h)
}

// life is the life of a worker that others know of.
func (w *world[M]) life(at agent.Addr) uint32 {
	if w.Crashes > 0 && int(at) < w.workers {
		return w.nodes[at].told
	}
	return 0
}

func (w *world[M]) done(job int32) {
	if job < 0 || int(job) >= len(w.work.Jobs) {
		w.fail("job %d is done and was never there", job)
		return
	}
	j := &w.work.Jobs[job]
	for i := j.First; i < j.First+j.Tasks; i++ {
		if w.tasks[i].state != over {
			w.fail("job %d is done before its task %d", job, i-j.First)
			return
		}
	}
	if w.open--; w.open < 0 {
		w.fail("job %d is done twice", job)
	}
	if w.work.After != nil {
		for _, child := range w.children[job] {
			if w.waits[child]--; w.waits[child] == 0 {
				w.core.After(0, submitted, happening[M]{number: child})
			}
		}
		return
	}
	if next := job + 1; int(next) < len(w.work.Jobs) && w.work.Jobs[next].Phase > 0 {
		w.core.After(0, submitted, happening[M]{number: next})
	}
}

func (w *world[M]) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("%w: at %v, "+format, append([]any{ErrSystem, w.core.Now()}, args...)...)
	}
}

func (w *world[M]) finish() (*Result, error) {
	if w.open > 0 {
		return nil, fmt.Errorf("%w: %d jobs are not done and nothing is on its way", ErrSystem, w.open)
	}
	for at := range w.system.Parts() {
		if n := w.system.Held(agent.Addr(at)); n != 0 {
			return nil, fmt.Errorf("%w: part %d keeps %d things after all jobs are done", ErrSystem, at, n)
		}
	}
	r := &w.result
	for _, j := range r.Jobs {
		r.Makespan = max(r.Makespan, j.End-r.Jobs[0].Submit)
	}
	r.Busy = w.load.mean(w.workers * w.Slots)
	return r, nil
}

package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/hedgesched/hedge/sched"
)

var _ sched.Cluster = (*world)(nil)

// Events hands out what has happened since the last call. The slice is used
// again by the call after the next.
func (w *world) Events(context.Context) ([]sched.Event, error) {
	out := w.told
	w.told, w.spare = w.spare[:0], out
	return out, nil
}

// Apply carries out preemptions, then starts. A start that is impossible, as
// happens when time has passed since the snapshot, is told as StartFailed.
func (w *world) Apply(_ context.Context, plan *sched.Plan) error {
	if w.charge != nil {
		w.advance(w.now + max(w.charge(), 0))
	}
	for i := range plan.Decisions {
		if d := &plan.Decisions[i]; d.Kind == sched.Preempt {
			if err := w.preempt(d); err != nil {
				return err
			}
		}
	}
	for i := range plan.Decisions {
		if d := &plan.Decisions[i]; d.Kind == sched.Start {
			if err := w.start(d); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxVain is how often a job may be preempted between two arrivals or completions.
const maxVain = 100

func (w *world) preempt(d *sched.Decision) error {
	i, ok := w.index.find(w.jobs, d.Job)
	if !ok || w.jobs[i].state != running {
		w.tally.refused++
		return nil
	}
	j := &w.jobs[i]
	if news := w.next + w.tally.finished; j.news != news {
		j.news, j.vain = news, 0
	}
	if j.vain++; j.vain > maxVain {
		return fmt.Errorf("%w: at %v it preempts job %q for the %dth time since anything arrived or finished",
			ErrLivelock, w.now, j.ID, j.vain)
	}
	w.done.Cancel(j.end)
	ran := w.now - j.record.Start
	j.state = pending
	j.record.Preemptions++
	w.level.pending++
	w.tally.events++
	w.tally.preemptions++
	w.tally.lastStop = w.now
	if j.Checkpoint {
		j.keep(ran)
	} else {
		j.record.Lost += ran
		w.tally.lost.add(j.Tasks, ran)
	}
	w.release(j)
	w.told = append(w.told, sched.Event{Kind: sched.Preempted, Time: epoch.Add(w.now), ID: j.ID, Done: j.done})
	w.log.because(preemptEvent, w.now, j, &d.Reason)
	return nil
}

// keep adds what was done in a run that was stopped to the work that need not be done again.
func (j *job) keep(ran time.Duration) {
	j.kept += ran
	if j.record.Slowed {
		ran = time.Duration(math.Round(float64(ran) / j.SlowdownOrOne()))
	}
	j.done = min(j.done+ran, j.runtime)
}

// left is how long the job has yet to run.
func (j *job) left(slowed bool) time.Duration {
	switch {
	case !slowed:
		return j.runtime - j.done
	case j.done == 0:
		return j.slowedRuntime
	}
	return stretch(j.runtime-j.done, j.SlowdownOrOne())
}

func (w *world) start(d *sched.Decision) error {
	i, ok := w.index.find(w.jobs, d.Job)
	switch {
	case !ok || w.jobs[i].state != pending:
		w.refuse(d, errNotPending)
		return nil
	case !w.reserve(&w.jobs[i], d.Nodes):
		w.refuse(d, errNoRoom)
		return nil
	}
	j := &w.jobs[i]
	slowed := j.Slowdown > 1 && w.nodes.Slowed(&j.Job, d.Nodes)
	runtime := j.left(slowed)
	if runtime > math.MaxInt64-w.now {
		return fmt.Errorf("%w: job %q starts at %v and runs %v", ErrTimeOverflow, j.ID, w.now, runtime)
	}
	j.state = running
	j.end = w.done.Push(w.now+runtime, 0, i)
	r := j.record
	r.Start, r.Slowed, r.Told = w.now, slowed, d.Reason.Probability
	if r.FirstStart < 0 {
		r.FirstStart = w.now
	}
	r.Nodes = w.names.copy(d.Nodes)
	w.level.pending--
	w.level.running++
	w.level.tasks[j.class] += j.Tasks
	w.tally.events++
	w.tally.starts++
	w.told = append(w.told, sched.Event{Kind: sched.Started, Time: epoch.Add(w.now), ID: j.ID, Nodes: r.Nodes})
	w.log.because(startEvent, w.now, j, &d.Reason)
	return nil
}

// Why starts fail; hosts read it in the cycle's failed events.
var (
	errNotPending = errors.New("sim: the job is not pending")
	errNoRoom     = errors.New("sim: the nodes cannot hold the gang")
)

func (w *world) refuse(d *sched.Decision, why error) {
	w.tally.refused++
	w.told = append(w.told, sched.Event{Kind: sched.StartFailed, Time: epoch.Add(w.now), ID: d.Job, Err: why})
}

// reserve takes what the gang needs, all of it or nothing.
func (w *world) reserve(j *job, nodes []sched.NodeTasks) bool {
	places := w.places.take(len(nodes))
	total, done := int64(0), 0
	for _, nt := range nodes {
		n, ok := w.nodes.Index(nt.Node)
		if !ok || nt.Tasks < 1 || nt.Tasks > j.Tasks || !j.Required.Matches(w.nodes.Node(n).Labels) {
			break
		}
		places[done] = placement{node: int32(n), tasks: int32(nt.Tasks)}
		if !w.get(j, places[done]) {
			break
		}
		done++
		total += int64(nt.Tasks)
	}
	if done < len(nodes) || total != int64(j.Tasks) {
		for _, p := range places[:done] {
			w.put(j, p)
		}
		return false
	}
	j.places = places
	return true
}

// get takes what the tasks need of a node if it is there.
func (w *world) get(j *job, p placement) bool {
	n, tasks := int(p.node), float64(p.tasks)
	row := w.free[n*w.width : (n+1)*w.width]
	capacity := w.nodes.Capacity()[n*w.width : (n+1)*w.width]
	for r, d := range j.demand {
		if d > 0 && sched.Overcommits(row[r]-float64(d*tasks), capacity[r]) {
			return false
		}
	}
	for r, d := range j.demand {
		row[r] -= float64(d * tasks)
	}
	w.holding[n] += p.tasks
	return true
}

// arena hands out slices from large blocks.
type arena[T any] struct {
	block []T
}

const arenaBlock = 4096

// take returns n zero values.
func (a *arena[T]) take(n int) []T {
	if n > len(a.block) {
		a.block = make([]T, max(arenaBlock, n))
	}
	out := a.block[:n:n]
	a.block = a.block[n:]
	return out
}

func (a *arena[T]) copy(from []T) []T {
	out := a.take(len(from))
	copy(out, from)
	return out
}

// stopwatch is the machine's monotonic clock.
func stopwatch() func() time.Duration {
	origin := time.Now()
	return func() time.Duration { return time.Since(origin) }
}

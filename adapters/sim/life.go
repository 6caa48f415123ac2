package sim

import (
	"errors"
	"fmt"
	"time"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/ranges"
)

// state is where a job is in its life:
//
//	coming -> pending -> running -> finished
//	            |  ^        |
//	            |  +--------+ preempted
//	            v           v
//	         dropped     dropped, where the simulation ends
type state uint8

const (
	coming state = iota
	pending
	running
	finished
	dropped
)

// job is what life knows of a job.
type job struct {
	*sched.Job            // the configuration's, or a copy where that lacks what submit adds
	record     *JobRecord // nil where it has not started; see life.kept
	gang       gang
	*onShared  // nil where nodes are not shared
	arrive     time.Duration
	waits      int32 // the number of jobs of After that have not finished
	// preempted is how often it was preempted since anything last arrived or finished. It is out of date, and means 0,
	// when news is no longer life.news().
	preempted, news int32
	state           state
}

// rank is the job's index in figures that tell jobs with a deadline, 0, from those without, 1.
func (j *job) rank() int {
	if j.Deadline > 0 {
		return 0
	}
	return 1
}

// class is the class of the job's figures.
func (j *job) class() Class {
	if j.Deadline > 0 {
		return SLO
	}
	return BestEffort
}

// due is the job's deadline since the start of the simulation; 0 if it has none.
func (j *job) due() time.Duration {
	if j.Deadline > 0 {
		return j.arrive + j.Deadline
	}
	return 0
}

// life is what happens to the jobs. It owns the clock, and it is the cluster that the policy plans for.
type life struct {
	nodes   *sched.NodeSet
	physics physics
	jobs    []job           // in order of arrival
	paths   []time.Duration // by job, the longest way to its end through the stages before it, at full speed
	// children are the jobs that wait for a job, by job. There is none where no job waits for another.
	children [][]int32
	index    index
	window   time.Duration // of figures "in window"
	now      time.Duration
	next     int // in jobs, the first that has not arrived
	ended    ended
	tally    tally
	level    level
	load     recorder
	log      *logger
	// told are the events that the policy has not seen, spare is where the next are put.
	told, spare []sched.Event
	names       arena[sched.NodeTasks]
	places      arena[ranges.Range]
	kept        []JobRecord      // of jobs, in their order; those of jobs that have not started are to be made
	begun       arena[JobRecord] // of parts
	found       ranges.Set       // scratch
	byRanges    bool             // records and plans have ranges in place of names
	// Of shared nodes; nil elsewhere. Sharing are the gangs to be measured.
	shared    *shared
	parts     []*job
	partsByID map[string]*job
	sharing   []*job
	outages   *outages
	// charge is how long the cycle has taken, in a simulation in which that time passes; else nil.
	charge func() time.Duration
}

// tally counts what has happened.
type tally struct {
	starts, finished, dropped, refused int
}

// news is the number of arrivals and completions so far.
func (l *life) news() int { return l.next + l.tally.finished }

// waitingFor are the jobs that wait for one.
func (l *life) waitingFor(id int32) []int32 {
	if l.children == nil {
		return nil
	}
	return l.children[id]
}

// nextInstant is when next a job arrives or ends, or a node is lost or comes back.
func (l *life) nextInstant() (at time.Duration, ok bool) {
	at, ok = l.physics.next()
	if turn, some := l.outages.due(); some && (!ok || turn < at) {
		at, ok = turn, true
	}
	if l.next < len(l.jobs) && (!ok || l.jobs[l.next].arrive < at) {
		return l.jobs[l.next].arrive, true
	}
	return at, ok
}

// advance lets everything happen up to and including a time. In one instant, ends come first, then outages, then
// submissions.
func (l *life) advance(to time.Duration) {
	for at, ok := l.nextInstant(); ok && at <= to; at, ok = l.nextInstant() {
		l.pass(at)
		l.ended.reset()
		l.physics.happen(at, &l.ended)
		for _, i := range l.ended.completed {
			l.finish(&l.jobs[i])
		}
		l.tasksEnd(l.ended.done, l.ended.evicted)
		l.turnNodes(at)
		for ; l.next < len(l.jobs) && l.jobs[l.next].arrive <= at; l.next++ {
			l.submit(&l.jobs[l.next])
		}
		l.physics.settle(at)
	}
	l.pass(to)
}

// pass moves the clock forward.
func (l *life) pass(to time.Duration) {
	l.load.advance(to, &l.level)
	l.now = max(l.now, to)
}

// time is now, as events have it.
func (l *life) time() time.Time { return epoch.Add(l.now) }

func (l *life) submit(j *job) {
	j.state = pending
	l.level.pending++
	l.log.submit(j)
	if after := l.waitsFor(j); len(after) != len(j.After) || j.Submitted != epoch.Add(j.arrive) {
		own := *j.Job
		own.After, own.Submitted = after, epoch.Add(j.arrive)
		j.Job = &own
	}
	l.told = append(l.told, sched.Event{
		Kind: sched.Submitted, Time: j.Submitted, ID: j.ID, Job: j.Job,
	})
}

// Why starts fail, with errNoRoom. Hosts read it in the cycle's failed events.
var errNotPending = errors.New("sim: the job is not pending")

// start carries out a decision. One that is impossible, as happens when time has passed since the snapshot, is told as
// StartFailed. The error is what ends the simulation.
func (l *life) start(d *sched.Decision) error {
	j, ok := l.byID(d.Job)
	if !ok || j.state != pending {
		l.refuse(d, errNotPending)
		return nil
	}
	if j.waits > 0 {
		l.refuse(d, errHeld)
		return nil
	}
	on, ok := l.resolve(j, d)
	if !ok {
		l.refuse(d, errNoRoom)
		return nil
	}
	speed := l.nodes.SpeedOn(j.Job, on)
	switch err := l.physics.start(l.now, &j.gang, on, sched.Stretch(speed)); {
	case errors.Is(err, errNoRoom):
		l.refuse(d, err)
		return nil
	case err != nil:
		return fmt.Errorf("job %q: %w", j.ID, err)
	}
	j.state = running
	if l.shared != nil {
		j.saw = &seen{}
		l.list(j)
	}
	var names []sched.NodeTasks
	told := on
	if !l.byRanges {
		told, names = nil, l.names.copy(d.Nodes)
	}
	l.recordOf(j).begin(l.now, told, names, speed, d.Reason.Probability)
	l.level.pending--
	l.level.running++
	l.level.tasks[j.rank()] += j.Tasks
	l.tally.starts++
	l.told = append(l.told, sched.Event{
		Kind: sched.Started, Time: l.time(), ID: j.ID, Nodes: names,
	})
	l.log.because(startEvent, l.now, j, &d.Reason)
	return nil
}

// recordOf is the job's record, made when it is first needed: memory that nobody has written to yet costs nothing.
func (l *life) recordOf(j *job) *JobRecord {
	if j.record != nil {
		return j.record
	}
	if at := int(j.gang.id); at < len(l.kept) {
		j.record = &l.kept[at]
	} else {
		j.record = &l.begun.take(1)[0]
	}
	*j.record = newRecord(j)
	return j.record
}

// records are those of all jobs. They are the life's own, which is over.
func (l *life) records() []JobRecord {
	for i := range l.jobs {
		l.recordOf(&l.jobs[i])
	}
	return l.kept
}

// resolve finds the nodes of a start. It is false where one is unknown, is not among those that the job requires, or
// has an impossible number of tasks.
func (l *life) resolve(j *job, d *sched.Decision) (ranges.Set, bool) {
	l.found = append(l.found[:0], d.Ranges...)
	if !l.found.Within(l.nodes.Len()) {
		return nil, false
	}
	for _, nt := range d.Nodes {
		n, ok := l.nodes.Index(nt.Node)
		if !ok || nt.Tasks < 1 || nt.Tasks > j.Tasks {
			return nil, false
		}
		l.found = l.found.Append(int32(n), int32(nt.Tasks))
	}
	if !j.Required.IsAny() || len(l.outages.turns) > 0 {
		for n := range l.found.All() {
			if l.outages.down[n] > 0 || !j.Required.Matches(l.nodes.Node(int(n)).Labels) {
				return nil, false
			}
		}
	}
	return l.places.copy(l.found), true
}

func (l *life) refuse(d *sched.Decision, why error) {
	l.tally.refused++
	l.told = append(l.told, sched.Event{
		Kind: sched.StartFailed, Time: l.time(), ID: d.Job, Err: why,
	})
}

// maxPreempted is how often a job may be preempted while nothing arrives and nothing finishes.
const maxPreempted = 100

// preempt carries out a decision. The error is what ends the simulation.
func (l *life) preempt(d *sched.Decision) error {
	j, ok := l.byID(d.Job)
	if !ok || j.state != running {
		l.tally.refused++
		return nil
	}
	if news := int32(l.news()); j.news != news {
		j.news, j.preempted = news, 0
	}
	if j.preempted++; j.preempted > maxPreempted {
		return fmt.Errorf("%w: at %v it preempts job %q for the %dth time since anything arrived or finished",
			ErrLivelock, l.now, j.ID, j.preempted)
	}
	if l.shared != nil {
		return l.preemptShared(j, d)
	}
	l.putBack(j, l.physics.stop(l.now, &j.gang))
	l.log.because(preemptEvent, l.now, j, &d.Reason)
	return nil
}

// putBack makes a job pending again after a run that was cut short, with the work that the run has done.
func (l *life) putBack(j *job, work time.Duration) {
	ran := l.stopped(j)
	j.state = pending
	l.level.pending++
	j.record.Preemptions++
	if j.Checkpoint {
		j.gang.done = min(j.gang.done+work, j.gang.work.Runtime())
	} else {
		j.record.Lost += ran
	}
	l.told = append(l.told, sched.Event{
		Kind: sched.Preempted, Time: l.time(), ID: j.ID, Done: j.gang.done, Cause: sched.CausePolicy,
	})
}

func (l *life) finish(j *job) {
	j.state = finished
	j.record.Finish = l.now
	ran := l.stopped(j)
	l.tally.finished++
	for _, c := range l.waitingFor(j.gang.id) {
		l.jobs[c].waits--
	}
	l.told = append(l.told, sched.Event{
		Kind: sched.Finished, Time: l.time(), ID: j.ID, Runtime: max(1, ran), // 0 would say that it is not known
	})
	l.log.plain(finishEvent, l.now, j, "")
}

// stopped notes that a job runs no more, and returns how long it ran.
func (l *life) stopped(j *job) (ran time.Duration) {
	l.level.running--
	l.level.tasks[j.rank()] -= j.Tasks
	j.gang.stint = nil
	return j.record.end(l.now, l.window)
}

// abandon stops a job that runs, whose work is lost. It is then pending, for a moment.
func (l *life) abandon(j *job) {
	if l.shared == nil {
		l.physics.stop(l.now, &j.gang)
		j.record.Lost += l.stopped(j)
	} else {
		for k := range j.gang.shares {
			if j.gang.shares[k].handle >= 0 {
				used := l.shared.stopTask(l.now, &j.gang, k)
				l.level.tasks[j.rank()]--
				l.hold(j, &used, true)
			}
		}
		l.level.running--
	}
	l.level.pending++
}

func (l *life) drop(j *job, why string) {
	j.state = dropped
	l.level.pending--
	if j.onShared == nil || !j.whole.dropped {
		l.tally.dropped++
	}
	if j.onShared != nil {
		j.whole.dropped = true
	}
	l.log.plain(dropEvent, l.now, j, why)
}

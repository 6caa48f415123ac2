package sim

import (
	"fmt"
	"slices"

	"github.com/hedgesched/hedge/adapters/sim/internal/timeshare"
	"github.com/hedgesched/hedge/adapters/sim/taskuse"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/usage"
)

// On shared nodes the tasks of a gang start together and end one by one. Tasks that are lost while others of their gang
// go on wait as a part of the job. To the policy a part is a job of its own. The job is complete when all of its tasks
// are, including those of its parts.

// whole is the state that a job shares with its parts.
type whole struct {
	open    int  // tasks that are not complete
	parts   int  // made so far
	dropped bool // the job or one of its parts was dropped
}

// onShared is what life knows of a job on shared nodes, or of a part of one.
type onShared struct {
	whole  *whole
	saw    *seen
	listed bool // it is in life.sharing
}

// seen adds up what completed tasks of a gang have used.
type seen struct {
	tasks int
	sum   timeshare.Used
}

func (s *seen) add(u *timeshare.Used) {
	s.tasks++
	s.sum.Ran += u.Ran
	s.sum.CPUTime += u.CPUTime
	s.sum.MemoryTime += u.MemoryTime
	s.sum.MaxCPU, s.sum.MaxMemory = max(s.sum.MaxCPU, u.MaxCPU), max(s.sum.MaxMemory, u.MaxMemory)
	s.sum.Throttled = s.sum.Throttled || u.Throttled
}

// used is what predictors learn: averages over tasks, and the largest peaks. Throttling makes a task's CPU a lower
// bound, but does not change its CPU time.
func (s *seen) used() []predict.Used {
	seconds := s.sum.Ran.Seconds()
	if s.tasks == 0 || seconds <= 0 {
		return nil
	}
	return []predict.Used{
		{Quantity: predict.CPU, Value: s.sum.CPUTime / seconds, AtLeast: s.sum.Throttled},
		{Quantity: predict.CPUMax, Value: s.sum.MaxCPU, AtLeast: s.sum.Throttled},
		{Quantity: predict.Memory, Value: s.sum.MemoryTime / seconds},
		{Quantity: predict.MemoryMax, Value: s.sum.MaxMemory},
		{Quantity: predict.CPUTime, Value: s.sum.CPUTime / float64(s.tasks)},
	}
}

// byID finds a job or a part by ID.
func (l *life) byID(id string) (*job, bool) {
	if i, ok := l.index.find(l.jobs, id); ok {
		return &l.jobs[i], true
	}
	j, ok := l.partsByID[id]
	return j, ok
}

// at is the job or part with a gang's number.
func (l *life) at(id int32) *job {
	if int(id) < len(l.jobs) {
		return &l.jobs[id]
	}
	return l.parts[int(id)-len(l.jobs)]
}

// tasksEnd handles the tasks that were completed or evicted at an instant.
func (l *life) tasksEnd(done, evicted []timeshare.End) {
	for i := range done {
		e := &done[i]
		l.taskDone(l.at(e.Owner), e)
	}
	l.loseAll(evicted, sched.CauseEvicted)
}

// taskDone handles a completed task. The last task of a gang ends the gang.
func (l *life) taskDone(j *job, e *timeshare.End) {
	node := l.taskOff(j, e.Index)
	j.gang.left--
	j.saw.add(&e.Used)
	l.hold(j, &e.Used, false)
	if j.gang.left > 0 {
		l.told = append(l.told, sched.Event{Kind: sched.Finished, Time: l.time(), ID: j.ID, Nodes: l.oneTask(node)})
		l.log.task(taskEvent, l.now, j, l.nodes.Node(int(node)).Name, int(e.Index), "")
	} else {
		l.told = append(l.told, sched.Event{Kind: sched.Finished, Time: l.time(), ID: j.ID,
			Runtime: max(1, l.now-j.gang.since), Used: j.saw.used()})
		j.state = finished
		l.level.running--
		l.log.plain(finishEvent, l.now, j, "")
	}
	if j.whole.open--; j.whole.open == 0 {
		j.record.Finish = l.now
		l.tally.finished++
	}
}

// taskOff marks a task as not running, and returns its node.
func (l *life) taskOff(j *job, k int32) (node int32) {
	s := &j.gang.shares[k]
	s.handle = -1
	l.level.tasks[j.rank()]--
	return s.node
}

// oneTask is one task on a node, for an event.
func (l *life) oneTask(node int32) []sched.NodeTasks {
	nt := l.names.take(1)
	nt[0] = sched.NodeTasks{Node: l.nodes.Node(int(node)).Name, Tasks: 1}
	return nt
}

// hold adds the time for which a task held its node to the record, also as lost time if its work is lost.
func (l *life) hold(j *job, u *timeshare.Used, lost bool) {
	r := j.record
	r.Stop = l.now
	r.Held = r.Held.plus(taskTime(1, u.Ran))
	r.HeldInWindow = r.HeldInWindow.plus(taskTime(1, min(l.now, l.window)-min(l.now-u.Ran, l.window)))
	if lost {
		r.LostTasks = r.LostTasks.plus(taskTime(1, u.Ran))
	}
}

// lose makes tasks of one gang pending again that were evicted, or whose node is lost. A gang that has lost all of its
// tasks at once waits as a whole; otherwise each task becomes a part.
func (l *life) lose(j *job, lost []timeshare.End, why sched.Cause) {
	event, attained := lostEvent, 0.0
	for i := range lost {
		l.hold(j, &lost[i].Used, true)
		attained = max(attained, lost[i].Used.CPUTime)
	}
	if why == sched.CauseEvicted {
		event = evictEvent
		j.record.Evictions += len(lost)
	}
	j.gang.left -= len(lost)
	if len(lost) == j.Tasks {
		for i := range lost {
			l.taskOff(j, lost[i].Index)
		}
		l.backWhole(j, why, attained)
		l.log.plain(event, l.now, j, "")
		return
	}
	for i := range lost {
		e := &lost[i]
		node := l.taskOff(j, e.Index)
		part := l.newPart(j, []int{int(e.Index)})
		l.told = append(l.told, sched.Event{Kind: sched.Preempted, Time: l.time(), ID: j.ID, Job: part.Job,
			Nodes: l.oneTask(node), Cause: why, Attained: e.Used.CPUTime})
		l.log.task(event, l.now, j, l.nodes.Node(int(node)).Name, int(e.Index), part.ID)
	}
	if j.gang.left == 0 {
		l.split(j)
	}
}

// backWhole makes a job pending again that has lost all of its tasks at once.
func (l *life) backWhole(j *job, why sched.Cause, attained float64) {
	j.state, j.saw = pending, &seen{}
	l.level.running--
	l.level.pending++
	l.told = append(l.told, sched.Event{Kind: sched.Preempted, Time: l.time(), ID: j.ID, Cause: why, Attained: attained})
}

// split ends the gang of a job that now consists of parts only.
func (l *life) split(j *job) {
	j.state = finished
	l.level.running--
}

// newPart makes a pending job of lost tasks.
func (l *life) newPart(j *job, tasks []int) *job {
	j.whole.parts++
	p := &job{Job: j.Part(j.whole.parts, len(tasks)), arrive: j.arrive, state: pending, record: j.record,
		onShared: &onShared{whole: j.whole}}
	use := make([]taskuse.Series, len(tasks))
	for i, k := range tasks {
		use[i] = j.gang.work.Use()[k]
	}
	work := Usage(use)
	p.gang = gang{id: int32(len(l.jobs) + len(l.parts)), tasks: len(tasks), demand: j.gang.demand,
		priority: j.gang.priority, work: &work}
	l.parts = append(l.parts, p)
	l.partsByID[p.ID] = p
	l.level.pending++
	return p
}

// preemptShared carries out a decision to preempt a gang on shared nodes, or some of its tasks.
func (l *life) preemptShared(j *job, d *sched.Decision) error {
	tasks, ok := l.choose(j, d.Nodes)
	if !ok {
		l.tally.refused++
		return nil
	}
	attained := 0.0
	for _, k := range tasks {
		used := l.shared.stopTask(l.now, &j.gang, k)
		l.level.tasks[j.rank()]--
		l.hold(j, &used, true)
		attained = max(attained, used.CPUTime)
	}
	j.record.Preemptions++
	if len(tasks) == j.Tasks {
		l.backWhole(j, sched.CausePolicy, attained)
		l.log.because(preemptEvent, l.now, j, &d.Reason)
		return nil
	}
	part := l.newPart(j, tasks)
	nodes := l.names.take(len(tasks))
	for i, k := range tasks {
		nodes[i] = sched.NodeTasks{Node: l.nodes.Node(int(j.gang.shares[k].node)).Name, Tasks: 1}
	}
	l.told = append(l.told, sched.Event{Kind: sched.Preempted, Time: l.time(), ID: j.ID, Job: part.Job,
		Nodes: nodes, Cause: sched.CausePolicy, Attained: attained})
	l.log.preemptPart(l.now, j, tasks, nodes, part.ID, &d.Reason)
	if j.gang.left == 0 {
		l.split(j)
	}
	return nil
}

// choose finds the tasks of a gang that a decision stops: on each given node those of the highest index, or all tasks
// if no nodes are given. It is false if fewer tasks run there.
func (l *life) choose(j *job, nodes []sched.NodeTasks) (tasks []int, ok bool) {
	for k := range j.gang.shares {
		if len(nodes) == 0 && j.gang.shares[k].handle >= 0 {
			tasks = append(tasks, k)
		}
	}
	for _, nt := range nodes {
		n, known := l.nodes.Index(nt.Node)
		left := nt.Tasks
		for k := len(j.gang.shares) - 1; known && k >= 0 && left > 0; k-- {
			if s := j.gang.shares[k]; s.handle >= 0 && int(s.node) == n && !slices.Contains(tasks, k) {
				tasks, left = append(tasks, k), left-1
			}
		}
		if left > 0 {
			return nil, false
		}
	}
	return tasks, len(tasks) > 0
}

// tellUsage reports what all running tasks use. It is called once a cycle.
func (l *life) tellUsage() {
	kept := l.sharing[:0]
	batch := &usage.Batch{}
	for _, j := range l.sharing {
		if j.state != running {
			j.listed = false
			continue
		}
		kept = append(kept, j)
		if tasks := l.shared.measure(l.now, &j.gang, l.nodes, nil); len(tasks) > 0 {
			batch.Jobs = append(batch.Jobs, usage.Job{ID: j.ID, Tasks: tasks})
		}
	}
	clear(l.sharing[len(kept):])
	l.sharing = kept
	l.told = append(l.told, sched.Event{Kind: sched.Measured, Time: l.time(), Usage: batch})
	l.log.usage(l.now, l.shared, l.nodes)
}

// list adds a gang to those that are measured while they run.
func (l *life) list(j *job) {
	if !j.listed {
		j.listed = true
		l.sharing = append(l.sharing, j)
	}
}

// share makes the nodes shared if the jobs' work is usage. It must be so for all jobs or for none.
func (l *life) share(cfg *Config) (err error) {
	users := 0
	for i := range cfg.Jobs {
		if cfg.Jobs[i].Work.Use() != nil {
			users++
		}
	}
	if l.outages, err = newOutages(cfg.Outages, l.nodes, users > 0); err != nil {
		return err
	}
	switch {
	case users == 0:
		return nil
	case users < len(cfg.Jobs):
		return fmt.Errorf("%w: the work of %d of %d jobs is usage, want that of all or none", ErrJob, users, len(cfg.Jobs))
	}
	x, err := newShared(l.nodes, l.window)
	if err != nil {
		return err
	}
	l.shared, l.physics, l.partsByID = x, x, map[string]*job{}
	most := 0.0
	for i := range l.nodes.Len() {
		most = max(most, l.nodes.Capacity()[2*i+x.memory])
	}
	for i := range l.jobs {
		j := &l.jobs[i]
		j.onShared = &onShared{whole: &whole{open: j.Tasks}}
		j.gang.priority = j.Priority
		if err := checkShared(j, most*timeshare.EvictAt); err != nil {
			return err
		}
	}
	return nil
}

// checkShared refuses jobs with features that shared nodes do not support, and tasks that fit on no node. Memory is the
// most that a task may use.
func checkShared(j *job, memory float64) error {
	switch {
	case !j.Speeds.Even():
		return fmt.Errorf("%w: job %q: Speeds is %v, want none with usage", ErrJob, j.ID, j.Speeds)
	case len(j.After) > 0 || j.Of != "":
		return fmt.Errorf("%w: job %q: it is a stage of %q, want none with usage", ErrJob, j.ID, j.Of)
	case j.Checkpoint:
		return fmt.Errorf("%w: job %q: Checkpoint is true, want false with usage", ErrJob, j.ID)
	}
	for k, use := range j.gang.work.Use() {
		if err := use.Validate(); err != nil {
			return fmt.Errorf("%w: job %q: task %d: %w", ErrJob, j.ID, k, err)
		}
		if _, most := use.Max(); most > memory {
			return fmt.Errorf("%w: job %q: task %d uses memory of %v, and no node has more than %v for a task",
				ErrTooWide, j.ID, k, most, memory)
		}
	}
	return nil
}

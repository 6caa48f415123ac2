package experiment

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/sim/tasklog"
	"github.com/hedgesched/hedge/adapters/sim/workload"
)

// Gantt is what became of the stages of one job in a run. Times are in seconds since the job was submitted.
type Gantt struct {
	Job   string
	Tasks int
	// Deadline is 0 for a job without one. End is when the last stage ended, negative if a stage never did.
	Deadline, End float64
	// Stages are in the order of their first starts. Those that never started come last.
	Stages []GanttStage
}

// GanttStage is a stage of a job.
type GanttStage struct {
	ID    string
	Tasks int
	// Ready is when the last of the stages that it waits for had ended, 0 if it waits for none. End is when its last
	// task ended, negative if it never did.
	Ready, End float64
	// Levels are how many tasks run from a time on, in order of time. Of a gang that was preempted it has the last run.
	Levels []Level
	// Preemptions is how often its gang was stopped.
	Preemptions int
	// Deciding tells that the job would have been done sooner but for this stage: it is the stage that ended last, or
	// the last to end of those that a deciding stage waited for.
	Deciding bool

	after []int // stages by their place in the workload
}

// Level is a number of tasks from a time on, in seconds.
type Level struct {
	At    float64
	Tasks int
}

// part is a job's stages in a workload: those from one index to before another.
type part struct{ from, to int }

// show finds the job that the report draws, nil if it draws none.
func (s *Spec) show(w *workload.Workload) (*part, error) {
	if !s.Observe || s.Workload != string(workload.DAG) {
		return nil, nil //nolint:nilnil // nothing is drawn
	}
	p, err := pick(w.Jobs, s.Gantt)
	return &p, err
}

// pick finds the job with that name or, for an empty one, a job with most stages: of several the middle one.
func pick(jobs []sim.Job, name string) (part, error) {
	var most []part
	for i := 0; i < len(jobs); {
		p := part{from: i}
		for id := jobs[i].Whole(); i < len(jobs) && jobs[i].Whole() == id; i++ {
			p.to = i + 1
		}
		switch {
		case name != "" && jobs[p.from].Whole() == name:
			return p, nil
		case len(most) == 0 || p.to-p.from > most[0].to-most[0].from:
			most = []part{p}
		case p.to-p.from == most[0].to-most[0].from:
			most = append(most, p)
		}
	}
	middle := most[len(most)/2]
	if name != "" {
		return part{}, fmt.Errorf("--gantt: found %q, expected a job of the first seed's workload, such as %q", name,
			jobs[middle.from].Whole())
	}
	return middle, nil
}

// newGantt has the job's stages, none of which has run.
func newGantt(jobs []sim.Job) *Gantt {
	g := &Gantt{Job: jobs[0].Whole(), Deadline: jobs[0].Deadline.Seconds(), Stages: make([]GanttStage, len(jobs))}
	at := make(map[string]int, len(jobs))
	for i := range jobs {
		j, s := &jobs[i], &g.Stages[i]
		at[j.ID] = i
		s.ID, s.Tasks, s.End = j.ID, j.Tasks, -1
		for _, parent := range j.After {
			if k, ok := at[parent]; ok {
				s.after = append(s.after, k)
			}
		}
	}
	return g
}

// finish derives the rest from the stages' levels and ends.
func (g *Gantt) finish() *Gantt {
	last := 0
	for i := range g.Stages {
		s := &g.Stages[i]
		g.Tasks += s.Tasks
		for _, k := range s.after {
			s.Ready = max(s.Ready, g.Stages[k].End)
		}
		if s.End > g.Stages[last].End {
			last = i
		}
	}
	g.End = g.Stages[last].End
	if slices.ContainsFunc(g.Stages, func(s GanttStage) bool { return s.End < 0 }) {
		g.End = -1
	}
	for more := g.End >= 0; more; {
		s := &g.Stages[last]
		s.Deciding = true
		if more = len(s.after) > 0; more {
			last = slices.MaxFunc(s.after, func(a, b int) int { return cmp.Compare(g.Stages[a].End, g.Stages[b].End) })
		}
	}
	slices.SortStableFunc(g.Stages, func(a, b GanttStage) int {
		if len(a.Levels) == 0 || len(b.Levels) == 0 {
			return cmp.Compare(len(b.Levels), len(a.Levels))
		}
		return cmp.Compare(a.Levels[0].At, b.Levels[0].At)
	})
	return g
}

// gangs is the Gantt of a job whose stages are gangs.
func gangs(jobs []sim.Job, records []sim.JobRecord) *Gantt {
	g := newGantt(jobs)
	at := make(map[string]int, len(jobs))
	for i := range jobs {
		at[jobs[i].ID] = i
	}
	for k := range records {
		r := &records[k]
		i, ok := at[r.ID]
		if !ok || r.Start < 0 {
			continue
		}
		s := &g.Stages[i]
		s.Preemptions = r.Preemptions
		s.Levels = []Level{{(r.Start - r.Submit).Seconds(), s.Tasks}, {(max(r.Stop, r.Start) - r.Submit).Seconds(), 0}}
		if r.Finish >= 0 {
			s.End = (r.Finish - r.Submit).Seconds()
		}
	}
	return g.finish()
}

// stageWatch sees the tasks of a job's stages start and end.
type stageWatch struct {
	*Gantt
	part
	arrive time.Duration
	open   []int // of each stage, tasks that have not ended
}

func newStageWatch(g *graph, p part) *stageWatch {
	jobs := g.of.Jobs[p.from:p.to]
	w := &stageWatch{Gantt: newGantt(jobs), part: p, arrive: jobs[0].Arrive}
	for i := range w.Stages {
		w.Stages[i].Tasks = int(g.work.Jobs[p.from+i].Tasks)
		w.open = append(w.open, w.Stages[i].Tasks)
	}
	return w
}

// Observe is that of tasklog.Observer.
func (w *stageWatch) Observe(r *tasklog.Record) {
	by := 0
	switch r.Kind {
	case tasklog.Start, tasklog.Resume:
		by = 1
	case tasklog.Pause, tasklog.Stop, tasklog.Finish:
		by = -1
	}
	i := int(r.Job) - w.from
	if by == 0 || i < 0 || i >= len(w.Stages) {
		return
	}
	s, at := &w.Stages[i], (r.At - w.arrive).Seconds()
	running := by
	if n := len(s.Levels); n > 0 {
		running += s.Levels[n-1].Tasks
	}
	if n := len(s.Levels); n > 0 && s.Levels[n-1].At == at {
		s.Levels[n-1].Tasks = running
	} else {
		s.Levels = append(s.Levels, Level{at, running})
	}
	if r.Kind == tasklog.Finish {
		if w.open[i]--; w.open[i] == 0 {
			s.End = at
		}
	}
}

package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/sim/agents"
	"github.com/hedgesched/hedge/adapters/sim/tasklog"
	"github.com/hedgesched/hedge/adapters/sim/workload"
	"github.com/hedgesched/hedge/cmd/hedge/internal/stats"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched/agent"
	"github.com/hedgesched/hedge/sched/slearn"
)

// thinLimit is the paper's number of tasks below which a stage is not sampled.
const thinLimit = 3

// runStages simulates a scheme of GS on one seed's jobs of stages. Each task takes a slot for its own runtime; there
// are as many slots as the cluster of the other policies holds tasks.
func (e *Experiment) runStages(
	name string, scheme slearn.Staged, at int, step func(done, total int),
) (*Run, error) {
	s, t := &e.spec, e.seeds[at]
	g := newGraph(t.work)
	c := slearn.Config{Workers: s.Nodes, Slots: s.TasksPerNode, Seed: uint64(s.Seeds[at])}
	k := slearn.Knowledge{ThinLimit: thinLimit, Describe: g.describe,
		Truth: func(j *agent.Job) float64 { return g.truth[j.ID] },
		History: func() (predict.Predictor, error) {
			h, err := predict.NewHistory(&predict.HistoryOptions{Blend: 1}) // as the paper has it
			if err == nil {
				err = t.work.TrainPredictor(h)
			}
			return h, err
		}}
	if err := scheme.Configure(&c, &k, g.stages); err != nil {
		return nil, err
	}
	system, err := slearn.New(c)
	if err != nil {
		return nil, err
	}
	var seen observers
	var watch *stageWatch
	if e.shown != nil && at == 0 {
		watch = newStageWatch(g, *e.shown)
		seen = append(seen, watch)
	}
	run := agents.Config{Slots: c.Slots, Seed: uint64(s.Seeds[at]), Cutoff: math.MaxInt64, Observer: &seen}
	found, err := g.simulate(system, run, &seen, name, s.LogDir)
	if err != nil {
		return nil, err
	}
	step(1, 1)
	out := g.figures(found, s.TasksPerNode)
	out.Policy, out.Seed = name, s.Seeds[at]
	if !s.Observe {
		out.Jobs = nil
	}
	if watch != nil {
		out.Gantt = watch.finish()
	}
	return out, nil
}

// observers are told of everything, one after the other.
type observers []tasklog.Observer

// Observe is that of tasklog.Observer.
func (o observers) Observe(r *tasklog.Record) {
	for _, one := range o {
		one.Observe(r)
	}
}

// simulate runs the workload. If there is a folder, it leaves a log in it, in which each stage is a job.
func (g *graph) simulate(
	s *slearn.System, c agents.Config, seen *observers, name, dir string,
) (r *agents.Result, err error) {
	if dir == "" {
		return agents.Run[slearn.Message](&g.work, s, c)
	}
	file, err := os.Create(filepath.Join(dir, fmt.Sprintf("%s-%d.tasks", name, c.Seed)))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	log := tasklog.NewWriter(file,
		&tasklog.Header{Policy: name, Seed: int64(c.Seed), Workers: s.Workers(), Slots: c.Slots})
	*seen = append(*seen, log)
	if r, err = agents.Run[slearn.Message](&g.work, s, c); err != nil {
		return nil, err
	}
	var seconds []float64
	for i := range r.Jobs {
		seconds = append(seconds, (r.Jobs[i].End - r.Jobs[i].Submit).Seconds())
	}
	slices.Sort(seconds)
	all := tasklog.Class{Jobs: len(seconds), Mean: stats.Mean(seconds), P50: stats.Between(seconds, 0.5),
		P90: stats.Between(seconds, 0.9), P99: stats.Between(seconds, 0.99)}
	return r, log.Close(&tasklog.Figures{Short: all, All: all, Makespan: r.Makespan.Seconds()})
}

// graph is a workload of jobs of stages for schedulers of tasks.
type graph struct {
	of    *workload.Workload
	work  agents.Workload
	truth []float64 // seconds of all tasks, by stage
}

func newGraph(w *workload.Workload) *graph {
	g := &graph{of: w, truth: make([]float64, len(w.Jobs))}
	g.work.After = make([][]int32, len(w.Jobs))
	index := make(map[string]int32, len(w.Jobs))
	phase := int32(0)
	for i := range w.Jobs {
		from := &w.From[i]
		index[w.Jobs[i].ID] = int32(i)
		if phase++; i == 0 || w.Jobs[i-1].Whole() != w.Jobs[i].Whole() {
			phase = 0
		}
		g.work.Jobs = append(g.work.Jobs, agents.Job{Submit: w.Jobs[i].Arrive, Mean: from.Runtime, Phase: phase,
			First: int32(len(g.work.Runtimes)), Tasks: int32(from.Tasks)})
		for k := range from.Tasks {
			took := from.Runtime
			if len(from.TaskRuntimes) == from.Tasks {
				took = from.TaskRuntimes[k]
			}
			g.work.Runtimes = append(g.work.Runtimes, took)
			g.truth[i] += took.Seconds()
		}
		for _, parent := range w.Jobs[i].After {
			g.work.After[i] = append(g.work.After[i], index[parent])
		}
	}
	return g
}

// describe is what a predictor may know of a stage.
func (g *graph) describe(j *agent.Job) predict.Job {
	of := &g.of.Jobs[j.ID]
	return predict.Job{ID: of.ID, Attributes: of.Attributes, Submitted: sim.Epoch().Add(of.Arrive)}
}

// stages are those of a whole job, which are neighbours. Those that wait for none come first.
func (g *graph) stages(j *agent.Job) (out slearn.Stages) {
	var later []agent.Job
	for i := int(j.Of); i < len(g.work.Jobs) && (i == int(j.Of) || g.work.Jobs[i].Phase > 0); i++ {
		stage := agent.Job{ID: int32(i), Of: j.Of, Tasks: g.work.Jobs[i].Tasks, Estimate: g.work.Jobs[i].Mean}
		if len(g.work.After[i]) == 0 {
			out.All = append(out.All, stage)
		} else {
			later = append(later, stage)
		}
	}
	out.Roots = len(out.All)
	out.All = append(out.All, later...)
	return out
}

// figures are those of whole jobs. So many tasks make a machine in machine-hours.
func (g *graph) figures(found *agents.Result, tasksPerNode int) *Run {
	run := &Run{}
	run.Classes = map[sim.Class]sim.ClassFigures{}
	var all, be []float64
	for i := 0; i < len(found.Jobs); {
		j, end, work := &g.of.Jobs[i], time.Duration(0), 0.0
		for first := i; i < len(found.Jobs) && (i == first || g.work.Jobs[i].Phase > 0); i++ {
			end = max(end, found.Jobs[i].End)
			work += g.truth[i]
		}
		took := end - j.Arrive
		all = append(all, took.Seconds())
		run.RealisedUtility += j.Worth().At(took.Seconds())
		work /= 3600 * float64(tasksPerNode)
		count(&run.Goodput, j, work)
		if end <= g.of.Span {
			count(&run.WorkInWindow, j, work)
		}
		record := sim.JobRecord{ID: j.Whole(), Class: sim.BestEffort, Submit: j.Arrive, Start: -1, Finish: end}
		if j.Deadline > 0 {
			record.Class, record.Deadline = sim.SLO, j.Arrive+j.Deadline
		}
		run.Jobs = append(run.Jobs, record)
		if j.Deadline == 0 {
			run.BE.Jobs++
			be = append(be, took.Seconds())
			continue
		}
		run.SLO.Jobs++
		if took > j.Deadline {
			run.SLO.Missed++
		}
	}
	run.SLO.Completed, run.BE.Completed = run.SLO.Jobs, run.BE.Jobs
	if run.SLO.Jobs > 0 {
		run.SLO.MissRate = float64(run.SLO.Missed) / float64(run.SLO.Jobs)
	}
	run.JCT, run.BELatency = spread(all), spread(be)
	run.All = &All{Jobs: len(all), JCT: run.JCT}
	run.MakespanS = found.Makespan.Seconds()
	run.Utilisation = found.Busy
	run.UtilisationInWindow = found.Busy
	return run
}

// count adds work to that of the job's class.
func count(to *sim.PerClass, j *sim.Job, work float64) {
	if j.Deadline > 0 {
		to.SLO += work
	} else {
		to.BE += work
	}
}

// spread sums up values as package sim does: percentiles are by nearest rank.
func spread(values []float64) sim.Spread {
	if len(values) == 0 {
		return sim.Spread{}
	}
	slices.SortFunc(values, cmp.Compare[float64])
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	rank := func(p float64) float64 {
		return values[max(1, int(math.Ceil(p/100*float64(len(values)))))-1]
	}
	return sim.Spread{Mean: sum / float64(len(values)), P50: rank(50), P90: rank(90), P99: rank(99)}
}

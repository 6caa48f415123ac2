package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/agents"
	"github.com/hedgesched/hedge/adapters/sim/central"
	"github.com/hedgesched/hedge/cmd/hedge/internal/experiment"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched/systems"
	"github.com/hedgesched/hedge/solver/engines"
)

// taskCycle is the --cycle that nobody gave of a policy that plans for tasks.
const taskCycle = 2 * time.Second

// byHistory is the --estimate that forecasts runtimes.
const byHistory = "history"

// centralRun is a policy that plans the whole cluster, and what it is made of.
type centralRun struct {
	of    *systems.System // nil while the system is one of agents
	spec  experiment.Spec
	known *engines.Set
}

// plans tells whether a system is a policy that can plan for tasks, each a job of its own.
func plans(s *systems.System) bool { return s.Policy != nil && !s.Shares && !s.Stages }

// planners are the names of such systems.
func planners(set *systems.Set) (names []string) {
	for _, s := range set.List() {
		if plans(&s) {
			names = append(names, s.Name)
		}
	}
	return names
}

// plan makes the planner's specification of the flags.
func (t *taskFlags) plan(f *simulation, host *Host) {
	t.planner.spec, t.planner.known = f.spec, host.Engines
	if !f.flags.Changed("cycle") {
		t.planner.spec.Cycle = taskCycle
	}
}

// try tells whether the policy can be made.
func (p *centralRun) try() error {
	_, done, err := experiment.Planner(p.of, &p.spec, p.known)
	if err == nil {
		done()
	}
	return err
}

// runCentral simulates a policy that plans the whole cluster. Estimates are those of systems of agents: the same
// factors of the same means.
func (t *taskFlags) runCentral(ctx context.Context, work *taskWork) (*agents.Result, error) {
	p := &t.planner
	policy, done, err := experiment.Planner(p.of, &p.spec, p.known)
	if err != nil {
		return nil, err
	}
	defer done()
	k := &systems.Knowledge{
		Truth: func(j predict.Job) (float64, bool) {
			task, ok := central.Task(j.ID)
			if !ok || task >= len(work.Runtimes) {
				return 0, false
			}
			return work.Runtimes[task].Seconds(), true
		},
		History: func() (predict.Predictor, error) { return t.told(&work.Workload) },
	}
	if t.estimate == byHistory {
		k.History = func() (predict.Predictor, error) { return taskHistory(work) }
	}
	predictor, err := p.of.Predictor(k)
	if err != nil {
		return nil, err
	}
	c := central.Config{Nodes: t.config.Nodes, Slots: t.paper.cores, Cycle: p.spec.Cycle, Policy: policy,
		Predictor: predictor, Fresh: t.estimate == byHistory, Observer: t.observer,
		Cutoff: time.Duration(math.Round(t.config.Cutoff * 1e9))}
	if work.jobs != nil {
		c.Attributes = func(job int) map[string]string { return work.jobs[job].Attributes }
	}
	found, err := central.Run(ctx, &work.Workload, c)
	if errors.Is(err, central.ErrLeft) {
		return nil, failed(err)
	}
	return found, err
}

// told forecasts what systems of agents are told: the mean of a job's tasks, times the factor of --estimate.
func (t *taskFlags) told(w *agents.Workload) (predict.Predictor, error) {
	c := agents.Config{Seed: uint64(t.config.Seed), Low: t.config.Low, High: t.config.High}
	estimates := c.Factors(len(w.Jobs))
	for i := range estimates {
		estimates[i] *= w.Jobs[i].Mean.Seconds()
	}
	return predict.NewPerfect(func(j predict.Job) (float64, bool) {
		i, err := strconv.Atoi(j.Attributes[central.Job])
		if err != nil || i < 0 || i >= len(estimates) {
			return 0, false
		}
		return estimates[i], true
	})
}

// taskHistory forecasts a task from the tasks that have ended: those of its own job, and of jobs with the same
// attributes, first of all those of --train.
func taskHistory(work *taskWork) (predict.Predictor, error) {
	own, err := predict.ParseFeature(central.Job)
	if err != nil {
		return nil, err
	}
	h, err := predict.NewHistory(&predict.HistoryOptions{Features: append(predict.DefaultFeatures(), own)})
	if err != nil {
		return nil, err
	}
	for i := range work.train {
		j := &work.train[i]
		o := predict.Observation{Job: described(j), Runtime: j.Runtime.Seconds()}
		for k := range j.Tasks {
			if len(j.TaskRuntimes) == j.Tasks {
				o.Runtime = j.TaskRuntimes[k].Seconds()
			}
			if err := h.Observe(o); err != nil {
				return nil, fmt.Errorf("--train: %w", err)
			}
		}
	}
	return h, nil
}

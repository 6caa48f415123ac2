package cli

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/agents"
	"github.com/hedgesched/hedge/adapters/sim/published"
	"github.com/hedgesched/hedge/adapters/sim/tasklog"
	"github.com/hedgesched/hedge/cmd/hedge/internal/report"
)

// tasksAlso are the flags of other workloads that --workload tasks has too.
func tasksAlso() []string {
	return []string{"log", "report", "cycle", "engine", "work", "window", "slot"}
}

// outputs takes --log and --report, and refuses directories that cannot be written to.
func (t *taskFlags) outputs(f *simulation) error {
	t.logDir, t.reported = f.spec.LogDir, f.report != ""
	return errors.Join(outputDirectory("--log", t.logDir), f.outputs.check())
}

// followed is a run that is written to a log, or whose queues are measured for a report.
type followed struct {
	file   *os.File
	log    *tasklog.Writer
	queues *report.Queues
}

// follow begins to follow a run, if it is to be; it is nil otherwise.
func (t *taskFlags) follow(policy string) (*followed, error) {
	if t.logDir == "" && !t.reported {
		return nil, nil
	}
	f := new(followed)
	if t.reported {
		f.queues = new(report.Queues)
	}
	if t.logDir == "" {
		return f, nil
	}
	var err error
	if f.file, err = os.Create(filepath.Join(t.logDir, fmt.Sprintf("%s-%d.tasks", policy, t.config.Seed))); err != nil {
		return nil, failed(pathError(err))
	}
	h := tasklog.Header{Policy: policy, Seed: t.config.Seed, Workers: t.config.Nodes, Slots: t.paper.cores}
	h.PauseCost, h.ResumeCost = t.paper.pause, t.paper.resume
	if t.planner.of != nil {
		h.PauseCost, h.ResumeCost = 0, 0
	}
	if t.rules == "published" {
		h.Overhead, h.Tolerance = published.Overhead, tolerance
	}
	f.log = tasklog.NewWriter(f.file, &h)
	return f, nil
}

// tolerance is above what the published rules round times of 30 years by.
const tolerance = 1000 // ns

// observer is whom a simulation tells; nil if a run is not followed.
func (f *followed) observer() tasklog.Observer {
	if f == nil {
		return nil
	}
	return f
}

// Observe is that of tasklog.Observer.
func (f *followed) Observe(r *tasklog.Record) {
	if f.log != nil {
		f.log.Observe(r)
	}
	if f.queues != nil {
		f.queues.Observe(r)
	}
}

// close ends the log with the run's figures, nil if the run has failed.
func (f *followed) close(run *tasksRun) error {
	if f == nil || f.file == nil {
		return nil
	}
	var err error
	if run != nil {
		err = f.log.Close(&tasklog.Figures{Short: run.Short.class(), Long: run.Long.class(), All: run.All.class(),
			Makespan: run.MakespanS})
	}
	return failed(errors.Join(err, f.file.Close()))
}

// class is the figures of a class as a log has them.
func (c *jct) class() tasklog.Class {
	return tasklog.Class{Jobs: c.Jobs, Mean: c.JCT.Mean, P50: c.JCT.P50, P90: c.JCT.P90, P99: c.JCT.P99}
}

// jctOfClass is the figures of a log as documents have them.
func jctOfClass(c *tasklog.Class) jct {
	out := jct{Jobs: c.Jobs}
	out.JCT.Mean, out.JCT.P50, out.JCT.P90, out.JCT.P99 = c.Mean, c.P50, c.P90, c.P99
	return out
}

// keep has a run keep what its page needs of every job beside its completion.
func (t *taskFlags) keep(run *tasksRun, work *agents.Workload, result *published.Result) {
	for i := range result.Jobs {
		longest := slices.Max(work.Tasks(&work.Jobs[i]))
		if t.rules == "published" {
			longest = longest.Truncate(time.Second)
		}
		run.longest = append(run.longest, longest.Seconds())
		run.long = append(run.long, result.Jobs[i].Long)
	}
}

// page is what the report shows.
func (t *taskFlags) page(w *tasksWorkload, runs []tasksRun) *report.Tasks {
	p := &report.Tasks{Trace: w.Trace, Jobs: w.Jobs, Tasks: w.Tasks, Nodes: w.Nodes, Cores: w.Cores, Load: w.OfferedLoad,
		Rules: t.rules, Cutoff: t.config.Cutoff, Records: w.Records}
	for i := range runs {
		r := &runs[i]
		one := report.TaskRun{Policy: r.Policy, Seed: r.Seed, Long: r.long, Completions: r.completions,
			Longest: r.longest, Queues: r.queues, Messages: math.NaN()}
		if r.Messages != nil {
			one.Messages = float64(*r.Messages) / float64(max(w.Tasks, 1))
		}
		if r.GSFigures != nil {
			one.Estimates = r.trails
		}
		p.Runs = append(p.Runs, one)
	}
	return p
}

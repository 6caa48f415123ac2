package native_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/adapters/sim/trace/sample"
	"github.com/hedgesched/hedge/adapters/sim/workload"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched/threesigma"
	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/native"
)

// watched is an engine in a simulation. It looks at every solve from the first one with a number of jobs on, until it
// has seen enough.
type watched struct {
	solver.Solver
	from, most, seen int
	look             func(p *solver.Problem, m *solver.Memory)
}

var errEnough = errors.New("enough cycles")

func (w *watched) Solve(ctx context.Context, p *solver.Problem, opts solver.Options,
	report func(*solver.Solution)) (*solver.Solution, error) {
	if len(p.Jobs) >= w.from || w.seen > 0 {
		if w.seen++; w.seen > w.most {
			return nil, errEnough
		}
		if w.seen > 1 { // the first has only had little work to learn from
			w.look(p, opts.Memory)
		}
	} else {
		opts.Work = min(opts.Work, threesigma.DefaultWork)
	}
	return w.Solver.Solve(ctx, p, opts, report)
}

// stretch is a part of a simulation: its workload, and from how many pending jobs on how many cycles are looked at.
type stretch struct {
	name            string
	racks           int
	load            float64
	window          int // slots
	pending, cycles int
}

// stretches are of the built-in log.
var stretches = []stretch{
	{"sim-030", 8, 1.4, 12, 30, 25},
	{"sim-100", 8, 2.5, 12, 100, 15},
	{"sim-200", 8, 4, 12, 200, 10},
}

// simulate runs 3Sigma with the engine on the stretch's workload.
func simulate(tb testing.TB, s stretch, engine solver.Solver, opts solver.Options) {
	reader, err := sample.Open()
	if err != nil {
		tb.Fatal(err)
	}
	log, err := trace.Collect(reader)
	if err != nil {
		tb.Fatal(err)
	}
	spec := workload.Default()
	spec.Racks, spec.Load, spec.Hours = s.racks, s.load, 1
	work, err := workload.Build(log.Jobs, spec)
	if err != nil {
		tb.Fatal(err)
	}
	history, err := predict.NewHistory(nil)
	if err == nil {
		err = work.TrainPredictor(history)
	}
	if err != nil {
		tb.Fatal(err)
	}
	_, slot := work.PlanAhead()
	policy, err := threesigma.New(threesigma.Config{Solver: engine, Options: opts, Slot: slot,
		Window: time.Duration(s.window) * slot})
	if err != nil {
		tb.Fatal(err)
	}
	_, err = sim.Run(context.Background(), sim.Config{Nodes: sim.Nodes(spec.Nodes, spec.Racks, 1), Jobs: work.Jobs,
		Policy:    policy,
		Predictor: history, Cycle: 10 * time.Second, Span: work.Span, TasksPerNode: 1, Seed: 1})
	if !errors.Is(err, errEnough) {
		tb.Fatalf("%s: the simulation ended before enough cycles of %d pending jobs: %v", s.name, s.pending, err)
	}
}

// way is how cycles are solved, and what that took and gave.
type way struct {
	name                 string
	hint, memory         bool
	work, ms, gap, value float64
}

// ways hand on nothing, the last plan, or all that there is.
func ways() []way {
	return []way{{name: "cold"}, {name: "hint", hint: true}, {name: "warm", hint: true, memory: true}}
}

// look solves p this way.
func (w *way) look(b *testing.B, e *native.Engine, p *solver.Problem, opts solver.Options,
	m *solver.Memory) *solver.Solution {
	q := *p
	if !w.hint {
		q.Hint = nil
	}
	if opts.Memory = nil; w.memory {
		opts.Memory = m
	}
	sol := solve(b, e, &q, opts)
	w.work, w.ms = w.work+float64(sol.Work), w.ms+sol.WallMS
	w.gap, w.value = w.gap+100**sol.Gap, w.value+sol.Objective
	if os.Getenv("VERBOSE") != "" {
		fmt.Fprintf(os.Stderr, "%s: %d jobs, %d work, %.3f ms, gap %.4f%%, %s\n", w.name, len(p.Jobs), sol.Work, sol.WallMS,
			100**sol.Gap, sol.Stop)
	}
	return sol
}

// tell reports the means of n cycles.
func tell(b *testing.B, list []way, n int) {
	for i := range list {
		w := &list[i]
		b.ReportMetric(w.work/float64(n), w.name+"-work")
		b.ReportMetric(w.ms/float64(n), w.name+"-ms")
		b.ReportMetric(w.gap/float64(n), w.name+"-gap%")
		b.ReportMetric(100*w.value/list[0].value, w.name+"-value%")
	}
	b.ReportMetric(0, "ns/op")
}

// limits are what solves are stopped by: work alone, or a gap.
var limits = []struct {
	name string
	opts solver.Options
}{
	{"10k", solver.Options{Work: 10_000}},
	{"5%", solver.Options{Work: 200_000, Gap: 0.05}},
	{"2%", solver.Options{Work: 200_000, Gap: 0.02}},
	{"1%", solver.Options{Work: 200_000, Gap: 0.01}},
	{"0.5%", solver.Options{Work: 200_000, Gap: 0.005}},
}

// BenchmarkWarm solves the consecutive cycles of simulations with nothing from the cycle before, with its plan as a
// hint, and with what has been learned, too, and reports work, time, gap and value per cycle. The simulations go on
// with the last.
func BenchmarkWarm(b *testing.B) {
	for _, s := range stretches {
		for _, l := range limits {
			b.Run(s.name+"/"+l.name, func(b *testing.B) {
				for b.Loop() {
					list, n := ways(), 0
					e := native.New(nil)
					simulate(b, s, &watched{Solver: e, from: s.pending, most: s.cycles,
						look: func(p *solver.Problem, m *solver.Memory) {
							n++
							for i := range list {
								list[i].look(b, e, p, l.opts, m)
							}
						}}, l.opts)
					tell(b, list, n)
				}
			})
		}
	}
}

// BenchmarkWarmSuccessors does the same with problems that change a little: a tenth of the jobs are gone or new,
// values and capacities move by a hundredth.
func BenchmarkWarmSuccessors(b *testing.B) {
	for _, name := range references {
		for _, l := range limits[1:] {
			b.Run(name+"/"+l.name, func(b *testing.B) {
				for b.Loop() {
					list, e := ways(), native.New(nil)
					opts := l.opts
					opts.Memory = new(solver.Memory)
					p := load(b, name)
					last := solve(b, e, p, opts)
					const cycles = 4
					for c := range uint64(cycles) {
						p = hinted(successor(p, c), last)
						m := last.Memory
						for i := range list {
							last = list[i].look(b, e, p, l.opts, m)
						}
					}
					tell(b, list, cycles)
				}
			})
		}
	}
}

// BenchmarkStaleMemory gives what was learned of another problem, or long ago, within a work limit.
func BenchmarkStaleMemory(b *testing.B) {
	for i, name := range references {
		p := load(b, name)
		foreign := load(b, references[(i+1)%len(references)])
		before := successor(p, 1)
		handed := []struct {
			name string
			p    *solver.Problem
			late int
		}{{"none", nil, 0}, {"right", p, 0}, {"last", before, 0}, {"old", before, 5}, {"foreign", foreign, 0}}
		for _, h := range handed {
			b.Run(name+"/"+h.name, func(b *testing.B) {
				opts := solver.Options{Work: 100_000}
				q := p
				if h.p != nil {
					opts.Memory = new(solver.Memory)
					sol := solve(b, native.New(nil), h.p, opts)
					q, opts.Memory = hinted(p, sol), sol.Memory.Later(h.late)
				}
				benchmark(b, problem{name, q}, opts)
			})
		}
	}
}

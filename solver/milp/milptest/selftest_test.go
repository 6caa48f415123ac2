package milptest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/milptest/reference"
)

// verdict is a reporter that keeps what a case reports.
type verdict struct {
	failed, skipped string
}

func (v *verdict) Helper()             {}
func (v *verdict) Logf(string, ...any) {}
func (v *verdict) Fatalf(format string, args ...any) {
	v.failed = fmt.Sprintf(format, args...)
	runtime.Goexit()
}
func (v *verdict) Skipf(format string, args ...any) {
	v.skipped = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// judge runs one case against b.
func judge(t *testing.T, name string, b milp.Backend, cfg Config) verdict {
	t.Helper()
	list := cases()
	at := slices.IndexFunc(list, func(c testCase) bool { return c.name == name })
	require.NotEqual(t, -1, at, "case %q", name)
	v, done := verdict{}, make(chan struct{})
	go func() {
		defer close(done)
		list[at].on(&v, b, cfg)
	}()
	<-done
	return v
}

// answering is how a liar answers, who knows what is right.
type answering func(ctx context.Context, right milp.Backend, m *milp.Model, opts milp.Options) (*milp.Result, error)

type liar struct {
	right milp.Backend
	lie   answering // nil for the truth
	most  float64   // its Caps.MaxInteger
}

func (l *liar) Name() string { return "liar" }
func (l *liar) Caps() milp.Caps {
	can := l.right.Caps()
	can.MaxInteger = l.most
	return can
}
func (l *liar) Solve(ctx context.Context, m *milp.Model, opts milp.Options) (*milp.Result, error) {
	if l.lie == nil {
		return l.right.Solve(ctx, m, opts)
	}
	return l.lie(ctx, l.right, m, opts)
}

// says bends the answer, and tells of no points, which would give it away.
func says(bend func(m *milp.Model, opts milp.Options, r *milp.Result)) answering {
	return func(ctx context.Context, right milp.Backend, m *milp.Model, opts milp.Options) (*milp.Result, error) {
		told := opts
		told.Incumbent = nil
		r, err := right.Solve(ctx, m, told)
		if err == nil {
			bend(m, opts, r)
		}
		return r, err
	}
}

// at bends the answers that stopped for a reason.
func at(stop milp.Stop, bend func(m *milp.Model, r *milp.Result)) answering {
	return says(func(m *milp.Model, _ milp.Options, r *milp.Result) {
		if r.Stop == stop {
			bend(m, r)
		}
	})
}

// hears bends the question: each variable, each row, and the rest.
func hears(variable func(v *milp.Var), line func(r *milp.Row), rest func(m *milp.Model)) answering {
	return func(ctx context.Context, right milp.Backend, m *milp.Model, opts milp.Options) (*milp.Result, error) {
		opts.Incumbent, opts.Start = nil, nil
		return right.Solve(ctx, misheard(m, variable, line, rest), opts)
	}
}

func misheard(m *milp.Model, variable func(v *milp.Var), line func(r *milp.Row), rest func(m *milp.Model)) *milp.Model {
	out := &milp.Model{Maximize: m.Maximize, Offset: m.Offset}
	for j := range m.Vars() {
		v := m.Var(j)
		if variable != nil {
			variable(&v)
		}
		out.AddVar(v)
	}
	for i := range m.Rows() {
		r := m.Row(i)
		r.Index, r.Value = slices.Clone(r.Index), slices.Clone(r.Value)
		if line != nil {
			line(&r)
		}
		out.AddRow(r)
	}
	if rest != nil {
		rest(out)
	}
	return out
}

// hung is a liar's way of not coming back: it closes over when it is past what should have ended it, and goes on until
// release.
type hung struct {
	over, release chan struct{}
	patient       bool // the suite's patience does not end
	once          sync.Once
	calls         sync.WaitGroup
}

func newHung() *hung { return &hung{over: make(chan struct{}), release: make(chan struct{})} }

func (h *hung) goOn() {
	h.once.Do(func() { close(h.over) })
	<-h.release
}

// after is patience that ends when the liar hangs.
func (h *hung) after(time.Duration) <-chan time.Time {
	c := make(chan time.Time, 1)
	go func() {
		select {
		case <-h.over:
			if h.patient {
				return
			}
			c <- time.Time{}
		case <-h.release:
		}
	}()
	return c
}

// hangs answers rightly until stuck says that it is past the limit.
func (h *hung) hangs(stuck func(ctx context.Context, opts milp.Options) bool) answering {
	return func(ctx context.Context, right milp.Backend, m *milp.Model, opts milp.Options) (*milp.Result, error) {
		h.calls.Add(1)
		defer h.calls.Done()
		r, err := right.Solve(ctx, m, opts)
		if stuck(ctx, opts) {
			h.goOn()
		}
		return r, err
	}
}

// leaks leaves a goroutine behind for each solve.
func (h *hung) leaks(ctx context.Context, right milp.Backend, m *milp.Model, opts milp.Options) (*milp.Result, error) {
	h.calls.Add(1)
	go func() {
		defer h.calls.Done()
		h.goOn()
	}()
	return right.Solve(ctx, m, opts)
}

// lie is a fault, the case that is there to notice it, and what that says.
type lie struct {
	name, noticed, why string
	answer             answering
	hung               *hung
	settling           time.Duration
	most               float64
}

func lies() []lie {
	return slices.Concat(liesOfStatus(), liesOfRows(), liesOfVariables(), liesOfLimits(), liesThatHang(),
		liesOfCallBacks(), liesOfFacts(), liesOfStarts(), liesOfRepeats())
}

func liesOfStatus() []lie {
	return []lie{
		{name: "feasible models are infeasible", noticed: "lp:optimal", why: `says infeasible`,
			answer: at(milp.StopOptimal, func(_ *milp.Model, r *milp.Result) {
				r.Stop, r.X = milp.StopInfeasible, nil
			})},
		{name: "infeasible integer models are optimal", noticed: "mip:infeasible with a feasible relaxation",
			why: "breaks the model", answer: relaxed(func(x float64) float64 {
				return x
			})},
		{name: "infeasible models end for other reasons", noticed: "lp:infeasible", why: "expected [\"infeasible\"]",
			answer: at(milp.StopInfeasible, func(_ *milp.Model, r *milp.Result) {
				r.Stop = milp.StopOther
			})},
		{name: "unbounded models are optimal", noticed: "lp:unbounded", why: `stopped for "optimal"`,
			answer: at(milp.StopUnbounded, func(m *milp.Model, r *milp.Result) {
				r.Stop, r.X, r.Bound = milp.StopOptimal, make([]float64, m.Vars()), 0
			})},
		{name: "unbounded relaxations are unbounded models", noticed: "mip:infeasible or unbounded",
			why: `stopped for "unbounded"`,
			answer: func(ctx context.Context, right milp.Backend, m *milp.Model, opts milp.Options) (*milp.Result, error) {
				r, err := right.Solve(ctx, misheard(m, func(v *milp.Var) { v.Integer = false }, nil, nil), exact())
				if r.Stop == milp.StopUnbounded {
					return r, err
				}
				return right.Solve(ctx, m, opts)
			}},
		{name: "it does not say why", noticed: "lp:optimal", why: `stopped for ""`,
			answer: says(func(_ *milp.Model, _ milp.Options, r *milp.Result) {
				r.Stop = milp.StopNone
			})},
		{name: "nothing", noticed: "lp:optimal", why: "returned nothing",
			answer: func(context.Context, milp.Backend, *milp.Model, milp.Options) (*milp.Result, error) {
				return nil, nil
			}},
		{name: "panic", noticed: "lp:optimal", why: "panic: boom",
			answer: func(context.Context, milp.Backend, *milp.Model, milp.Options) (*milp.Result, error) {
				panic("boom")
			}},
		{name: "NaN in the point", noticed: "lp:optimal", why: "is NaN",
			answer: says(func(_ *milp.Model, _ milp.Options, r *milp.Result) {
				if len(r.X) > 0 {
					r.X[0] = math.NaN()
				}
			})},
		{name: "a point too long", noticed: "lp:optimal", why: "found 3 numbers, expected 2",
			answer: says(func(_ *milp.Model, _ milp.Options, r *milp.Result) {
				r.X = append(r.X, 0)
			})},
		{name: "a bound too good to be true", noticed: "lp:optimal", why: "bound",
			answer: at(milp.StopOptimal, func(m *milp.Model, r *milp.Result) {
				r.Bound += 1e-3 * worse(m, 0)
			})},
		{name: "a loose bound at the optimum", noticed: "lp:optimal", why: "optimal, with a bound",
			answer: at(milp.StopOptimal, func(m *milp.Model, r *milp.Result) {
				r.Bound = better(m, r.Bound)
			})},
		{name: "a point that is not the best, called optimal", noticed: "mip:odd cycle", why: "optimum",
			answer: at(milp.StopOptimal, func(m *milp.Model, r *milp.Result) {
				if m.Name == "odd cycle" {
					r.X, r.Bound = make([]float64, m.Vars()), 0
				}
			})},
	}
}

// better and worse are values beside v.
func better(m *milp.Model, v float64) float64 { return v - worse(m, 0) }
func worse(m *milp.Model, v float64) float64 {
	if m.Maximize {
		return v - 1
	}
	return v + 1
}

// relaxed solves without integers, and rounds those that there are.
func relaxed(round func(float64) float64) answering {
	return func(ctx context.Context, right milp.Backend, m *milp.Model, _ milp.Options) (*milp.Result, error) {
		r, err := right.Solve(ctx, misheard(m, func(v *milp.Var) { v.Integer = false }, nil, nil), exact())
		for j := range r.X {
			if m.Var(j).Integer {
				r.X[j] = round(r.X[j])
			}
		}
		if r.X != nil && m.Integers() > 0 {
			r.Bound = m.Objective(r.X)
		}
		return r, err
	}
}

func liesOfRows() []lie {
	oneSided := func(lower bool) func(*milp.Row) {
		return func(r *milp.Row) {
			if r.Lower < r.Upper && !math.IsInf(r.Lower, -1) && !math.IsInf(r.Upper, 1) {
				if lower {
					r.Upper = inf
				} else {
					r.Lower = -inf
				}
			}
		}
	}
	return []lie{
		{name: "duplicates overwrite one another", noticed: "lp:duplicate entries", why: "breaks the model",
			answer: hears(nil, func(r *milp.Row) {
				for k := 1; k < len(r.Index); k++ {
					if at := slices.Index(r.Index[:k], r.Index[k]); at >= 0 {
						r.Value[at] = 0
					}
				}
			}, nil)},
		{name: "the first of duplicates wins", noticed: "mip:duplicate entries", why: "breaks the model",
			answer: hears(nil, func(r *milp.Row) {
				for k := 1; k < len(r.Index); k++ {
					if slices.Contains(r.Index[:k], r.Index[k]) {
						r.Value[k] = 0
					}
				}
			}, nil)},
		{name: "the offset is ignored", noticed: "lp:offset", why: "bound", answer: hears(nil, nil, func(m *milp.Model) {
			m.Offset = 0
		})},
		{name: "the offset of a minimum is turned round", noticed: "lp:offset of a minimum", why: "bound",
			answer: hears(nil, nil, func(m *milp.Model) {
				m.Offset = -m.Offset
			})},
		{name: "it always minimises", noticed: "lp:optimal", why: "better than its bound|optimum",
			answer: hears(nil, nil, func(m *milp.Model) {
				m.Maximize = false
			})},
		{name: "it always maximises", noticed: "lp:minimise", why: "optimum", answer: hears(nil, nil, func(m *milp.Model) {
			m.Maximize = true
		})},
		{name: "ranges have a lower side alone", noticed: "lp:range, upper side", why: "breaks the model",
			answer: hears(nil, oneSided(true), nil)},
		{name: "ranges have an upper side alone", noticed: "lp:range, lower side", why: "breaks the model",
			answer: hears(nil, oneSided(false), nil)},
		{name: "equations are at most", noticed: "lp:equality", why: "breaks the model",
			answer: hears(nil, func(r *milp.Row) {
				if r.Lower == r.Upper {
					r.Lower = -inf
				}
			}, nil)},
		{name: "small coefficients are none", noticed: "lp:tiny coefficients", why: "breaks the model",
			answer: hears(nil, func(r *milp.Row) {
				for k, v := range r.Value {
					if math.Abs(v) < 1e-5 {
						r.Value[k] = 0
					}
				}
			}, nil)},
		{name: "odd names lose their rows", noticed: "call:names", why: "breaks the model",
			answer: hears(nil, func(r *milp.Row) {
				if strings.ContainsAny(r.Name, " \n") {
					r.Lower, r.Upper = -inf, inf
				}
			}, nil)},
	}
}

func liesOfVariables() []lie {
	return []lie{
		{name: "negative lower bounds are 0", noticed: "lp:negative lower bound", why: "bound",
			answer: hears(func(v *milp.Var) {
				if v.Upper >= 0 && !math.IsInf(v.Lower, -1) {
					v.Lower = math.Max(v.Lower, 0)
				}
			}, nil, nil)},
		{name: "free variables are at least 0", noticed: "lp:free variables", why: "bound", answer: hears(func(v *milp.Var) {
			if math.IsInf(v.Lower, -1) && math.IsInf(v.Upper, 1) {
				v.Lower = 0
			}
		}, nil, nil)},
		{name: "missing lower bounds are 0", noticed: "lp:no lower bound", why: "bound", answer: hears(func(v *milp.Var) {
			if math.IsInf(v.Lower, -1) && v.Upper > 0 {
				v.Lower = 0
			}
		}, nil, nil)},
		{name: "binaries are continuous", noticed: "mip:binaries", why: "expected a whole number",
			answer: hears(func(v *milp.Var) {
				v.Integer = v.Integer && (v.Lower != 0 || v.Upper != 1)
			}, nil, nil)},
		{name: "integers are continuous", noticed: "mip:integers", why: "expected a whole number",
			answer: hears(func(v *milp.Var) {
				v.Integer = false
			}, nil, nil)},
		{name: "integers are rounded down", noticed: "mip:integers", why: "the optimum", answer: relaxed(math.Floor)},
		{name: "integers with a negative bound are binaries", noticed: "mip:range that spans zero", why: "bound",
			answer: hears(func(v *milp.Var) {
				if v.Integer {
					v.Lower = math.Max(v.Lower, 0)
				}
			}, nil, nil)},
		{name: "fractional bounds are rounded outwards", noticed: "mip:fractional bounds", why: "breaks the model",
			answer: hears(func(v *milp.Var) {
				if v.Integer {
					v.Lower, v.Upper = math.Floor(v.Lower), math.Ceil(v.Upper)
				}
			}, nil, nil)},
		{name: "all variables are integer", noticed: "mip:mixed", why: "bound|optimum", answer: hears(func(v *milp.Var) {
			v.Integer = true
		}, nil, nil)},
		{name: "bounds are cut, and the optimum believed", noticed: "mip:integers beyond a cut", why: "wrong side", most: 1e7,
			answer: cuts(nil)},
		{name: "bounds are cut, and the bound believed", noticed: "mip:large integers", why: "wrong side", most: 1e7,
			answer: cuts(func(r *milp.Result) {
				r.Stop = milp.StopOther
			})},
		{name: "bounds are cut, and what is left is infeasible", noticed: "mip:integers all beyond a cut",
			why: "says infeasible", most: 1e7, answer: cuts(nil)},
		{name: "negative costs are dropped where it maximises", noticed: "mip:placement, preemption", why: "bound",
			answer: hears(func(v *milp.Var) {
				v.Cost = math.Max(v.Cost, 0)
			}, nil, nil)},
	}
}

// cuts solves within bounds of 1e7, and bends the answer.
func cuts(bend func(r *milp.Result)) answering {
	return func(ctx context.Context, right milp.Backend, m *milp.Model, opts milp.Options) (*milp.Result, error) {
		r, err := hears(func(v *milp.Var) {
			v.Lower, v.Upper = math.Max(v.Lower, -1e7), math.Min(v.Upper, 1e7)
		}, nil, nil)(ctx, right, m, opts)
		if err == nil && bend != nil {
			bend(r)
		}
		return r, err
	}
}

func liesOfLimits() []lie {
	return []lie{
		{name: "a point at a limit is optimal", noticed: "limit:nodes", why: "bound",
			answer: at(milp.StopNodes, func(m *milp.Model, r *milp.Result) {
				r.Stop, r.Bound = milp.StopOptimal, m.Objective(r.X)
			})},
		{name: "a point at the end of time is optimal", noticed: "limit:time", why: "bound",
			answer: at(milp.StopTime, func(m *milp.Model, r *milp.Result) {
				r.Stop, r.Bound = milp.StopOptimal, m.Objective(r.X)
			})},
		{name: "the bound at a limit is the objective", noticed: "limit:nodes", why: "wrong side",
			answer: at(milp.StopNodes, func(m *milp.Model, r *milp.Result) {
				r.Bound = m.Objective(r.X)
			})},
		{name: "the bound is on the wrong side where it maximises", noticed: "limit:time, maximising", why: "bound",
			answer: at(milp.StopTime, func(m *milp.Model, r *milp.Result) {
				if m.Maximize {
					r.Bound = m.Objective(r.X) - 1
				}
			})},
		{name: "the point is lost at a limit", noticed: "limit:nodes", why: "has no point",
			answer: at(milp.StopNodes, func(_ *milp.Model, r *milp.Result) {
				r.X = nil
			})},
		{name: "the point is lost at a cancellation", noticed: "limit:cancel in Incumbent", why: "has none",
			answer: func(ctx context.Context, right milp.Backend, m *milp.Model, opts milp.Options) (*milp.Result, error) {
				r, err := right.Solve(ctx, m, opts)
				if r.Stop == milp.StopCanceled {
					r.X = nil
				}
				return r, err
			}},
		{name: "a cancellation is an error", noticed: "limit:cancel in Incumbent", why: "context canceled",
			answer: func(ctx context.Context, right milp.Backend, m *milp.Model, opts milp.Options) (*milp.Result, error) {
				r, err := right.Solve(ctx, m, opts)
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				return r, err
			}},
		{name: "a cancellation is infeasible", noticed: "limit:canceled before", why: "says infeasible",
			answer: at(milp.StopCanceled, func(_ *milp.Model, r *milp.Result) {
				r.Stop, r.X = milp.StopInfeasible, nil
			})},
		{name: "a cancellation is the end of time", noticed: "limit:canceled before", why: `stopped for "time"`,
			answer: at(milp.StopCanceled, func(_ *milp.Model, r *milp.Result) {
				r.Stop = milp.StopTime
			})},
		{name: "a deadline is a cancellation", noticed: "limit:past deadline", why: `stopped for "canceled"`,
			answer: at(milp.StopTime, func(_ *milp.Model, r *milp.Result) {
				r.Stop = milp.StopCanceled
			})},
		{name: "nodes are the end of time", noticed: "limit:one node", why: `stopped for "time"`,
			answer: at(milp.StopNodes, func(_ *milp.Model, r *milp.Result) {
				r.Stop = milp.StopTime
			})},
		{name: "a gap is closed by making up a bound", noticed: "limit:gap", why: "wrong side",
			answer: at(milp.StopOptimal, func(m *milp.Model, r *milp.Result) {
				if m.Name == "odd cycle" {
					r.X, r.Bound = make([]float64, m.Vars()), 0
				}
			})},
	}
}

func liesThatHang() []lie {
	past := []*hung{newHung(), newHung(), newHung(), newHung(), newHung(), newHung()}
	for _, h := range past[5:] {
		h.patient = true
	}
	return []lie{
		{name: "it sees no cancellation", noticed: "limit:cancel in Incumbent", why: "patience", hung: past[0],
			answer: past[0].hangs(
				func(ctx context.Context, _ milp.Options) bool { return errors.Is(ctx.Err(), context.Canceled) })},
		{name: "it sees no deadline", noticed: "limit:past deadline", why: "patience", hung: past[1],
			answer: past[1].hangs(
				func(ctx context.Context, _ milp.Options) bool { return errors.Is(ctx.Err(), context.DeadlineExceeded) })},
		{name: "it keeps no time", noticed: "limit:time", why: "patience", hung: past[2],
			answer: past[2].hangs(func(_ context.Context, opts milp.Options) bool { return opts.Time > 0 })},
		{name: "short times are none", noticed: "limit:1 ms", why: "patience", hung: past[3],
			answer: past[3].hangs(func(_ context.Context, opts milp.Options) bool {
				return opts.Time > 0 && opts.Time < 10*time.Millisecond
			})},
		{name: "it counts no nodes", noticed: "limit:nodes", why: "patience", hung: past[4],
			answer: past[4].hangs(func(_ context.Context, opts milp.Options) bool { return opts.Nodes > 0 })},
		{name: "it leaves goroutines behind", noticed: "limit:100 canceled solves", why: "goroutines",
			settling: time.Nanosecond, hung: past[5], answer: past[5].leaks},
	}
}

func liesOfCallBacks() []lie {
	var previous atomic.Pointer[milp.Options]
	return []lie{
		{name: "Incumbent is called after return", noticed: "call:nothing after return", why: "after the return",
			answer: func(ctx context.Context, right milp.Backend, m *milp.Model, opts milp.Options) (*milp.Result, error) {
				if before := previous.Swap(&opts); before != nil {
					before.Incumbent(milp.Point{})
				}
				return right.Solve(ctx, m, opts)
			}},
		{name: "a point told of breaks the model", noticed: "call:incumbents", why: "breaks the model",
			answer: func(ctx context.Context, right milp.Backend, m *milp.Model, opts milp.Options) (*milp.Result, error) {
				x := make([]float64, m.Vars())
				for j := range x {
					x[j] = 1e6
				}
				opts.Incumbent(milp.Point{X: x, Objective: m.Objective(x), Bound: milp.NoBound(m)})
				return right.Solve(ctx, m, opts)
			}},
		{name: "a point told of is worse than the one before", noticed: "call:incumbents", why: "after",
			answer: func(ctx context.Context, right milp.Backend, m *milp.Model, opts milp.Options) (*milp.Result, error) {
				r, err := right.Solve(ctx, m, opts)
				opts.Incumbent(milp.Point{X: make([]float64, m.Vars()), Objective: m.Offset, Bound: milp.NoBound(m)})
				return r, err
			}},
		{name: "a point told of has the objective of the turned model", noticed: "call:incumbents", why: "as one of",
			answer: func(ctx context.Context, right milp.Backend, m *milp.Model, opts milp.Options) (*milp.Result, error) {
				told := opts.Incumbent
				opts.Incumbent = func(p milp.Point) {
					p.Objective = -p.Objective
					told(p)
				}
				return right.Solve(ctx, m, opts)
			}},
		{name: "a bound told of is not known", noticed: "mip:placements", why: "a bound that it told of",
			answer: func(ctx context.Context, right milp.Backend, m *milp.Model, opts milp.Options) (*milp.Result, error) {
				told := opts.Incumbent
				opts.Incumbent = func(p milp.Point) {
					p.Bound = 0
					told(p)
				}
				return right.Solve(ctx, m, opts)
			}},
		{name: "it tells of no points", noticed: "limit:cancel in Incumbent", why: "has told of none",
			answer: func(ctx context.Context, right milp.Backend, m *milp.Model, opts milp.Options) (*milp.Result, error) {
				opts.Incumbent, opts.Nodes = nil, 5
				return right.Solve(ctx, m, opts)
			}},
		{name: "nil call-backs are called", noticed: "call:zero options", why: "panic",
			answer: func(ctx context.Context, right milp.Backend, m *milp.Model, opts milp.Options) (*milp.Result, error) {
				opts.Incumbent(milp.Point{X: make([]float64, m.Vars())})
				return right.Solve(ctx, m, opts)
			}},
		{name: "it keeps its log to itself", noticed: "call:log", why: "said nothing",
			answer: func(ctx context.Context, right milp.Backend, m *milp.Model, opts milp.Options) (*milp.Result, error) {
				opts.Log = nil
				return right.Solve(ctx, m, opts)
			}},
		{name: "lines have ends", noticed: "call:log", why: "not one line",
			answer: func(ctx context.Context, right milp.Backend, m *milp.Model, opts milp.Options) (*milp.Result, error) {
				if opts.Log != nil {
					opts.Log("solving\n")
				}
				return right.Solve(ctx, m, opts)
			}},
	}
}

func liesOfFacts() []lie {
	return []lie{
		{name: "the model is written to", noticed: "call:model unchanged", why: "has changed",
			answer: func(ctx context.Context, right milp.Backend, m *milp.Model, opts milp.Options) (*milp.Result, error) {
				r, err := right.Solve(ctx, m, opts)
				m.Offset++
				return r, err
			}},
		{name: "the model's coefficients are written to", noticed: "call:model unchanged", why: "has changed",
			answer: func(ctx context.Context, right milp.Backend, m *milp.Model, opts milp.Options) (*milp.Result, error) {
				r, err := right.Solve(ctx, m, opts)
				for i := range m.Rows() {
					slices.Reverse(m.Row(i).Value)
				}
				return r, err
			}},
		{name: "the start is written to", noticed: "call:model unchanged", why: "has changed",
			answer: func(ctx context.Context, right milp.Backend, m *milp.Model, opts milp.Options) (*milp.Result, error) {
				for j, v := range opts.Start {
					if math.IsNaN(v) {
						opts.Start[j] = 0
					}
				}
				return right.Solve(ctx, m, opts)
			}},
		{name: "its own word is lost", noticed: "call:facts", why: "raw",
			answer: says(func(_ *milp.Model, _ milp.Options, r *milp.Result) {
				r.Raw = ""
			})},
		{name: "it counts backwards", noticed: "call:facts", why: "-7 nodes",
			answer: says(func(_ *milp.Model, _ milp.Options, r *milp.Result) {
				r.Nodes = -7
			})},
		{name: "it set up for longer than it took", noticed: "call:facts", why: "set up in 1h",
			answer: says(func(_ *milp.Model, _ milp.Options, r *milp.Result) {
				r.SetUp = time.Hour
			})},
		{name: "a start that was not given is accepted", noticed: "call:facts", why: "there was none",
			answer: says(func(_ *milp.Model, _ milp.Options, r *milp.Result) {
				r.Start = milp.StartAccepted
			})},
	}
}

func liesOfStarts() []lie {
	return []lie{
		{name: "an impossible start is accepted", noticed: "call:start of an infeasible model",
			why: "says of the start \"accepted\"", answer: says(func(_ *milp.Model, opts milp.Options, r *milp.Result) {
				if opts.Start != nil {
					r.Start = milp.StartAccepted
				}
			})},
		{name: "an accepted start is thrown away", noticed: "call:start", why: "accepted the start|accepted a start",
			answer: func(ctx context.Context, right milp.Backend, m *milp.Model, opts milp.Options) (*milp.Result, error) {
				opts.Start = nil
				r, err := right.Solve(ctx, m, opts)
				r.Start = milp.StartAccepted
				return r, err
			}},
		{name: "a feasible start is rejected", noticed: "call:start", why: "a start that is feasible",
			answer: func(ctx context.Context, right milp.Backend, m *milp.Model, opts milp.Options) (*milp.Result, error) {
				opts.Start = nil
				r, err := right.Solve(ctx, m, opts)
				r.Start = milp.StartRejected
				return r, err
			}},
		{name: "NaN in a start is 0", noticed: "call:partial start", why: "optimum",
			answer: func(ctx context.Context, right milp.Backend, m *milp.Model, opts milp.Options) (*milp.Result, error) {
				k := 0
				return hears(func(v *milp.Var) {
					if opts.Start != nil && math.IsNaN(opts.Start[k]) {
						v.Upper = math.Min(v.Upper, math.Max(v.Lower, 0))
					}
					k++
				}, nil, nil)(ctx, right, m, opts)
			}},
		{name: "an infeasible start makes the model infeasible", noticed: "call:infeasible start", why: "infeasible",
			answer: says(func(m *milp.Model, opts milp.Options, r *milp.Result) {
				if opts.Start != nil && milp.Check(m, opts.Start) != nil {
					r.Stop, r.X = milp.StopInfeasible, nil
				}
			})},
		{name: "a start stays the answer", noticed: "call:start below the optimum", why: "optimum",
			answer: says(func(m *milp.Model, opts milp.Options, r *milp.Result) {
				if opts.Start != nil && milp.Check(m, opts.Start) == nil {
					r.X, r.Bound = opts.Start, m.Objective(opts.Start)
				}
			})},
	}
}

func liesOfRepeats() []lie {
	var calls atomic.Int64
	shared := &meeting{size: 8}
	return []lie{
		{name: "a cancellation is for good", noticed: "limit:solve after cancel", why: "beside or after",
			answer: afterStop(milp.StopCanceled)},
		{name: "every second solve fails", noticed: "call:twice", why: "and then",
			answer: func(ctx context.Context, right milp.Backend, m *milp.Model, opts milp.Options) (*milp.Result, error) {
				opts.Incumbent = nil
				r, err := right.Solve(ctx, m, opts)
				if calls.Add(1)%2 == 0 {
					r.Stop, r.X = milp.StopOther, nil
				}
				return r, err
			}},
		{name: "threads change the answer", noticed: "call:threads and seeds", why: "threads",
			answer: says(func(m *milp.Model, opts milp.Options, r *milp.Result) {
				if opts.Threads > 1 {
					r.Stop, r.X, r.Bound = milp.StopOther, nil, milp.NoBound(m)
				}
			})},
		{name: "failures leave something behind", noticed: "lp:solve after failure", why: "stopped for \"other\"",
			answer: afterStop(milp.StopInfeasible)},
		{name: "solves share a model", noticed: "call:concurrent", why: "found", answer: shared.solve},
	}
}

// meeting is a liar whose solves all solve the last model. They wait for one another, so that it is not left to chance.
type meeting struct {
	size int

	mu    sync.Mutex
	here  int
	model *milp.Model
	full  chan struct{}
}

func (l *meeting) solve(ctx context.Context, right milp.Backend, m *milp.Model, opts milp.Options) (*milp.Result,
	error) {
	l.mu.Lock()
	if l.here++; l.here == 1 {
		l.full = make(chan struct{})
	}
	l.model = m
	full := l.full
	if l.here == l.size {
		l.here = 0
		close(full)
	}
	l.mu.Unlock()
	<-full
	l.mu.Lock()
	m = l.model
	l.mu.Unlock()
	return right.Solve(ctx, m, milp.Options{Gap: opts.Gap})
}

// afterStop gives up after a solve that stopped for a reason.
func afterStop(reason milp.Stop) answering {
	var broken atomic.Bool
	return says(func(_ *milp.Model, _ milp.Options, r *milp.Result) {
		if broken.Load() {
			r.Stop, r.X = milp.StopOther, nil
		}
		if r.Stop == reason {
			broken.Store(true)
		}
	})
}

func TestEveryLieIsNoticed(t *testing.T) {
	for _, l := range lies() {
		t.Run(l.name, func(t *testing.T) {
			truth := judge(t, l.noticed, &liar{right: reference.New(), most: l.most}, Config{Seeds: 10})
			require.Empty(t, truth.failed, "with the lie off")
			require.Empty(t, truth.skipped)
			cfg := Config{Seeds: 10, settling: l.settling}
			if l.hung != nil {
				cfg.after = l.hung.after
			}
			v := judge(t, l.noticed, &liar{right: reference.New(), lie: l.answer, most: l.most}, cfg)
			if l.hung != nil {
				close(l.hung.release)
				l.hung.calls.Wait()
			}
			require.NotEmpty(t, v.failed, "case %q has not noticed (%s)", l.noticed, v.skipped)
			found := slices.ContainsFunc(strings.Split(l.why, "|"), func(why string) bool {
				return strings.Contains(v.failed, why)
			})
			assert.True(t, found, "expected %q in: %s", l.why, v.failed)
		})
	}
}

func TestCasesHaveNamesAndDocs(t *testing.T) {
	names := Cases()
	assert.GreaterOrEqual(t, len(names), 80)
	slices.Sort(names)
	assert.Len(t, slices.Compact(names), len(Cases()), "names are unique")
	for _, c := range cases() {
		assert.NotEmpty(t, c.doc, c.name)
	}
}

func TestConfigIsChecked(t *testing.T) {
	assert.Empty(t, Config{Skip: map[string]string{"lp:optimal": "why"}}.problems())
	assert.Equal(t, []string{
		`Config.Skip: case "lp:optimal": no reason is given`,
		`Config.Skip: there is no case "lp:optimum"`,
	}, Config{Skip: map[string]string{"lp:optimum": "why", "lp:optimal": ""}}.problems())
	assert.Len(t, Config{Seeds: -1}.problems(), 1)
	v := judge(t, "lp:optimal", reference.New(), Config{Skip: map[string]string{"lp:optimal": "not today"}})
	assert.Equal(t, verdict{skipped: "skipped by Config.Skip: not today"}, v)
}

// TestStatusesAndLinearProgramsAreAskedOfAll: capabilities take none of the core away, but for missing bounds.
func TestStatusesAndLinearProgramsAreAskedOfAll(t *testing.T) {
	for _, c := range cases() {
		if strings.HasPrefix(c.name, "lp:") {
			for _, n := range c.needs {
				assert.Equal(t, wide, n, c.name)
			}
		}
	}
}

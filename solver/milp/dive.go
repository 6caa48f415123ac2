package milp

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"
)

// Diving turns lp, a backend for linear programs, into one for models with integer variables.
//
// It solves the relaxation, whose optimum is the first Bound, and dives from there to integral points. A dive fixes
// integers that are whole, rounds several fractional ones at a time as far as the rows allow, and lets lp solve the
// rest, until all are whole. Then a branch and bound on the relaxations continues from the best point of the dives,
// until the time is up or the gap is reached.
//
// It stops with [StopOptimal] if its best point is within the gap of the bound, and with [StopInfeasible] if the search
// has shown that there is no point. It stops with [StopOther] if lp fails. Without a time limit it also does so after
// 500 linear programs.
//
// Models without integers, and options that Diving does not use, are passed to lp. It has lp's name and lp's
// capabilities, but Caps says Heuristic and not Integer: without cuts, it proves little about larger models.
// Options.Start is used if it fixes the integers of a feasible point. If lp is deterministic and no limit ends the
// solve, so is the result. It is as safe for concurrent use as lp.
func Diving(lp Backend) Backend { return diving{lp} }

// diving is a value, so that two of the same lp count as one backend.
type diving struct{ lp Backend }

// Name implements [Backend].
func (b diving) Name() string { return b.lp.Name() }

// Caps implements [Backend].
func (b diving) Caps() Caps {
	c := b.lp.Caps()
	c.Integer, c.Heuristic, c.Start, c.Incumbents, c.Forgets, c.Nodes = false, true, true, true, false, false
	return c
}

// Solve implements [Backend].
func (b diving) Solve(ctx context.Context, m *Model, opts Options) (*Result, error) {
	if m.Integers() == 0 {
		return b.straight(ctx, m, opts)
	}
	began := time.Now()
	inner, cancel := ctx, context.CancelFunc(func() {})
	if opts.Time > 0 {
		inner, cancel = context.WithTimeout(ctx, opts.Time)
	}
	defer cancel()
	d := newDiver(inner, b.lp, m, opts)
	d.start()
	d.res.SetUp = time.Since(began)
	root, err := d.relax()
	d.res.SetUp += root.SetUp
	if err != nil {
		return nil, err
	}
	d.res.Raw, d.res.Bound = root.Raw, root.Bound
	switch root.Stop {
	case StopUnbounded: // of the relaxation; there may be no whole point
		d.res.Stop = StopInfeasibleOrUnbounded
	case StopOptimal, StopOther:
		d.res.Stop = StopOther
		d.passes(root.X)
	default:
		d.res.Stop = root.Stop
	}
	if err := inner.Err(); err != nil && d.res.Stop == StopOther {
		d.res.Stop = StopOf(ctx.Err())
	}
	return &d.res, nil
}

// straight lets lp solve a model without integers.
func (b diving) straight(ctx context.Context, m *Model, opts Options) (*Result, error) {
	res, err := b.lp.Solve(ctx, m, opts)
	if err != nil || res == nil || opts.Start == nil || res.Start != StartNone {
		return res, err
	}
	told := *res
	told.Start = StartRejected
	return &told, nil
}

// diver is one solve.
type diver struct {
	ctx   context.Context
	lp    Backend
	m     *Model
	opts  Options
	rel   *Model   // m without integers; dom narrows its bounds
	dom   *domains // of rel
	locks []lock   // of m's variables
	most  float64  // the largest cost of an integer
	res   Result   // has the best point
}

func newDiver(ctx context.Context, lp Backend, m *Model, opts Options) *diver {
	rel := m.Clone()
	clear(rel.integer)
	d := &diver{ctx: ctx, lp: lp, m: m, opts: opts, rel: rel, dom: newDomains(m, rel.lower, rel.upper)}
	d.locks = locksOf(m, d.dom.cols)
	for j, whole := range m.integer {
		if whole {
			d.most = math.Max(d.most, math.Abs(m.cost[j]))
		}
	}
	d.res = Result{Bound: NoBound(m)}
	return d
}

// relax lets lp solve the relaxation within the current bounds, and handles its answer. Without an error the result is
// never nil.
func (d *diver) relax() (*Result, error) {
	opts := Options{Gap: -1, Threads: d.opts.Threads, Seed: d.opts.Seed, Log: d.opts.Log}
	if deadline, ok := d.ctx.Deadline(); ok {
		opts.Time = max(1, time.Until(deadline))
	}
	var a answer
	a.res, a.err = d.lp.Solve(d.ctx, d.rel, opts)
	res, err := settle(d.rel, opts, a, &incumbents{m: d.rel})
	d.res.Nodes++
	if res == nil {
		return &Result{}, err
	}
	if d.res.Iterations >= 0 {
		d.res.Iterations += res.Iterations
	}
	if res.Iterations < 0 {
		d.res.Iterations = -1
	}
	return res, err
}

// passes makes points from the relaxation's: one without solving, then by dives around Options.Start, a coarse dive, a
// finer dive that leaves zeros free, and a dive around the best point.
func (d *diver) passes(root []float64) {
	if d.res.X != nil && d.res.Gap() <= d.opts.TargetGap() {
		d.res.Stop = StopOptimal
	}
	if d.res.Start == StartRejected {
		if d.around(d.opts.Start, nil, 4) && d.res.X != nil {
			d.res.Start = StartAccepted
		}
	}
	if root == nil {
		return
	}
	d.complete(root)
	d.dive(root, 1, true)
	d.dive(root, 4, false)
	if d.res.X != nil {
		d.around(d.res.X, root, 8)
		d.complete(d.res.X)
	} else {
		d.dive(root, 16, false)
	}
	if !d.over() {
		d.improve(root)
	}
}

// start keeps Options.Start if it is feasible.
func (d *diver) start() {
	if d.opts.Start == nil {
		return
	}
	d.res.Start = StartRejected
	if d.keep(slices.Clone(d.opts.Start)) {
		d.res.Start = StartAccepted
	}
}

// around dives with the integers fixed as in x, where x has numbers for them. If with is not nil, only integers that
// are the same in both are fixed. It reports whether all of them could be fixed.
func (d *diver) around(x, with []float64, share int) bool {
	d.dom.undo(0)
	all := true
	for j, whole := range d.m.integer {
		v := math.Round(x[j])
		if whole && !math.IsNaN(v) && (with == nil || math.Abs(with[j]-v) <= IntegerTolerance) && !d.over() {
			all = d.try(j, v) && all
		}
	}
	if d.over() {
		return false
	}
	if y, ok := d.point(); ok {
		d.descend(y, share, false)
	}
	return all
}

// dive dives from root with all integers free.
func (d *diver) dive(root []float64, share int, zeros bool) {
	d.dom.undo(0)
	if !d.over() && d.dom.propagate() {
		d.descend(root, share, zeros)
	}
}

// descend dives from point x of the relaxation. Each step rounds one in share of the fractional integers. If zeros is
// true, whole integers at their lower bounds are fixed, too.
func (d *diver) descend(x []float64, share int, zeros bool) {
	for !d.over() {
		d.fixWhole(x, zeros)
		fractional := d.fractional(x)
		if len(fractional) == 0 {
			d.finish(x)
			return
		}
		next, ok := d.round(x, fractional[:(len(fractional)+share-1)/share])
		if !ok {
			d.complete(x)
			return
		}
		x = next
	}
}

// over reports whether there is nothing left to do.
func (d *diver) over() bool {
	if d.ctx.Err() != nil {
		return true
	}
	return d.res.Stop == StopOptimal
}

// point is the relaxation's point within the current bounds, if it may be better than the best point so far.
func (d *diver) point() ([]float64, bool) {
	res, err := d.relax()
	if err != nil || res.X == nil || res.Stop != StopOptimal {
		return nil, false
	}
	return res.X, d.res.X == nil || Better(d.m, res.Objective, d.res.Objective)
}

// fixWhole fixes the free integers that are whole in x, if the rows allow it.
func (d *diver) fixWhole(x []float64, zeros bool) {
	for j, whole := range d.m.integer {
		v := math.Round(x[j])
		if !whole || d.dom.fixed(j) || math.Abs(x[j]-v) > IntegerTolerance || !zeros && v <= d.dom.lower[j] {
			continue
		}
		if d.over() {
			return
		}
		d.try(j, v)
	}
}

// fractional are the integers that are not whole in x, in the order in which to round them: first those that move least
// and matter most. Those that can be rounded without harm to any row come last.
func (d *diver) fractional(x []float64) []int {
	var list []int
	key := make([]float64, len(x))
	for j, whole := range d.m.integer {
		off := math.Abs(x[j] - math.Round(x[j]))
		if !whole || off <= IntegerTolerance {
			continue
		}
		key[j] = off
		if d.most > 0 {
			key[j] = float64(off * (2 - math.Abs(d.m.cost[j])/d.most))
		}
		if d.locks[j].up == 0 || d.locks[j].down == 0 {
			key[j] += 2
		}
		list = append(list, j)
	}
	slices.SortFunc(list, func(a, b int) int { return cmp.Or(cmp.Compare(key[a], key[b]), cmp.Compare(a, b)) })
	return list
}

// round fixes list's integers near x as far as the rows allow, and solves the rest. If that has no point, it tries the
// first integer alone, and then in the other direction. After that the dive ends.
func (d *diver) round(x []float64, list []int) ([]float64, bool) {
	mark := d.dom.mark()
	first, other := d.sides(list[0], x[list[0]])
	done := 0
	for _, j := range list {
		near, far := d.sides(j, x[j])
		moved := x[j] < d.dom.lower[j] || x[j] > d.dom.upper[j] // when others were fixed
		if moved || d.try(j, near) || d.try(j, far) {
			done++
		}
	}
	if done > 0 {
		if next, ok := d.point(); ok || d.over() {
			return next, ok
		}
	}
	for _, v := range []float64{first, other} {
		d.dom.undo(mark)
		if d.try(list[0], v) {
			if next, ok := d.point(); ok || d.over() {
				return next, ok
			}
		}
	}
	return nil, false
}

// try fixes j at v if the rows allow it.
func (d *diver) try(j int, v float64) bool {
	mark := d.dom.mark()
	if d.dom.fix(j, v) {
		return true
	}
	d.dom.undo(mark)
	return false
}

// sides are the whole numbers on both sides of v. The first is the one to which j is rounded: away from the rows that
// limit it if only one direction has such rows, and otherwise the nearer one, or the better one if both are equally
// near.
func (d *diver) sides(j int, v float64) (first, other float64) {
	down, up := math.Floor(v), math.Ceil(v)
	gain := d.m.cost[j]
	if d.m.Maximize {
		gain = -gain
	}
	rise := v-down > 0.5 || v-down == 0.5 && gain < 0
	if l := d.locks[j]; l.up == 0 && l.down > 0 {
		rise = true
	} else if l.down == 0 && l.up > 0 {
		rise = false
	}
	if rise {
		return up, down
	}
	return down, up
}

// finish keeps x, whose integers are whole within the tolerance. It rounds them exactly if the rows allow it.
func (d *diver) finish(x []float64) {
	y := slices.Clone(x)
	for j, whole := range d.m.integer {
		if whole {
			y[j] = math.Round(y[j])
		}
	}
	if d.keep(y) {
		return
	}
	for j, whole := range d.m.integer {
		if whole && !d.dom.fix(j, y[j]) {
			break
		}
	}
	if z, ok := d.point(); ok && d.keep(z) {
		return
	}
	d.keep(x)
}

// keep stores x and reports true if it is a point of m. If it is the best one, it is reported to the caller.
func (d *diver) keep(x []float64) bool {
	if Check(d.m, x) != nil {
		return false
	}
	for j := range x {
		x[j] += 0 // avoids -0
	}
	objective := d.m.Objective(x)
	if d.res.X != nil && !Better(d.m, objective, d.res.Objective) {
		return true
	}
	d.res.X, d.res.Objective = x, objective
	if d.opts.Incumbent != nil {
		d.opts.Incumbent(Point{X: x, Objective: objective, Bound: d.res.Bound})
	}
	if d.res.Stop == StopOther && d.res.Gap() <= d.opts.TargetGap() {
		d.res.Stop = StopOptimal
	}
	return true
}

package native

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/relax"
)

// ascent betters rough prices step by step, which proves tighter bounds, and has greedy plans made by them now and
// then. It steps along the subgradient where the bound has been evaluated last.
type ascent struct {
	*progress
	greedy     *greedy
	recall     *recall
	relaxation *relaxation
	master     *relax.Master
	dir        []float64 // the direction of the last step
	theta      float64   // scales Polyak's step
	volume     bool      // whether directions are averages of subgradients (the volume algorithm)
	alpha      float64   // the weight of the newest one in these
	stale      int       // steps since the bound last fell
}

// reset is the ascent before its first step.
func (a *ascent) reset() {
	a.dir = pack.Resize(a.dir, a.in.Rows)
	clear(a.dir)
	a.theta, a.volume, a.stale = 1, false, 0
}

// run is the whole ascent.
func (a *ascent) run() {
	ahead := a.relaxation.affordable()
	share, steps := a.Share(1)*aloneShare/100, aloneSteps
	if ahead {
		share, steps = a.Share(1)*beforeShare/100, beforeSteps
	}
	switch {
	case ahead && a.recall.warm && a.steady():
	case ahead && a.relaxation.large():
		a.byLevels()
	default:
		a.bySubgradients(share, steps)
	}
}

// bySubgradients makes at most a number of steps, and stops when the prices have taken a number of ops.
func (a *ascent) bySubgradients(ops int64, steps int) {
	restarts := 0
	for i := 1; i <= steps && a.dual.Ops < ops && a.checkpoint(); i++ {
		if !a.step(a.top()) {
			if restarts++; restarts > mostRestarts {
				break
			}
			a.again()
		}
		if i == 4 || i%10 == 0 && i <= 60 || i%40 == 0 { // often at first, when prices change the most
			a.greedy.planByPrices()
			a.dual.Evaluate()
		}
	}
}

// byLevels is the ascent before a large relaxation, to which it leaves the columns of the last steps.
func (a *ascent) byLevels() {
	d, share := &a.dual, a.Share(1)*levelShare/100
	copy(d.Lam, d.Best)
	d.Evaluate()
	copy(a.dir, d.Grad)
	a.stale = 0
	level := 0.5 * (d.Bound - a.top())
	for i := 1; i <= levelSteps && level > 0 && d.Ops < share && a.checkpoint(); i++ {
		if i == 11 {
			d.Chosen = a.take
		}
		if level = a.levelStep(level); i == 10 || i == 25 {
			a.greedy.guide()
			a.greedy.fillByRed()
		}
	}
	d.Chosen = nil
}

// take makes a column of option o with that split.
func (a *ascent) take(o int, split []float64) { a.master.Add(o, split) }

// steady says that the memory's prices are good ones, which the first steps of ascent do not better by much.
func (a *ascent) steady() bool {
	before := a.dual.Bound
	for range 2 * patience { // shorter steps, too, before it is believed
		if !a.checkpoint() || !a.step(a.top()) {
			break
		}
	}
	return before-a.dual.Bound <= 0.1*(before-a.top())
}

// step moves the prices by Polyak's step towards target, a value the bound
// cannot fall below. It reports whether it is worth going on. The direction is
// the subgradient deflected from zigzags, which is quick at first, or after
// again has been called, an average of subgradients (the volume algorithm),
// which gets closer.
func (a *ascent) step(target float64) bool {
	if a.theta < minTheta {
		return false
	}
	d, from := &a.dual, a.dual.Lam
	if a.volume {
		from = d.Best
	}
	norm := a.direct(from)
	if norm <= 1e-18 {
		return false
	}
	t := a.theta * (d.Bound - target) / norm
	for i, v := range a.dir {
		d.Lam[i] = max(0, from[i]-float64(t*v))
	}
	d.Ops += int64(4 * d.In.Rows)
	b := d.Evaluate()
	if b < d.Bound-float64(progressPart*math.Abs(d.Bound)) {
		a.stale = 0
		if a.volume {
			a.theta = min(a.theta*longer, longestStep)
		}
	} else if a.stale++; a.stale >= patience {
		a.shorten()
	}
	if b < d.Bound { // by hardly anything where steps have just been made shorter: the prices are the best ones again then
		d.Bound = b
		copy(d.Best, d.Lam)
	}
	return true
}

// levelStep moves the prices from the best ones along an average of subgradients, by steps that would lower the bound
// by level if they were right about it, and returns the level to go on with: a step that lowers the bound by a good
// part of it makes it higher.
func (a *ascent) levelStep(level float64) float64 {
	d, norm := &a.dual, 0.0
	for i, g := range d.Grad {
		v := a.dir[i] + float64(newest*(g-a.dir[i]))
		a.dir[i] = v
		if d.Best[i] > 0 || v < 0 {
			norm += float64(v * v)
		}
	}
	if norm <= 1e-18 {
		return 0
	}
	for i, v := range a.dir {
		d.Lam[i] = max(0, d.Best[i]-float64(level/norm*v))
	}
	d.Ops += int64(4 * d.In.Rows)
	b := d.Evaluate()
	if a.stale++; d.Bound-b >= goodPart*level {
		a.stale, level = 0, level*longer
	} else if b < d.Bound {
		a.stale--
	}
	if a.stale >= levelPatience {
		a.stale, level = 0, level*shorter
	}
	d.Improve(b)
	return level
}

// shorten makes steps shorter after too many without progress.
func (a *ascent) shorten() {
	a.stale, a.theta = 0, a.theta*shorter
	if d := &a.dual; !a.volume {
		copy(d.Lam, d.Best)
		clear(a.dir)
		d.Evaluate()
	}
}

// again starts over from the best prices with averaged subgradients.
func (a *ascent) again() {
	a.volume, a.theta, a.stale, a.alpha = true, restartTheta, 0, 1
	copy(a.dual.Lam, a.dual.Best)
	a.dual.Evaluate()
}

// direct computes the direction to step in and returns its squared length.
func (a *ascent) direct(from []float64) float64 {
	grad := a.dual.Grad
	alpha, beta := 1.0, 0.0
	if a.volume {
		alpha, beta = a.alpha, 1-a.alpha
		a.alpha = max(averaging, min(a.alpha*weightDecay, firstWeight))
	} else {
		cross, old := 0.0, 0.0
		for i, g := range grad {
			if from[i] == 0 && g > 0 {
				g, grad[i] = 0, 0
			}
			cross += float64(g * a.dir[i])
			old += float64(a.dir[i] * a.dir[i])
		}
		switch {
		case old == 0:
		case cross < 0:
			beta = -deflection * cross / old
		default:
			beta = momentum
		}
	}
	norm := 0.0
	for i, g := range grad {
		v := float64(alpha*g) + float64(beta*a.dir[i])
		if !a.volume && from[i] == 0 && v > 0 {
			v = 0
		}
		a.dir[i] = v
		if from[i] > 0 || v < 0 {
			norm += float64(v * v)
		}
	}
	return norm
}

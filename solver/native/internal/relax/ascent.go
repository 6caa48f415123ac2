package relax

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// The steps of an ascent, as parts of Polyak's, and what they are multiplied by.
const (
	Patience     = 5    // steps without progress that shorten the steps
	shorter      = 0.6  // by that
	longer       = 1.2  // and with progress, if subgradients are averaged
	longestStep  = 2.0  // Polyak's bound for convergence
	minTheta     = 2e-3 // the shortest step, after which there are no more
	restartTheta = 0.3  // the first step of averaged subgradients
	progressPart = 1e-6 // of the bound, that counts as progress
)

// How directions are made of subgradients: deflected from the last direction where they turn against it (Camerini,
// Fratta and Maffioli, 1975, have 1.5), a little along it where they do not; averaged with a weight that falls.
const (
	deflection    = 1.5
	momentum      = 0.3
	firstWeight   = 0.4 // of the newest subgradient
	weightDecay   = 0.97
	averaging     = 0.07 // the least weight
	newest        = 0.15 // the weight in LevelStep, which stays
	goodPart      = 0.2  // of the level, that a step must gain for the next to be longer
	levelPatience = 4    // steps that gain less, before they are shorter
)

// Ascent betters rough prices step by step, which proves tighter bounds. It steps along the subgradient where the bound
// has been evaluated last. Who calls it says how many steps there are, and makes plans by the prices in between.
type Ascent struct {
	dual   *Dual
	dir    []float64 // the direction of the last step
	theta  float64   // scales Polyak's step
	volume bool      // whether directions are averages of subgradients (the volume algorithm)
	alpha  float64   // the weight of the newest one in these
	stale  int       // steps since the bound last fell
}

// NewAscent is the ascent of the prices d.
func NewAscent(d *Dual) Ascent { return Ascent{dual: d} }

// Reset is the ascent before its first step.
func (a *Ascent) Reset() {
	a.dir = pack.Resize(a.dir, a.dual.In.Rows)
	clear(a.dir)
	a.theta, a.volume, a.stale = 1, false, 0
}

// Levels makes ready for LevelStep from the best prices, and returns the first level, where target is a value that the
// bound cannot fall below.
func (a *Ascent) Levels(target float64) (level float64) {
	d := a.dual
	copy(d.Lam, d.Best)
	d.Evaluate()
	copy(a.dir, d.Grad)
	a.stale = 0
	return 0.5 * (d.Bound - target)
}

// Step moves the prices by Polyak's step towards target, a value the bound
// cannot fall below. It reports whether it is worth going on. The direction is
// the subgradient deflected from zigzags, which is quick at first, or after
// Again has been called, an average of subgradients (the volume algorithm),
// which gets closer.
func (a *Ascent) Step(target float64) bool {
	if a.theta < minTheta {
		return false
	}
	d, from := a.dual, a.dual.Lam
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
	} else if a.stale++; a.stale >= Patience {
		a.shorten()
	}
	if b < d.Bound { // by hardly anything where steps have just been made shorter: the prices are the best ones again then
		d.Bound = b
		copy(d.Best, d.Lam)
	}
	return true
}

// LevelStep moves the prices from the best ones along an average of subgradients, by steps that would lower the bound
// by level if they were right about it, and returns the level to go on with: a step that lowers the bound by a good
// part of it makes it higher.
func (a *Ascent) LevelStep(level float64) float64 {
	d, norm := a.dual, 0.0
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
func (a *Ascent) shorten() {
	a.stale, a.theta = 0, a.theta*shorter
	if d := a.dual; !a.volume {
		copy(d.Lam, d.Best)
		clear(a.dir)
		d.Evaluate()
	}
}

// Again starts over from the best prices with averaged subgradients.
func (a *Ascent) Again() {
	a.volume, a.theta, a.stale, a.alpha = true, restartTheta, 0, 1
	copy(a.dual.Lam, a.dual.Best)
	a.dual.Evaluate()
}

// direct computes the direction to step in and returns its squared length.
func (a *Ascent) direct(from []float64) float64 {
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

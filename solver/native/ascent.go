package native

import "math"

// ascent betters rough prices step by step, which proves lower bounds, and has greedy plans made by them now and then.
type ascent struct {
	*progress
	greedy     *greedy
	recall     *recall
	relaxation *relaxation
	lp         *basis
}

// run is the whole ascent.
func (a *ascent) run() {
	ahead := a.relaxation.affordable()
	share, steps := a.share(1)*aloneShare/100, aloneSteps
	if ahead {
		share, steps = a.share(1)*beforeShare/100, beforeSteps
	}
	switch {
	case ahead && a.recall.warm && a.steady():
	case ahead && a.relaxation.large():
		a.byLevels()
	default:
		a.bySubgradients(share, steps)
	}
}

// bySubgradients makes so many steps at most, until the prices have taken so many ops.
func (a *ascent) bySubgradients(ops int64, steps int) {
	restarts := 0
	for i := 1; i <= steps && a.dual.ops < ops && a.proceed(); i++ {
		if !a.dual.step(a.top()) {
			if restarts++; restarts > mostRestarts {
				break
			}
			a.dual.again()
		}
		if i == 4 || i%10 == 0 && i <= 60 || i%40 == 0 { // often at first, when prices change the most
			a.greedy.planByPrices()
			a.dual.evaluate()
		}
	}
}

// byLevels is the ascent before a large relaxation, to which it leaves the columns of the last steps.
func (a *ascent) byLevels() {
	d, share := &a.dual, a.share(1)*levelShare/100
	copy(d.lam, d.best)
	d.evaluate()
	copy(d.dir, d.grad)
	d.stale = 0
	level := 0.5 * (d.bound - a.top())
	for i := 1; i <= levelSteps && level > 0 && d.ops < share && a.proceed(); i++ {
		if i > 10 {
			d.columns = a.lp
		}
		if level = d.levelStep(level); i == 10 || i == 25 {
			a.greedy.guide()
			a.greedy.fillByRed()
		}
	}
	d.columns = nil
}

// steady says that the memory's prices are good ones, which the first steps of ascent do not better by much.
func (a *ascent) steady() bool {
	before := a.dual.bound
	for range 2 * patience { // shorter steps, too, before it is believed
		if !a.proceed() || !a.dual.step(a.top()) {
			break
		}
	}
	return before-a.dual.bound <= 0.1*(before-a.top())
}

// step moves the prices by Polyak's step towards target, a value the bound
// cannot fall below. It reports whether it is worth going on. The direction is
// the subgradient deflected from zigzags, which is quick at first, or after
// again has been called, an average of subgradients (the volume algorithm),
// which gets closer.
func (d *prices) step(target float64) bool {
	if d.theta < minTheta {
		return false
	}
	from := d.lam
	if d.volume {
		from = d.best
	}
	norm := d.direct(from)
	if norm <= 1e-18 {
		return false
	}
	t := d.theta * (d.bound - target) / norm
	for i, v := range d.dir {
		d.lam[i] = max(0, from[i]-float64(t*v))
	}
	d.ops += int64(4 * d.in.Rows)
	b := d.evaluate()
	if b < d.bound-float64(progressPart*math.Abs(d.bound)) {
		d.stale = 0
		if d.volume {
			d.theta = min(d.theta*longer, longestStep)
		}
	} else if d.stale++; d.stale >= patience {
		d.shorten()
	}
	if b < d.bound {
		d.bound = b
		copy(d.best, d.lam)
	}
	return true
}

// levelStep moves the prices from the best ones along an average of subgradients, by steps that would lower the bound by level if they
// were right about it, and returns the level to go on with: a step that lowers the bound by a good part of it makes it higher.
func (d *prices) levelStep(level float64) float64 {
	norm := 0.0
	for i, g := range d.grad {
		v := d.dir[i] + float64(newest*(g-d.dir[i]))
		d.dir[i] = v
		if d.best[i] > 0 || v < 0 {
			norm += float64(v * v)
		}
	}
	if norm <= 1e-18 {
		return 0
	}
	for i, v := range d.dir {
		d.lam[i] = max(0, d.best[i]-float64(level/norm*v))
	}
	d.ops += int64(4 * d.in.Rows)
	b := d.evaluate()
	if d.stale++; d.bound-b >= goodPart*level {
		d.stale, level = 0, level*longer
	} else if b < d.bound {
		d.stale--
	}
	if d.stale >= levelPatience {
		d.stale, level = 0, level*shorter
	}
	if b < d.bound {
		d.bound = b
		copy(d.best, d.lam)
	}
	return level
}

// shorten makes steps shorter after too many without progress.
func (d *prices) shorten() {
	d.stale, d.theta = 0, d.theta*shorter
	if !d.volume {
		copy(d.lam, d.best)
		clear(d.dir)
		d.evaluate()
	}
}

// again starts over from the best prices with averaged subgradients.
func (d *prices) again() {
	d.volume, d.theta, d.stale, d.alpha = true, restartTheta, 0, 1
	copy(d.lam, d.best)
	d.evaluate()
}

// direct computes the direction to step in and returns its squared length.
func (d *prices) direct(from []float64) float64 {
	alpha, beta := 1.0, 0.0
	if d.volume {
		alpha, beta = d.alpha, 1-d.alpha
		d.alpha = max(averaging, min(d.alpha*weightDecay, firstWeight))
	} else {
		cross, old := 0.0, 0.0
		for i, g := range d.grad {
			if from[i] == 0 && g > 0 {
				g, d.grad[i] = 0, 0
			}
			cross += float64(g * d.dir[i])
			old += float64(d.dir[i] * d.dir[i])
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
	for i, g := range d.grad {
		v := float64(alpha*g) + float64(beta*d.dir[i])
		if !d.volume && from[i] == 0 && v > 0 {
			v = 0
		}
		d.dir[i] = v
		if from[i] > 0 || v < 0 {
			norm += float64(v * v)
		}
	}
	return norm
}

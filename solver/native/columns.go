package native

import (
	"math"

	"github.com/hedgesched/hedge/solver"
)

// generate sweeps over all options at prices lam, adds the columns that would
// improve the master, and returns the bound that lam proves and how many were
// added. If the limits are reached on the way, it proves nothing.
func (w *workspace) generate(m *master, d *prices) (bound float64, added int) {
	in := &w.in
	d.window()
	sum := d.base
	for i, c := range d.cap {
		sum += float64(d.lam[i] * c)
	}
	if d.cuts != nil {
		for c, b := range d.cuts.rhs {
			sum += float64(d.lam[in.Rows+c] * b)
		}
	}
	for _, set := range m.active {
		if w.over() {
			return math.Inf(1), added
		}
		if int(set) < len(in.P.Jobs) {
			best, fresh := w.generateJob(m, d, int(set))
			sum += best
			if fresh {
				added++
			}
			continue
		}
		k := int(set) - len(in.P.Jobs)
		switch gain := d.releaseGain(k); w.node.fix[k] {
		case 1:
			sum += gain
		case 0:
			sum += max(0, gain)
		}
		d.ops += int64(in.RunOff[k+1] - in.RunOff[k])
	}
	if math.IsInf(sum, -1) {
		return sum, added // a job that must be placed has no option left
	}
	return sum + float64(1e-10*math.Abs(sum)), added
}

// generateJob is generate for one job: only its best column is added.
func (w *workspace) generateJob(m *master, d *prices, j int) (best float64, fresh bool) {
	in := &w.in
	if w.node.must[j] {
		best = math.Inf(-1)
	}
	best, pick := d.choose(in, j, best)
	if pick >= 0 && best > m.mu(j)+m.tol {
		_, fresh = m.add(pick, d.pick)
	}
	return best, fresh
}

// crash makes the best plan the master's first basis: its options and
// preemptions are the keys of their sets, and the rows' slacks are basic.
func (w *workspace) crash() {
	m := &w.lp
	m.resetBasis()
	for s, c := range m.key {
		m.where[c] = -1
		m.rekey(s, int32(s))
	}
	for j, o := range w.best.Choice {
		if o >= 0 {
			c, _ := m.add(o, w.best.Split[j*w.in.MaxParts:])
			m.rekey(j, c)
		}
	}
	for k, on := range w.best.Preempted {
		if on {
			m.rekey(len(w.in.P.Jobs)+k, w.runColumn(k))
		}
	}
	m.revalue()
}

// relax solves the linear relaxation by column generation from the prices at
// hand until the ops spent on it reach until. It leaves the prices that prove
// the least bound in dual.best.
func (w *workspace) relax(until int64) bool {
	m, d := &w.lp, &w.dual
	w.crash()
	w.resume()
	radius := w.boxIn()
	copy(d.lam, d.best)
	exact := false
	for w.spent() < until && !w.over() {
		bound, added := w.generate(m, d)
		if bound < d.bound {
			d.bound = bound
			copy(d.best, d.lam)
			if w.cfg.Relaxation {
				w.report(w.solution(solver.StopNone))
			}
		}
		done := w.pivots(m.ops + min(max(0, until-w.spent()), roundOps*int64(m.rows)))
		value := m.objective()
		switch {
		case radius > 0:
			radius, added = w.widen(radius, value, done), 1
		case d.bound-value <= w.cfg.loose()*math.Abs(d.bound), added == 0 && exact:
			return true
		}
		mix := 0.5
		exact = added == 0
		if exact {
			mix = 0
		}
		for r := range d.lam {
			d.lam[r] = max(0, m.pi[r]+float64(mix*(d.best[r]-m.pi[r])))
		}
	}
	if radius > 0 {
		w.open()
	}
	return false
}

// roundOps times rows is what the master may take between two sweeps: prices
// change a lot at first, and an optimum over few columns is soon outdated.
const roundOps = 15 * opsPerUnit

// pivots optimizes the master until its ops reach until, looking at the limits
// now and then. It reports whether it is optimal.
func (w *workspace) pivots(until int64) bool {
	for m := &w.lp; m.ops < until && !w.over(); {
		if m.optimize(min(until, m.ops+512*opsPerUnit)) {
			return true
		}
	}
	return false
}

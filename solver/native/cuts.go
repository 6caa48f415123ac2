package native

import (
	"cmp"
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// cuts are inequalities that every plan of whole tasks keeps and the linear relaxation does not,
//
//	Σ_entries coef·tasks there + Σ_running coef·preempted ≤ rhs,
//
// an entry being an option's place in in.Part. They are mixed-integer rounding cuts (Nemhauser and Wolsey,
// 1990; Marchand and Wolsey, 2001) of single capacity rows, and of rows added up over all partitions. Each is a row of the master with a
// price, which makes tasks dearer at its entries: pricing stays as it was.
type cuts struct {
	rhs []float64
	// Entries off[c]:off[c+1] of at and coef are cut c's: at is an index into in.Part, or len(in.Part)+k for
	// running job k.
	off  []int32
	at   []int32
	coef []float64
	// The same by place: head[place] is the first of its entries, next the one after it; of is whose they are.
	head, next []int32
	of         []int32
	// extra is what the cuts' prices add to a task's cost at each place.
	extra []float64
}

// maxCuts bounds the rows that cuts add to the master.
const maxCuts = 300

// reset drops all cuts.
func (k *cuts) reset() {
	k.rhs, k.at, k.coef, k.of, k.next = k.rhs[:0], k.at[:0], k.coef[:0], k.of[:0], k.next[:0]
	k.off = append(k.off[:0], 0)
	k.head = k.head[:0]
}

// add appends the cut whose coefficients are given by place.
func (k *cuts) add(places []int32, dense []float64, rhs float64) {
	for len(k.head) < len(dense) {
		k.head = append(k.head, -1)
	}
	for _, p := range places {
		if v := dense[p]; v != 0 {
			k.next = append(k.next, k.head[p])
			k.head[p] = int32(len(k.at))
			k.at, k.coef, k.of = append(k.at, p), append(k.coef, v), append(k.of, int32(len(k.rhs)))
		}
	}
	k.off = append(k.off, int32(len(k.at)))
	k.rhs = append(k.rhs, rhs)
}

// keep drops the cuts that are not listed.
func (k *cuts) keep(list []bool) {
	n, e := 0, int32(0)
	for i := range k.head {
		k.head[i] = -1
	}
	for c, keep := range list {
		if !keep {
			continue
		}
		lo, hi := k.off[c], k.off[c+1]
		for i := lo; i < hi; i++ {
			p := k.at[i]
			k.at[e], k.coef[e], k.of[e], k.next[e] = p, k.coef[i], int32(n), k.head[p]
			k.head[p] = e
			e++
		}
		k.rhs[n] = k.rhs[c]
		n++
		k.off[n] = e
	}
	k.rhs, k.off = k.rhs[:n], k.off[:n+1]
	k.at, k.coef, k.of, k.next = k.at[:e], k.coef[:e], k.of[:e], k.next[:e]
}

// spread computes extra from the cuts' prices.
func (k *cuts) spread(lam []float64, places int) {
	k.extra = pack.Resize(k.extra, places)
	clear(k.extra)
	for c, l := range lam {
		if l == 0 {
			continue
		}
		for i := k.off[c]; i < k.off[c+1]; i++ {
			k.extra[k.at[i]] += float64(l * k.coef[i])
		}
	}
}

// separator finds cuts that the relaxation's solution breaks.
type separator struct {
	tasks   []float64 // of each place: tasks in the solution; of each running job: how far it is preempted
	places  []int32
	dense   []float64
	items   []item
	lists   [][]item  // of each row: what the solution has there
	divisor []float64 // scratch: amounts to divide by
	found   []found
	keep    []bool
	rowOf   []int32
	broken  []float64
}

// item is what a row has of a place: an amount per unit, and how many units the solution has of it.
type item struct {
	place  int32
	amount float64
	level  float64
}

// found is a cut found: which row, or the sum of all partitions' rows if part is -1, divided by what.
type found struct {
	part, row int
	divisor   float64
	score     float64
}

// mir is the rounding of the inequality Σ amount·x <= b over whole x, divided by d, to Σ of(amount)·x <= floor(b/d).
type mir struct{ d, f0, slope float64 }

// rounding returns the rounding by d and its right-hand side; false if it would be weak or unsafe.
func rounding(b, d float64) (m mir, rhs float64, ok bool) {
	rhs = math.Floor(b / d)
	f0 := b/d - rhs
	if f0 < 0.02 || f0 > 0.98 || rhs > 1e4 {
		return mir{}, 0, false
	}
	return mir{d: d, f0: f0, slope: 1 / (1 - f0)}, rhs, true
}

// of is the rounded coefficient. An amount next below a whole multiple counts as that.
func (m mir) of(amount float64) float64 {
	v := amount / m.d
	lo := math.Floor(v)
	f := v - lo
	if f <= m.f0 {
		return lo
	}
	return lo + float64((f-m.f0)*m.slope)
}

// roomOf is a capacity as cuts see it: with what rounding may let a plan exceed it by.
func roomOf(v float64) float64 { return v + float64(1e-9*v) + 1e-15 }

// separate finds cuts that the master's solution breaks, by the most at first, and adds them. It returns how many.
func (w *workspace) separate(most int) int {
	s := &w.sep
	w.weigh()
	w.levels()
	s.found = s.found[:0]
	tol := w.lp.tol
	for row := range w.in.Rows {
		if w.lp.pi[row] > tol {
			w.tryRow(row/(w.in.R*w.in.T), row%(w.in.R*w.in.T))
		}
	}
	for row := range w.in.R * w.in.T {
		binding := false
		for x := range w.in.Parts {
			binding = binding || w.lp.pi[x*w.in.R*w.in.T+row] > tol
		}
		if binding {
			w.tryRow(-1, row)
		}
	}
	slices.SortStableFunc(s.found, func(a, b found) int { return cmp.Compare(b.score, a.score) })
	most = min(most, len(s.found), maxCuts-len(w.cuts.rhs))
	for _, f := range s.found[:max(most, 0)] {
		w.emit(f)
	}
	return max(most, 0)
}

// levels computes how many tasks the master's solution has at each place, and each row's list of them.
func (w *workspace) levels() {
	s, m, in := &w.sep, &w.lp, &w.in
	n := len(in.Part)
	s.tasks = pack.Resize(s.tasks, n+len(in.P.Running))
	clear(s.tasks)
	s.dense = pack.Resize(s.dense, len(s.tasks))
	clear(s.dense)
	for c := range m.set {
		if m.opt[c] < 0 || m.where[c] == -1 {
			continue
		}
		z := m.weight(int32(c))
		for i, q := range m.split[m.cut[c]:m.cut[c+1]] {
			s.tasks[in.Opts[m.opt[c]].P0+i] += float64(z * q)
		}
	}
	for len(s.lists) < in.Rows {
		s.lists = append(s.lists, nil)
	}
	for r := range in.Rows {
		s.lists[r] = s.lists[r][:0]
	}
	for k := range in.P.Running {
		y := m.weight(w.runColumn(k))
		s.tasks[n+k] = y
		for i := in.RunOff[k]; i < in.RunOff[k+1]; i++ {
			r := in.RunRow[i]
			s.lists[r] = append(s.lists[r], item{int32(n + k), -in.RunAmt[i], y})
		}
	}
	for i := range in.Opts {
		o := &in.Opts[i]
		for p := o.P0; p < o.P1; p++ {
			if s.tasks[p] < 1e-7 || !o.Whole {
				continue
			}
			for k := range o.Demand {
				d := &o.Demand[k]
				row := (in.Part[p]*in.R+d.R)*in.T + o.Start
				for t, u := range o.Usage {
					s.lists[row+t] = append(s.lists[row+t], item{int32(p), d.D * u, s.tasks[p]})
				}
				w.ops += int64(len(o.Usage))
			}
		}
	}
}

// tryRow looks for the best rounding of partition part's row, or of all partitions' rows added up if part is -1.
func (w *workspace) tryRow(part, row int) {
	s := &w.sep
	b := w.itemsOf(part, row)
	s.divisor = s.divisor[:0]
	for i := range s.items {
		it := &s.items[i]
		if f := it.level - math.Floor(it.level); f < 1e-5 || f > 1-1e-5 {
			continue
		}
		if a := math.Abs(it.amount); a > 1e-12 && !slices.Contains(s.divisor, a) && len(s.divisor) < 12 {
			s.divisor = append(s.divisor, a)
		}
	}
	best := found{score: leastScore}
	for _, d := range s.divisor {
		for n := 1.0; n <= 2; n++ {
			if score := s.score(b, d/n); score > best.score {
				best = found{part, row, d / n, score}
			}
		}
	}
	w.ops += int64(4 * len(s.items) * len(s.divisor))
	if best.divisor > 0 {
		s.found = append(s.found, best)
	}
}

// leastScore is how far, in the space of tasks, a cut must cut the solution off to be worth a row.
const leastScore = 0.005

// score is how far the solution is from the rounding by d of the row in items.
func (s *separator) score(b, d float64) float64 {
	m, rhs, ok := rounding(b, d)
	if !ok {
		return 0
	}
	sum, norm := -rhs, 1e-9
	for i := range s.items {
		v := m.of(s.items[i].amount)
		sum += float64(v * s.items[i].level)
		norm += float64(v * v)
	}
	return sum / math.Sqrt(norm)
}

// itemsOf lists what the row has of whole amounts, complemented where the solution is nearer to all than to
// nothing, and returns the row's room.
func (w *workspace) itemsOf(part, row int) float64 {
	s, in := &w.sep, &w.in
	s.items = s.items[:0]
	if part >= 0 {
		row += part * in.R * in.T
		b := roomOf(in.Cap[row])
		for _, it := range s.lists[row] {
			if it.amount < 0 && it.level > 0.5 {
				b -= it.amount
				it.amount, it.level = -it.amount, 1-it.level
			}
			s.items = append(s.items, it)
		}
		return b
	}
	b := 0.0
	for x := range in.Parts {
		b += roomOf(in.Cap[x*in.R*in.T+row])
	}
	for k := range in.P.Running {
		a := w.released(k, row)
		y := s.tasks[len(in.Part)+k]
		switch {
		case a == 0:
		case y > 0.5:
			b += a
			s.items = append(s.items, item{-1, a, 1 - y})
		default:
			s.items = append(s.items, item{-1, -a, y})
		}
	}
	for j := range in.P.Jobs {
		p, a := w.complemented(j, row)
		b -= a
		left := 1.0
		for o := in.JobOpts[j]; o < in.JobOpts[j+1]; o++ {
			z := w.node.weight[o]
			if z < 1e-9 {
				continue
			}
			left -= z
			if v := w.amount(o, row) - a; o != p && v != 0 {
				s.items = append(s.items, item{-1, v, z})
			}
		}
		if p >= 0 {
			s.items = append(s.items, item{-1, -a, max(0, left)})
		}
	}
	return b
}

// complemented is the option of job j that the row is complemented by, and what the whole gang uses of the
// row; -1 if the solution hardly has the job there.
func (w *workspace) complemented(j, row int) (p int, a float64) {
	p, sum := -1, 0.0
	for o := w.in.JobOpts[j]; o < w.in.JobOpts[j+1]; o++ {
		z := w.node.weight[o]
		if z < 1e-9 {
			continue
		}
		v := w.amount(o, row)
		if v == 0 {
			continue
		}
		if sum += z; p < 0 || z > w.node.weight[p] {
			p, a = o, v
		}
	}
	if sum <= 0.5 {
		return -1, 0
	}
	return p, a
}

// amount is what option o's gang uses of (resource, slot) row.
func (w *workspace) amount(o, row int) float64 {
	opt := &w.in.Opts[o]
	t := row%w.in.T - opt.Start
	if t < 0 || t >= len(opt.Usage) {
		return 0
	}
	for i := range opt.Demand {
		if opt.Demand[i].R == row/w.in.T {
			return opt.Count * opt.Demand[i].D * opt.Usage[t]
		}
	}
	return 0
}

// released is what running job k holds of (resource, slot) row.
func (w *workspace) released(k, row int) float64 {
	sum := 0.0
	for i := w.in.RunOff[k]; i < w.in.RunOff[k+1]; i++ {
		if w.in.RunRow[i]%(w.in.R*w.in.T) == row {
			sum += w.in.RunAmt[i]
		}
	}
	w.ops += int64(w.in.RunOff[k+1]-w.in.RunOff[k]) / 4
	return sum
}

// emit adds the cut found.
func (w *workspace) emit(f found) {
	s, in := &w.sep, &w.in
	s.places = s.places[:0]
	m, rhs, ok := rounding(w.itemsOf(f.part, f.row), f.divisor)
	if !ok {
		return
	}
	for k := range in.P.Running {
		a := 0.0
		if f.part < 0 {
			a = w.released(k, f.row)
		} else {
			for i := in.RunOff[k]; i < in.RunOff[k+1]; i++ {
				if in.RunRow[i] == f.part*in.R*in.T+f.row {
					a = in.RunAmt[i]
				}
			}
		}
		if a == 0 {
			continue
		}
		if p := len(in.Part) + k; s.tasks[p] > 0.5 {
			s.set(p, -m.of(a))
			rhs -= m.of(a)
		} else {
			s.set(p, m.of(-a))
		}
	}
	for j := range in.P.Jobs {
		if f.part >= 0 {
			w.emitTasks(m, j, f)
			continue
		}
		p, a := w.complemented(j, f.row)
		slack := 0.0
		if p >= 0 {
			slack = m.of(-a)
			rhs -= slack
		}
		for o := in.JobOpts[j]; o < in.JobOpts[j+1]; o++ {
			opt := &in.Opts[o]
			v := (m.of(w.amount(o, f.row)-a) - slack) / opt.Count
			for i := opt.P0; i < opt.P1; i++ {
				s.set(i, v)
			}
		}
	}
	w.cuts.add(s.places, s.dense, rhs+float64(1e-9*(1+math.Abs(rhs))))
	for _, p := range s.places {
		s.dense[p] = 0
	}
}

// emitTasks gives job j's options their coefficients in a cut of one partition's row.
func (w *workspace) emitTasks(m mir, j int, f found) {
	in := &w.in
	for o := in.JobOpts[j]; o < in.JobOpts[j+1]; o++ {
		opt := &in.Opts[o]
		if !opt.Whole || opt.Dead {
			continue
		}
		a := w.amount(o, f.row)
		if a == 0 {
			continue
		}
		for i := opt.P0; i < opt.P1; i++ {
			if in.Part[i] == f.part {
				w.sep.set(i, m.of(a/opt.Count))
			}
		}
	}
}

func (s *separator) set(place int, v float64) {
	s.places = append(s.places, int32(place))
	s.dense[place] = v
}

// tighten adds cuts to the relaxation, round by round, as long as they lower the bound and the work spent is less than until.
func (w *workspace) tighten(until int64) {
	m, d := &w.lp, &w.dual
	w.resetNode()
	for round, stale := 0, 0; round < maxRoundsOfCuts && stale < 3 && w.spent() < until && !w.over(); round++ {
		before := d.bound
		if w.separate(8+m.rows/8) == 0 {
			break
		}
		w.rebuild()
		bound := w.solveNode(maxRounds, 0)
		if w.over() {
			break
		}
		d.bound = min(d.bound, bound)
		copy(d.best, d.lam)
		w.weigh()
		w.roundProgram()
		if stale++; before-d.bound > 0.02*(before-w.best.Value) {
			stale = 0
		}
	}
	w.guide()
}

// maxRoundsOfCuts bounds the rounds: their gains fall.
const maxRoundsOfCuts = 40

// rebuild makes the master anew with the new cuts and without those that are loose, and goes on from its basis.
func (w *workspace) rebuild() {
	m, d := &w.lp, &w.dual
	w.renumber()
	rows := w.in.Rows + len(w.cuts.rhs)
	for _, v := range []*[]float64{&d.lam, &d.best} {
		for len(*v) < rows {
			*v = append(*v, 0)
		}
		*v = (*v)[:rows]
	}
	clear(d.best[w.in.Rows:])
	if !m.recut(&w.cuts, w.sep.rowOf, w.measure(rows), w.node.penalty) {
		w.crash()
	}
}

// renumber drops the loose cuts, whose slack is basic, and notes the master's rows' new numbers.
func (w *workspace) renumber() {
	s, m := &w.sep, &w.lp
	s.keep, s.rowOf = s.keep[:0], s.rowOf[:0]
	for r := range w.in.Rows {
		s.rowOf = append(s.rowOf, int32(r))
	}
	next := int32(w.in.Rows)
	for c := range w.cuts.rhs {
		row, number := w.in.Rows+c, int32(-1)
		if row >= m.rows || m.slack[row] < 0 {
			number = next
			next++
		}
		s.keep = append(s.keep, number >= 0)
		if row < m.rows {
			s.rowOf = append(s.rowOf, number)
		}
	}
	w.cuts.keep(s.keep)
}

// measure is by how much the present solution breaks each of so many rows.
func (w *workspace) measure(rows int) []float64 {
	s, k := &w.sep, &w.cuts
	s.broken = pack.Resize(s.broken, rows)
	clear(s.broken)
	for c, b := range k.rhs {
		sum := -b
		for e := k.off[c]; e < k.off[c+1]; e++ {
			sum += float64(k.coef[e] * s.tasks[k.at[e]])
		}
		if sum > 1e-6 {
			s.broken[w.in.Rows+c] = sum
		}
	}
	return s.broken
}

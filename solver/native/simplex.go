package native

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// optimize pivots until no column improves the program, or the work, in ops, is
// used up. It reports whether it got there.
func (m *master) optimize(until int64) bool {
	for m.ops < until {
		m.choose()
		if len(m.cand) == 0 {
			return true
		}
		for n := len(m.cand); n > 0 && m.ops < until; n-- {
			c, gain := m.bestCandidate()
			if gain <= m.tol {
				break
			}
			m.enter(c, gain)
		}
	}
	return false
}

// maxCandidates is how many columns a look at all of them picks out.
const maxCandidates = 24

// looked is how many sets a look goes through before it may have enough candidates; fewer are looked at together.
const looked = 64

// choose picks the most promising columns, at most one of a set, into cand:
// row slacks as -1-r.
func (m *master) choose() {
	m.cand, m.gains, m.minGain = m.cand[:0], m.gains[:0], m.tol
	n := len(m.active)
	if n < looked {
		m.chooseOfAll()
		return
	}
	for i := range n {
		if i%looked == looked-1 && len(m.cand) >= maxCandidates*2/3 {
			break
		}
		m.at++
		if m.at >= n {
			m.at = 0
		}
		if c, gain := m.bestOf(int(m.active[m.at])); c >= 0 {
			m.offer(c, gain)
		}
	}
	m.chooseSlacks()
}

// chooseSlacks puts the rows' slacks that gain the most among the candidates.
func (m *master) chooseSlacks() {
	for r, p := range m.pi {
		if g := max(m.lo[r]-p, p-m.hi[r]); g > 0 && m.slack[r] < 0 {
			m.offer(int32(-1-r), g)
		}
	}
}

// chooseOfAll is choose for so few sets that all are looked at.
func (m *master) chooseOfAll() {
	m.weighRows(m.pi)
	for _, s := range m.active {
		k := m.key[s]
		base, at, best := m.val[k]-m.sums[k], int32(-1), 0.0
		for c := m.head[s]; c >= 0; c = m.next[c] {
			if g := m.val[c] - m.sums[c] - base; g > best && m.where[c] == -1 {
				best, at = g, c
			}
		}
		if at >= 0 {
			m.offer(at, best)
		}
	}
	m.ops += int64(len(m.set))
	m.chooseSlacks()
}

// bestOf is set s's column that gains most, -1 if none gains anything, and how much that is.
func (m *master) bestOf(s int) (c int32, gain float64) {
	base, at, best := m.mu(s), int32(-1), 0.0
	for c := m.head[s]; c >= 0; c = m.next[c] {
		if m.where[c] != -1 || (m.opt[c] >= 0 && !m.refund[c] && m.val[c]-base < m.minGain) {
			continue
		}
		if g := m.price(c) - base; g > best {
			best, at = g, c
		}
	}
	return at, best
}

// offer puts column c among the candidates, which are by falling gain, if it gains enough for that.
func (m *master) offer(c int32, gain float64) {
	if gain <= m.minGain {
		return
	}
	i := len(m.cand)
	if i == maxCandidates {
		i--
		m.cand, m.gains = m.cand[:i], m.gains[:i]
	}
	m.cand, m.gains = append(m.cand, c), append(m.gains, gain)
	for ; i > 0 && m.gains[i-1] < m.gains[i]; i-- {
		m.gains[i-1], m.gains[i] = m.gains[i], m.gains[i-1]
		m.cand[i-1], m.cand[i] = m.cand[i], m.cand[i-1]
	}
	if len(m.gains) == maxCandidates {
		m.minGain = m.gains[maxCandidates-1]
	}
}

func (m *master) bestCandidate() (int32, float64) {
	best, at := 0.0, int32(0)
	for _, c := range m.cand {
		g := 0.0
		if c < 0 {
			if r := -1 - c; m.slack[r] < 0 {
				g = max(m.lo[r]-m.pi[r], m.pi[r]-m.hi[r])
			}
		} else if m.where[c] == -1 {
			g = m.price(c) - m.mu(int(m.set[c]))
		}
		if g > best {
			best, at = g, c
		}
	}
	return at, best
}

// ftran computes alpha, the basis' combination that column c less its key equals, and lists what it consists of in nonzero.
func (m *master) ftran(c int32) {
	m.column(c)
	m.lu.ftran(m.alpha, true)
	m.nonzero = m.nonzero[:0]
	for i, a := range m.alpha {
		if a > 1e-13 || a < -1e-13 {
			m.nonzero = append(m.nonzero, int32(i))
		} else {
			m.alpha[i] = 0
		}
	}
	m.ops += int64(m.rows) / 2
}

// column makes alpha column c less its key.
func (m *master) column(c int32) {
	clear(m.alpha)
	if c < 0 {
		m.alpha[-1-c] = 1
		return
	}
	m.scatter(c, 1)
	m.scatter(m.key[m.set[c]], -1)
}

func (m *master) scatter(c int32, sign float64) {
	for i := m.off[c]; i < m.off[c+1]; i++ {
		m.alpha[m.row[i]] += float64(sign * m.amt[i])
	}
}

// enter brings column c, which gains that much per unit, into the basis.
func (m *master) enter(c int32, gain float64) {
	m.ftran(c)
	from, sign := -1, 1.0
	if c >= 0 {
		from = int(m.set[c])
	} else if r := -1 - c; m.pi[r] > m.lo[r] { // the slack becomes negative
		sign = -1
		for _, i := range m.nonzero {
			m.alpha[i] = -m.alpha[i]
		}
	}
	m.rates(from)
	p, s, theta := m.ratio()
	p, s, theta, gain = m.pass(p, s, theta, gain)
	if p < 0 && s < 0 {
		m.clearRates()
		m.refactor() // numerically unbounded
		return
	}
	m.move(theta)
	if s >= 0 {
		p = m.partner(s)
	}
	if p < 0 {
		m.rekey(s, c)
		m.keyValue[s] = theta
		m.clearRates()
		m.lu.unkeep()
		if len(m.soft) > 0 {
			clear(m.rho)
			m.turnSigns(1)
			m.shift(1)
		}
		return
	}
	m.clearRates()
	m.exchange(p, s, c, gain, theta, sign)
}

// shift changes prices by f times what rho, in terms of positions, stands for.
func (m *master) shift(f float64) {
	m.lu.btran(m.rho)
	for r, v := range m.rho {
		m.pi[r] += float64(f * v)
	}
	m.ops += int64(m.rows)
}

// rates computes how fast each set's key changes.
func (m *master) rates(from int) {
	for _, i := range m.nonzero {
		if b := m.basic[i]; b >= 0 {
			m.addRate(m.set[b], m.alpha[i])
		}
	}
	if from >= 0 {
		m.addRate(int32(from), -1)
	}
	m.ops += int64(len(m.nonzero))
}

func (m *master) addRate(s int32, v float64) {
	if !m.mark[s] {
		m.mark[s] = true
		m.marked = append(m.marked, s)
	}
	m.rate[s] += v
}

func (m *master) clearRates() {
	for _, s := range m.marked {
		m.rate[s], m.mark[s] = 0, false
	}
	m.marked = m.marked[:0]
}

// minPivot is what a pivot must be larger than, and the entry of what limits a column.
const minPivot = 1e-9

// ratio finds what limits the entering column: a position, or a set whose key
// falls to zero; of equals, the one with the largest pivot.
func (m *master) ratio() (p, s int, theta float64) {
	p, s, theta = -1, -1, math.Inf(1)
	pivot := 0.0
	better := func(x, a float64) bool {
		t := max(x, 0) / a
		return t < theta-1e-12 || (t <= theta+1e-12 && a > pivot)
	}
	for _, i := range m.nonzero {
		b := m.basic[i]
		if b < 0 && !math.IsInf(m.hi[-1-b], 1) {
			continue
		}
		if a := m.alpha[i]; a > minPivot && better(m.beta[i], a) {
			p, pivot, theta = int(i), a, max(m.beta[i], 0)/a
		}
	}
	for _, k := range m.marked {
		if a := -m.rate[k]; a > minPivot && better(m.keyValue[k], a) {
			p, s, pivot, theta = -1, int(k), a, max(m.keyValue[k], 0)/a
		}
	}
	m.ops += int64(len(m.nonzero))
	return p, s, theta
}

func (m *master) move(theta float64) {
	for _, i := range m.nonzero {
		m.beta[i] -= float64(theta * m.alpha[i])
	}
	for _, s := range m.marked {
		m.keyValue[s] += float64(theta * m.rate[s])
	}
}

// partner is the position of a basic column of set s that can become its key, or -1.
func (m *master) partner(s int) int {
	at, most := -1, math.Inf(-1)
	for i, b := range m.basic {
		if b >= 0 && int(m.set[b]) == s && m.beta[i] > most {
			at, most = i, m.beta[i]
		}
	}
	return at
}

// exchange replaces what is basic at p, or if s is a set its key, by column c, which enters at theta and gains that much per unit.
func (m *master) exchange(p, s int, c int32, gain, theta, dir float64) {
	clear(m.rho)
	m.rho[p] = 1
	pivot, sign := m.alpha[p], dir
	if s >= 0 {
		pivot, sign = m.swapKey(p, s, c), -dir
	}
	f := gain / pivot
	m.turnSigns(f)
	m.shift(f)
	m.replace(p, s, c, theta, dir, float64(sign*pivot))
}

// replace makes column c, at theta, basic at p instead of what is, or of what was set s's key before swapKey; pivot is what its alpha has there.
func (m *master) replace(p, s int, c int32, theta, dir, pivot float64) {
	good := true
	if s >= 0 {
		for _, i := range m.others {
			m.lu.combine(i, int32(p))
			good = m.lu.update(i, 1) && good
		}
		m.column(c)
		m.lu.lower(m.alpha)
		m.lu.unkeep()
		m.lu.keep(m.alpha)
	}
	good = m.lu.update(int32(p), pivot) && good
	if b := m.basic[p]; b >= 0 {
		m.where[b] = -1
	} else {
		m.slack[-1-b] = -1
	}
	m.basic[p], m.beta[p] = c, theta*dir
	if c >= 0 {
		m.where[c] = int32(p)
	} else {
		m.over[-1-c] = dir < 0
		m.slack[-1-c], m.pi[-1-c] = int32(p), m.worthOf(-1-c)
	}
	if m.ops, m.lu.ops = m.ops+m.lu.ops, 0; !good || m.lu.heavy() {
		m.refactor()
	}
}

// swapKey makes the column at position p the key of its set s, and the old key basic at p. It returns what alpha has at p then, if column c
// enters, leaves in rho the row of p by the columns before, and lists the other columns of the set, which change.
func (m *master) swapKey(p, s int, c int32) float64 {
	pivot := -m.alpha[p]
	m.rho[p] = -1
	m.others = m.others[:0]
	for i, b := range m.basic {
		if b >= 0 && int(m.set[b]) == s && i != p {
			m.others = append(m.others, int32(i))
			pivot -= m.alpha[i]
			m.rho[i] = -1
		}
	}
	if c >= 0 && int(m.set[c]) == s {
		pivot++
	}
	m.key[s], m.basic[p] = m.basic[p], m.key[s]
	m.where[m.key[s]], m.where[m.basic[p]] = -2, int32(p)
	m.keyValue[s], m.beta[p] = m.beta[p], m.keyValue[s]
	m.ops += int64(m.rows)
	return pivot
}

// refactor factorises the basis, and computes values and prices anew. Columns that depend on others give way to slacks.
func (m *master) refactor() {
	a, list := &m.matrix, m.structural[:0]
	m.taken = pack.Resize(m.taken, m.rows)
	clear(m.taken)
	clear(m.alpha)
	a.off, a.idx, a.val = append(a.off[:0], 0), a.idx[:0], a.val[:0]
	for _, b := range m.basic {
		if b < 0 {
			m.taken[-1-b] = true
			continue
		}
		list = append(list, b)
		m.scatter(b, 1)
		k := m.key[m.set[b]]
		m.scatter(k, -1)
		for _, c := range [...]int32{b, k} {
			for _, r := range m.row[m.off[c]:m.off[c+1]] {
				if v := m.alpha[r]; v > 1e-13 || v < -1e-13 {
					a.idx, a.val = append(a.idx, r), append(a.val, v)
				}
				m.alpha[r] = 0
			}
		}
		a.off = append(a.off, int32(len(a.idx)))
	}
	m.structural, m.places = list, pack.Resize(m.places, len(list))
	m.lu.factor(m.rows, a, m.taken, m.places)
	for r := range m.rows {
		m.basic[r], m.slack[r] = int32(-1-r), int32(r)
	}
	for i, c := range list {
		p := m.places[i]
		if m.where[c] = p; p >= 0 {
			m.basic[p], m.slack[p] = c, -1
		}
	}
	m.revalue()
}

// revalue computes the values and prices that belong to the basis.
func (m *master) revalue() {
	copy(m.beta, m.rhs)
	for _, c := range m.key {
		for i := m.off[c]; i < m.off[c+1]; i++ {
			m.beta[m.row[i]] -= m.amt[i]
		}
	}
	m.lu.ftran(m.beta, false)
	for s := range m.keyValue {
		m.keyValue[s] = 1
	}
	for i, b := range m.basic {
		if b >= 0 {
			m.keyValue[m.set[b]] -= m.beta[i]
		} else if r := -1 - b; !math.IsInf(m.hi[r], 1) && math.Abs(m.beta[i]) > 1e-9 {
			m.over[r] = m.beta[i] < 0
		}
	}
	m.ops += int64(4 * len(m.key))
	m.reprice()
}

// reprice computes the prices that belong to the basis.
func (m *master) reprice() {
	for i, b := range m.basic {
		if b >= 0 {
			m.pi[i] = m.val[b] - m.val[m.key[m.set[b]]]
		} else {
			m.pi[i] = m.worthOf(-1 - b)
		}
	}
	m.lu.btran(m.pi)
	for r, p := range m.slack {
		if p >= 0 {
			m.pi[r] = m.worthOf(int32(r))
		}
	}
	m.ops += int64(m.rows) + m.lu.ops
	m.lu.ops = 0
}

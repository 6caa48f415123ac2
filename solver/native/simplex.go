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
			if m.pivots%refactorEvery == 0 {
				m.refactor()
			}
		}
	}
	return false
}

// maxCandidates is how many columns a look at all of them picks out.
const maxCandidates = 24

// choose picks the most promising columns, at most one of a set, into cand:
// row slacks as -1-r.
func (m *master) choose() {
	m.cand = m.cand[:0]
	least := m.tol
	gains := m.gains[:0]
	offer := func(c int32, gain float64) {
		if gain <= least {
			return
		}
		i := len(m.cand)
		if i == maxCandidates {
			i--
			m.cand, gains = m.cand[:i], gains[:i]
		}
		m.cand, gains = append(m.cand, c), append(gains, gain)
		for ; i > 0 && gains[i-1] < gains[i]; i-- {
			gains[i-1], gains[i] = gains[i], gains[i-1]
			m.cand[i-1], m.cand[i] = m.cand[i], m.cand[i-1]
		}
		if len(gains) == maxCandidates {
			least = gains[maxCandidates-1]
		}
	}
	n := len(m.active)
	for i := range n {
		if i%64 == 63 && len(m.cand) >= maxCandidates*2/3 {
			break
		}
		m.at++
		if m.at >= n {
			m.at = 0
		}
		s := int(m.active[m.at])
		base := m.mu(s)
		best, at := 0.0, int32(-1)
		for c := m.head[s]; c >= 0; c = m.next[c] {
			if m.where[c] != -1 || (m.opt[c] >= 0 && m.val[c]-base < least) {
				continue
			}
			if g := m.price(c) - base; g > best {
				best, at = g, c
			}
		}
		if at >= 0 {
			offer(at, best)
		}
	}
	for r, p := range m.pi {
		if p < 0 && m.unit[r] < 0 {
			offer(int32(-1-r), -p)
		}
	}
	m.gains = gains
}

func (m *master) bestCandidate() (int32, float64) {
	best, at := 0.0, int32(0)
	for _, c := range m.cand {
		g := 0.0
		if c < 0 {
			if r := -1 - c; m.unit[r] < 0 {
				g = -m.pi[r]
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

// ftran computes alpha, the basis' combination that column c less its key equals.
func (m *master) ftran(c int32) {
	clear(m.alpha)
	if c < 0 {
		m.axpy(int(-1-c), 1)
		return
	}
	m.scatter(c, 1)
	m.scatter(m.key[m.set[c]], -1)
	for _, r := range m.nonzero {
		if w := m.work[r]; w != 0 {
			m.work[r] = 0
			m.axpy(int(r), w)
		}
	}
	m.nonzero = m.nonzero[:0]
}

func (m *master) scatter(c int32, sign float64) {
	for i := m.off[c]; i < m.off[c+1]; i++ {
		m.work[m.row[i]] += float64(sign * m.amt[i])
		m.nonzero = append(m.nonzero, m.row[i])
	}
}

func (m *master) axpy(r int, w float64) {
	if p := m.unit[r]; p >= 0 {
		m.alpha[p] += w
		m.ops++
		return
	}
	col := m.inv[r*m.rows : (r+1)*m.rows]
	alpha := m.alpha[:len(col)]
	for i, v := range col {
		alpha[i] += float64(w * v)
	}
	m.ops += int64(m.rows) / 2
}

// enter brings column c, which gains that much per unit, into the basis.
func (m *master) enter(c int32, gain float64) {
	m.pivots++
	m.ftran(c)
	from := -1
	if c >= 0 {
		from = int(m.set[c])
	}
	m.rates(from)
	p, s, theta := m.ratio()
	if p < 0 && s < 0 {
		m.clearRates()
		return // numerically unbounded: refactoring will tell
	}
	m.move(theta)
	if s >= 0 {
		if p = m.partner(s); p < 0 {
			m.rekey(s, c)
			m.share[s] = theta
			m.clearRates()
			return
		}
		m.swapKey(s, p, s == from)
	}
	m.clearRates()
	m.pivot(p, c, gain, theta)
}

// rates computes how fast each set's key changes.
func (m *master) rates(from int) {
	for i, b := range m.basic {
		if b >= 0 && m.alpha[i] != 0 {
			m.addRate(m.set[b], m.alpha[i])
		}
	}
	if from >= 0 {
		m.addRate(int32(from), -1)
	}
	m.ops += int64(m.rows)
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

// ratio finds what limits the entering column: a position, or a set whose key
// falls to zero; of equals, the one with the largest pivot.
func (m *master) ratio() (p, s int, theta float64) {
	const least = 1e-9
	p, s, theta = -1, -1, math.Inf(1)
	pivot := 0.0
	better := func(x, a float64) bool {
		t := max(x, 0) / a
		return t < theta-1e-12 || (t <= theta+1e-12 && a > pivot)
	}
	for i, a := range m.alpha {
		if a > least && better(m.beta[i], a) {
			p, pivot, theta = i, a, max(m.beta[i], 0)/a
		}
	}
	for _, k := range m.marked {
		if a := -m.rate[k]; a > least && better(m.share[k], a) {
			p, s, pivot, theta = -1, int(k), a, max(m.share[k], 0)/a
		}
	}
	m.ops += int64(m.rows)
	return p, s, theta
}

func (m *master) move(theta float64) {
	for i, a := range m.alpha {
		if a != 0 {
			m.beta[i] -= float64(theta * a)
		}
	}
	for _, s := range m.marked {
		m.share[s] += float64(theta * m.rate[s])
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

// swapKey makes the column at position p the key of its set s, and the old key
// basic at p, in the inverse and in alpha.
func (m *master) swapKey(s, p int, entering bool) {
	m.nonzero = m.nonzero[:0]
	for i, b := range m.basic {
		if b >= 0 && int(m.set[b]) == s && i != p {
			m.nonzero = append(m.nonzero, int32(i))
		}
	}
	flip := func(v []float64) {
		x := -v[p]
		for _, i := range m.nonzero {
			x -= v[i]
		}
		v[p] = x
	}
	for r := range m.rows {
		if m.unit[r] < 0 {
			flip(m.inv[r*m.rows : (r+1)*m.rows])
		}
	}
	flip(m.alpha)
	if entering {
		m.alpha[p]++
	}
	m.nonzero = m.nonzero[:0]
	m.key[s], m.basic[p] = m.basic[p], m.key[s]
	m.where[m.key[s]], m.where[m.basic[p]] = -2, int32(p)
	m.share[s], m.beta[p] = m.beta[p], m.share[s]
	m.ops += int64(2 * m.rows)
}

// pivot replaces what is basic at p by column c, which enters at theta.
func (m *master) pivot(p int, c int32, gain, theta float64) {
	inverse := 1 / m.alpha[p]
	m.alpha[p] = 0
	for i, a := range m.alpha {
		if a > 1e-13 || a < -1e-13 {
			m.nonzero = append(m.nonzero, int32(i))
		}
	}
	for r := range m.rows {
		at := m.unit[r]
		if at >= 0 && int(at) != p {
			continue
		}
		col := m.inv[r*m.rows : (r+1)*m.rows]
		f := inverse
		if at >= 0 {
			clear(col)
			m.unit[r] = -1
		} else if f *= col[p]; f == 0 {
			continue
		}
		for _, i := range m.nonzero {
			col[i] -= float64(f * m.alpha[i])
		}
		col[p] = f
		m.pi[r] += float64(gain * f)
		m.ops += int64(len(m.nonzero)) / 2
	}
	m.nonzero = m.nonzero[:0]
	if b := m.basic[p]; b >= 0 {
		m.where[b] = -1
	}
	m.basic[p], m.beta[p] = c, theta
	if c >= 0 {
		m.where[c] = int32(p)
	} else {
		m.unit[-1-c], m.pi[-1-c] = int32(p), 0
	}
}

// refactor computes inverse, values and prices anew from the basis.
func (m *master) refactor() {
	structural, taken := m.structural[:0], pack.Resize(m.taken, m.rows)
	clear(taken)
	for _, b := range m.basic {
		if b >= 0 {
			structural = append(structural, b)
		} else {
			taken[-1-b] = true
		}
	}
	m.structural, m.taken = structural, taken
	for r := range m.rows {
		m.unit[r] = int32(r)
		m.basic[r] = int32(-1 - r)
	}
	clear(m.pi)
	for _, c := range structural {
		m.ftran(c)
		p, most := -1, 1e-10
		for i, a := range m.alpha {
			if a = math.Abs(a); a > most && !taken[i] {
				p, most = i, a
			}
		}
		if p < 0 {
			m.where[c] = -1 // singular: leave it out
			continue
		}
		taken[p] = true
		m.pivot(p, c, 0, 0)
	}
	m.revalue()
}

// revalue computes the values and prices that belong to the basis.
func (m *master) revalue() {
	copy(m.work, m.rhs)
	for _, c := range m.key {
		for i := m.off[c]; i < m.off[c+1]; i++ {
			m.work[m.row[i]] -= m.amt[i]
		}
	}
	clear(m.alpha)
	for r, v := range m.work {
		m.axpy(r, v)
		m.work[r] = 0
	}
	copy(m.beta, m.alpha)
	for s := range m.share {
		m.share[s] = 1
	}
	for i, b := range m.basic {
		if b >= 0 {
			m.share[m.set[b]] -= m.beta[i]
		}
	}
	m.reprice()
}

// reprice computes the prices that belong to the basis.
func (m *master) reprice() {
	for r := range m.rows {
		m.pi[r] = 0
		if m.unit[r] >= 0 {
			continue
		}
		sum := 0.0
		col := m.inv[r*m.rows : (r+1)*m.rows]
		for i, b := range m.basic {
			if b >= 0 {
				sum += float64((m.val[b] - m.val[m.key[m.set[b]]]) * col[i])
			}
		}
		m.pi[r] = sum
		m.ops += int64(m.rows)
	}
}

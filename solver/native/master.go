package native

import (
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// master is the linear program over columns, that is options with a split, by
// the simplex method (primal; see dualSimplex for the other) with generalised upper bounds: every job and every
// running job is a set of which one unit is given out, to its columns or to its
// slack, so that the basis has one row per (partition, resource, slot) only.
//
// Its duals are prices. Nothing it computes is trusted as a bound: that comes
// from [prices], for whatever prices it is given.
type master struct {
	in   *pack.Instance
	cuts *cuts // rows beyond the instance's; nil is none
	rows int
	ops  int64

	// Columns; column s < len(key) is set s's slack. Sets are the jobs, then the
	// running jobs, and one for what new cuts are broken by. opt is -1 for slacks,
	// running jobs and that.
	set, opt   []int32
	worth, val []float64 // value, and value less penalty
	off        []int32   // entries off[c]:off[c+1] of row and amt
	row        []int32
	amt        []float64
	splitOff   []int32 // splits splitOff[c]:splitOff[c+1] of split
	split      []float64
	refund     []bool  // whether cuts may make the column worth more than its value
	next, head []int32 // columns of a set, newest first
	rowIndex
	generation int // how many times columns have got other numbers

	// The basis: at each position a column, or -1-r for row r's slack; and each
	// set's key column, which is basic outside the inverse.
	basic    []int32
	key      []int32
	where    []int32 // of each column: its position, -1 if nonbasic, -2 if key
	beta     []float64
	keyValue []float64 // of each set: its key's value
	rhs      []float64
	slack    []int32 // of each row: its slack's position, -1 if it is not basic
	box
	lu lu
	pi []float64

	alpha, rate []float64 // of the entering column, by positions and by sets
	rho         []float64 // a row of the inverse
	nonzero     []int32   // positions in alpha
	others      []int32   // positions of the columns of a set that gets another key
	marked      []int32
	active      []int32   // the sets to choose columns of
	cand        []int32   // candidates to enter
	gains       []float64 // of each of cand
	minGain     float64   // what a column must gain more than to be in cand
	mark        []bool
	structural  []int32 // scratch for refactor
	places      []int32
	taken       []bool
	matrix      matrix
	kept        []keptColumn // scratch for recut
	old         []float64
	tol         float64
	at          int // where the last look at the sets stopped
}

// fits says whether there is anything to be a program about.
func (m *master) fits(in *pack.Instance) bool { return in.Rows > 0 }

// reset starts with the empty plan: all slacks basic.
func (m *master) reset(in *pack.Instance) {
	m.start(in, nil)
	m.resetBasis()
}

// start drops all columns but slacks and running jobs'.
func (m *master) start(in *pack.Instance, k *cuts) {
	m.in, m.cuts, m.rows, m.ops, m.lu.ops, m.at = in, k, in.Rows, 0, 0, 0
	if k != nil {
		m.rows += len(k.rhs)
	}
	sets := len(in.P.Jobs) + len(in.P.Running) + 1
	m.set, m.opt, m.worth, m.val = m.set[:0], m.opt[:0], m.worth[:0], m.val[:0]
	m.row, m.amt, m.split, m.next, m.where = m.row[:0], m.amt[:0], m.split[:0], m.next[:0], m.where[:0]
	m.off, m.splitOff, m.refund = append(m.off[:0], 0), append(m.splitOff[:0], 0), m.refund[:0]
	m.head, m.key, m.active = m.head[:0], m.key[:0], m.active[:0]
	m.indexed, m.generation = 0, m.generation+1
	m.keyValue, m.rate = pack.Resize(m.keyValue, sets), pack.Resize(m.rate, sets)
	clear(m.rate)
	m.mark = pack.Resize(m.mark, sets)
	clear(m.mark)
	m.marked = m.marked[:0]
	for s := range sets {
		m.head = append(m.head, -1)
		m.key = append(m.key, int32(s))
		m.keyValue[s] = 1
	}
	m.activate()
	largest := 0.0
	for s := range sets {
		m.finish(s, -1, 0)
		m.where[s] = -2
	}
	for i := range in.Opts {
		largest = max(largest, in.Opts[i].Value)
	}
	m.tol = 1e-9 * largest
	for k := range in.P.Running {
		for i := in.RunOff[k]; i < in.RunOff[k+1]; i++ {
			m.row = append(m.row, int32(in.RunRow[i]))
			m.amt = append(m.amt, -in.RunAmt[i])
		}
		m.appendCuts(len(in.Part)+k, 1)
		m.finish(len(in.P.Jobs)+k, -1, -in.P.Running[k].PreemptCost)
	}
}

// activate makes the program about all sets.
func (m *master) activate() {
	m.active = m.active[:0]
	for s := range len(m.key) - 1 {
		m.active = append(m.active, int32(s))
	}
}

func (m *master) resetBasis() {
	n := m.rows
	m.beta, m.rhs, m.pi = pack.Resize(m.beta, n), pack.Resize(m.rhs, n), pack.Resize(m.pi, n)
	m.alpha, m.rho = pack.Resize(m.alpha, n), pack.Resize(m.rho, n)
	m.lu.reset(n)
	m.basic, m.slack = m.basic[:0], m.slack[:0]
	clear(m.pi)
	for c := range m.where {
		if m.where[c] >= 0 {
			m.where[c] = -1
		}
	}
	for r := range n {
		m.basic = append(m.basic, int32(-1-r))
		m.slack = append(m.slack, int32(r))
		// A little more room in every row, in no two alike, keeps the simplex
		// method from going in circles where many plans fill a row exactly.
		m.rhs[r] = m.capacity(r) + float64(1e-8*(1+math.Mod(float64(r)*0.6180339887, 1)))
		m.beta[r] = m.rhs[r]
	}
	m.unbox()
}

// capacity is row r's right-hand side.
func (m *master) capacity(r int) float64 {
	if r < m.in.Rows {
		return m.in.Cap[r]
	}
	return m.cuts.rhs[r-m.in.Rows]
}

// appendCuts appends the entries that q units at a place have in the cuts' rows.
func (m *master) appendCuts(place int, q float64) {
	if m.cuts == nil || place >= len(m.cuts.head) {
		return
	}
	for e := m.cuts.head[place]; e >= 0; e = m.cuts.next[e] {
		m.row = append(m.row, int32(m.in.Rows)+m.cuts.of[e])
		m.amt = append(m.amt, q*m.cuts.coef[e])
	}
}

// finish closes the column whose entries and split have been appended.
func (m *master) finish(set, opt int, value float64) int32 {
	c := int32(len(m.set))
	m.set = append(m.set, int32(set))
	m.opt = append(m.opt, int32(opt))
	m.worth, m.val = append(m.worth, value), append(m.val, value)
	at := m.off[len(m.off)-1]
	m.refund = append(m.refund, slices.ContainsFunc(m.amt[at:], func(v float64) bool { return v < 0 }))
	m.off = append(m.off, int32(len(m.row)))
	m.splitOff = append(m.splitOff, int32(len(m.split)))
	m.next = append(m.next, m.head[set])
	m.head[set] = c
	m.where = append(m.where, -1)
	return c
}

// add appends option o with the given split unless it is there already, and
// returns the column and whether it is new.
func (m *master) add(o int, split []float64) (c int32, fresh bool) {
	opt := &m.in.Opts[o]
	n := opt.P1 - opt.P0
	for c := m.head[opt.Job]; c >= 0; c = m.next[c] {
		if m.opt[c] == int32(o) && equal(m.split[m.splitOff[c]:m.splitOff[c+1]], split[:n]) {
			return c, false
		}
		m.ops += 4
	}
	return m.append(o, split[:n]), true
}

// append appends option o with the given split.
func (m *master) append(o int, split []float64) int32 {
	opt := &m.in.Opts[o]
	m.split = append(m.split, split...)
	for i, q := range split {
		if q == 0 {
			continue
		}
		for k := range opt.Demand {
			dem := &opt.Demand[k]
			lo := (m.in.Part[opt.P0+i]*m.in.R+dem.R)*m.in.T + opt.Start
			for t, u := range opt.Usage {
				m.row = append(m.row, int32(lo+t))
				m.amt = append(m.amt, q*dem.D*u)
			}
		}
		m.appendCuts(opt.P0+i, q)
	}
	c := m.finish(opt.Job, o, opt.Value)
	m.ops += 3 * int64(m.off[c+1]-m.off[c])
	return c
}

func equal(a, b []float64) bool {
	for i, v := range a {
		if v != b[i] {
			return false
		}
	}
	return true
}

// rekey makes column c the key of its set s.
func (m *master) rekey(s int, c int32) {
	m.where[m.key[s]], m.where[c] = -1, -2
	m.key[s] = c
}

// compact drops the columns that are not basic once there are very many.
func (m *master) compact() {
	if sets := len(m.key); len(m.set) >= sets+len(m.in.P.Running)+2000+12*sets {
		m.drop(0)
	}
}

// drop drops the columns that are not basic and that are short of paying by more than that part of their value.
func (m *master) drop(within float64) {
	fixed := len(m.key) + len(m.in.P.Running)
	m.indexed, m.generation = 0, m.generation+1
	for s := range m.head {
		m.head[s] = -1
	}
	kept := int32(0)
	for c := range m.set {
		if c >= fixed && m.where[c] == -1 && m.short(int32(c), within) {
			continue
		}
		m.keepColumn(int32(c), kept)
		kept++
	}
	m.set, m.opt, m.worth, m.val = m.set[:kept], m.opt[:kept], m.worth[:kept], m.val[:kept]
	m.next, m.where, m.refund = m.next[:kept], m.where[:kept], m.refund[:kept]
	m.off, m.splitOff = m.off[:kept+1], m.splitOff[:kept+1]
	m.row, m.amt, m.split = m.row[:m.off[kept]], m.amt[:m.off[kept]], m.split[:m.splitOff[kept]]
	m.ops += int64(len(m.row))
}

// short says whether column c is short of paying by more than that part of its value; with 0, any is.
func (m *master) short(c int32, within float64) bool {
	return within == 0 || m.price(c) < m.mu(int(m.set[c]))-float64(within*math.Abs(m.worth[c]))
}

// keepColumn moves column from down to number to.
func (m *master) keepColumn(from, to int32) {
	s := m.set[from]
	lo, hi, first, last := m.off[from], m.off[from+1], m.splitOff[from], m.splitOff[from+1]
	copy(m.row[m.off[to]:], m.row[lo:hi])
	copy(m.amt[m.off[to]:], m.amt[lo:hi])
	copy(m.split[m.splitOff[to]:], m.split[first:last])
	m.off[to+1], m.splitOff[to+1] = m.off[to]+hi-lo, m.splitOff[to]+last-first
	m.set[to], m.opt[to], m.worth[to], m.val[to] = s, m.opt[from], m.worth[from], m.val[from]
	m.next[to], m.head[s], m.refund[to] = m.head[s], to, m.refund[from]
	switch p := m.where[from]; {
	case p >= 0:
		m.basic[p] = to
		m.where[to] = p
	case p == -2:
		m.key[s] = to
		m.where[to] = -2
	default:
		m.where[to] = -1
	}
}

// price is column c's value less its rows' prices.
func (m *master) price(c int32) float64 {
	lo, hi := m.off[c], m.off[c+1]
	row, amt := m.row[lo:hi], m.amt[lo:hi]
	sum := m.val[c]
	for i, r := range row {
		sum -= float64(m.pi[r] * amt[i])
	}
	m.ops += int64(hi-lo) + 4
	return sum
}

// runColumn is running job k's column.
func (m *master) runColumn(k int) int32 { return int32(len(m.key) + k) }

// mu is the dual of set s.
func (m *master) mu(s int) float64 { return m.price(m.key[s]) }

// objective is the program's value.
func (m *master) objective() float64 {
	sum := 0.0
	for s, c := range m.key {
		sum += float64(m.keyValue[s] * m.val[c])
	}
	for i, b := range m.basic {
		if b >= 0 {
			sum += float64(m.beta[i] * m.val[b])
		} else {
			sum += float64(m.beta[i] * m.worthOf(-1-b))
		}
	}
	return sum
}

// weight is column c's value in the program.
func (m *master) weight(c int32) float64 {
	switch p := m.where[c]; {
	case p >= 0:
		return m.beta[p]
	case p == -2:
		return m.keyValue[m.set[c]]
	default:
		return 0
	}
}

package native

import (
	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/lp"
)

// master is the master program of the column generation: the linear program of which a column is an option with a split, or that a running job is
// preempted. Every job and every running job is a set. Rows are the instance's, and behind them the cuts'.
//
// First come the slacks, by the numbers of their sets, then the running jobs' columns, then the options'.
type master struct {
	lp.Program
	in       *pack.Instance
	cuts     *cuts     // nil is none
	opt      []int32   // of each column: its option, -1 for all that is no option's
	splitOff []int32   // splits splitOff[c]:splitOff[c+1] of split
	split    []float64 // of options' columns
	limits   []float64 // scratch: the rows' right-hand sides
}

// reset starts with the empty plan of the instance, and no cuts.
func (m *master) reset(in *pack.Instance) {
	m.begin(in, nil)
	m.Ops = 0
	m.AllSlacks()
}

// begin drops all columns but slacks and running jobs', for a program with cuts k; nil is none. There is no basis then.
func (m *master) begin(in *pack.Instance, k *cuts) {
	m.in, m.cuts = in, k
	m.limits = append(m.limits[:0], in.Cap[:in.Rows]...)
	if k != nil {
		m.limits = append(m.limits, k.rhs...)
	}
	largest := 0.0
	for i := range in.Opts {
		largest = max(largest, in.Opts[i].Value)
	}
	m.Program.Begin(m.limits, len(in.P.Jobs)+len(in.P.Running)+1, 1e-9*largest)
	for k := range in.P.Running {
		for i := in.RunOff[k]; i < in.RunOff[k+1]; i++ {
			m.Entry(int32(in.RunRow[i]), -in.RunAmt[i])
		}
		m.appendCuts(len(in.Part)+k, 1)
		m.Finish(len(in.P.Jobs)+k, -in.P.Running[k].PreemptCost)
	}
	m.Fix()
	m.opt, m.splitOff, m.split = m.opt[:0], m.splitOff[:0], m.split[:0]
	for range m.Set {
		m.opt, m.splitOff = append(m.opt, -1), append(m.splitOff, 0)
	}
	m.splitOff = append(m.splitOff, 0)
}

// append appends option o with the given split.
func (m *master) append(o int, split []float64) int32 {
	opt := &m.in.Opts[o]
	for i, q := range split {
		if q == 0 {
			continue
		}
		for k := range opt.Demand {
			dem := &opt.Demand[k]
			lo := (m.in.Part[opt.P0+i]*m.in.R+dem.R)*m.in.T + opt.Start
			for t, u := range opt.Usage {
				m.Entry(int32(lo+t), q*dem.D*u)
			}
		}
		m.appendCuts(opt.P0+i, q)
	}
	c := m.Finish(opt.Job, opt.Value)
	m.note(o, split)
	m.Ops += 3 * int64(m.Length(c))
	return c
}

// note notes what the newest column is: an option with a split, or -1 with none.
func (m *master) note(opt int, split []float64) {
	m.opt, m.split = append(m.opt, int32(opt)), append(m.split, split...)
	m.splitOff = append(m.splitOff, int32(len(m.split)))
}

// appendCuts appends the entries that q units at a place have in the cuts' rows.
func (m *master) appendCuts(place int, q float64) {
	if m.cuts == nil || place >= len(m.cuts.head) {
		return
	}
	for e := m.cuts.head[place]; e >= 0; e = m.cuts.next[e] {
		m.Entry(int32(m.in.Rows)+m.cuts.of[e], q*m.cuts.coef[e])
	}
}

// mend appends a column, of the set that is for it, that makes up for so much of row r at a cost.
func (m *master) mend(r int, amt, cost float64) int32 {
	m.Entry(int32(r), -amt)
	c := m.Finish(len(m.Key)-1, -cost)
	m.note(-1, nil)
	return m.Admit(c)
}

// add appends option o with the given split unless it is there already, and
// returns the column and whether it is new.
func (m *master) add(o int, split []float64) (c int32, fresh bool) {
	opt := &m.in.Opts[o]
	split = split[:opt.P1-opt.P0]
	if c = m.find(o, split); c >= 0 {
		return c, false
	}
	return m.Admit(m.append(o, split)), true
}

// find is option o's column with the given split; -1 if there is none.
func (m *master) find(o int, split []float64) int32 {
	for c := m.Head[m.in.Opts[o].Job]; c >= 0; c = m.Next[c] {
		if m.opt[c] == int32(o) && equal(m.splitOf(c), split) {
			return c
		}
		m.Ops += 4
	}
	return -1
}

func equal(a, b []float64) bool {
	for i, v := range a {
		if v != b[i] {
			return false
		}
	}
	return true
}

// compact drops the columns that are not basic once there are very many.
func (m *master) compact() {
	if m.Many() {
		m.drop(0)
	}
}

// drop drops the columns that are not basic and that are short of paying by more than that part of their value.
func (m *master) drop(within float64) {
	kept := 0
	for c, to := range m.Program.Drop(within) {
		if to < 0 {
			continue
		}
		lo, hi := m.splitOff[c], m.splitOff[c+1]
		copy(m.split[m.splitOff[to]:], m.split[lo:hi])
		m.splitOff[to+1], m.opt[to] = m.splitOff[to]+hi-lo, m.opt[c]
		kept = int(to) + 1
	}
	m.opt, m.splitOff = m.opt[:kept], m.splitOff[:kept+1]
	m.split = m.split[:m.splitOff[kept]]
}

// runColumn is running job k's column.
func (m *master) runColumn(k int) int32 { return int32(len(m.Head) + k) }

// splitOf is how column c's tasks are split over its option's partitions.
func (m *master) splitOf(c int32) []float64 { return m.split[m.splitOff[c]:m.splitOff[c+1]] }

// preempted is how far the program preempts running job k.
func (m *master) preempted(k int) float64 { return m.Weight(m.runColumn(k)) }

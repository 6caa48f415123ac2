package relax

import (
	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/lp"
)

// Master is the master program of the column generation: the linear program of which a column is an option with a
// split, or that a running job is preempted. Every job and every running job is a set. Rows are the instance's, and
// behind them the cuts'.
//
// First come the slacks, by the numbers of their sets, then the running jobs' columns, then the options'.
type Master struct {
	lp.Program
	In       *pack.Instance
	cuts     *Cuts     // nil is none
	Opt      []int32   // of each column: its option, -1 for all that is no option's
	SplitOff []int32   // splits SplitOff[c]:SplitOff[c+1] of Split
	Split    []float64 // of options' columns
	limits   []float64 // scratch: the rows' right-hand sides
}

// Reset starts with the empty plan of the instance, and no cuts.
func (m *Master) Reset(in *pack.Instance) {
	m.Begin(in, nil)
	m.Ops = 0
	m.AllSlacks()
}

// Begin drops all columns but slacks and running jobs', for a program with cuts k; nil is none. There is no basis then.
func (m *Master) Begin(in *pack.Instance, k *Cuts) {
	m.In, m.cuts = in, k
	m.limits = append(m.limits[:0], in.Cap[:in.Rows]...)
	if k != nil {
		m.limits = append(m.limits, k.RHS...)
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
	m.Opt, m.SplitOff, m.Split = m.Opt[:0], m.SplitOff[:0], m.Split[:0]
	for range m.Set {
		m.Opt, m.SplitOff = append(m.Opt, -1), append(m.SplitOff, 0)
	}
	m.SplitOff = append(m.SplitOff, 0)
}

// Append appends option o with the given split.
func (m *Master) Append(o int, split []float64) int32 {
	opt := &m.In.Opts[o]
	for i, q := range split {
		if q == 0 {
			continue
		}
		for k := range opt.Demand {
			dem := &opt.Demand[k]
			lo := (m.In.Part[opt.P0+i]*m.In.R+dem.R)*m.In.T + opt.Start
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
func (m *Master) note(opt int, split []float64) {
	m.Opt, m.Split = append(m.Opt, int32(opt)), append(m.Split, split...)
	m.SplitOff = append(m.SplitOff, int32(len(m.Split)))
}

// appendCuts appends the entries that q units at a place have in the cuts' rows.
func (m *Master) appendCuts(place int, q float64) {
	if m.cuts == nil || place >= len(m.cuts.head) {
		return
	}
	for e := m.cuts.head[place]; e >= 0; e = m.cuts.next[e] {
		m.Entry(int32(m.In.Rows)+m.cuts.of[e], q*m.cuts.Coef[e])
	}
}

// AddArtificial appends an artificial column, of the set that is for them, and returns it. A unit of it makes up for a
// violation of row r by amt, and costs cost.
func (m *Master) AddArtificial(r int, amt, cost float64) int32 {
	m.Entry(int32(r), -amt)
	c := m.Finish(len(m.Key)-1, -cost)
	m.note(-1, nil)
	return m.Admit(c)
}

// Add appends option o with the given split unless it is there already, and
// returns the column and whether it is new.
func (m *Master) Add(o int, split []float64) (c int32, fresh bool) {
	opt := &m.In.Opts[o]
	split = split[:opt.P1-opt.P0]
	if c = m.find(o, split); c >= 0 {
		return c, false
	}
	return m.Admit(m.Append(o, split)), true
}

// find is option o's column with the given split; -1 if there is none.
func (m *Master) find(o int, split []float64) int32 {
	for c := m.Head[m.In.Opts[o].Job]; c >= 0; c = m.Next[c] {
		if m.Opt[c] == int32(o) && equal(m.SplitOf(c), split) {
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

// Compact drops the columns that are not basic once there are very many.
func (m *Master) Compact() {
	if m.Many() {
		m.Drop(0)
	}
}

// Drop drops the columns that are not basic and that are short of paying by more than that part of their value.
func (m *Master) Drop(within float64) {
	kept := 0
	for c, to := range m.Program.Drop(within) {
		if to < 0 {
			continue
		}
		lo, hi := m.SplitOff[c], m.SplitOff[c+1]
		copy(m.Split[m.SplitOff[to]:], m.Split[lo:hi])
		m.SplitOff[to+1], m.Opt[to] = m.SplitOff[to]+hi-lo, m.Opt[c]
		kept = int(to) + 1
	}
	m.Opt, m.SplitOff = m.Opt[:kept], m.SplitOff[:kept+1]
	m.Split = m.Split[:m.SplitOff[kept]]
}

// RunColumn is running job k's column.
func (m *Master) RunColumn(k int) int32 { return int32(len(m.Head) + k) }

// SplitOf is how column c's tasks are split over its option's partitions.
func (m *Master) SplitOf(c int32) []float64 { return m.Split[m.SplitOff[c]:m.SplitOff[c+1]] }

// Preempted is how far the program preempts running job k.
func (m *Master) Preempted(k int) float64 { return m.Weight(m.RunColumn(k)) }

// Tasks adds up how many tasks the program's solution has at each place, and behind these how far it preempts each
// running job.
func (m *Master) Tasks(tasks []float64) {
	clear(tasks)
	for c := range m.Set {
		if m.Opt[c] < 0 || m.Where[c] == -1 {
			continue
		}
		z := m.Weight(int32(c))
		for i, q := range m.SplitOf(int32(c)) {
			tasks[m.In.Opts[m.Opt[c]].P0+i] += float64(z * q)
		}
	}
	for k := range m.In.P.Running {
		tasks[len(m.In.Part)+k] = m.Preempted(k)
	}
}

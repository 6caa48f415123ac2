package native

import (
	"slices"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/pack"
)

// rooms is what there is in all partitions of an equivalence set together, in each resource and slot: a room. An option takes as much of the rooms of all
// sets that contain its own, however its tasks are split. What does not fit into them has no split; what fits may have none either.
//
// Rooms are numbered by set, resource and slot, in this order.
type rooms struct {
	*progress
	sets   [][]int   // of partitions, in order; the first is all of them
	of     []int32   // of each option: its set, or the first one
	within [][]int32 // of each set: all that contain it
	around [][]int32 // of each partition: the sets that it is in
	all    []float64 // what there is at most, with every running job preempted
	parts  []int     // scratch: the partitions of the last option
	rows   []float64 // scratch: what there is at most in each row
}

// Sets beyond so many, or with more rooms than that, are left out: what is in them counts against all partitions together only.
const (
	mostSets  = 24
	mostRooms = 4096
)

// reset finds the sets.
func (m *rooms) reset() {
	in := &m.in
	m.sets = m.sets[:0]
	m.parts = m.parts[:0]
	for x := range in.Parts {
		m.parts = append(m.parts, x)
	}
	m.sets = append(m.sets, slices.Clone(m.parts))
	m.of = pack.Resize(m.of, len(in.Opts))
	for o := range in.Opts {
		if parts := in.Part[in.Opts[o].P0:in.Opts[o].P1]; o == 0 || !slices.Equal(parts, m.parts) {
			m.parts = append(m.parts[:0], parts...)
			m.of[o] = m.find(parts)
		} else {
			m.of[o] = m.of[o-1]
		}
		m.spend(int64(in.Opts[o].P1-in.Opts[o].P0) / 4)
	}
	m.join()
	m.all = pack.Resize(m.all, len(m.sets)*m.lines())
	clear(m.all)
	m.rows = append(m.rows[:0], in.Cap...)
	for i, row := range in.RunRow {
		m.rows[row] += in.RunAmt[i]
	}
	m.spend(int64(len(in.RunRow)))
	for row, v := range m.rows {
		m.add(m.all, row, v+float64(2*solver.Tolerance*max(v, in.Scale(row/in.T%in.R))))
	}
}

// find is the set of those partitions, a new one if there is room for it, or the first one.
func (m *rooms) find(parts []int) int32 {
	set := slices.Sorted(slices.Values(parts))
	m.spend(int64(8*len(parts) + len(m.sets)))
	at := slices.IndexFunc(m.sets, func(s []int) bool { return slices.Equal(s, set) })
	if n := len(m.sets); at < 0 && n < mostSets && (n+1)*m.lines() <= mostRooms {
		m.sets = append(m.sets, set)
		at = n
	}
	return int32(max(at, 0))
}

// join finds out which sets contain which others, and which partitions.
func (m *rooms) join() {
	m.within = m.within[:0]
	m.around = make([][]int32, m.in.Parts)
	for s, set := range m.sets {
		var list []int32
		for k, other := range m.sets {
			if contains(other, set) {
				list = append(list, int32(k))
			}
		}
		m.within = append(m.within, list)
		for _, x := range set {
			m.around[x] = append(m.around[x], int32(s))
		}
	}
}

// contains says whether everything in b is in a, which are in order.
func contains(a, b []int) bool {
	return !slices.ContainsFunc(b, func(x int) bool {
		_, found := slices.BinarySearch(a, x)
		return !found
	})
}

// lines is how many rooms a set has.
func (m *rooms) lines() int { return m.in.R * m.in.T }

// add adds v to the rooms that a row of the instance is part of.
func (m *rooms) add(left []float64, row int, v float64) {
	n := m.lines()
	for _, s := range m.around[row/n] {
		left[int(s)*n+row%n] += v
	}
	m.spend(int64(len(m.around[row/n])))
}

// hold takes off what running job k holds.
func (m *rooms) hold(k int, left []float64) {
	for i := m.in.RunOff[k]; i < m.in.RunOff[k+1]; i++ {
		m.add(left, m.in.RunRow[i], -m.in.RunAmt[i])
	}
}

// take takes off what option o takes.
func (m *rooms) take(o int, left []float64) {
	opt := &m.in.Opts[o]
	for _, s := range m.within[m.of[o]] {
		for i := range opt.Demand {
			row := left[m.first(s, opt, i):]
			w := opt.Count * opt.Demand[i].D
			for t, u := range opt.Usage {
				row[t] -= float64(w * u)
			}
		}
	}
	m.spend(int64(len(m.within[m.of[o]]) * len(opt.Demand) * len(opt.Usage)))
}

// fits says whether option o fits.
func (m *rooms) fits(o int, left []float64) bool {
	opt := &m.in.Opts[o]
	for _, s := range m.within[m.of[o]] {
		for i := range opt.Demand {
			row := left[m.first(s, opt, i):]
			w := opt.Count * opt.Demand[i].D
			for t, u := range opt.Usage {
				if float64(w*u) > row[t] {
					m.spend(int64(t))
					return false
				}
			}
		}
	}
	m.spend(int64(len(m.within[m.of[o]]) * len(opt.Demand) * len(opt.Usage)))
	return true
}

// first is the room of set s where the option's usage of its i-th demand begins.
func (m *rooms) first(s int32, opt *pack.Option, i int) int {
	return int(s)*m.lines() + opt.Demand[i].R*m.in.T + opt.Start
}

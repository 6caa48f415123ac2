package pack

import (
	"cmp"
	"slices"
)

// Preemptor places options by preempting running jobs, cheapest room first.
type Preemptor struct {
	// ByCost lists running jobs by falling cost: the order to spare them in.
	ByCost []int
	// Cheap lists running jobs by rising Rank: the order to preempt them in.
	Cheap []int
	// Rank is each running job's price of room; lower goes first.
	Rank []float64
	// Late, if it is not nil, ends the placing of an option when it says so.
	Late func() bool

	tried []int
	at    []bool // partitions of the option being placed
}

// Reset sets the orders for in, ranking by cost per released amount.
func (q *Preemptor) Reset(in *Instance) {
	n := len(in.P.Running)
	q.ByCost, q.Cheap, q.Rank = Resize(q.ByCost, n), Resize(q.Cheap, n), Resize(q.Rank, n)
	for m := range n {
		q.ByCost[m], q.Cheap[m] = m, m
		room := 1e-12
		for i := in.RunOff[m]; i < in.RunOff[m+1]; i++ {
			room += in.RunAmt[i]
		}
		q.Rank[m] = in.P.Running[m].PreemptCost / room
	}
	slices.SortStableFunc(q.ByCost, func(a, b int) int {
		return cmp.Compare(in.P.Running[b].PreemptCost, in.P.Running[a].PreemptCost)
	})
	q.Sort()
}

// Sort brings Cheap into the order of Rank.
func (q *Preemptor) Sort() {
	slices.SortStableFunc(q.Cheap, func(a, b int) int { return cmp.Compare(q.Rank[a], q.Rank[b]) })
}

// TryPlace places option o, preempting running jobs whose costs together stay
// below budget, and reports whether it did; if not, the plan is as before.
func (q *Preemptor) TryPlace(s *State, o int, budget float64) bool {
	if s.TryPlace(o) {
		return true
	}
	opt := &s.In.Opts[o]
	if opt.Dead {
		return false
	}
	q.mark(s.In, opt)
	q.tried = q.tried[:0]
	spent := 0.0
	placed := false
	for _, m := range q.Cheap {
		if q.Late != nil && q.Late() {
			break
		}
		cost := s.In.P.Running[m].PreemptCost
		if s.Preempted[m] || spent+cost >= budget || !q.helps(s, opt, m) {
			continue
		}
		s.Preempt(m)
		spent += cost
		q.tried = append(q.tried, m)
		if placed = s.TryPlace(o); placed {
			break
		}
	}
	for i := len(q.tried) - 1; i >= 0; i-- {
		if m := q.tried[i]; !placed || !s.Needed(m) {
			s.Unpreempt(m)
		}
	}
	return placed
}

// mark notes o's partitions in at.
func (q *Preemptor) mark(in *Instance, o *Option) {
	q.at = Resize(q.at, in.Parts)
	clear(q.at)
	for _, x := range in.Part[o.P0:o.P1] {
		q.at[x] = true
	}
}

// helps says whether running job m holds anything that o, whose partitions are
// marked, could use at its start.
func (q *Preemptor) helps(s *State, o *Option, m int) bool {
	in := s.In
	for i := in.RunOff[m]; i < in.RunOff[m+1]; i++ {
		row := in.RunRow[i]
		if row%in.T == o.Start && q.at[row/in.T/in.R] {
			return true
		}
	}
	return false
}

package pack

import (
	"cmp"
	"slices"
)

// Preemptor places options by preempting running jobs. It takes the cheapest room first.
type Preemptor struct {
	// ByCost lists running jobs by falling cost, the order in which to spare them.
	ByCost []int
	// Cheap lists running jobs by rising Rank, the order in which to preempt them.
	Cheap []int
	// Rank is each running job's price of room; lower goes first.
	Rank []float64
	// Late, if not nil, ends the placing of an option when it reports true.
	Late func() bool

	tried []int
	at    []bool // partitions of the option being placed
}

// Reset sets the orders for in. Its ranks are costs per released amount.
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

// Sort sorts Cheap by Rank.
func (q *Preemptor) Sort() {
	slices.SortStableFunc(q.Cheap, func(a, b int) int { return cmp.Compare(q.Rank[a], q.Rank[b]) })
}

// TryPlace places option o by preempting running jobs whose total cost stays below budget. It reports whether it did.
// If not, the plan is as before.
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

// mark sets at for o's partitions.
func (q *Preemptor) mark(in *Instance, o *Option) {
	q.at = Resize(q.at, in.Parts)
	clear(q.at)
	for _, x := range in.Part[o.P0:o.P1] {
		q.at[x] = true
	}
}

// helps reports whether running job m holds anything that o could use at its start. o's partitions are marked.
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

package warm

import (
	"math"
	"math/rand/v2"

	"github.com/hedgesched/hedge/solver"
)

// Corrupt makes the memory's numbers anything, and has all the named running jobs preempted, twice.
func (m *Memory) Corrupt(r *rand.Rand, running []solver.Running) {
	anything := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, 1e-300, 1e300, 0.3, 7}
	some := func() float64 { return anything[r.IntN(len(anything))] }
	past := m.root
	if past == nil {
		past = &Root{} // proven without a relaxation
	}
	for i := range past.prices {
		past.prices[i] = some()
	}
	for i := range past.splits {
		past.splits[i] = solver.Split{Partition: r.IntN(9) - 3, Count: some()}
	}
	for i := range m.plan.splits {
		m.plan.splits[i] = solver.Split{Partition: r.IntN(4), Count: some()}
	}
	for _, run := range running {
		m.plan.preempted = append(m.plan.preempted, run.ID, run.ID)
	}
	for i := range past.columns {
		past.columns[i].start += r.IntN(3) - 1
		past.columns[i].count += r.IntN(3) - 1
	}
	for _, parts := range [][]string{past.parts, m.plan.parts} {
		for i := range parts {
			parts[i] = parts[r.IntN(len(parts))] // some twice
		}
	}
}

// Columns is how many columns the memory has of a relaxation.
func (m *Memory) Columns() int {
	if m.root == nil {
		return 0
	}
	return len(m.root.columns)
}

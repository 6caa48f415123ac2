package predict

import (
	"maps"
	"slices"
)

// Quantity names what is forecast of a job besides its runtime. Any name is allowed; policies know those below.
type Quantity string

// Quantities of one task of a job. For a job of several tasks, averages are means over its tasks, and maxima are those
// of the task with the largest.
const (
	// CPU is the average number of cores that a task uses while it runs unhindered.
	CPU Quantity = "cpu"
	// CPUMax is a task's peak CPU, in cores.
	CPUMax Quantity = "cpu.max"
	// Memory is a task's average memory, in the unit of the nodes' capacities.
	Memory Quantity = "memory"
	// MemoryMax is a task's peak memory, in the same unit.
	MemoryMax Quantity = "memory.max"
	// CPUTime is the CPU time that a task needs, in core-seconds.
	CPUTime Quantity = "cpu.time"
)

// Used is how much of a quantity a run used.
type Used struct {
	Quantity Quantity
	// Value is the amount, finite and not negative.
	Value float64
	// AtLeast marks Value as a lower bound: the CPU was throttled, or the run was cut off.
	AtLeast bool
}

// Usage holds the forecasts of a job's quantities. It is immutable and safe for concurrent use. A nil Usage has none.
type Usage struct {
	names []Quantity // sorted
	of    []Prediction
}

// NewUsage returns a Usage of these forecasts. The Usage field of each forecast is dropped.
func NewUsage(of map[Quantity]Prediction) *Usage {
	u := &Usage{names: slices.Sorted(maps.Keys(of)), of: make([]Prediction, 0, len(of))}
	for _, q := range u.names {
		p := of[q]
		p.Usage = nil
		u.of = append(u.of, p)
	}
	return u
}

// Of returns the forecast of a quantity, and whether there is one.
func (u *Usage) Of(q Quantity) (Prediction, bool) {
	if u == nil {
		return Prediction{}, false
	}
	i, ok := slices.BinarySearch(u.names, q)
	if !ok {
		return Prediction{}, false
	}
	return u.of[i], true
}

// Quantities are the forecast quantities, sorted by name. The slice must not be modified.
func (u *Usage) Quantities() []Quantity {
	if u == nil {
		return nil
	}
	return u.names
}

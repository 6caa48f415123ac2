package predict

import (
	"maps"
	"slices"
)

// Quantity names what is forecast of a job besides its runtime. Any name will do; those below are known to policies.
type Quantity string

// What one task of a job uses. A job with several tasks is observed by the mean over them, and its maximum by the
// largest of them.
const (
	// CPU is the average number of cores that a task uses while it runs unhindered.
	CPU Quantity = "cpu"
	// CPUMax is the most cores that a task uses at a time.
	CPUMax Quantity = "cpu.max"
	// Memory is a task's average memory.
	Memory Quantity = "memory"
	// MemoryMax is the most memory that a task has at a time.
	MemoryMax Quantity = "memory.max"
	// CPUTime is the work of a task, in core-seconds.
	CPUTime Quantity = "cpu.time"
)

// Used is how much of a quantity a run has used.
type Used struct {
	Quantity Quantity
	// Value is the amount, finite and not negative.
	Value float64
	// AtLeast tells that the run would have used more if it could: CPU that was throttled, work that was cut off.
	AtLeast bool
}

// Usage is the forecasts of a job's quantities. It is immutable, and nil is the one without any.
type Usage struct {
	names []Quantity // sorted
	of    []Prediction
}

// NewUsage returns the usage with these forecasts. Their own Usage is left out.
func NewUsage(of map[Quantity]Prediction) *Usage {
	u := &Usage{names: slices.Sorted(maps.Keys(of)), of: make([]Prediction, 0, len(of))}
	for _, q := range u.names {
		p := of[q]
		p.Usage = nil
		u.of = append(u.of, p)
	}
	return u
}

// Of is the forecast of a quantity, and whether there is one.
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

// Quantities are the names of what is forecast, sorted. The slice must not be modified.
func (u *Usage) Quantities() []Quantity {
	if u == nil {
		return nil
	}
	return u.names
}

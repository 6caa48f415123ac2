package solver

import (
	"fmt"
	"math"
)

// Limits of what Validate accepts. They are far beyond any cluster, and keep index arithmetic of engines within range.
const (
	maxSlots  = 1 << 20
	maxCount  = math.MaxInt32
	maxAmount = 1e24 // of a resource: a million nodes' memory in bytes is 1e19
	maxValue  = 1e15 // of options and preemptions
)

// Validate returns an error unless p is well formed: lengths agree, numbers are finite and in range, indices exist, ids
// are unique. The error is [ErrInvalid] and names the first wrong field and its value. A hint is never invalid: if it
// names no job or no option, it is stale and ignored.
func Validate(p *Problem) error {
	if p == nil {
		return invalid("problem", "is nil")
	}
	if !(p.SlotSeconds > 0) || math.IsInf(p.SlotSeconds, 0) {
		return invalid("slot_seconds", "%v is not a positive number", p.SlotSeconds)
	}
	if p.Slots < 1 || p.Slots > maxSlots {
		return invalid("slots", "%d is not in [1, %d]", p.Slots, maxSlots)
	}
	if err := validateCapacity(p); err != nil {
		return err
	}
	if err := validateJobs(p); err != nil {
		return err
	}
	return validateRunning(p)
}

func invalid(field, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s", ErrInvalid, field, fmt.Sprintf(format, args...))
}

// amount reports whether v can be an amount of a resource: finite, not negative, and not
// absurdly large.
func amount(v float64) bool { return v >= 0 && v <= maxAmount }

func validateCapacity(p *Problem) error {
	for i, x := range p.Partitions {
		if x.Nodes < 0 {
			return invalid(fmt.Sprintf("partitions[%d].nodes", i), "%d is negative", x.Nodes)
		}
	}
	if len(p.Capacity) != len(p.Partitions) {
		return invalid("capacity", "has %d partitions, want %d", len(p.Capacity), len(p.Partitions))
	}
	for x, byResource := range p.Capacity {
		if len(byResource) != len(p.Resources) {
			return invalid(fmt.Sprintf("capacity[%d]", x), "has %d resources, want %d", len(byResource), len(p.Resources))
		}
		for r, bySlot := range byResource {
			if len(bySlot) != p.Slots {
				return invalid(fmt.Sprintf("capacity[%d][%d]", x, r), "has %d slots, want %d", len(bySlot), p.Slots)
			}
			for t, v := range bySlot {
				if !amount(v) {
					return invalid(fmt.Sprintf("capacity[%d][%d][%d]", x, r, t), "%v is not in [0, %g]", v, maxAmount)
				}
			}
		}
	}
	return nil
}

func validateJobs(p *Problem) error {
	seen := make(map[string]int, len(p.Jobs))
	mark := make([]int, len(p.Partitions))
	stamp := 0
	for j := range p.Jobs {
		job := &p.Jobs[j]
		if first, dup := seen[job.ID]; dup {
			return invalid(fmt.Sprintf("jobs[%d].id", j), "%q is the id of jobs[%d] too", job.ID, first)
		}
		seen[job.ID] = j
		for i := range job.Options {
			stamp++
			if field, why := checkOption(p, &job.Options[i], mark, stamp); why != "" {
				return invalid(fmt.Sprintf("jobs[%d].options[%d].%s", j, i, field), "%s (job %q)", why, job.ID)
			}
		}
	}
	return nil
}

// checkOption returns the first bad field of o and what is wrong with it.
// mark[x] == stamp says that partition x has been listed already.
func checkOption(p *Problem, o *Option, mark []int, stamp int) (field, why string) {
	switch {
	case o.Start < 0 || o.Start >= p.Slots:
		return "start", fmt.Sprintf("%d is not in [0, %d)", o.Start, p.Slots)
	case o.Count < 1 || o.Count > maxCount:
		return "count", fmt.Sprintf("%d is not in [1, %d]", o.Count, maxCount)
	case !(o.Value > 0) || o.Value > maxValue:
		return "value", fmt.Sprintf("%v is not in (0, %g]", o.Value, maxValue)
	case len(o.Partitions) == 0:
		return "partitions", "is empty"
	case len(o.Usage) > p.Slots-o.Start:
		return "usage", fmt.Sprintf("has %d slots, at most %d remain after start %d", len(o.Usage), p.Slots-o.Start, o.Start)
	}
	for i, x := range o.Partitions {
		if x < 0 || x >= len(p.Partitions) {
			return fmt.Sprintf("partitions[%d]", i), fmt.Sprintf("%d is not in [0, %d)", x, len(p.Partitions))
		}
		if mark[x] == stamp {
			return fmt.Sprintf("partitions[%d]", i), fmt.Sprintf("%d is listed twice", x)
		}
		mark[x] = stamp
	}
	for t, u := range o.Usage {
		if !(u > 0 && u <= 1) {
			return fmt.Sprintf("usage[%d]", t), fmt.Sprintf("%v is not in (0, 1]", u)
		}
	}
	return checkDemand(p, o.Demand)
}

func checkDemand(p *Problem, demand []float64) (field, why string) {
	if len(demand) != len(p.Resources) {
		return "demand", fmt.Sprintf("has %d resources, want %d", len(demand), len(p.Resources))
	}
	for r, d := range demand {
		if !amount(d) {
			return fmt.Sprintf("demand[%d]", r), fmt.Sprintf("%v is not in [0, %g]", d, maxAmount)
		}
	}
	return "", ""
}

func validateRunning(p *Problem) error {
	seen := make(map[string]int, len(p.Running))
	mark := make([]int, len(p.Partitions))
	for m := range p.Running {
		run := &p.Running[m]
		if first, dup := seen[run.ID]; dup {
			return invalid(fmt.Sprintf("running[%d].id", m), "%q is the id of running[%d] too", run.ID, first)
		}
		seen[run.ID] = m
		if field, why := checkRunning(p, run, mark, m+1); why != "" {
			return invalid(fmt.Sprintf("running[%d].%s", m, field), "%s (running job %q)", why, run.ID)
		}
	}
	return nil
}

func checkRunning(p *Problem, run *Running, mark []int, stamp int) (field, why string) {
	if !(run.PreemptCost >= 0 && run.PreemptCost <= maxValue) {
		return "preempt_cost", fmt.Sprintf("%v is not in [0, %g]", run.PreemptCost, maxValue)
	}
	if len(run.Usage) > p.Slots {
		return "usage", fmt.Sprintf("has %d slots, want at most %d", len(run.Usage), p.Slots)
	}
	for t, u := range run.Usage {
		if !(u >= 0 && u <= 1) {
			return fmt.Sprintf("usage[%d]", t), fmt.Sprintf("%v is not in [0, 1]", u)
		}
	}
	for i, a := range run.Alloc {
		switch {
		case a.Partition < 0 || a.Partition >= len(p.Partitions):
			return fmt.Sprintf("alloc[%d].partition", i), fmt.Sprintf("%d is not in [0, %d)", a.Partition, len(p.Partitions))
		case a.Count < 1 || a.Count > maxCount:
			return fmt.Sprintf("alloc[%d].count", i), fmt.Sprintf("%d is not in [1, %d]", a.Count, maxCount)
		case mark[a.Partition] == stamp:
			return fmt.Sprintf("alloc[%d].partition", i), fmt.Sprintf("%d is listed twice", a.Partition)
		}
		mark[a.Partition] = stamp
	}
	return checkDemand(p, run.Demand)
}

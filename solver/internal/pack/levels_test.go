package pack_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/pack"
)

// TestLevels: there is a copy of a resource for each set of jobs that may not take some running job's room, and no other.
func TestLevels(t *testing.T) {
	for name, c := range map[string]struct {
		jobs, least []int
		want        []string
	}{
		"none set":       {[]int{0, 0}, []int{0, 0}, nil},
		"all may":        {[]int{3, 5}, []int{2, 3, -1}, nil},
		"nobody may":     {[]int{3, 5}, []int{6, 7}, nil},
		"nobody runs":    {[]int{3, 5}, nil, nil},
		"nobody waits":   {nil, []int{1}, nil},
		"some may":       {[]int{0, 1}, []int{1}, []string{"cpu below 1"}},
		"three sets":     {[]int{2, 0, 1}, []int{1, 2, 1}, []string{"cpu below 1", "cpu below 2"}},
		"nobody between": {[]int{0, 5}, []int{1, 3, 5, 6}, []string{"cpu below 1"}},
		"the greatest there": {[]int{math.MinInt, math.MaxInt}, []int{math.MaxInt, math.MinInt},
			[]string{"cpu below 9223372036854775807"}},
	} {
		p := &solver.Problem{SlotSeconds: 1, Slots: 1, Resources: []string{"cpu", "mem"},
			Partitions: []solver.Partition{{}}, Capacity: [][][]float64{{{1}, {1}}}}
		for _, at := range c.jobs {
			p.Jobs = append(p.Jobs, solver.Job{Priority: at, Options: []solver.Option{
				{Count: 1, Demand: []float64{1, 1}, Partitions: []int{0}, Usage: []float64{1}, Value: 1}}})
		}
		for _, at := range c.least {
			p.Running = append(p.Running, solver.Running{MinPriority: at, Demand: []float64{1, 0}, Usage: []float64{1},
				Alloc: []solver.Alloc{{Partition: 0, Count: 1}}})
		}
		var in pack.Instance
		in.Load(p, solver.SplitsInteger)
		assert.Equal(t, append([]string{"cpu", "mem"}, c.want...), in.Names(), name)
		assert.Equal(t, len(in.Names()), in.R, name)
		assert.Equal(t, in.R*in.T, in.Rows, name)
	}
}

package pack

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
)

// rack is one partition with one resource and one slot, and a job of one task per value.
func rack(capacity, demand float64, values ...float64) *solver.Problem {
	p := &solver.Problem{SlotSeconds: 1, Slots: 1, Resources: []string{"byte"},
		Partitions: []solver.Partition{{}}, Capacity: [][][]float64{{{capacity}}}}
	for i, v := range values {
		p.Jobs = append(p.Jobs, solver.Job{ID: string(rune('a' + i)), Options: []solver.Option{
			{Count: 1, Demand: []float64{demand}, Partitions: []int{0}, Usage: []float64{1}, Value: v}}})
	}
	return p
}

func held(demand, cost float64) solver.Running {
	return solver.Running{PreemptCost: cost, Demand: []float64{demand}, Usage: []float64{1},
		Alloc: []solver.Alloc{{Count: 1}}}
}

func load(p *solver.Problem) *State {
	in, s := &Instance{}, &State{}
	in.Load(p, solver.SplitsInteger)
	s.Reset(in)
	return s
}

func TestReleaseKeepsNothing(t *testing.T) {
	in := &Instance{}
	in.Load(rack(4, 1, 1, 2, 3), solver.SplitsInteger)
	in.Release()
	assert.Nil(t, in.P)
	for _, o := range in.Opts[:cap(in.Opts)] {
		assert.Nil(t, o.Usage)
	}
}

// TestSettleDropsWhatDoesNotFit: rounding of a huge running job's amount hides how much room there is.
func TestSettleDropsWhatDoesNotFit(t *testing.T) {
	p := rack(2, 1, 5, 9, 7)
	p.Running = []solver.Running{held(1e18, 1)}
	s := load(p)
	s.Preempt(0)
	for o := range 3 {
		require.True(t, s.TryPlace(o))
	}
	s.Unpreempt(0) // as a caller does that trusts the residual
	assert.False(t, s.Settle())
	assert.Equal(t, []int{-1, 1, 2}, s.Choice, "the least valuable goes")
	assert.Equal(t, 16.0, s.Value)
	require.NoError(t, solver.Verify(p, s.Solution("pack", solver.StopWork), solver.SplitsInteger))
	assert.True(t, s.Settle())
}

// TestNeededSeesLittle: one byte is in use of the tebibyte that a running job holds.
func TestNeededSeesLittle(t *testing.T) {
	p := rack(0, 1, 5)
	p.Running = []solver.Running{held(1<<40, 1), held(1e11/3, 1)}
	s := load(p)
	s.Preempt(0)
	s.Preempt(1)
	s.Unpreempt(1) // leaves rounding behind
	assert.False(t, s.Needed(0))
	require.True(t, s.TryPlace(0))
	assert.True(t, s.Needed(0))
	s.Remove(0)
	assert.False(t, s.Needed(0))
}

// TestPlacePartAndShift: four tasks have room for three, and two of them move.
func TestPlacePartAndShift(t *testing.T) {
	p := rack(2, 1, 5)
	p.Partitions = append(p.Partitions, solver.Partition{})
	p.Capacity = append(p.Capacity, [][]float64{{3}})
	o := &p.Jobs[0].Options[0]
	o.Partitions, o.Count = []int{0, 1}, 4
	s := load(p)
	s.Res[1] = 1 * s.Res[0] / 2
	assert.Equal(t, 1.0, s.PlacePart(0))
	assert.Equal(t, []float64{2, 1}, s.Split)
	assert.InDeltaSlice(t, []float64{0, 0}, s.Res, 1e-12)
	s.Rebuild()
	s.Shift(0, 0, -1)
	s.Shift(0, 1, 2)
	assert.Equal(t, []float64{1, 3}, s.Split)
	require.NoError(t, solver.Verify(p, s.Solution("pack", solver.StopWork), solver.SplitsInteger))
	res := append([]float64(nil), s.Res...)
	s.Rebuild()
	assert.InDeltaSlice(t, s.Res, res, 1e-12)
}

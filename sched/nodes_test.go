package sched_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
)

func TestNewNodeSetRefuses(t *testing.T) {
	for _, tt := range []struct {
		nodes []sched.Node
		says  string
	}{
		{[]sched.Node{{}}, "without a name"},
		{[]sched.Node{{Name: "a"}, {Name: "a"}}, `"a" comes twice`},
		{[]sched.Node{{Name: "a", Capacity: sched.Resources{"cpu": math.NaN()}}}, `"a": capacity of "cpu" is NaN`},
		{[]sched.Node{{Name: "a", Capacity: sched.Resources{"cpu": -1}}}, "-1"},
		{[]sched.Node{{Name: "a", Capacity: sched.Resources{"cpu": math.Inf(1)}}}, "+Inf"},
	} {
		_, err := sched.NewNodeSet(tt.nodes)
		require.ErrorIs(t, err, sched.ErrInvalidNode)
		assert.ErrorContains(t, err, tt.says)
	}
}

func TestNodeSet(t *testing.T) {
	ns, err := sched.NewNodeSet([]sched.Node{
		{Name: "a", Capacity: sched.Resources{"mem": 8, "cpu": 4}},
		{Name: "b"},
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"cpu", "mem", "node"}, ns.Resources())
	assert.Equal(t, []float64{4, 8, 0, 0, 0, 1}, ns.Capacity())
	i, ok := ns.Index("b")
	assert.True(t, ok)
	assert.Equal(t, "b", ns.Node(i).Name)
	_, ok = ns.Index("c")
	assert.False(t, ok)

	cordoned, err := sched.NewNodeSet([]sched.Node{{Name: "a", Capacity: sched.Resources{}}, {Name: "b"}})
	require.NoError(t, err)
	assert.Equal(t, []float64{0, 1}, cordoned.Capacity(), "nothing is nothing; no word of it is a whole node")
	nowhere, err := sched.NewNodeSet([]sched.Node{{Name: "a", Capacity: sched.Resources{}}})
	require.NoError(t, err)
	_, err = nowhere.Demand(nil)
	require.ErrorIs(t, err, sched.ErrUnknownResource)

	d, err := ns.Demand(nil)
	require.NoError(t, err)
	assert.Equal(t, []float64{0, 0, 1}, d)
	d, err = ns.Demand(sched.Resources{"mem": 2})
	require.NoError(t, err)
	assert.Equal(t, []float64{0, 2, 0}, d)
	_, err = ns.Demand(sched.Resources{"tpu": 1, "gpu": 1})
	require.ErrorIs(t, err, sched.ErrUnknownResource)
	assert.ErrorContains(t, err, "gpu")
	d, err = ns.Demand(sched.Resources{"cpu": 1, "gpu": 0})
	require.NoError(t, err, "none of it is no demand")
	assert.Equal(t, 4, ns.Holds(d, ns.All()))
}

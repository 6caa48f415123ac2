package sched_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
)

func gpuIn(values ...string) sched.EquivalenceSet { return sched.NodesWith("gpu", values...) }

var three = sched.SpeedsOf(sched.Speed{Factor: 0.39}, sched.Speed{On: gpuIn("a100"), Factor: 1},
	sched.Speed{On: gpuIn("v100"), Factor: 0.66})

func TestSpeedsOn(t *testing.T) {
	on := func(s sched.Speeds, gpu string) float64 { return s.On(map[string]string{"gpu": gpu}) }
	assert.InDelta(t, 1, on(three, "a100"), 0)
	assert.InDelta(t, 0.66, on(three, "v100"), 0)
	assert.InDelta(t, 0.39, on(three, "k80"), 0)
	assert.InDelta(t, 0.39, three.On(nil), 0)
	assert.InDelta(t, 0.39, three.Least(), 0)
	assert.False(t, three.Even())
	two := sched.SpeedsOf(sched.Speed{On: gpuIn("a100"), Factor: 1}, sched.Speed{On: gpuIn("v100"), Factor: 0.66})
	assert.InDelta(t, 0.66, on(two, "k80"), 0, "nodes of no set have the lowest")
	assert.True(t, sched.Speeds{}.Even())
	assert.InDelta(t, 1, sched.Speeds{}.On(nil), 0)
	assert.InDelta(t, 1, sched.Speeds{}.Least(), 0)
	assert.Equal(t, "other 0.39; gpu=a100 1; gpu=v100 0.66", three.String())
}

func TestLevels(t *testing.T) {
	j := &sched.Job{ID: "a", Tasks: 1, Speeds: three}
	levels := j.Levels()
	require.Len(t, levels, 3)
	assert.Equal(t, []string{"gpu=a100", "gpu=a100|v100", "any"},
		[]string{levels[0].On.String(), levels[1].On.String(), levels[2].On.String()})
	assert.Equal(t, []float64{1, 0.66, 0.39}, []float64{levels[0].Factor, levels[1].Factor, levels[2].Factor})
	j.Required = sched.NodesWith("zone", "z1")
	assert.Equal(t, "gpu=a100|v100&zone=z1", j.Levels()[1].On.String())
	assert.Equal(t, "zone=z1", j.Levels()[2].On.String())
	j.Speeds = sched.Speeds{}
	assert.Equal(t, []sched.Speed{{On: j.Required, Factor: 1}}, j.Levels())
	j.Speeds = sched.SpeedsOf(sched.Speed{On: gpuIn("a100"), Factor: 1}, sched.Speed{On: sched.NodesWith("rack", "r1"),
		Factor: 0.5}, sched.Speed{Factor: 0.25})
	assert.Equal(t, "rack=r1&zone=z1", j.Levels()[1].On.String(), "no one set says gpu=a100 or rack=r1")
	j.Speeds = sched.SpeedsOf(sched.Speed{On: gpuIn("a100"), Factor: 1}, sched.Speed{On: gpuIn("h100"), Factor: 1},
		sched.Speed{Factor: 0.5})
	assert.Equal(t, "gpu=a100|h100&zone=z1", j.Levels()[0].On.String(), "sets of equal speed are one level")
}

// TestLevelsKeepTheirPromise: whatever the speeds, a node of a level runs the job at least at the level's speed, every
// node is in the last level, and On is the highest speed of the sets that the node is in, or else the lowest of all.
func TestLevelsKeepTheirPromise(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	values := []string{"a", "b", "c"}
	for range 2000 {
		var of []sched.Speed
		for range 1 + rng.IntN(5) {
			on := sched.AnyNode()
			for _, key := range []string{"gpu", "rack"} {
				if rng.IntN(2) == 0 {
					on = on.And(sched.NodesWith(key, values[:rng.IntN(3)]...))
				}
			}
			of = append(of, sched.Speed{On: on, Factor: float64(1+rng.IntN(4)) / 4})
		}
		j := &sched.Job{ID: "a", Tasks: 1, Speeds: sched.SpeedsOf(of...)}
		for range 10 {
			labels := map[string]string{"gpu": values[rng.IntN(3)], "rack": values[rng.IntN(3)]}
			want, least := 0.0, 1.0
			for _, s := range of {
				least = min(least, s.Factor)
				if s.On.Matches(labels) {
					want = max(want, s.Factor)
				}
			}
			if want == 0 {
				want = least
			}
			require.InDelta(t, want, j.Speeds.On(labels), 0, "%v on %v", j.Speeds, labels)
			levels := j.Levels()
			require.True(t, levels[len(levels)-1].On.Matches(labels))
			for _, l := range levels {
				require.True(t, !l.On.Matches(labels) || want >= l.Factor, "%v on %v", j.Speeds, labels)
			}
		}
	}
}

func TestNodeSetSpeed(t *testing.T) {
	nodes, err := sched.NewNodeSet([]sched.Node{{Name: "a", Labels: map[string]string{"gpu": "a100"}},
		{Name: "v", Labels: map[string]string{"gpu": "v100"}}, {Name: "k"}})
	require.NoError(t, err)
	j := &sched.Job{ID: "j", Tasks: 2, Speeds: three}
	at := func(names ...string) float64 {
		var on []sched.NodeTasks
		for _, n := range names {
			on = append(on, sched.NodeTasks{Node: n, Tasks: 1})
		}
		return nodes.Speed(j, on)
	}
	assert.InDelta(t, 1, at("a"), 0)
	assert.InDelta(t, 0.66, at("a", "v"), 0, "the slowest counts")
	assert.InDelta(t, 0.39, at("a", "k"), 0)
	assert.InDelta(t, 0.39, at("a", "gone"), 0)
	assert.InDelta(t, 1, at(), 0)
	assert.InDelta(t, 1/0.66, sched.Stretch(0.66), 0)
	assert.InDelta(t, 1, sched.Stretch(0), 0)
}

func TestSpeedsJSON(t *testing.T) {
	data, err := json.Marshal(three)
	require.NoError(t, err)
	assert.JSONEq(t, `[{"on":[],"speed":0.39},{"on":[{"key":"gpu","values":["a100"]}],"speed":1},
		{"on":[{"key":"gpu","values":["v100"]}],"speed":0.66}]`, string(data))
	var back sched.Speeds
	require.NoError(t, json.Unmarshal(data, &back))
	assert.Equal(t, three, back)
	require.Error(t, json.Unmarshal([]byte(`[{"on":[],"factor":1}]`), &back))
	empty, err := json.Marshal(sched.Speeds{})
	require.NoError(t, err)
	assert.Equal(t, "[]", string(empty))
}

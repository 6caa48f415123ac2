package experiment

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/sched/distsched"
	"github.com/hedgesched/hedge/sched/systems"
)

func TestBetween(t *testing.T) {
	line := []point{{0.3, 60, 30}, {0.1, 20, 10}, {0.2, 50, 15}}
	for _, c := range []struct {
		violations float64
		want       point
		ok         bool
	}{
		{0.05, point{}, false},
		{0.1, point{0.1, 20, 10}, true},
		{0.15, point{0.15, 35, 12.5}, true},
		{0.3, point{0.3, 60, 30}, true},
		{0.31, point{}, false},
	} {
		got, ok := between(line, c.violations)
		assert.Equal(t, c.ok, ok, c.violations)
		assert.InDelta(t, c.want.admitted, got.admitted, 1e-9, c.violations)
		assert.InDelta(t, c.want.completed, got.completed, 1e-9, c.violations)
	}
}

func TestAtEqual(t *testing.T) {
	set := systems.Builtin()
	var all []arm
	for _, name := range []string{"dist", "borg-max", "point"} {
		s, err := set.Find(name)
		require.NoError(t, err)
		all = append(all, arms(&s, true)...)
	}
	require.Len(t, all, 6+3+1, "point has no parameter")
	var runs []SharedRun
	for i, a := range all {
		for work := range 2 {
			r := SharedRun{Policy: a.of.Name, Setting: a.setting, Nodes: 4}
			r.ViolationShare, r.Admitted, r.Completed = 0.25, 40, 10 // borg-max and point
			if a.of.Name == "dist" {                                 // the second workload stays below borg-max's violations
				r.ViolationShare = float64(i) / 10 / float64(1+2*work)
				r.Admitted, r.Completed = 20*float64(i), 2*float64(i)
			}
			runs = append(runs, r)
		}
	}
	got := atEqual(all, []int{4}, runs)
	require.Equal(t, "borg-max", got.Reference)
	require.Len(t, got.Policies, 1)
	x := got.Policies[0]
	assert.Equal(t, "dist", x.Policy)
	assert.Equal(t, 1, x.Workloads)
	assert.Equal(t, 2, x.Of)
	assert.InDelta(t, 50.0/40, x.Ratio.Mean, 1e-9)
	assert.InDelta(t, 5.0/10, x.Completed.Mean, 1e-9)
	assert.Nil(t, atEqual(all[:6], []int{4}, runs[:12]), "without borg-max there is nothing to compare with")
}

// A heater counts evictions by column, however the log is cut into pieces.
func TestHeaterReadsTheLog(t *testing.T) {
	log := `{"t":1,"event":"evict","job":"a","class":"be","tasks":3,"deadline":0}
{"t":2,"event":"start","job":"a","class":"be","tasks":3,"deadline":0}
{"t":70,"event":"evict","job":"a","class":"be","tasks":3,"deadline":0,"node":"m","index":1,"part":"a#1"}
`
	for _, size := range []int{1, 7, len(log)} {
		h := newHeater(96 * time.Minute)
		for rest := log; rest != ""; rest = rest[min(size, len(rest)):] {
			n, err := h.Write([]byte(rest[:min(size, len(rest))]))
			require.NoError(t, err)
			require.Equal(t, min(size, len(rest)), n)
		}
		assert.Equal(t, []int{3, 1}, h.heat.Evicted, size)
	}
	h := newHeater(time.Hour)
	c := sim.Config{}
	h.attach(&c)
	assert.NotNil(t, c.CycleObserver)
	assert.Equal(t, h, c.Log)
}

func TestEvictionBins(t *testing.T) {
	e := &evictions{told: map[string]distsched.Eviction{"a": {}, "b": {Life: 0.1, Start: 0.9}, "c": {Life: 0.95},
		"d": {Life: 1}, "gone": {Life: 0.5}}}
	jobs := []sim.JobRecord{{ID: "a"}, {ID: "b", Evictions: 2}, {ID: "c", Evictions: 1}, {ID: "d"}, {ID: "untold"}}
	bins := e.bins(jobs)
	require.Len(t, bins, 10)
	assert.Equal(t, EvictionBin{From: 0, To: 0.1, Jobs: 2, Told: 0.05, AtStart: 0.45, Came: 0.5}, bins[0])
	assert.Equal(t, 2, bins[9].Jobs)
	assert.InDelta(t, 0.975, bins[9].Told, 1e-9)
	sum := sumBins([]SharedRun{{Evicted: bins}, {}, {Evicted: bins}})
	assert.Equal(t, 4, sum[0].Jobs)
	assert.InDelta(t, 0.5, sum[0].Came, 1e-9)
	assert.InDelta(t, 0.45, sum[0].AtStart, 1e-9)
	assert.Nil(t, sumBins([]SharedRun{{}}))
	assert.Nil(t, (*evictions)(nil).bins(jobs))
}

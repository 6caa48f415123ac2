package paths_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/paths"
)

// graph is a snapshot of stages that are held back.
type graph struct{ s sched.Snapshot }

func (g *graph) add(id string, d dist.Distribution, after ...string) {
	g.s.Held = append(g.s.Held, sched.Pending{
		Job: &sched.Job{ID: id, Tasks: 1, After: after}, Prediction: predict.Prediction{Dist: d, Point: d.Mean()}})
}

func point(t testing.TB, v float64) dist.Distribution {
	t.Helper()
	d, err := dist.NewPoint(v)
	require.NoError(t, err)
	return d
}

func TestPointsGiveTheCriticalPath(t *testing.T) {
	var g graph
	g.add("d", point(t, 7), "b", "c") // in any order
	g.add("b", point(t, 10), "a")
	g.add("c", point(t, 2), "a")
	g.add("e", point(t, 30), "c")
	g.add("alone", point(t, 5), "x", "y")
	var r paths.Rests
	r.Update(&g.s)
	for id, want := range map[string]float64{"a": 32, "x": 5, "y": 5} {
		d, err := r.After(id)
		require.NoError(t, err)
		lo, hi := d.Bounds()
		assert.Equal(t, want, lo, id)
		assert.Equal(t, want, hi, id)
	}
	for _, id := range []string{"d", "nobody"} {
		d, err := r.After(id)
		require.NoError(t, err)
		assert.Nil(t, d)
	}
	r.Update(&sched.Snapshot{})
	d, err := r.After("a")
	require.NoError(t, err)
	assert.Nil(t, d)
}

// Against draws of every stage's runtime, on random graphs in which no two paths share a stage, so that the
// independence that is assumed holds.
func TestRandomTreesAgainstDraws(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 10 {
		var g graph
		ids, parent := []string{"root"}, map[string]string{}
		dists := map[string]dist.Distribution{}
		for i := range 12 {
			id := fmt.Sprint("s", i)
			values := make([]float64, 1+rng.IntN(200))
			for k := range values {
				values[k] = 10 * math.Exp(rng.NormFloat64())
			}
			d, err := dist.FromSamples(values)
			require.NoError(t, err)
			parent[id], dists[id] = ids[rng.IntN(len(ids))], d
			ids = append(ids, id)
			g.add(id, d, parent[id])
		}
		var r paths.Rests
		r.Update(&g.s)
		got, err := r.After("root")
		require.NoError(t, err)
		sum := 0.0
		const draws = 20_000
		for range draws {
			end := map[string]float64{}
			longest := 0.0
			for _, id := range ids[1:] {
				end[id] = end[parent[id]] + dists[id].Quantile(rng.Float64())
				longest = max(longest, end[id])
			}
			sum += longest
		}
		assert.InEpsilon(t, sum/draws, got.Mean(), 0.04)
	}
}

// Every stage counts once, however many jobs it waits for.
func TestWorkAddsUpToThatOfAllStages(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		var g graph
		roots := []string{"r0", "r1", "r2"}
		ids := append([]string{}, roots...)
		for _, id := range roots[:2] {
			g.s.Pending = append(g.s.Pending, sched.Pending{Job: &sched.Job{ID: id, Tasks: 1}})
		}
		g.s.Running = []sched.Running{{Job: &sched.Job{ID: "r2", Tasks: 1}}}
		want := 0.0
		for i := range 12 {
			seconds, tasks := float64(rng.IntN(100)), 1+rng.IntN(5)
			want += seconds * float64(tasks)
			after := []string{"finished"}
			for _, k := range rng.Perm(len(ids))[:1+rng.IntN(3)] {
				after = append(after, ids[k])
			}
			id := fmt.Sprint("s", i)
			ids = append(ids, id)
			g.add(id, point(t, seconds), after...)
			g.s.Held[i].Job.Tasks = tasks
		}
		rng.Shuffle(len(g.s.Held), func(i, j int) { g.s.Held[i], g.s.Held[j] = g.s.Held[j], g.s.Held[i] })
		var r paths.Rests
		r.Update(&g.s)
		got := 0.0
		for _, id := range roots {
			got += r.Work(id)
		}
		assert.InDelta(t, want, got, 1e-6)
		assert.Zero(t, r.Work("nobody"))
	}
}

func TestWorkGoesByPointsIfAsked(t *testing.T) {
	d, err := dist.NewUniform(1, 9)
	require.NoError(t, err)
	var g graph
	g.add("b", d, "a")
	g.s.Held[0].Prediction.Point, g.s.Held[0].Job.Tasks = 7, 2
	for _, c := range []struct {
		point bool
		want  float64
	}{{false, 10}, {true, 14}} {
		r := paths.Rests{Point: c.point}
		r.Update(&g.s)
		assert.InDelta(t, c.want, r.Work("a"), 1e-9)
	}
}

func TestForecastsAreKeptUntilSomethingChanges(t *testing.T) {
	d, err := dist.NewUniform(1, 9)
	require.NoError(t, err)
	var g graph
	g.add("b", d, "a")
	g.add("c", d, "b")
	var r paths.Rests
	r.Update(&g.s)
	first, err := r.After("a")
	require.NoError(t, err)
	r.Update(&g.s)
	again, err := r.After("a")
	require.NoError(t, err)
	assert.Same(t, first, again)
	assert.InDelta(t, 10, first.Mean(), 1e-9)

	short := g.s
	short.Held = g.s.Held[:1] // c was withdrawn
	r.Update(&short)
	less, err := r.After("a")
	require.NoError(t, err)
	assert.InDelta(t, 5, less.Mean(), 1e-9)

	later := g.s
	later.Held = append([]sched.Pending{}, g.s.Held...)
	later.Held[1].Prediction = predict.Prediction{Point: 100}
	r.Update(&later)
	more, err := r.After("a")
	require.NoError(t, err)
	assert.InDelta(t, 105, more.Mean(), 1e-9, "a forecast without a distribution is its point")

	r.Point = true
	r.Update(&g.s)
	_, err = r.After("a")
	require.NoError(t, err)
}

// Snapshots of no loop may hold what cannot be; it ends, and errors name the stage.
func TestWhatCannotBeEnds(t *testing.T) {
	var g graph
	g.add("a", point(t, 1), "b", "root")
	g.add("b", point(t, 1), "a")
	var r paths.Rests
	r.Update(&g.s)
	_, err := r.After("root")
	require.NoError(t, err)
	assert.False(t, math.IsNaN(r.Work("root")))

	g = graph{}
	g.add("bad", point(t, 1), "root")
	g.s.Held[0].Prediction = predict.Prediction{Point: -1}
	r.Update(&g.s)
	_, err = r.After("root")
	require.ErrorContains(t, err, "stage bad")
}

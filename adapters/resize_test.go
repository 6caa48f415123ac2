package adapters_test

import (
	"fmt"
	"log"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/fake"
	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/distsched"
	"github.com/hedgesched/hedge/sched/usage"
)

// fixed is a predictor that always says the same.
type fixed struct{ of predict.Prediction }

func (f fixed) Predict(predict.Job) predict.Prediction { return f.of }
func (f fixed) Observe(predict.Observation) error      { return nil }

// forecast is a prediction from that many completions: cpu 0 to 2, memory 0 to 40, and peaks of 0 to 80.
func forecast(t *testing.T, samples int) fixed {
	of := map[predict.Quantity]predict.Prediction{}
	for q, most := range map[predict.Quantity]float64{predict.CPU: 2, predict.Memory: 40, predict.MemoryMax: 80} {
		d, err := dist.NewUniform(0, most)
		require.NoError(t, err)
		of[q] = predict.Prediction{Dist: d, Point: most / 2, Samples: samples}
	}
	d, err := dist.NewPoint(60)
	require.NoError(t, err)
	return fixed{predict.Prediction{Dist: d, Point: 60, Usage: predict.NewUsage(of)}}
}

// TestResize: tasks start with what they are forecast to use, within what their job allows.
func TestResize(t *testing.T) {
	wide := adapters.Bounds{Least: usage.Level{CPU: 0.1, Memory: 1}, Most: usage.Level{CPU: 8, Memory: 512}, Limit: 512}
	of := func(change func(b *adapters.Bounds)) *adapters.Bounds {
		b := wide
		change(&b)
		return &b
	}
	size := func(cpu, memory, limit float64) *adapters.Size {
		return &adapters.Size{Reserve: usage.Level{CPU: cpu, Memory: memory}, Limit: limit}
	}
	for name, tt := range map[string]struct {
		samples int
		bounds  *adapters.Bounds
		want    *adapters.Size
	}{
		"not allowed": {9, nil, nil},
		"few samples": {4, &wide, nil},
		"as forecast": {5, &wide, size(1, 20, 0.99*80*1.25)},
		"never below": {5, of(func(b *adapters.Bounds) { b.Least = usage.Level{CPU: 3, Memory: 300} }), size(3, 300, 300)},
		"never above": {5, of(func(b *adapters.Bounds) { b.Most, b.Limit = usage.Level{CPU: 0.5, Memory: 15}, 15 }),
			size(0.5, 15, 15)},
		"limit above":   {5, of(func(b *adapters.Bounds) { b.Most.Memory, b.Limit = 15, 90 }), size(1, 15, 90)},
		"memory alone":  {5, of(func(b *adapters.Bounds) { b.Most.CPU = 0 }), size(0, 20, 99)},
		"CPU alone":     {5, of(func(b *adapters.Bounds) { b.Most.Memory, b.Limit = 0, 0 }), size(1, 0, 0)},
		"one failure":   {5, of(func(b *adapters.Bounds) { b.Failures = 1 }), size(1, 40, 198)},
		"many failures": {5, of(func(b *adapters.Bounds) { b.Failures = 1e6 }), size(1, 512, 512)},
		"hard":          {5, of(func(b *adapters.Bounds) { b.Hard = true }), size(1, 99, 99)},
		"hard, small":   {5, of(func(b *adapters.Bounds) { b.Hard, b.Most.Memory = true, 50 }), size(1, 50, 50)},
	} {
		t.Run(name, func(t *testing.T) {
			var got *adapters.Size
			s := &script{start: func(a *adapters.Start) error { got = a.Size; return nil }}
			c := s.cluster(t, func(o *adapters.Options) { o.Resize = &adapters.Resizing{Predictor: forecast(t, tt.samples)} })
			j := job("sized", 1, 1)
			j.Resize = tt.bounds
			s.views = append(s.views, all(1, []string{"n"}, j))
			told(t, c)
			require.NoError(t, c.Apply(background, plan(sched.Decision{Job: "sized", Kind: sched.Start,
				Nodes: []sched.NodeTasks{{Node: "n", Tasks: 1}}})))
			if tt.want == nil {
				assert.Nil(t, got)
				return
			}
			require.NotNil(t, got)
			assert.InDelta(t, tt.want.Reserve.CPU, got.Reserve.CPU, 1e-9)
			assert.InDelta(t, tt.want.Reserve.Memory, got.Reserve.Memory, 1e-9)
			assert.InDelta(t, tt.want.Limit, got.Limit, 1e-9)
		})
	}
}

// TestForecastsOfWhatIsNotResized: a policy must not count on room that tasks keep.
func TestForecastsOfWhatIsNotResized(t *testing.T) {
	for _, tt := range []struct {
		samples int
		bounds  *adapters.Bounds
		known   bool
	}{{5, &adapters.Bounds{}, true}, {5, nil, false}, {4, &adapters.Bounds{}, false}} {
		s := &script{}
		c := s.cluster(t, func(o *adapters.Options) { o.Resize = &adapters.Resizing{Predictor: forecast(t, tt.samples)} })
		j := job("sized", 1, 1)
		j.Resize = tt.bounds
		s.views = append(s.views, all(1, []string{"n"}, j), all(2, []string{"n"}))
		told(t, c)
		p := c.Predictor().Predict(j.Spec.Features())
		assert.Equal(t, tt.known, p.Usage != nil)
		assert.InDelta(t, 60, p.Point, 0)
		s.now = s.now.Add(time.Hour)
		told(t, c)
		assert.Nil(t, c.Predictor().Predict(j.Spec.Features()).Usage, "it is gone")
	}
	assert.Nil(t, (&script{}).cluster(t).Predictor())
	h, err := predict.NewHistory(nil)
	require.NoError(t, err)
	c := (&script{}).cluster(t, func(o *adapters.Options) { o.Resize = &adapters.Resizing{Predictor: h} })
	_, ok := c.Predictor().(interface{ Features() []predict.Feature })
	assert.True(t, ok, "the loop asks for them")
}

// shared is a fake cluster of one node, under DistSched with tasks that are resized.
func shared(memory float64, seed uint64) (*fake.Cluster, *adapters.Cluster, *sched.Loop, error) {
	servers := fake.New(fake.Options{StartDelay: time.Second, StopDelay: time.Second, Seed: seed})
	node := sched.Node{Name: "n0", Capacity: sched.Resources{usage.CPU: 64, usage.Memory: memory}}
	if err := servers.AddNode(node); err != nil {
		return nil, nil, nil, err
	}
	history, err := predict.NewHistory(&predict.HistoryOptions{
		Quantities: []predict.Quantity{predict.CPU, predict.Memory, predict.MemoryMax}})
	if err != nil {
		return nil, nil, nil, err
	}
	cluster, err := adapters.New(servers.Connect(nil), adapters.Options{
		Now: servers.Now, Measure: 5 * time.Second, Resize: &adapters.Resizing{Predictor: history}})
	if err != nil {
		return nil, nil, nil, err
	}
	policy, err := distsched.New(distsched.Config{WholeLife: true})
	if err != nil {
		return nil, nil, nil, err
	}
	loop, err := sched.NewLoop(cluster, policy, cluster.Predictor(), sched.WithFreshPredictions())
	return servers, cluster, loop, err
}

// job with a request of 16 that uses 4.
func modest(id string) fake.Job {
	return fake.Job{
		Spec: sched.Job{ID: id, Tasks: 1, Demand: sched.Resources{usage.CPU: 1, usage.Memory: 16},
			Attributes: map[string]string{"name": "modest"}},
		Runtime: time.Minute, Use: usage.Level{CPU: 0.25, Memory: 4},
		Resize: &adapters.Bounds{Least: usage.Level{CPU: 0.1, Memory: 1}, Most: usage.Level{CPU: 1, Memory: 16}, Limit: 16},
	}
}

// Tasks ask for four times what they use. Once the history has seen some, four times as many run at once.
func ExampleOptions_resize() {
	servers, _, loop, err := shared(64, 1)
	if err != nil {
		log.Fatal(err)
	}
	for i := range 40 {
		if err := servers.Submit(modest(fmt.Sprint("job-", i))); err != nil {
			log.Fatal(err)
		}
	}
	most := 0
	for begin := servers.Now(); servers.Now().Sub(begin) < 20*time.Minute; servers.Advance(2 * time.Second) {
		cycle, err := loop.Step(background, servers.Now())
		if err != nil {
			log.Fatal(err)
		}
		if cycle.Running > most {
			most = cycle.Running
			fmt.Println(most, "run after", servers.Now().Sub(begin).Round(time.Minute))
		}
	}
	// Output:
	// 3 run after 0s
	// 15 run after 2m0s
}

// TestSharedMachines: what tasks hold by the cluster's records never exceeds the node, whatever is drawn. Tasks that
// may not be resized hold what they ask for.
func TestSharedMachines(t *testing.T) {
	for seed := range uint64(5) {
		servers, cluster, loop, err := shared(64, seed)
		require.NoError(t, err)
		r := rand.New(rand.NewPCG(seed, 1))
		for i := range 60 {
			j := modest(fmt.Sprint("job-", i))
			j.Use.Memory = 2 + 3*r.Float64()
			j.Runtime = time.Duration(30+r.IntN(60)) * time.Second
			if r.IntN(4) == 0 {
				j.Resize = nil
			}
			require.NoError(t, servers.Submit(j))
		}
		for begin := servers.Now(); servers.Now().Sub(begin) < 40*time.Minute; servers.Advance(2 * time.Second) {
			_, err := loop.Step(background, servers.Now())
			require.NoError(t, err)
			held := 0.0
			for _, rec := range servers.Records() {
				if rec.Ended.IsZero() {
					held += rec.Held[usage.Memory]
				}
			}
			require.LessOrEqual(t, held, 64.001)
		}
		finished, resized := 0, 0
		for _, rec := range servers.Records() {
			if rec.State == adapters.Finished {
				finished++
			}
			if rec.Held[usage.Memory] < 16 {
				resized++
			}
		}
		assert.Equal(t, 60, finished, "seed %d", seed)
		assert.Greater(t, resized, 20, "seed %d", seed)
		assert.Zero(t, cluster.Measured().Wrong)
	}
}

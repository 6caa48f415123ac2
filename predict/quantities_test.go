package predict_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/predict/predicttest"
)

var usageOptions = predict.HistoryOptions{Quantities: []predict.Quantity{predict.CPU, predict.Memory, predict.CPUTime}}

func byUser(user string) predict.Job {
	return predict.Job{Attributes: map[string]string{"user": user}}
}

// ran is a run of a user's job.
func ran(user string, runtime, cpu, memory float64) predict.Observation {
	return predict.Observation{Job: byUser(user), Runtime: runtime, Used: []predict.Used{
		{Quantity: predict.CPU, Value: cpu}, {Quantity: predict.Memory, Value: memory},
		{Quantity: predict.CPUTime, Value: cpu * runtime}, {Quantity: "no such", Value: 1},
	}}
}

// TestQuantities: each quantity is forecast by its own history, as a runtime is, and no job loses by it.
func TestQuantities(t *testing.T) {
	h, plain := newHistory(t, &usageOptions), newHistory(t, nil)
	assert.Nil(t, h.Predict(byUser("a")).Usage, "without history there is nothing to say")
	rng := rand.New(rand.NewPCG(1, 1))
	alone := map[predict.Quantity]*predict.History{predict.Memory: newHistory(t, nil)}
	for i := range 300 {
		user := fmt.Sprint("u", i%7)
		o := ran(user, 50+100*rng.Float64(), float64(1+i%7)*(0.5+rng.Float64()), float64(i%7)*rng.Float64())
		require.NoError(t, h.Observe(o))
		require.NoError(t, plain.Observe(predict.Observation{Job: o.Job, Runtime: o.Runtime}))
		require.NoError(t, alone[predict.Memory].Observe(predict.Observation{Job: o.Job, Runtime: o.Used[1].Value}))
	}
	for i := range 7 {
		p := h.Predict(byUser(fmt.Sprint("u", i)))
		assert.Equal(t, usageOptions.Quantities[:1], p.Usage.Quantities()[:1])
		require.Len(t, p.Usage.Quantities(), 3)
		memory, ok := p.Usage.Of(predict.Memory)
		require.True(t, ok)
		assert.Equal(t, alone[predict.Memory].Predict(byUser(fmt.Sprint("u", i))), memory)
		_, ok = p.Usage.Of("no such")
		assert.False(t, ok)

		cpu, _ := p.Usage.Of(predict.CPU)
		work, _ := p.Usage.Of(predict.CPUTime)
		assert.InDelta(t, 1, work.Point/(cpu.Point*p.Point), 1e-12, "CPU time is CPU times runtime")
		assert.Equal(t, plain.Predict(byUser(fmt.Sprint("u", i))).Samples, p.Samples)
	}
}

// TestNoQuantities: a history without quantities does not know that runs use anything.
func TestNoQuantities(t *testing.T) {
	h, plain := newHistory(t, nil), newHistory(t, nil)
	for i := range 50 {
		o := ran("a", float64(10+i), 1, 1)
		require.NoError(t, h.Observe(o))
		o.Used = nil
		require.NoError(t, plain.Observe(o))
	}
	assert.Equal(t, plain.Predict(byUser("a")), h.Predict(byUser("a")))
	assert.Equal(t, saved(t, plain), saved(t, h))
}

// TestWorstIsScaled: the quantity that is predicted worst follows from the other two.
func TestWorstIsScaled(t *testing.T) {
	h := newHistory(t, &usageOptions)
	rng := rand.New(rand.NewPCG(2, 2))
	for range 200 { // the work is always 100, the CPU nearly 2 and the runtime anything
		o := ran("a", 10+1000*rng.Float64(), 2+0.01*rng.Float64(), 1)
		o.Used[2].Value = 100
		require.NoError(t, h.Observe(o))
	}
	p := h.Predict(byUser("a"))
	cpu, _ := p.Usage.Of(predict.CPU)
	work, _ := p.Usage.Of(predict.CPUTime)
	assert.InDelta(t, 100, work.Point, 0)
	assert.InDelta(t, 2.005, cpu.Point, 0.01)
	assert.InDelta(t, 100/cpu.Point, p.Point, 1e-9)
	lo, hi := p.Dist.Bounds()
	assert.Less(t, lo, p.Point)
	assert.Greater(t, hi, p.Point)
}

// TestLowerBounds: throttled CPU is not what a task wanted. A history that knows it does not forecast too little.
func TestLowerBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	honest, naive := newHistory(t, &usageOptions), newHistory(t, &usageOptions)
	for range 400 {
		wants, gets := 1+3*rng.Float64(), 4.0
		if rng.IntN(2) == 0 {
			gets = 1 + 2*rng.Float64()
		}
		o := ran("a", 100, min(wants, gets), 1)
		require.NoError(t, naive.Observe(o))
		o.Used[0].AtLeast = wants > gets
		require.NoError(t, honest.Observe(o))
	}
	point := func(h *predict.History) float64 {
		p, _ := h.Predict(byUser("a")).Usage.Of(predict.CPU)
		return p.Dist.Mean()
	}
	assert.Less(t, point(naive), 2.3)
	assert.InDelta(t, 2.5, point(honest), 0.15, "what they want is 2.5 on average")
}

func TestUsageRefused(t *testing.T) {
	h := newHistory(t, &usageOptions)
	before := saved(t, h)
	for _, x := range []float64{-1, math.NaN(), math.Inf(1), 2 * predict.MaxRuntime} {
		require.ErrorIs(t, h.Observe(ran("a", 10, 1, x)), predict.ErrUsage)
		require.Equal(t, before, saved(t, h), "nothing has changed")
	}
	for _, q := range [][]predict.Quantity{{""}, {predict.CPU, predict.CPU}} {
		_, err := predict.NewHistory(&predict.HistoryOptions{Quantities: q})
		require.ErrorIs(t, err, predict.ErrOptions)
	}
}

// TestQuantitiesAreSaved with the rest. A history with other quantities gets those that it has, too, and the runtimes.
func TestQuantitiesAreSaved(t *testing.T) {
	h := newHistory(t, &usageOptions)
	for i := range 100 {
		require.NoError(t, h.Observe(ran(fmt.Sprint("u", i%3), float64(10+i), 1+float64(i%5), float64(i))))
	}
	again := newHistory(t, &usageOptions)
	require.NoError(t, again.Load(bytes.NewReader(saved(t, h))))
	assert.Equal(t, saved(t, h), saved(t, again))
	want := h.Predict(byUser("u1"))
	assert.Equal(t, want, again.Predict(byUser("u1")))
	assert.Equal(t, h.Len(), again.Len())

	other := newHistory(t, &predict.HistoryOptions{Quantities: []predict.Quantity{predict.Memory, predict.MemoryMax}})
	require.NoError(t, other.Load(bytes.NewReader(saved(t, h))))
	got := other.Predict(byUser("u1"))
	assert.Equal(t, []predict.Quantity{predict.Memory}, got.Usage.Quantities())
	memory, _ := want.Usage.Of(predict.Memory)
	has, _ := got.Usage.Of(predict.Memory)
	assert.Equal(t, memory, has)

	none := newHistory(t, nil)
	require.NoError(t, none.Load(bytes.NewReader(saved(t, h))))
	assert.Equal(t, got.Dist, none.Predict(byUser("u1")).Dist)
	assert.Positive(t, none.Predict(byUser("u1")).Samples)

	plain := newHistory(t, nil)
	require.NoError(t, plain.Observe(ran("u1", 10, 1, 1)))
	require.NoError(t, again.Load(bytes.NewReader(saved(t, plain))), "a snapshot without quantities leaves them empty")
	assert.Nil(t, again.Predict(byUser("u1")).Usage)
}

// TestUsageConformance: a history with quantities keeps every promise of a predictor.
func TestUsageConformance(t *testing.T) {
	predicttest.Run(t, func() predict.Predictor { return newHistory(t, &usageOptions) })
}

// TestPerfectUsage: an oracle knows what jobs use.
func TestPerfectUsage(t *testing.T) {
	p, err := predict.NewPerfectUsage(func(predict.Job) (float64, bool) { return 10, true },
		func(predict.Job) []predict.Used {
			return []predict.Used{{Quantity: predict.CPU, Value: 0.5}, {Quantity: predict.Memory, Value: math.NaN()}}
		})
	require.NoError(t, err)
	got := p.Predict(byUser("a"))
	assert.InDelta(t, 10, got.Point, 0)
	cpu, ok := got.Usage.Of(predict.CPU)
	require.True(t, ok)
	assert.InDelta(t, 0.5, cpu.Dist.Quantile(0.5), 0)
	_, ok = got.Usage.Of(predict.Memory)
	assert.False(t, ok, "no amount")
	_, err = predict.NewPerfectUsage(nil, func(predict.Job) []predict.Used { return nil })
	require.ErrorIs(t, err, predict.ErrOptions)
	_, err = predict.NewPerfectUsage(func(predict.Job) (float64, bool) { return 0, false }, nil)
	require.ErrorIs(t, err, predict.ErrOptions)
}

// A history forecasts what a task uses beside how long it runs.
func ExampleUsage() {
	h, err := predict.NewHistory(&predict.HistoryOptions{Quantities: []predict.Quantity{predict.CPU, predict.Memory}})
	if err != nil {
		fmt.Println(err)
		return
	}
	job := predict.Job{Attributes: map[string]string{"user": "ada"}}
	for _, cpu := range []float64{1, 1, 2} {
		err := h.Observe(predict.Observation{Job: job, Runtime: 60, Used: []predict.Used{
			{Quantity: predict.CPU, Value: cpu}, {Quantity: predict.Memory, Value: 1 << 30}}})
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	p, ok := h.Predict(job).Usage.Of(predict.CPU)
	fmt.Printf("%v %.2f cores, %d runs\n", ok, p.Point, p.Samples)
	// Output: true 1.33 cores, 3 runs
}

package predict_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
)

func nameJob(user, name string) predict.Job {
	return predict.Job{Attributes: map[string]string{"user": user, "name": name}}
}

func userAndName() []predict.Feature {
	return []predict.Feature{predict.All(), predict.Attr("user"), predict.Attr("user", "name")}
}

// The shares are (n/(n+1)) / NMAE², by hand. Of x the history is 10, 20, 30 (mean: |e| = 10
// and 15 of 50; median alike; rolling: 10 and 14 of 50, its NMAE 0.48), of y it is 100, 100, so that
// the user's and everybody's NMAE is far above.
func TestSharesByHand(t *testing.T) {
	h := newHistory(t, &predict.HistoryOptions{Features: userAndName(), Blend: 2})
	for _, x := range []float64{10, 20, 30} {
		require.NoError(t, h.Observe(predict.Observation{Job: nameJob("u", "x"), Runtime: x}))
	}
	for range 2 {
		require.NoError(t, h.Observe(predict.Observation{Job: nameJob("u", "y"), Runtime: 100}))
	}
	best := map[string]predict.Candidate{}
	for _, c := range h.Explain(nameJob("u", "x")) {
		if b, ok := best[c.Expert.Feature]; !ok || c.NMAE < b.NMAE {
			best[c.Expert.Feature] = c
		}
	}
	x, u := best["user+name"], best["user"]
	require.InDelta(t, 0.48, x.NMAE, 1e-12)
	weight := func(c predict.Candidate) float64 {
		n := float64(c.Samples)
		return n / (n + 1) / math.Pow(c.NMAE+1e-6, 2)
	}
	share := weight(u) / (weight(x) + weight(u)) // of the user, two of whose five ran 100 s
	d := h.Predict(nameJob("u", "x")).Dist
	require.InDelta(t, 1-share*2/5, d.CDF(99), 1e-12)
	require.InDelta(t, share/5+(1-share)/3, d.CDF(10), 1e-12)
}

// What the leading history has not seen, one in n+1, comes from one with many more samples.
func TestUnseenMassComesFromABroaderHistory(t *testing.T) {
	h := newHistory(t, &predict.HistoryOptions{Features: userAndName()[1:], Blend: 1})
	for range 40 {
		require.NoError(t, h.Observe(predict.Observation{Job: nameJob("u", "long"), Runtime: 1000}))
	}
	for n := 1; n <= 10; n++ {
		require.NoError(t, h.Observe(predict.Observation{Job: nameJob("u", "x"), Runtime: 10}))
		if n < 2 { // not trusted yet
			continue
		}
		d := h.Predict(nameJob("u", "x")).Dist
		_, hi := d.Bounds()
		require.Equal(t, 1000.0, hi)
		least := 1 / float64(n+1) * 20 / 40 // half of the user's mass is on the recent ones, n of them 10 s
		require.Less(t, d.CDF(10), 1-least/2)
		require.Greater(t, d.CDF(10), 1-1/float64(n+1)-1e-12)
	}
}

// Feature values of which one predicts and the other does not: the forecast is nearly that of the one.
func TestBlendFollowsWhatPredicts(t *testing.T) {
	h := newHistory(t, &predict.HistoryOptions{Features: []predict.Feature{predict.Attr("user"), predict.Attr("name")}})
	rng := rand.New(rand.NewPCG(2, 2))
	for range 400 {
		n := rng.IntN(4)
		require.NoError(t, h.Observe(predict.Observation{Job: nameJob("u"+strconv.Itoa(rng.IntN(2)), "n"+strconv.Itoa(n)),
			Runtime: 100 * float64(n+1) * (1 + rng.Float64()/50)}))
	}
	d := h.Predict(nameJob("u1", "n2")).Dist
	require.Greater(t, d.CDF(307)-d.CDF(299), 0.98)
}

// Intervals of forecasts of exchangeable runtimes hold about what they say, with few samples and many.
func TestIntervalsAreCalibrated(t *testing.T) {
	for _, samples := range []int{3, 10, 200} {
		rng := rand.New(rand.NewPCG(3, uint64(samples)))
		inside, total := 0, 0
		for range 40 {
			h := newHistory(t, &predict.HistoryOptions{Features: userAndName()})
			draw := func() float64 { return math.Exp(5 + rng.NormFloat64()) }
			for i := range samples * 10 {
				require.NoError(t, h.Observe(predict.Observation{Job: nameJob("u", "n"+strconv.Itoa(i%10)), Runtime: draw()}))
			}
			d := h.Predict(nameJob("u", "n1")).Dist
			lo, hi := d.Quantile(0.1), d.Quantile(0.9)
			for range 100 {
				total++
				if x := draw(); lo <= x && x <= hi {
					inside++
				}
			}
		}
		require.InDelta(t, 0.8, float64(inside)/float64(total), 0.08, "%d samples", samples)
	}
}

// Half the mass follows a change at once, half remembers.
func TestForecastsFollowChanges(t *testing.T) {
	h := newHistory(t, &predict.HistoryOptions{Features: []predict.Feature{predict.All()}})
	for range 1000 {
		require.NoError(t, h.Observe(predict.Observation{Job: predict.Job{}, Runtime: 10}))
	}
	for range 20 {
		require.NoError(t, h.Observe(predict.Observation{Job: predict.Job{}, Runtime: 100}))
	}
	require.InDelta(t, 0.5+0.5*20/1020, 1-h.Predict(predict.Job{}).Dist.CDF(50), 0.02)
}

// A forecast never holds more bins than asked for, each of at most three knots.
func TestForecastsAreBounded(t *testing.T) {
	for _, bins := range []int{2, 10, 80} {
		h := newHistory(t, &predict.HistoryOptions{Bins: bins, Recent: 50})
		rng := rand.New(rand.NewPCG(4, 4))
		for i := range 2000 {
			require.NoError(t, h.Observe(predict.Observation{Job: nameJob("u"+strconv.Itoa(i%3), "n"+strconv.Itoa(i%5)),
				Runtime: rng.ExpFloat64()}))
		}
		d := h.Predict(nameJob("u1", "n1")).Dist.(interface{ Len() int })
		require.LessOrEqual(t, d.Len(), 3*bins)
	}
}

// Runtimes that differ by any factor, feature values that predict them perfectly and not at all: a
// history asked for distributions answers with nothing else.
func TestDistributionsAreNeverPoints(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(8, seed))
		h := newHistory(t, &predict.HistoryOptions{Features: userAndName(), Bins: 2 + rng.IntN(100)})
		spread := 12 * rng.Float64()
		for range 300 {
			j := nameJob("u"+strconv.Itoa(rng.IntN(2)), "n"+strconv.Itoa(rng.IntN(6)))
			x := 5 + 1e-4*rng.Float64()
			if rng.IntN(10) == 0 {
				x = math.Exp(spread * rng.NormFloat64())
			}
			require.NoError(t, h.Observe(predict.Observation{Job: j, Runtime: x}))
			p := h.Predict(j)
			require.NotZero(t, p.Samples)
			require.IsType(t, &dist.Histogram{}, p.Dist, "seed %d", seed)
		}
	}
}

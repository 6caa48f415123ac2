package predict_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/predict/predicttest"
)

func newHistory(t testing.TB, o *predict.HistoryOptions) *predict.History {
	t.Helper()
	h, err := predict.NewHistory(o)
	require.NoError(t, err)
	return h
}

func userJob(user string) predict.Job {
	return predict.Job{ID: "j", Attributes: map[string]string{"user": user}}
}

func TestConformance(t *testing.T) {
	for name, o := range map[string]*predict.HistoryOptions{
		"default": nil,
		"point":   {Result: predict.ResultPoint},
		"recent":  {RecentOnly: true, Recent: 3, Forget: 0.9, MinSamples: 5},
		"tiny":    {MaxValues: 5, Bins: 2, Recent: 1},
	} {
		t.Run(name, func(t *testing.T) {
			predicttest.Run(t, func() predict.Predictor { return newHistory(t, o) })
		})
	}
}

// Runtimes 10, 20, 40, 20 with Recent 2 and alpha 0.6, by hand:
//
//	before   mean   median  rolling  recent   |errors|
//	20       10     10      10       10       10 10 10 10
//	40       15     15      16       15       25 25 24 25
//	20       23.33  30      30.4     30       3.33 10 10.4 10
//	after    22.5   30      24.16    30       38.33 45 44.4 45, actual 80
func TestExpertsByHand(t *testing.T) {
	h := newHistory(t, &predict.HistoryOptions{Features: []predict.Feature{predict.All()}, Recent: 2})
	for _, x := range []float64{10, 20, 40, 20} {
		require.NoError(t, h.Observe(predict.Observation{Job: predict.Job{}, Runtime: x}))
	}
	got := h.Explain(predict.Job{})
	require.Len(t, got, 4)
	for i, want := range []struct {
		name        string
		point, nmae float64
	}{
		{predict.EstimatorMean, 22.5, (10 + 25 + 10.0/3) / 80},
		{predict.EstimatorMedian, 30, 45.0 / 80},
		{predict.EstimatorRolling, 24.16, 44.4 / 80},
		{predict.EstimatorRecent, 30, 45.0 / 80},
	} {
		require.Equal(t, want.name, got[i].Expert.Estimator)
		require.InDelta(t, want.point, got[i].Point, 1e-12, want.name)
		require.InDelta(t, want.nmae, got[i].NMAE, 1e-12, want.name)
		require.Equal(t, 4, got[i].Samples)
		require.Equal(t, i == 0, got[i].Chosen, want.name)
	}
	p := h.Predict(predict.Job{})
	require.InDelta(t, 22.5, p.Point, 1e-12)
	require.Equal(t, predict.Expert{Feature: "all", Estimator: predict.EstimatorMean}, p.Expert)
	require.Equal(t, 4, p.Samples)
	// Half of the mass is on the last two, half on all four.
	require.InDelta(t, (30+22.5)/2, p.Dist.Mean(), 1e-9)
	lo, hi := p.Dist.Bounds()
	require.Equal(t, []float64{10, 40}, []float64{lo, hi})
}

func TestForgettingErrors(t *testing.T) {
	h := newHistory(t, &predict.HistoryOptions{Features: []predict.Feature{predict.All()}, Forget: 0.5})
	for _, x := range []float64{10, 20, 15} {
		require.NoError(t, h.Observe(predict.Observation{Job: predict.Job{}, Runtime: x}))
	}
	require.InDelta(t, (0.5*10+0)/(0.5*20+15), h.Explain(predict.Job{})[0].NMAE, 1e-12)
}

func TestChoosesTheFeatureThatPredicts(t *testing.T) {
	h := newHistory(t, &predict.HistoryOptions{Features: []predict.Feature{predict.Attr("user"), predict.Attr("name")}})
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 200 {
		n := i % 4
		j := predict.Job{
			Attributes: map[string]string{"user": "u" + strconv.Itoa(rng.IntN(2)), "name": "n" + strconv.Itoa(n)}}
		require.NoError(t, h.Observe(predict.Observation{Job: j, Runtime: float64(100*(n+1)) + rng.Float64()}))
	}
	p := h.Predict(predict.Job{Attributes: map[string]string{"user": "u0", "name": "n2"}})
	require.Equal(t, "name", p.Expert.Feature)
	require.Equal(t, "n2", p.Expert.Value)
	require.InDelta(t, 300.5, p.Point, 0.5)
	require.Equal(t, 50, p.Samples)
}

func TestTiesGoToTheMoreSpecific(t *testing.T) {
	h := newHistory(t, &predict.HistoryOptions{
		Features: []predict.Feature{predict.Attr("user"), predict.Attr("user", "name"), predict.Attr("name")},
	})
	j := predict.Job{Attributes: map[string]string{"user": "u", "name": "n"}}
	for range 3 {
		require.NoError(t, h.Observe(predict.Observation{Job: j, Runtime: 60}))
	}
	require.Equal(t, "user+name", h.Predict(j).Expert.Feature)
	require.Equal(t, "u n", h.Predict(j).Expert.Value)
}

func TestColdStart(t *testing.T) {
	h := newHistory(t, nil)
	p := h.Predict(userJob("u1"))
	require.Zero(t, p.Samples)
	require.Equal(t, predict.Expert{Estimator: "prior"}, p.Expert)
	require.InDelta(t, 600, p.Point, 1e-6)
	require.InDelta(t, 600, p.Dist.Quantile(0.5), 1e-6)

	require.NoError(t, h.Observe(predict.Observation{Job: userJob("u1"), Runtime: 30}))
	require.Equal(t, "user", h.Predict(userJob("u1")).Expert.Feature, "one completion of the same user")
	require.Equal(t, "all", h.Predict(userJob("u2")).Expert.Feature, "the broadest feature")
	require.Equal(t, 30.0, h.Predict(userJob("u2")).Point)

	prior, err := dist.NewUniform(0, 10)
	require.NoError(t, err)
	h = newHistory(t, &predict.HistoryOptions{Prior: prior, Result: predict.ResultPoint})
	p = h.Predict(predict.Job{})
	require.Equal(t, 5.0, p.Point)
	require.Equal(t, 5.0, p.Dist.Quantile(0.9))
}

func TestEvictsTheLeastRecentlyObserved(t *testing.T) {
	h := newHistory(t,
		&predict.HistoryOptions{Features: []predict.Feature{predict.All(), predict.Attr("user")}, MaxValues: 3})
	for _, u := range []string{"a", "b", "a", "c"} { // all, c and a stay
		require.NoError(t, h.Observe(predict.Observation{Job: userJob(u), Runtime: 10}))
	}
	require.Equal(t, 3, h.Len())
	samples := func(user string) int { // of the user's own history, 0 if forgotten
		for _, c := range h.Explain(userJob(user)) {
			if c.Expert.Feature == "user" {
				return c.Samples
			}
		}
		return 0
	}
	require.Equal(t, []int{2, 0, 1}, []int{samples("a"), samples("b"), samples("c")})
	require.NoError(t, h.Observe(predict.Observation{Job: userJob("b"), Runtime: 99}))
	require.Equal(t, []int{0, 1, 1}, []int{samples("a"), samples("b"), samples("c")},
		"what was forgotten does not come back")
}

// A forecast from history stays within what was observed.
func TestForecastsStayWithinObserved(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for _, o := range []*predict.HistoryOptions{nil, {RecentOnly: true}, {Bins: 4, Recent: 3}} {
		h := newHistory(t, o)
		lo, hi := math.Inf(1), 0.0
		for i := range 400 {
			j := userJob("u" + strconv.Itoa(i%5))
			x := math.Exp(rng.NormFloat64() * 3)
			lo, hi = min(lo, x), max(hi, x)
			require.NoError(t, h.Observe(predict.Observation{Job: j, Runtime: x}))
			p := h.Predict(j)
			eps := 1e-9 * hi
			require.True(t, p.Point >= lo-eps && p.Point <= hi+eps, "%v outside [%v, %v]", p.Point, lo, hi)
			a, b := p.Dist.Bounds()
			require.True(t, a >= lo-eps && b <= hi+eps, "[%v, %v] outside [%v, %v]", a, b, lo, hi)
		}
	}
}

func TestForecastsAreOfTheLatestHistory(t *testing.T) {
	h := newHistory(t, nil)
	for i := range 10 {
		require.NoError(t, h.Observe(predict.Observation{Job: userJob("u"), Runtime: float64(i + 1)}))
		_, hi := h.Predict(userJob("u")).Dist.Bounds()
		require.Equal(t, float64(i+1), hi)
	}
}

func TestObserveRefusesWithErrRuntime(t *testing.T) {
	h := newHistory(t, nil)
	for _, x := range []float64{math.NaN(), math.Inf(1), -1} {
		err := h.Observe(predict.Observation{Job: predict.Job{ID: "j9"}, Runtime: x})
		require.ErrorIs(t, err, predict.ErrRuntime)
		require.ErrorContains(t, err, "j9")
	}
	require.Zero(t, h.Len())
}

func TestOptionsOutOfRange(t *testing.T) {
	for name, o := range map[string]predict.HistoryOptions{
		"bins": {Bins: 1}, "negative bins": {Bins: -1}, "recent": {Recent: -1}, "many recent": {Recent: 5000},
		"alpha": {Alpha: 1.5}, "alpha NaN": {Alpha: math.NaN()}, "forget": {Forget: -0.1}, "min": {MinSamples: 1},
		"values": {MaxValues: -1}, "bytes": {MaxBytes: -1}, "blend": {Blend: -1}, "result": {Result: 9},
	} {
		_, err := predict.NewHistory(&o)
		require.ErrorIs(t, err, predict.ErrOptions, name)
	}
	for name, f := range map[string][]predict.Feature{
		"empty name": {predict.Attr("")}, "plus": {predict.Attr("a+b")}, "twice": {predict.Attr("a"), predict.Attr("a")},
		"reserved": {predict.Attr("all")}, "no function": {predict.Derived("a", nil)},
		"attribute and hour":    {predict.Attr("user", "hour"), predict.HourOfDay()},
		"weekday and attribute": {predict.DayOfWeek(), predict.Attr("weekday", "a")},
		"both in one":           {predict.Combine(predict.Attr("hour"), predict.HourOfDay())},
		"two functions": {predict.Derived("a", constant("x")),
			predict.Combine(predict.Attr("b"), predict.Derived("a", constant("y")))},
	} {
		_, err := predict.NewHistory(&predict.HistoryOptions{Features: f})
		require.ErrorIs(t, err, predict.ErrFeature, name)
	}
}

func constant(value string) func(predict.Job) (string, bool) {
	return func(predict.Job) (string, bool) { return value, true }
}

// A part that comes in several features is one part, and derived once.
func TestSharedParts(t *testing.T) {
	calls := 0
	d := predict.Derived("d", func(predict.Job) (string, bool) { calls++; return "x", true })
	h := newHistory(t, &predict.HistoryOptions{Features: []predict.Feature{
		d, predict.Combine(predict.Attr("user"), d), predict.HourOfDay(), predict.Combine(predict.HourOfDay(), d, d),
	}})
	require.NoError(t, h.Observe(predict.Observation{Job: predict.Job{Submitted: time.Unix(0, 0).UTC()}, Runtime: 5}))
	require.Equal(t, 1, calls)
	require.Equal(t, "hour+d", h.Predict(predict.Job{Submitted: time.Unix(0, 0).UTC()}).Expert.Feature)
}

func TestFeatureNames(t *testing.T) {
	for name, f := range map[string]predict.Feature{
		"all":            predict.All(),
		"user":           predict.Attr("user"),
		"user+name":      predict.Attr("user", "name"),
		"user+hour":      predict.Combine(predict.Attr("user"), predict.HourOfDay()),
		"hour+weekday+a": predict.Combine(predict.HourOfDay(), predict.DayOfWeek(), predict.HourOfDay(), predict.Attr("a")),
	} {
		require.Equal(t, name, f.Name())
		parsed, err := predict.ParseFeature(name)
		require.NoError(t, err)
		require.Equal(t, name, parsed.Name())
	}
	for _, bad := range []string{"", "+", "user+", "user++name", "user+all"} {
		_, err := predict.ParseFeature(bad)
		require.ErrorIs(t, err, predict.ErrFeature, bad)
	}
	seen := map[string]bool{}
	for _, f := range predict.DefaultFeatures() {
		require.False(t, seen[f.Name()], f.Name())
		seen[f.Name()] = true
	}
	require.True(t, seen["all"] && seen["user+name"])
}

func TestDerivedFeatures(t *testing.T) {
	h := newHistory(t,
		&predict.HistoryOptions{Features: []predict.Feature{predict.Combine(predict.DayOfWeek(), predict.HourOfDay())}})
	at := func(hour int) predict.Job {
		return predict.Job{Submitted: time.Date(2026, 3, 1, hour, 30, 0, 0, time.UTC)}
	}
	for range 3 {
		require.NoError(t, h.Observe(predict.Observation{Job: at(9), Runtime: 100}))
		require.NoError(t, h.Observe(predict.Observation{Job: at(10), Runtime: 900}))
	}
	require.Equal(t, 900.0, h.Predict(at(10)).Point)
	require.Equal(t, "Sunday 10", h.Predict(at(10)).Expert.Value)
	require.Equal(t, "all", h.Predict(predict.Job{}).Expert.Feature, "no submission time")
}

// Values that look alike when joined are different values.
func TestCombinationsDoNotCollide(t *testing.T) {
	h := newHistory(t, &predict.HistoryOptions{Features: []predict.Feature{predict.Attr("a", "b")}})
	job := func(a, b string) predict.Job { return predict.Job{Attributes: map[string]string{"a": a, "b": b}} }
	require.NoError(t, h.Observe(predict.Observation{Job: job("x y", "z"), Runtime: 1}))
	require.Equal(t, "all", h.Predict(job("x", "y z")).Expert.Feature)
}

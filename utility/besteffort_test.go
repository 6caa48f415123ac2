package utility_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/utility"
)

// TestBestEffortFalls: by half in a half-life, all the way, and never to 0.
func TestBestEffortFalls(t *testing.T) {
	u, err := utility.BestEffort(8, time.Hour)
	require.NoError(t, err)
	for _, c := range []struct{ hours, want float64 }{
		{0, 8}, {1, 4}, {2, 2}, {3, 1}, {10, 8. / 1024}, {20, 8. / 2048}, {40, 8. / 4096}, {10240, 8. / (1 << 20)}, {1e12, 8. / (1 << 20)},
	} {
		assert.Equal(t, c.want, u.At(3600*c.hours), "after %v h", c.hours)
	}
	last := math.Inf(1)
	for h := 0.0; h <= 10240; h = float64(h*1.01) + 0.01 {
		v := u.At(3600 * h)
		require.True(t, v > 0 && v < last, "after %v h: %v, before that %v", h, v, last)
		last = v
	}
}

// TestBestEffortIsExpectedExactly: by every family, against an integral of its own.
func TestBestEffortIsExpectedExactly(t *testing.T) {
	u, err := utility.BestEffort(5, 100*time.Second)
	require.NoError(t, err)
	for i, d := range runtimes(t) {
		for _, start := range []float64{0, 40, 1e3, 1e6} {
			const cells = 200_000
			want := 0.0
			for k := range cells {
				want += u.At(start+d.Quantile((float64(k)+0.5)/cells)) / cells
			}
			assert.InEpsilon(t, want, utility.Expected(u, d, start), 1e-4, "distribution %d from %v", i, start)
		}
	}
}

func TestBestEffortIsReadBack(t *testing.T) {
	u, err := utility.BestEffort(5, 7*time.Minute)
	require.NoError(t, err)
	data, err := utility.Marshal(u)
	require.NoError(t, err)
	back, err := utility.Unmarshal(data)
	require.NoError(t, err)
	assert.Equal(t, u, back)
}

func TestBestEffortRefuses(t *testing.T) {
	for _, c := range []struct {
		value    float64
		halfLife time.Duration
		want     string
	}{
		{-1, time.Hour, "value = -1, want a number from 1e-301 to 1e+298"},
		{math.NaN(), time.Hour, "value = NaN"}, {math.Inf(1), time.Hour, "value = +Inf"}, {1e299, 1, "value = 1e+299"},
		{0, time.Hour, "value = 0"}, {5e-324, time.Hour, "value = 5e-324"},
		{1, 0, "halfLife = 0s, want longer than 0"}, {1, -time.Hour, "halfLife = -1h0m0s, want longer than 0"},
	} {
		_, err := utility.BestEffort(c.value, c.halfLife)
		require.ErrorIs(t, err, dist.ErrInvalid, "%v, %v", c.value, c.halfLife)
		assert.ErrorContains(t, err, "utility.BestEffort: invalid parameter: "+c.want)
	}
	for _, halfLife := range []time.Duration{1, math.MaxInt64} {
		for _, value := range []float64{1e-301, 1, 1e298} {
			u, err := utility.BestEffort(value, halfLife)
			require.NoError(t, err, "%v, %v", value, halfLife)
			assert.Positive(t, u.At(1e30))
		}
	}
}

type (
	byFunc  func(float64) float64
	pointed struct{ worth float64 }
)

func (f byFunc) At(t float64) float64 { return f(t) }
func (p *pointed) At(float64) float64 { return p.worth }

func TestCheck(t *testing.T) {
	nan := func(from, to float64) byFunc {
		return func(at float64) float64 {
			if at >= from && at <= to {
				return math.NaN()
			}
			return 1
		}
	}
	horizon := utility.Horizon.Seconds()
	var curve *utility.Curve
	var pointer *pointed
	sound, err := utility.Deadline(time.Hour, 1)
	require.NoError(t, err)
	for _, c := range []struct {
		name string
		u    utility.Utility
		want string // empty: it passes
	}{
		{"nil", nil, ""},
		{"a curve", sound, ""},
		{"a foreign one", &pointed{3}, ""},
		{"without end", byFunc(func(float64) float64 { return math.Inf(1) }), ""},
		{"a nil curve", curve, "u = *utility.Curve(nil)"},
		{"a nil pointer", pointer, "*utility_test.pointed(nil)"},
		{"a nil function", byFunc(nil), "utility_test.byFunc(nil)"},
		{"a curve that no constructor made", &utility.Curve{}, "&utility.Curve{}"},
		{"NaN at 0", nan(0, 0), "U(0) = NaN"},
		{"NaN at the deadline", nan(60, 60), "U(60) = NaN"},
		{"NaN at the horizon", nan(horizon, horizon), fmt.Sprintf("U(%v) = NaN", horizon)},
		{"NaN elsewhere, which nobody can know", nan(61, 100), ""},
		{"a panic", byFunc(func(float64) float64 { panic("oh no") }), "a panic (oh no)"},
		{"a panic of the runtime", byFunc(func(t float64) float64 { return []float64{}[int(t)] }), "index out of range"},
	} {
		err := utility.Check(c.u, time.Minute)
		if c.want == "" {
			require.NoError(t, err, c.name)
			continue
		}
		require.ErrorIs(t, err, dist.ErrInvalid, c.name)
		require.ErrorContains(t, err, c.want, c.name)
	}
}

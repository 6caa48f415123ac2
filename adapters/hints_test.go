package adapters_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

func TestDeadlines(t *testing.T) {
	submitted := time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		text string
		want time.Duration
		err  string
	}{
		{"90m", 90 * time.Minute, ""},
		{"1s", time.Second, ""},
		{"2026-01-02T15:04:05Z", 4*time.Minute + 5*time.Second, ""},
		{"2026-01-02T16:00:01+01:00", time.Second, ""},
		{"2026-01-02T15:00:00Z", 0, "expected a time after the submission at 2026-01-02T15:00:00Z"},
		{"2020-01-01T00:00:00Z", 0, "expected a time after the submission"},
		{"9999-01-01T00:00:00Z", math.MaxInt64, ""},
		{"0001-01-01T00:00:00Z", 0, "expected a duration of at least 1s"},
		{"0", 0, "expected a duration of at least 1s"},
		{"1ns", 0, "expected a duration of at least 1s"},
		{"-5m", 0, "expected a duration of at least 1s"},
		{"tomorrow", 0, "expected a duration of at least 1s"},
		{"", 0, "expected a duration of at least 1s"},
	} {
		d, err := adapters.ParseDeadline(tt.text)
		var got time.Duration
		if err == nil {
			got, err = d.From(submitted)
		}
		if tt.err == "" {
			require.NoError(t, err, tt.text)
		} else {
			var expected adapters.Expected
			require.ErrorAs(t, err, &expected, tt.text)
			require.ErrorContains(t, err, tt.err, tt.text)
		}
		assert.Equal(t, tt.want, got, tt.text)
	}
}

func TestUtilities(t *testing.T) {
	_, err := adapters.ParseUtility([]byte(`{"kind":"piecewise","points":[{"t":0,"v":-1},{"t":9,"v":2}]}`))
	require.NoError(t, err)
	_, err = adapters.ParseUtility([]byte(`{"kind":"piecewise","points":[{"t":0,"v":-1},{"t":9,"v":0}]}`))
	require.ErrorContains(t, err, "expected a utility that is above 0 at some time")
	_, err = adapters.ParseUtility([]byte(`{`))
	require.ErrorContains(t, err, "utility.Unmarshal")
}

func TestSlowdowns(t *testing.T) {
	for text, want := range map[string]float64{"1": 1, "1.5": 1.5, "1e6": 1e6} {
		got, err := adapters.ParseSlowdown(text)
		require.NoError(t, err, text)
		assert.InDelta(t, want, got, 0, text)
	}
	for _, bad := range []string{"", "0", "-1", "0.5", "1000001", "NaN", "Inf", "1e400", "fast"} {
		got, err := adapters.ParseSlowdown(bad)
		require.EqualError(t, err, "expected a number from 1 to 1e6", bad)
		assert.Zero(t, got, bad)
	}
	require.NoError(t, adapters.CheckPreferred(2, sched.NodesWith("gpu"), "prefer"))
	require.NoError(t, adapters.CheckPreferred(0, sched.AnyNode(), "prefer"))
	require.EqualError(t, adapters.CheckPreferred(2, sched.AnyNode(), "prefer"), "expected none without prefer")
}

func FuzzDeadline(f *testing.F) {
	f.Add("90m")
	f.Add("2026-01-02T15:04:05Z")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := adapters.ParseDeadline(text)
		if err != nil {
			return
		}
		got, err := d.From(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		assert.Equal(t, err == nil, got > 0)
	})
}

func ExampleParseDeadline() {
	d, err := adapters.ParseDeadline("2026-01-02T15:04:05Z")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.From(time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC)))
	fmt.Println(d.From(time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)))
	// Output:
	// 4m5s <nil>
	// 0s expected a time after the submission at 2026-01-03T00:00:00Z
}

func TestParseAfter(t *testing.T) {
	names, err := adapters.ParseAfter(" fetch,split ,a.b-c")
	require.NoError(t, err)
	assert.Equal(t, []string{"fetch", "split", "a.b-c"}, names)
	for _, text := range []string{"", ",", "a,", "a,a", "a, a", strings.Repeat("x", sched.MaxName+1)} {
		_, err := adapters.ParseAfter(text)
		require.ErrorAs(t, err, new(adapters.Expected), "%q", text)
	}
}

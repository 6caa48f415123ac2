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

func TestSpeeds(t *testing.T) {
	got, err := adapters.ParseSpeeds(" gpu=a100|h100, disk=* 1 ;gpu=v100\t0.66; other 0.39", "gpu=a100 1; other 0.5")
	require.NoError(t, err)
	assert.Equal(t, "disk=*&gpu=a100|h100 1; gpu=v100 0.66; other 0.39", got.String())
	assert.InDelta(t, 1, got.On(map[string]string{"gpu": "h100", "disk": "ssd"}), 0)
	assert.InDelta(t, 0.39, got.On(map[string]string{"gpu": "h100"}), 0)
	assert.InDelta(t, 0.66, got.On(map[string]string{"gpu": "v100"}), 0)
	for bad, want := range map[string]string{
		"": `"", expected nodes and speeds like "gpu=a100 1; other 0.5"`, "gpu=a100": `"gpu=a100", expected nodes and speeds`,
		"gpu=a100 1;": "expected nodes and speeds", "gpu=a100 0": `"0", expected a speed from 1e-6 to 1`,
		"gpu=a100 1.5": "expected a speed", "gpu=a100 NaN": "expected a speed", "gpu=a100 1e-7": "expected a speed",
		"other fast": "expected a speed", "gpu 1": "expected labels", "gpu= 1": "expected labels",
		"gpu=| 1": "expected values that are not empty",
		strings.Repeat("a=b 1;", sched.MaxSpeeds) + "a=c 1": "expected at most 16 sets",
	} {
		got, err := adapters.ParseSpeeds(bad, "gpu=a100 1; other 0.5")
		require.ErrorContains(t, err, want, bad)
		require.ErrorAs(t, err, new(adapters.Expected), bad)
		assert.True(t, got.Even(), bad)
	}
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

package figures

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hedgesched/hedge/cmd/hedge/internal/stats"
)

func TestNumbersKeepThreeDigits(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 1234.5: "1234", 99.95: "100.0", 12.34: "12.3", 1.234: "1.23",
		.0123: "0.01", .00123: "0.0012", -250.2: "-250"} {
		assert.Equal(t, want, Number(x))
	}
}

func TestSpansHaveUnits(t *testing.T) {
	for s, want := range map[float64]string{5: "5.00 s", 600: "10.0 min", 7200: "2.00 h", 864000: "10.0 days"} {
		assert.Equal(t, want, Span(s))
	}
}

func TestIntervalsOfOneSeedAreTheMean(t *testing.T) {
	assert.Equal(t, "40.0", Interval(stats.Of([]float64{.4}), 100))
	assert.Equal(t, "7", Interval(stats.Of([]float64{7}), 1), "a count")
	assert.Equal(t, "7.50", Interval(stats.Of([]float64{7.5}), 1))
	assert.Equal(t, "2.00 ± 2.48", Interval(stats.Of([]float64{1, 2, 3}), 1))
}

func TestJobsOfNamelessUsers(t *testing.T) {
	assert.Equal(t, "3 jobs of 2 users", JobsOf(3, 2))
	assert.Equal(t, "3 jobs", JobsOf(3, 0))
}

func TestIgnoredDemandsAreNamed(t *testing.T) {
	assert.Empty(t, Ignored(nil))
	assert.Contains(t, Ignored([]string{"cpu", "memory"}), "demands of cpu, memory;")
}

func TestUnmatchedLabelsAreNamed(t *testing.T) {
	assert.Empty(t, Unmatched(nil))
	assert.Contains(t, Unmatched([]string{"gpu=a100", "gpu=v100"}), "jobs run: gpu=a100, gpu=v100;")
	assert.Contains(t, Unmatched([]string{"a=1", "a=2", "a=3", "a=4", "a=5", "a=6"}), "a=4, a=5, …;")
}

func TestCounts(t *testing.T) {
	assert.Equal(t, []string{"0 jobs", "1 job", "2 jobs"}, []string{Count(0, "job"), Count(1, "job"), Count(2, "job")})
}

func TestListsAreOrdered(t *testing.T) {
	assert.Equal(t, "2 failed, 1 killed", Counts(map[string]int{"killed": 1, "failed": 2, "none": 0}))
	assert.Equal(t, []string{"c", "a"}, Largest(map[string]float64{"a": .3, "b": .3, "c": .4}, 2))
}

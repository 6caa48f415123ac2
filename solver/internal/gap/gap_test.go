package gap_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hedgesched/hedge/solver/internal/gap"
)

func TestTarget(t *testing.T) {
	for option, want := range map[float64]float64{0: 1e-4, 0.05: 0.05, 2: 2, -1: 0, -1e-300: 0} {
		assert.Equal(t, want, gap.Target(option), "option %v", option)
	}
}

func TestOf(t *testing.T) {
	for _, c := range []struct{ bound, value, want float64 }{
		{100, 90, 0.1}, {90, 100, -10.0 / 90}, {-100, -110, 0.1}, {0, 0, 0}, {0, -1, 1e9}, {1e-12, 0, 1e-3},
	} {
		assert.InDelta(t, c.want, gap.Of(c.bound, c.value), 1e-9*math.Abs(c.want), "%v and %v", c.bound, c.value)
	}
}

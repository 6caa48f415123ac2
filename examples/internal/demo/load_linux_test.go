package demo

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLoad(t *testing.T) {
	stop := WatchLoad(t.Context())
	l := stop()
	assert.GreaterOrEqual(t, l.Mean, l.Least)
	assert.LessOrEqual(t, l.Mean, l.Most)
	now, ok := parseLoad("12.50 8.00 4.00 3/400 12345\n")
	assert.True(t, ok)
	assert.InDelta(t, 12.5, now, 0)
	_, ok = parseLoad("")
	assert.False(t, ok)
	assert.Equal(t, "load average 2.0, from 1.0 to 3.0", Load{1, 2, 3}.String())
	for _, tt := range []struct {
		a, b float64
		want bool
	}{{10, 14, true}, {10, 16, false}, {16, 10, false}, {0.1, 3.9, true}, {0, 5, false}} {
		assert.Equal(t, tt.want, Load{Mean: tt.a}.Comparable(Load{Mean: tt.b}, 2), "%v", tt)
	}
}

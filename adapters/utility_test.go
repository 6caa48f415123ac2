package adapters_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
)

func TestDefaultUtility(t *testing.T) {
	const day = 24 * time.Hour
	at := func(deadline, after time.Duration) float64 {
		return adapters.DefaultUtility(deadline).At(after.Seconds())
	}
	for _, c := range []struct {
		deadline, after time.Duration
		want            float64
	}{
		{0, 0, 5}, {0, 6 * day, 4}, {0, 24 * day, 1}, {0, 30 * day, 1}, {0, 36500 * day, 1},
		{time.Hour, 0, 105}, {6 * day, 6 * day, 104}, {6 * day, 12 * day, 3}, {6 * day, 400 * day, 1},
		{24 * day, 24 * day, 101}, {24 * day, 25 * day, 1},
		{-time.Hour, 0, 5}, {1, day, 5 - 1.0/6}, {math.MaxInt64, 400 * day, 101},
	} {
		assert.InDelta(t, c.want, at(c.deadline, c.after), 1e-9, "a deadline of %v, %v after", c.deadline, c.after)
	}
	for _, deadline := range []time.Duration{0, 1, time.Minute, 24 * day, 100 * day, math.MaxInt64} {
		u, before := adapters.DefaultUtility(deadline), math.Inf(1)
		require.NotNil(t, u)
		for after := time.Duration(0); after < 1000*day; after += 7 * time.Hour {
			now := u.At(after.Seconds())
			require.True(t, now >= 1 && now <= before, "a deadline of %v, %v after: %v, before that %v", deadline, after, now,
				before)
			before = now
		}
	}
}

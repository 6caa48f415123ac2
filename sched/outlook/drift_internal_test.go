package outlook

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestQuantilesOfWhatIsPartlyKnown: by hand, after Kaplan and Meier.
func TestQuantilesOfWhatIsPartlyKnown(t *testing.T) {
	of := func(ratios ...float64) (all []observed) {
		for _, z := range ratios {
			all = append(all, observed{ratio: z, weight: 1})
		}
		return all
	}
	all := of(4, 1, 3, 2)
	assert.Equal(t, [levels]float64{1, 1, 1, 2, 3, 4, 4}, quantiles(all))
	// 2 is open: of its quarter 3 and 4 have half each, so that 3 is at 5/8.
	all = of(1, 2, 3, 4)
	all[1].open = true
	assert.Equal(t, [levels]float64{1, 1, 1, 3, 4, 4, 4}, quantiles(all))
	// The largest is open: what is left is beyond it.
	all = of(1, 2, 3, 4)
	all[3].open = true
	assert.Equal(t, [levels]float64{1, 1, 1, 2, 3, 5, 5}, quantiles(all))
	// Together these two weigh as much as the other.
	all = of(1, 1, 2)
	all[0].weight, all[1].weight = 0.5, 0.5
	assert.Equal(t, [levels]float64{1, 1, 1, 1, 2, 2, 2}, quantiles(all))
}

// TestJobsOfAPeriodWeighOne, but the longer the waits, the longer is a period.
func TestJobsOfAPeriodWeighOne(t *testing.T) {
	all := []observed{{at: 25}, {at: 1}, {at: 2}, {at: 9, open: true}, {at: 12}}
	assert.InDelta(t, 2.0/3+2, weigh(all, 10), 1e-12)
	assert.InDelta(t, 4.0/5, weigh(all, 100), 1e-12)
}

// TestDriftLearns: if waits are twice the estimates, estimates are soon doubled; other scales stay as they are.
func TestDriftLearns(t *testing.T) {
	var d drift
	for i := range 100 {
		told := &telling{at: float64(i) * 1000, median: 99, spread: 0.5}
		d.learn(told, told.at+199, 1)
	}
	d.settle(nil, 1)
	s := d.shifts[scale(99, 1)]
	assert.InDelta(t, logRatio(199, 99, 1)/0.5, s.at[3], 1e-12)
	assert.Greater(t, s.weight, 0.9)
	assert.Zero(t, d.shifts[scale(10_000, 1)].weight)
}

// TestBestOrder: the best order is the one with the least error.
func TestBestOrder(t *testing.T) {
	var s scores
	assert.Equal(t, byPlan, s.best())
	for range 20 {
		told := telling{}
		for o := range told.orders {
			told.orders[o] = 1000
		}
		told.orders[byDeadline] = 105
		s.learn(&told, 100, 10)
	}
	assert.Equal(t, byDeadline, s.best())
}

package utility_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/utility"
)

// The worked example of the 3Sigma paper (sections 2.3 and 4.3.2, Fig. 5): one node, an
// SLO job with a deadline of 15 min and a best-effort job arrive together;
// slots of 2.5 min, start times 0 … 17.5 min, window [0, 20) min.
const (
	fig5Slots  = 8
	fig5Minute = 60.0
	fig5Slot   = 2.5 * fig5Minute
)

type fig5 struct {
	slo, be         *utility.Curve
	sloAt, beAt, rc [fig5Slots]float64
}

func newFig5(t *testing.T, lo, hi float64) *fig5 {
	t.Helper()
	u, err := dist.NewUniform(lo*fig5Minute, hi*fig5Minute)
	require.NoError(t, err)
	f := &fig5{}
	f.slo, err = utility.Deadline(15*time.Minute, 1)
	require.NoError(t, err)
	// "a linearly decaying function with a significantly lower maximum value"
	f.be, err = utility.LinearDecay(0.1, 40*time.Minute)
	require.NoError(t, err)
	var starts [fig5Slots]float64
	for i := range starts {
		starts[i] = float64(i) * fig5Slot
	}
	utility.ExpectedAll(f.sloAt[:], f.slo, u, starts[:])
	utility.ExpectedAll(f.beAt[:], f.be, u, starts[:])
	dist.Survivals(f.rc[:], u, 0, fig5Slot)
	return f
}

// use is a job's expected consumption in slot t when it starts in slot s; -1 is not at all.
func (f *fig5) use(s, t int) float64 {
	if s < 0 || t < s {
		return 0
	}
	return f.rc[t-s]
}

// best tries every pair of starts that keeps the expected consumption within
// one node in every slot of the window, as the MILP of section 4.3.4 does.
func (f *fig5) best() (slo, be int) {
	top := -1.0
	for s := -1; s < fig5Slots; s++ {
		for b := -1; b < fig5Slots; b++ {
			fits, value := true, 0.0
			for t := range fig5Slots {
				fits = fits && f.use(s, t)+f.use(b, t) <= 1
			}
			if s >= 0 {
				value += f.sloAt[s]
			}
			if b >= 0 {
				value += f.beAt[b]
			}
			if fits && value > top {
				top, slo, be = value, s, b
			}
		}
	}
	return slo, be
}

func TestFigure5(t *testing.T) {
	t.Run("scenario 1: U(0, 10), SLO first", func(t *testing.T) {
		f := newFig5(t, 0, 10)
		assert.Equal(t, [fig5Slots]float64{1, 1, 1, 0.75, 0.5, 0.25, 0, 0}, f.sloAt)
		assert.Equal(t, [fig5Slots]float64{1, 0.75, 0.5, 0.25, 0, 0, 0, 0}, f.rc)
		row := []float64{f.use(0, 1), f.use(1, 1), f.use(0, 1), f.use(1, 1)}
		assert.Equal(t, []float64{0.75, 1, 0.75, 1}, row, "capacity row at t = 2.5")
		slo, be := f.best()
		assert.Equal(t, 0, slo)
		assert.Equal(t, 4, be, "when the SLO job is certainly done")
	})
	t.Run("scenario 2: U(2.5, 7.5), BE first", func(t *testing.T) {
		f := newFig5(t, 2.5, 7.5)
		assert.Equal(t, [fig5Slots]float64{1, 1, 1, 1, 0.5, 0, 0, 0}, f.sloAt)
		assert.Equal(t, [fig5Slots]float64{1, 1, 0.5, 0, 0, 0, 0, 0}, f.rc)
		slo, be := f.best()
		assert.Equal(t, 3, slo, "the SLO job starts at 7.5")
		assert.Equal(t, 0, be)
	})
	t.Run("BE first in scenario 1 misses with 12.5 %", func(t *testing.T) {
		u, err := dist.NewUniform(0, 10)
		require.NoError(t, err)
		deadline, err := utility.Deadline(15*time.Second, 1)
		require.NoError(t, err)
		miss, n := 0.0, 2000
		for i := range n { // the SLO job starts the moment the BE job ends
			miss += 1 - utility.Expected(deadline, u, u.Quantile((float64(i)+0.5)/float64(n)))
		}
		assert.InDelta(t, 0.125, miss/float64(n), 1e-6)
	})
}

package dist

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Division may make one number of two neighbouring masses, and 0 of the smallest. What is left must still be the knots
// of the histogram that FromKnots makes of them.
func TestBuilderIsCanonicalAfterNormalising(t *testing.T) {
	const a = 0.31000000000000005
	for name, b := range map[string]*builder{
		"a jump of no height":   {x: []float64{0, 1, 1, 2}, cum: []float64{0, a, math.Nextafter(a, 1), 0.6}, mass: 0.6},
		"a left end of no mass": {x: []float64{0, 1, 2}, cum: []float64{0, math.SmallestNonzeroFloat64, 3}, mass: 3},
	} {
		knots := len(b.x)
		h := b.histogram()
		assert.Less(t, h.Len(), knots, name)
		again, err := FromKnots(h.x, h.cum)
		require.NoError(t, err, name)
		assert.Equal(t, h, again, name)
	}
}

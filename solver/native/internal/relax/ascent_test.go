package relax_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/native/internal/nativetest"
)

// TestPricesProveBounds ascends the dual and holds it between the best plan
// known and what the ascent used to reach.
func TestPricesProveBounds(t *testing.T) {
	for _, c := range []struct {
		name         string
		known, reach float64
	}{
		{"b-060", 26_247, 26_500},
		{"c-150", 26_201, 27_700},
		{"d-300-multi", 553_354, 600_000},
	} {
		p, err := solver.ReadProblemFile("../../../testdata/" + c.name + ".json.gz")
		require.NoError(t, err)
		w := nativetest.Ready(p, solver.Options{Work: 1 << 40, Gap: -1})
		for range 300 {
			if !w.Ascent.Step(0.95 * c.known) {
				w.Ascent.Again()
			}
			require.GreaterOrEqual(t, w.Dual.Bound, c.known)
		}
		assert.Less(t, w.Dual.Bound, c.reach, c.name)
	}
}

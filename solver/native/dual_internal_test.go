package native

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/pack"
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
		p, err := solver.ReadProblemFile("../testdata/" + c.name + ".json.gz")
		require.NoError(t, err)
		var in pack.Instance
		var d prices
		in.Load(p, solver.SplitsInteger)
		d.reset(&in)
		for range 300 {
			if !d.step(0.95 * c.known) {
				d.again()
			}
			require.GreaterOrEqual(t, d.bound, c.known)
		}
		assert.Less(t, d.bound, c.reach, c.name)
	}
}

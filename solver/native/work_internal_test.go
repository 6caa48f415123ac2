package native

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hedgesched/hedge/solver/solvertest"
)

// TestTheLastOfTheWork leaves the search remainders of its work that are too small to share
// out: it must not go on for ever.
func TestTheLastOfTheWork(t *testing.T) {
	for left := range int64(10) {
		w := prepared(solvertest.Cycle(1, 60, 10))
		w.relaxation.solve(1 << 40)
		w.Confine(w.Spent() + left)
		w.rounds()
		assert.GreaterOrEqual(t, w.Spent(), w.Limit()-2)
	}
}

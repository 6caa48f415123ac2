package highs_test

import (
	"testing"

	"github.com/hedgesched/hedge/solver/milp/milptest"
)

func TestConformance(t *testing.T) {
	milptest.Run(t, open(t), milptest.Config{})
}

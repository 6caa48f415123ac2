package milptest_test

import (
	"testing"

	"github.com/hedgesched/hedge/solver/milp/milptest"
	"github.com/hedgesched/hedge/solver/milp/milptest/reference"
)

func TestReference(t *testing.T) {
	milptest.Run(t, reference.New(), milptest.Config{})
}

//go:build cgo

package cbc_test

import (
	"testing"

	"github.com/hedgesched/hedge/solver/milp/cbc"
	"github.com/hedgesched/hedge/solver/milp/milptest"
)

func TestConformance(t *testing.T) {
	milptest.Run(t, cbc.New(), milptest.Config{})
}

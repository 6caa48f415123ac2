//go:build cgo

package cbc_test

import (
	"testing"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/cbc"
	"github.com/hedgesched/hedge/solver/milp/milptest"
)

func TestConformance(t *testing.T) {
	milptest.Run(t, cbc.New(), milptest.Config{})
}

func TestLibrary(t *testing.T) {
	milptest.RunLibrary(t, func() milp.Backend { return cbc.New() })
}

func BenchmarkSetUp(b *testing.B) {
	milptest.BenchmarkSetUp(b, cbc.New(), true, milp.Options{Gap: 0.05})
}

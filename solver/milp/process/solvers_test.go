package process_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/milp/milptest"
	"github.com/hedgesched/hedge/solver/milp/process"
)

// real is the backend of an installed solver. Tests that need it are skipped without it, unless HEDGE_REQUIRE_SOLVERS
// says that it must be there.
func real(t *testing.T, solver string) *process.Backend {
	t.Helper()
	b, err := process.New(process.Config{Solver: solver, Dir: t.TempDir()})
	require.NoError(t, err)
	if err := b.Available(); err != nil {
		if os.Getenv("HEDGE_REQUIRE_SOLVERS") != "" {
			t.Fatalf("HEDGE_REQUIRE_SOLVERS is set: %v", err)
		}
		t.Skip(err)
	}
	return b
}

func TestConformance(t *testing.T) {
	for _, solver := range process.Solvers() {
		t.Run(solver, func(t *testing.T) {
			milptest.Run(t, real(t, solver), milptest.Config{})
		})
	}
}

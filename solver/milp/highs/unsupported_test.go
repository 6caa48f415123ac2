//go:build !((linux || darwin) && (amd64 || arm64)) || nohighs

package highs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/highs"
)

func TestNoLibraryCanBeCalled(t *testing.T) {
	_, err := highs.Open(highs.Config{})
	require.ErrorIs(t, err, milp.ErrUnavailable)
	_, err = (&highs.Backend{}).Solve(t.Context(), small(), milp.Options{})
	require.ErrorIs(t, err, milp.ErrUnavailable)
}

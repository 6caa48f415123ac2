package testservers

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLock: one at a time has a lock, and who waits for it can be told not to.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := lock(t.Context(), path)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	waits := make(chan error, 1)
	go func() {
		_, err := lock(ctx, path)
		waits <- err
	}()
	cancel()
	require.ErrorIs(t, <-waits, context.Canceled)
	had := make(chan error, 1)
	go func() {
		free, err := lock(t.Context(), path)
		if err == nil {
			free()
		}
		had <- err
	}()
	unlock()
	require.NoError(t, <-had)
}

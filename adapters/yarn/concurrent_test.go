package yarn

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
)

// TestOneAtATimeInTheSpool: the file's lock is the whole process's, so calls that are made at the same time take turns before they take it.
func TestOneAtATimeInTheSpool(t *testing.T) {
	s, err := openSpool(t.TempDir(), 5*time.Minute)
	require.NoError(t, err)
	in, total := 0, 0
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			assert.NoError(t, s.locked(context.Background(), func() error {
				in++
				total++
				assert.Equal(t, 1, in)
				time.Sleep(time.Millisecond) // for others to come
				in--
				return nil
			}))
		})
	}
	all.Wait()
	assert.Equal(t, 16, total)

	ctx, cancel := context.WithCancel(context.Background())
	require.NoError(t, s.locked(ctx, func() error {
		cancel()
		assert.ErrorIs(t, s.locked(ctx, func() error { return nil }), adapters.ErrUnavailable, "it does not wait for ever")
		return nil
	}))
}

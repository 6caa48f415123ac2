package testservers

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOnce: files are made together unless all are there, and none is in its place before all were made.
func TestOnce(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	text := "first"
	var fails error
	made := 0
	write := func(parts []string) error {
		made++
		require.Len(t, parts, 2)
		for _, part := range parts {
			require.NoFileExists(t, part)
			require.NoError(t, os.WriteFile(part, []byte(text), 0o600))
		}
		return fails
	}
	is := func(want string) {
		for _, path := range []string{a, b} {
			got, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, want, string(got))
			assert.NoFileExists(t, path+".part")
		}
	}
	fails = errors.New("cut off")
	require.ErrorIs(t, once(t.Context(), write, a, b), fails)
	require.NoFileExists(t, a)
	require.NoFileExists(t, b)
	require.NoFileExists(t, b+".part")
	fails = nil
	for range 2 {
		require.NoError(t, once(t.Context(), write, a, b))
	}
	assert.Equal(t, 2, made)
	is("first")
	for _, lost := range []string{a, b} {
		require.NoError(t, os.Remove(lost))
		require.NoError(t, os.WriteFile(b+".part", []byte("of one that was cut off"), 0o600))
		text = "without " + filepath.Base(lost)
		require.NoError(t, once(t.Context(), write, a, b))
		is(text)
	}
}

package journal_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/live/internal/journal"
)

// open opens a journal and collects what it has.
func open(t *testing.T, name string) (*journal.Journal, []string, error) {
	t.Helper()
	var found []string
	j, err := journal.Open(name, func(b []byte) error { found = append(found, string(b)); return nil })
	return j, found, err
}

func TestWhatWasAppendedIsThere(t *testing.T) {
	name := filepath.Join(t.TempDir(), "j")
	var want []string
	for _, more := range []string{"a", "bc", string(bytes.Repeat([]byte{0}, 5000))} {
		j, found, err := open(t, name)
		require.NoError(t, err)
		assert.Equal(t, want, found)
		require.NoError(t, j.Append([]byte(more)))
		require.NoError(t, j.Close())
		want = append(want, more)
	}
	j, found, err := open(t, name)
	require.NoError(t, err)
	assert.Equal(t, want, found)
	assert.Error(t, j.Append(nil))
	require.NoError(t, j.Close())
	require.Error(t, j.Append([]byte("late")))
	assert.Error(t, j.Append([]byte("later")), "it takes no more")
}

// A crash cuts the last batch anywhere: those before it are there, and it goes on after them.
func TestATornEndIsDropped(t *testing.T) {
	name := filepath.Join(t.TempDir(), "j")
	j, _, err := open(t, name)
	require.NoError(t, err)
	require.NoError(t, j.Append([]byte("first")))
	whole, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, j.Append([]byte("second")))
	require.NoError(t, j.Close())
	both, err := os.ReadFile(name)
	require.NoError(t, err)
	for cut := len(whole); cut < len(both); cut++ {
		require.NoError(t, os.WriteFile(name, both[:cut], 0o600))
		j, found, err := open(t, name)
		require.NoError(t, err, cut)
		assert.Equal(t, []string{"first"}, found, cut)
		require.NoError(t, j.Append([]byte("third")))
		require.NoError(t, j.Close())
		j, found, err = open(t, name)
		require.NoError(t, err)
		assert.Equal(t, []string{"first", "third"}, found, cut)
		require.NoError(t, j.Close())
	}
	both[len(both)-1]++ // a last batch whose bytes did not all reach the disk
	require.NoError(t, os.WriteFile(name, both, 0o600))
	j, found, err := open(t, name)
	require.NoError(t, err)
	assert.Equal(t, []string{"first"}, found)
	require.NoError(t, j.Close())
}

func TestDamageIsRefused(t *testing.T) {
	name := filepath.Join(t.TempDir(), "j")
	j, _, err := open(t, name)
	require.NoError(t, err)
	require.NoError(t, j.Append([]byte("first")))
	require.NoError(t, j.Append([]byte("second")))
	require.NoError(t, j.Close())
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	text[9]++
	require.NoError(t, os.WriteFile(name, text, 0o600))
	_, _, err = open(t, name)
	require.ErrorIs(t, err, journal.ErrDamaged)
	assert.ErrorContains(t, err, name)
	text[9]--
	require.NoError(t, os.WriteFile(name, text, 0o600))
	mine := errors.New("mine")
	_, err = journal.Open(name, func([]byte) error { return mine })
	require.ErrorIs(t, err, mine)
	_, err = journal.Open(filepath.Join(name, "below"), nil)
	require.Error(t, err)
}

// Any file is read to an end: in batches that are in it, or to an error.
func FuzzOpen(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 0, 0, 0, 0x43, 0xbe, 0xb7, 0xe8, 'a'})
	f.Fuzz(func(t *testing.T, text []byte) {
		name := filepath.Join(t.TempDir(), "j")
		require.NoError(t, os.WriteFile(name, text, 0o600))
		size := 0
		j, err := journal.Open(name, func(b []byte) error {
			assert.Contains(t, string(text), string(b))
			size += len(b)
			return nil
		})
		assert.LessOrEqual(t, size, len(text))
		if err == nil {
			require.NoError(t, j.Close())
		}
	})
}

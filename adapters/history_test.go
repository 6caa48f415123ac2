package adapters_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/predict"
)

// history is a history that has learnt from that number of runs.
func history(t testing.TB, runs int) *predict.History {
	h, err := predict.NewHistory(nil)
	require.NoError(t, err)
	for i := range runs {
		require.NoError(t, h.Observe(predict.Observation{Job: predict.Job{Attributes: map[string]string{"user": "u"}},
			Runtime: float64(10 + i)}))
	}
	return h
}

func state(t testing.TB, h *predict.History) []byte {
	var b bytes.Buffer
	require.NoError(t, h.Save(&b))
	return b.Bytes()
}

func names(t testing.TB, dir string) (out []string) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestHistoryFile(t *testing.T) {
	dir := t.TempDir()
	file := adapters.HistoryFile(filepath.Join(dir, "history"))
	empty := history(t, 0)
	until, err := file.Load(empty)
	require.NoError(t, err, "no file is no error")
	assert.Zero(t, until)

	learnt, ended := history(t, 20), time.Date(2026, 3, 1, 12, 0, 0, 123, time.UTC)
	for _, at := range []time.Time{{}, ended} {
		require.NoError(t, file.Save(learnt, at))
		back := history(t, 0)
		until, err = file.Load(back)
		require.NoError(t, err)
		assert.Equal(t, at, until)
		assert.Equal(t, state(t, learnt), state(t, back))
	}
	assert.Equal(t, []string{"history"}, names(t, dir), "nothing else is left")
}

func TestHistoryFileDamaged(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "history")
	file := adapters.HistoryFile(path)
	require.NoError(t, file.Save(history(t, 20), time.Unix(1000, 0)))
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	damage := map[string][]byte{
		"empty": {}, "text": []byte("hello\n"), "cut": good[:len(good)-1],
		"cut to its first line": good[:bytes.IndexByte(good, '\n')+1],
		"a bit": append(append([]byte(nil), good[:len(good)/2]...),
			append([]byte{good[len(good)/2] ^ 1}, good[len(good)/2+1:]...)...),
		"the time": bytes.Replace(good, []byte("1000"), []byte("2000"), 1), "more": append(append([]byte(nil), good...), 0),
	}
	aside := 0
	for name, data := range damage {
		require.NoError(t, os.WriteFile(path, data, 0o600))
		h := history(t, 3)
		before := state(t, h)
		until, err := file.Load(h)
		require.ErrorIs(t, err, adapters.ErrHistory, name)
		assert.ErrorContains(t, err, path+".damaged", name)
		assert.Zero(t, until, name)
		assert.Equal(t, before, state(t, h), "%s: the history is as it was", name)
		aside++
		assert.Len(t, names(t, dir), aside, "%s: put aside, and nothing that was before is lost", name)
		_, err = file.Load(h)
		require.NoError(t, err, "%s: the next start finds no file", name)
	}
	newer := bytes.Replace(good, []byte("hedge-history 1"), []byte("hedge-history 2"), 1)
	require.NoError(t, os.WriteFile(path, newer, 0o600))
	_, err = file.Load(history(t, 0))
	require.ErrorIs(t, err, adapters.ErrHistory)
	require.ErrorContains(t, err, "version 2, which a newer release has written")
	other, err := predict.NewHistory(&predict.HistoryOptions{Bins: 7})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, good, 0o600))
	_, err = file.Load(other)
	require.ErrorIs(t, err, adapters.ErrHistory)
	require.ErrorIs(t, err, predict.ErrSnapshot, "of a history with other options")
}

func TestHistoryFileErrors(t *testing.T) {
	dir := t.TempDir()
	_, err := adapters.HistoryFile(dir).Load(history(t, 0))
	require.Error(t, err)
	require.NotErrorIs(t, err, adapters.ErrHistory, "a path that cannot be read is not damaged")
	nowhere := adapters.HistoryFile(filepath.Join(dir, "no", "such", "directory"))
	require.Error(t, nowhere.Save(history(t, 1), time.Time{}))
	require.Error(t, adapters.HistoryFile(dir).Save(history(t, 1), time.Time{}), "a directory is in its place")
	assert.Empty(t, names(t, dir), "no half-written file is left")
}

func FuzzHistoryFile(f *testing.F) {
	dir := f.TempDir()
	path := filepath.Join(dir, "history")
	require.NoError(f, adapters.HistoryFile(path).Save(history(f, 5), time.Unix(1000, 0)))
	good, err := os.ReadFile(path)
	require.NoError(f, err)
	f.Add(good)
	f.Add([]byte("hedge-history 1 00000000000000000000 00000000\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "history")
		require.NoError(t, os.WriteFile(path, data, 0o600))
		h := history(t, 0)
		until, err := adapters.HistoryFile(path).Load(h)
		if err != nil {
			require.ErrorIs(t, err, adapters.ErrHistory)
			return
		}
		require.NoError(t, adapters.HistoryFile(path).Save(h, until))
		again := history(t, 0)
		since, err := adapters.HistoryFile(path).Load(again)
		require.NoError(t, err)
		require.True(t, since.Equal(until))
	})
}

//go:build (linux || darwin) && (amd64 || arm64) && !nohighs

package highs

import (
	"archive/zip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/milp"
)

func TestCheckVersion(t *testing.T) {
	for _, good := range []string{Version, "1.15.0", "1.16.0", "1.20.3-rc1"} {
		assert.NoError(t, checkVersion(good), good)
	}
	for _, bad := range []string{"", "1", "1.14.9", "1.9.0", "0.16.0", "2.0.0", "v1.15.1", "1.x.1"} {
		assert.Error(t, checkVersion(bad), bad)
	}
}

func TestWhereTheLibraryIsLookedFor(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv(LibraryVariable, "")
	loader := Config{}.candidates()
	assert.Equal(t, fileName(), loader[0], "without anything else the system's loader is asked")
	dir, err := Dir()
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	installed := filepath.Join(dir, fileName())
	require.NoError(t, os.WriteFile(installed, nil, 0o600))
	assert.Equal(t, append([]string{installed}, loader...), Config{}.candidates())
	t.Setenv(LibraryVariable, "/of/the/variable")
	assert.Equal(t, []string{"/of/the/variable"}, Config{}.candidates())
	assert.Equal(t, []string{"/of/config"}, Config{Library: "/of/config"}.candidates())
}

// TestOneCallBackForAll: a process has room for 2,000 call-backs.
func TestOneCallBackForAll(t *testing.T) {
	assert.Equal(t, entry(), entry())
}

func TestUnpack(t *testing.T) {
	dir := t.TempDir()
	wheel := func(names ...string) string {
		file, err := os.Create(filepath.Join(dir, "a.whl"))
		require.NoError(t, err)
		defer file.Close()
		w := zip.NewWriter(file)
		for _, name := range names {
			f, err := w.Create(name)
			require.NoError(t, err)
			_, err = f.Write([]byte("of " + name))
			require.NoError(t, err)
		}
		require.NoError(t, w.Close())
		return file.Name()
	}
	to := filepath.Join(dir, "library")
	require.NoError(t, unpack(wheel("highspy/__init__.py", "highspy/"+fileName(), "highspy/"+fileName()+".15.1"), to))
	found, err := os.ReadFile(to)
	require.NoError(t, err)
	assert.Equal(t, "of highspy/"+fileName(), string(found))
	assert.ErrorContains(t, unpack(wheel("highspy/__init__.py"), to), fileName())
	require.Error(t, unpack(to, filepath.Join(dir, "other")), "not a zip file")
}

func TestInstallWithoutPython(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	dir := filepath.Join(t.TempDir(), "new")
	_, err := Install(t.Context(), dir)
	require.ErrorIs(t, err, milp.ErrUnavailable)
	assert.ErrorContains(t, err, "python3")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestInstallKeepsWhatIsGood(t *testing.T) {
	from := Config{}.candidates()[0]
	content, err := os.ReadFile(from)
	if err != nil {
		t.Skipf("no file of HiGHS' to try with: %v", err)
	}
	t.Setenv("PATH", t.TempDir()) // without Python nothing can be fetched
	dir := t.TempDir()
	library := filepath.Join(dir, fileName())
	require.NoError(t, os.WriteFile(library, content, 0o600))
	found, err := Install(t.Context(), dir)
	require.NoError(t, err)
	assert.Equal(t, library, found)
	broken := t.TempDir() // another folder: the library above is mapped into the process
	require.NoError(t, os.WriteFile(filepath.Join(broken, fileName()), []byte("no library"), 0o600))
	_, err = Install(t.Context(), broken)
	require.ErrorIs(t, err, milp.ErrUnavailable, "what is broken must be fetched again")
}

package testservers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestReaper: a reaper that is left alone ends the processes and mounts of its cluster, and one that is dismissed
// touches nothing.
func TestReaper(t *testing.T) {
	top := t.TempDir()
	at := func(name string) string {
		dir := filepath.Join(top, name, "data")
		require.NoError(t, os.MkdirAll(dir, 0o755))
		return dir
	}
	begin := func(dir string, env ...string) *exec.Cmd {
		c := exec.CommandContext(t.Context(), "sleep", "100000")
		c.Dir, c.Env = dir, env
		require.NoError(t, c.Start())
		return c
	}
	mounted := func(dir string) bool {
		text, err := os.ReadFile("/proc/mounts")
		require.NoError(t, err)
		return strings.Contains(string(text), " "+dir+" ")
	}
	mine, beside := at("mine"), at("mine-too")
	mounts := true
	for _, dir := range []string{mine, beside} {
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
			t.Logf("mounts are left out: %v", err)
			mounts = false
			break
		}
		t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) }) // which may be done
	}
	cluster := filepath.Join(top, "mine")
	in, told, other := begin(mine), begin("/", "HEDGE_TESTSERVERS="+cluster+"/"), begin(beside)
	require.Eventually(t, func() bool { // the kernel lets Start go on before it has laid out the new program's environment
		environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", told.Process.Pid))
		return err == nil && strings.Contains(string(environ), cluster)
	}, 2*time.Minute, time.Millisecond)

	r, err := newReaper(cluster)
	require.NoError(t, err)
	r.dismiss()
	r.dismiss()
	require.NoError(t, in.Process.Signal(syscall.Signal(0)), "nothing is touched")
	assert.Equal(t, mounts, mounted(mine))

	r, err = newReaper(cluster)
	require.NoError(t, err)
	r.abandon()
	require.ErrorContains(t, in.Wait(), "killed")
	require.ErrorContains(t, told.Wait(), "killed")
	assert.False(t, mounted(mine))
	assert.Equal(t, mounts, mounted(beside), "it is none of the cluster's")
	require.NoError(t, other.Process.Signal(syscall.SIGTERM))
	assert.ErrorContains(t, other.Wait(), "terminated")
}

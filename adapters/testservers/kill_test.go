package testservers

import (
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestKillUnder: what works in a folder or was told of it is killed, and nothing else.
func TestKillUnder(t *testing.T) {
	dir := t.TempDir()
	sub := filepath.Join(dir, "cluster", "n0")
	begin := func(change func(*exec.Cmd)) *exec.Cmd {
		c := exec.CommandContext(t.Context(), "sleep", "100000")
		c.Dir, c.Env = "/", []string{}
		change(c)
		require.NoError(t, c.Start())
		return c
	}
	require.NoError(t, write(sub, map[string][]byte{"file": nil}))
	in := begin(func(c *exec.Cmd) { c.Dir = sub })
	told := begin(func(c *exec.Cmd) { c.Env = []string{"WHERE=" + sub + "/file"} })
	beside := begin(func(c *exec.Cmd) { c.Env = []string{"WHERE=" + dir + "/cluster-2/n0"} })
	killUnder(filepath.Join(dir, "cluster"))
	assert.ErrorContains(t, in.Wait(), "killed")
	assert.ErrorContains(t, told.Wait(), "killed")
	require.NoError(t, beside.Process.Signal(syscall.SIGTERM))
	assert.ErrorContains(t, beside.Wait(), "terminated", "it is none of the cluster's")
}

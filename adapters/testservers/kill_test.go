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
	// The kernel lets Start go on before it has laid out the new program's environment.
	has := func(c *exec.Cmd, text string) {
		t.Helper()
		require.Eventually(t, func() bool {
			environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", c.Process.Pid))
			return err == nil && strings.Contains(string(environ), text)
		}, 2*time.Minute, time.Millisecond)
	}
	require.NoError(t, write(sub, map[string][]byte{"file": nil}))
	in := begin(func(c *exec.Cmd) { c.Dir = sub })
	told := begin(func(c *exec.Cmd) { c.Env = []string{"WHERE=" + sub + "/file"} })
	beside := begin(func(c *exec.Cmd) { c.Env = []string{"WHERE=" + dir + "/cluster-2/n0"} })
	has(told, sub)
	has(beside, "cluster-2")
	killUnder(filepath.Join(dir, "cluster"))
	assert.ErrorContains(t, in.Wait(), "killed")
	assert.ErrorContains(t, told.Wait(), "killed")
	require.NoError(t, beside.Process.Signal(syscall.SIGTERM))
	assert.ErrorContains(t, beside.Wait(), "terminated", "it is none of the cluster's")
}

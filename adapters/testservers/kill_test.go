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

// TestKillUnder: what works in a folder or has it in the variable is killed, and nothing else.
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
	told := begin(func(c *exec.Cmd) { c.Env = []string{"A=b", "WHERE=" + sub + "/file"} })
	beside := begin(func(c *exec.Cmd) { c.Env = []string{"WHERE=" + dir + "/cluster-2/n0"} })
	shell := begin(func(c *exec.Cmd) {
		c.Env = []string{"OLDPWD=" + sub, "NOWHERE=" + sub + "/", "ALSO=WHERE=" + sub + "/"}
	})
	has(told, sub)
	has(beside, "cluster-2")
	has(shell, "ALSO")
	killUnder(filepath.Join(dir, "cluster"), "WHERE")
	assert.ErrorContains(t, in.Wait(), "killed")
	assert.ErrorContains(t, told.Wait(), "killed")
	for _, other := range []*exec.Cmd{beside, shell} {
		require.NoError(t, other.Process.Signal(syscall.SIGTERM))
		assert.ErrorContains(t, other.Wait(), "terminated", "it is none of the cluster's")
	}
}

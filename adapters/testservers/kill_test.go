package testservers

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestKillUnder: what works in a folder or was told of it is killed, and nothing else.
func TestKillUnder(t *testing.T) {
	dir := t.TempDir()
	sub := filepath.Join(dir, "cluster", "n0")
	begin := func(change func(*exec.Cmd)) chan error {
		c := exec.CommandContext(t.Context(), "sleep", "100000")
		c.Dir, c.Env = "/", []string{}
		change(c)
		require.NoError(t, c.Start())
		done := make(chan error, 1)
		go func() { done <- c.Wait() }()
		return done
	}
	require.NoError(t, write(sub, map[string][]byte{"file": nil}))
	in := begin(func(c *exec.Cmd) { c.Dir = sub })
	told := begin(func(c *exec.Cmd) { c.Env = []string{"WHERE=" + sub + "/file"} })
	beside := begin(func(c *exec.Cmd) { c.Env = []string{"WHERE=" + dir + "/cluster-2/n0"} })
	killUnder(filepath.Join(dir, "cluster"))
	assert.ErrorContains(t, <-in, "killed")
	assert.ErrorContains(t, <-told, "killed")
	select {
	case err := <-beside:
		t.Errorf("it is none of the cluster's: %v", err)
	default:
	}
}

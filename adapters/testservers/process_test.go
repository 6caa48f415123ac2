package testservers

import (
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestKillOfWhatHasEnded: who is killed again, or stopped afterwards, has ended, and its number may be another's.
func TestKillOfWhatHasEnded(t *testing.T) {
	p, err := start(t.TempDir(), "sleep", "sleep", nil, "100000")
	require.NoError(t, err)
	p.kill()
	assert.True(t, p.ended())
	other := exec.CommandContext(t.Context(), "sleep", "100000")
	other.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, other.Start())
	p.cmd.Process.Pid = other.Process.Pid // as if it had got the number
	p.kill()
	p.stop(0)
	require.NoError(t, other.Process.Signal(syscall.SIGTERM))
	assert.ErrorContains(t, other.Wait(), "terminated")
}

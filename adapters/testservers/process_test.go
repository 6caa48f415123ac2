package testservers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

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

// TestGone: what ended by itself or by others is told apart from what was ended here.
func TestGone(t *testing.T) {
	y := &YARN{parts: map[string]*process{}}
	for _, name := range []string{"b", "killed", "stopped", "a"} {
		p, err := start(t.TempDir(), name, "sleep", nil, "100000")
		require.NoError(t, err)
		y.parts[name] = p
	}
	assert.Empty(t, y.Gone(), "they run")
	y.Kill("killed")
	y.Terminate("stopped")
	for _, name := range []string{"a", "b"} {
		require.NoError(t, y.parts[name].cmd.Process.Kill())
		<-y.parts[name].done
		y.Kill(name)
	}
	assert.Equal(t, []string{"a", "b"}, y.Gone())
	assert.Equal(t, []string{"a", "b"}, (&Nomad{parts: y.parts}).Gone())
}

// TestAlone: what a process has started outlives it only where it is to.
func TestAlone(t *testing.T) {
	for _, alone := range []bool{false, true} {
		dir := t.TempDir()
		p, err := (&process{name: "sh", alone: alone}).start(dir, "/bin/sh", nil, "-c",
			"sleep 100000 & echo $! > child; wait")
		require.NoError(t, err)
		var child int
		require.Eventually(t, func() bool {
			text, err := os.ReadFile(filepath.Join(dir, "child"))
			if err != nil {
				return false
			}
			_, err = fmt.Sscanln(string(text), &child)
			return err == nil
		}, 2*time.Minute, time.Millisecond)
		p.kill()
		if alone {
			assert.NoError(t, syscall.Kill(child, syscall.SIGKILL), "it runs")
			continue
		}
		require.Eventually(t, func() bool {
			return !belongs(fmt.Sprint("/proc/", child), filepath.Dir(dir), marker)
		}, 2*time.Minute, time.Millisecond, "it was killed, too")
	}
}

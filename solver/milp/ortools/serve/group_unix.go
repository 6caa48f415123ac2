//go:build unix

package serve

import (
	"os/exec"
	"syscall"
)

// ownGroup keeps the terminal's signals from cmd, which must end when ctx does.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills cmd and everything that it has started.
func killGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

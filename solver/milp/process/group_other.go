//go:build !unix

package process

import (
	"os"
	"os/exec"
)

// ownGroup does nothing: there are no process groups here, and grandchildren may be left behind.
func ownGroup(*exec.Cmd) {}

// interrupt asks the child to stop, if the system can.
func interrupt(cmd *exec.Cmd) { _ = cmd.Process.Signal(os.Interrupt) }

// killGroup ends the child.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

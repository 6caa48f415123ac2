// Package process runs the commands of tasks as processes of this machine. Each command has a process group of its own,
// which SIGSTOP stops and SIGCONT continues. It is an executor for package live, on Unix.
//
// Tasks do not outlive their agent on Linux: the kernel kills a command when its agent ends in any way, and processes
// that the command started are killed when an executor is next made for the same folder. On other systems an agent that
// is killed leaves its tasks running. The package limits no resources: that is up to whoever starts the agent, and to
// the command.
package process

import "errors"

// ErrStart is wrapped by errors about a command that cannot be started, and about an executor that cannot be made.
var ErrStart = errors.New("process: cannot start")

// ErrFailed is wrapped by errors about a command that did not end with status 0.
var ErrFailed = errors.New("process: failed")

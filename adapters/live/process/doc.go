// Package process runs the commands of tasks as processes of this machine, each in a process group of its own, which is
// stopped with SIGSTOP and goes on with SIGCONT. It is an executor for package live, for Unix.
//
// Tasks do not outlive their agent. On Linux a command is killed when the agent ends in any way, and what the command
// had started is killed when an executor is made for the same folder; elsewhere an agent that is killed leaves its
// tasks running. It restricts no resources: that is for whoever starts the agent, and for the command.
package process

import "errors"

// ErrStart is wrapped by errors about commands that cannot be started, and about an executor that cannot be made.
var ErrStart = errors.New("process: cannot start")

// ErrFailed is wrapped by errors about commands that ended otherwise than with status 0.
var ErrFailed = errors.New("process: failed")

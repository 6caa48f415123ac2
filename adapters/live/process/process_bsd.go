//go:build unix && !linux

package process

import "syscall"

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func (e *Executor) starter() {
	defer close(e.stopped)
	for s := range e.starts {
		s.done <- s.cmd.Start()
	}
}

func awaitEnd(int) {}

func sweep(string) {}

package process

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes give a command a process group of its own, and have it killed when the thread that started it ends.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// starter is the one thread that starts commands.
func (e *Executor) starter() {
	defer close(e.stopped)
	runtime.LockOSThread()
	for s := range e.starts {
		s.done <- s.cmd.Start()
	}
	runtime.UnlockOSThread()
}

// awaitEnd returns when a process has ended, but does not reap it, so that its process ID is not reused yet.
func awaitEnd(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return
		}
	}
}

// sweep kills the processes that have this line in their environment.
func sweep(line string) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is good
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(append([]byte{0}, text...), []byte("\x00"+line+"\x00")) {
			continue // another user's process, or one that has ended
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL) // as above
		}
	}
}

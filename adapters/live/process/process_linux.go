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

// attributes have a command start a group, and be killed when the thread ends that started it.
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

// awaitEnd returns when a process has ended, and leaves it to be waited for: until then its number is nobody else's.
func awaitEnd(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return
		}
	}
}

// sweep kills the processes that have a line in their environment.
func sweep(line string) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is good
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(append([]byte{0}, text...), []byte("\x00"+line+"\x00")) {
			continue // it is another user's, or has ended
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL) // as above
		}
	}
}

package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// Process is a scheduler's. It ends with this one, however that ends.
type Process struct {
	cmd  *exec.Cmd
	log  string
	done chan struct{} // closed when it has ended
}

// patience is how long a process may take to end by itself.
const patience = 10 * time.Second

// Build builds the program of a Go package into dir, and returns its path.
func Build(ctx context.Context, dir, pkg string) (string, error) {
	program := filepath.Join(dir, path.Base(pkg))
	if text, err := exec.CommandContext(ctx, "go", "build", "-o", program, pkg).CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w: %s", pkg, err, bytes.TrimSpace(text))
	}
	return program, nil
}

// Start runs a program in a process group of its own, so that an interrupt from the keyboard is this process's alone to
// act on. Its standard error goes to the file log. It is to be stopped.
func Start(log, program string, args ...string) (*Process, error) {
	file, err := os.Create(log)
	if err != nil {
		return nil, fmt.Errorf("log of %s: %w", program, err)
	}
	p := &Process{cmd: exec.Command(program, args...), log: log, done: make(chan struct{})}
	p.cmd.Stderr, p.cmd.SysProcAttr = file, &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // the kernel sends Pdeathsig when the thread that started the process ends
		defer runtime.UnlockOSThread()
		defer close(p.done)
		defer file.Close()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // how it ends is in its log
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	return p, nil
}

// ID is the process's number.
func (p *Process) ID() int { return p.cmd.Process.Pid }

// Stop ends the process, by force if it does not end by itself, and returns when it has ended. It may be called again.
func (p *Process) Stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		_ = p.cmd.Process.Kill() // as above
		<-p.done
	}
}

// Err is nil while the process runs. Afterwards it is an error with what the process has written to its log.
func (p *Process) Err() error {
	select {
	case <-p.done:
	default:
		return nil
	}
	text, err := os.ReadFile(p.log)
	return errors.Join(fmt.Errorf("%s has ended: %s", filepath.Base(p.cmd.Path), bytes.TrimSpace(text)), err)
}

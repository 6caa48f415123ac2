package testservers

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// process is a server's process. It ends with this one, however that ends.
type process struct {
	name string
	log  string
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

// start runs a program in a process group of its own, its words going to NAME.log in dir.
func start(dir, name, path string, env []string, args ...string) (*process, error) {
	p := &process{name: name, log: filepath.Join(dir, name+".log"), done: make(chan struct{})}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	p.cmd = exec.Command(path, args...)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr, p.cmd.Env = dir, log, log, append(os.Environ(), env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error, 1)
	go func() {
		// The kernel sends Pdeathsig when the thread that started the process ends: it is kept for as long.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.done)
		defer log.Close()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // how it ends is in its log
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	return p, nil
}

// kill ends the process and its group as a crash would.
func (p *process) kill() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // it may have ended
	<-p.done
}

// stop asks it to end, and kills it if it does not within patience.
func (p *process) stop(patience time.Duration) {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
	}
	p.kill()
}

// ended reports whether it has.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// tail is the end of its log.
func (p *process) tail() string {
	const most = 2000
	data, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return strings.ToValidUTF8(string(data[max(0, len(data)-most):]), "")
}

// ready waits until it is, asking again and again; it gives up when the process ends.
func (p *process) ready(patience time.Duration, is func() error) error {
	deadline := time.Now().Add(patience)
	for {
		err := is()
		switch {
		case err == nil:
			return nil
		case p.ended():
			return fmt.Errorf("%s has ended: %s", p.name, p.tail())
		case time.Now().After(deadline):
			return fmt.Errorf("%s is not ready after %v: %w: %s", p.name, patience, err, p.tail())
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// ports finds free ports of the loopback interface, below those that the kernel gives to connections: any program's connection could take one of
// these before the server listens, or while it is down. Where two processes look at the same time, both may find one; then a server fails to start, and says so.
func ports(n int) ([]int, error) {
	const first, last, tries = 10_000, 32_000, 1000
	var found []int
	var err error
	for range tries {
		if len(found) == n {
			return found, nil
		}
		var l net.Listener
		if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", first+rand.IntN(last-first))); err != nil {
			continue
		}
		defer func() { _ = l.Close() }() // it has accepted nothing
		found = append(found, l.Addr().(*net.TCPAddr).Port)
	}
	return nil, fmt.Errorf("%d free ports: %w", n, err)
}

package testservers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is a server's process. It ends with this one, however that ends.
type process struct {
	name string
	log  string
	from int64 // what its log held before
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	// alone says that what it has started outlives it, as for a daemon that crashes.
	alone bool
	told  bool // it was told to end
}

// start runs a program in a process group of its own. Its output goes to NAME.log in dir. When it ends, so does its
// group.
func start(dir, name, path string, env []string, args ...string) (*process, error) {
	return (&process{name: name}).start(dir, path, env, args...)
}

func (p *process) start(dir, path string, env []string, args ...string) (*process, error) {
	p.log, p.done = filepath.Join(dir, p.name+".log"), make(chan struct{})
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	if p.from, err = log.Seek(0, io.SeekEnd); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	p.cmd = exec.Command(path, args...)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr, p.cmd.Env = dir, log, log, append(os.Environ(), env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error, 1)
	go func() {
		// The kernel sends Pdeathsig when the thread that started the process ends, so the thread is kept.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.done)
		defer log.Close()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // how it ends is in its log
			if !p.alone {
				p.killGroup() // kills what it leaves behind, while the number is still the group's
			}
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", p.name, err)
	}
	return p, nil
}

// kill ends the process like a crash, and its group unless that outlives it. If the process has ended, its number may
// belong to another process by now: a busy machine uses up all numbers in minutes.
func (p *process) kill() {
	p.told = p.told || !p.ended()
	switch {
	case p.ended():
	case p.alone:
		_ = p.cmd.Process.Kill() // it may have ended
	default:
		p.killGroup()
	}
	<-p.done
}

func (p *process) killGroup() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // it may have ended
}

// stop asks the process to end, and kills it if it does not within patience.
func (p *process) stop(patience time.Duration) {
	p.told = p.told || !p.ended()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
	}
	p.kill()
}

// ended reports whether the process has ended.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// gone are the processes that have ended and were not told to.
func gone(parts map[string]*process) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		if p := parts[name]; p.ended() && !p.told {
			out = append(out, name)
		}
	}
	return out
}

// written is the process's output since it started, or the reason why that cannot be read.
func (p *process) written() string {
	data, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return strings.ToValidUTF8(string(data[min(int(p.from), len(data)):]), "")
}

// tail is the end of the process's output.
func (p *process) tail() string {
	const most = 2000
	text := p.written()
	return strings.ToValidUTF8(text[max(0, len(text)-most):], "")
}

// ready waits until is returns nil, and asks again and again. It gives up when the process or the context ends.
func (p *process) ready(ctx context.Context, patience time.Duration, is func() error) error {
	deadline := time.Now().Add(patience)
	for {
		err := is()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("%s: %w", p.name, ctx.Err())
		case p.ended():
			return fmt.Errorf("%s has ended: %s", p.name, p.tail())
		case time.Now().After(deadline):
			return fmt.Errorf("%s is not ready after %v: %w: %s", p.name, patience, err, p.tail())
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// given are the ports that this process has given to its clusters. Those of servers that are down for the moment are
// not free.
var given sync.Map

// ports finds free ports of the loopback interface. They are below the range from which the kernel gives ports to
// connections, so that no connection takes a server's port while the server is down. Another process may take a port
// before it is used. Then the server fails to start, and says so.
func ports(n int) ([]int, error) {
	const lowest, count = 10_000, 22_000
	var found []int
	for range 1000 {
		port := lowest + rand.IntN(count)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		if _, taken := given.LoadOrStore(port, true); taken {
			_ = l.Close() // belongs to another cluster whose server is down for the moment
			continue
		}
		defer func() { _ = l.Close() }() // it has accepted nothing
		if found = append(found, port); len(found) == n {
			return found, nil
		}
	}
	return nil, fmt.Errorf("no %d free ports from %d on", n, lowest)
}

// folder is the folder of a cluster in its plainest form. What works in it, or in a part of it, is killed when the
// cluster is stopped, so it must be none of others'.
func folder(dir string) (string, error) {
	clean := filepath.Clean(dir)
	if !filepath.IsAbs(clean) || clean == "/" {
		return "", fmt.Errorf("testservers: Dir is %q, expected a full path below /", dir)
	}
	if info, err := os.Stat(clean); err != nil {
		return "", fmt.Errorf("testservers: Dir: %w", err)
	} else if !info.IsDir() {
		return "", fmt.Errorf("testservers: Dir is %q, expected a folder", dir)
	}
	return clean, nil
}

// emptyFolder is a folder in which nobody else works yet.
func emptyFolder(dir string) (string, error) {
	clean, err := folder(dir)
	if err != nil {
		return "", err
	}
	switch entries, err := os.ReadDir(clean); {
	case err != nil:
		return "", fmt.Errorf("testservers: Dir: %w", err)
	case len(entries) > 0:
		return "", fmt.Errorf("testservers: Dir is %q with %q in it, expected an empty folder", dir, entries[0].Name())
	}
	return clean, nil
}

// marker is the environment variable that identifies what a cluster has started, whatever folder it works in. It holds
// the cluster's folder, with a slash at the end.
const marker = "HEDGE_TESTSERVERS"

// killUnder kills the processes that work in a folder, or that have it at the beginning of an environment variable, but
// not this process, until there are none. What cannot be killed is left after a minute.
func killUnder(dir, variable string) {
	end := time.Now().Add(time.Minute)
	for killed := true; killed && time.Now().Before(end); {
		killed = false
		procs, err := filepath.Glob("/proc/[0-9]*")
		if err != nil {
			return
		}
		for _, proc := range procs {
			var pid int
			if _, err := fmt.Sscanf(proc, "/proc/%d", &pid); err == nil && pid != os.Getpid() && belongs(proc, dir, variable) {
				killed = syscall.Kill(pid, syscall.SIGKILL) == nil || killed
			}
		}
		if killed {
			time.Sleep(10 * time.Millisecond) // they take a moment to end
		}
	}
}

// belongs reports whether a process works in a folder or has it in that variable. A zombie process does not.
func belongs(proc, dir, variable string) bool {
	at, _ := os.Readlink(proc + "/cwd") // it may have ended
	if strings.HasPrefix(at, dir+"/") {
		return true
	}
	environ, _ := os.ReadFile(proc + "/environ") // it may be another user's
	return strings.Contains("\x00"+string(environ), "\x00"+variable+"="+dir+"/")
}

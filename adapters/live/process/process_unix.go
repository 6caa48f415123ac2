//go:build unix

package process

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"github.com/hedgesched/hedge/adapters/live"
)

// mark is the environment variable by which an executor's processes are recognised. Its value is the executor's folder.
const mark = "HEDGE_AGENT_DIR"

// Executor is a [live.Executor]. It is safe for concurrent use.
type Executor struct {
	dir     string
	starts  chan start
	stopped chan struct{}
	mu      sync.Mutex
	closed  bool
	groups  map[*group]bool
}

// start asks the one thread that starts commands to start one. There is one thread only, since Linux kills a command
// when the thread that started it ends.
type start struct {
	cmd  *exec.Cmd
	done chan error
}

// New makes an executor with a folder, which must exist and belong to no other executor. On Linux it first kills what
// an earlier executor of the same folder has left running. A command's output goes to a file in the folder, named after
// the job and the task's index; the file is removed if the command succeeds. Errors wrap [ErrStart].
func New(dir string) (*Executor, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStart, err)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%w: folder %s is not there", ErrStart, dir)
	}
	sweep(mark + "=" + dir)
	e := &Executor{dir: dir, starts: make(chan start), stopped: make(chan struct{}), groups: map[*group]bool{}}
	go e.starter()
	return e, nil
}

// Start implements [live.Executor]. The command has the job's name in HEDGE_JOB, the task's index in HEDGE_TASK and the
// worker's address in HEDGE_WORKER.
func (e *Executor) Start(a live.Attempt) (live.Running, error) {
	if len(a.Args) == 0 {
		return nil, fmt.Errorf("%w: job %s has no command", ErrStart, a.Job)
	}
	task := strconv.Itoa(a.Task)
	out, err := os.CreateTemp(e.dir, url.PathEscape(a.Job)+"."+task+".*.log")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStart, err)
	}
	defer out.Close()
	cmd := exec.Command(a.Args[0], a.Args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = a.Dir, out, out, attributes()
	cmd.Env = append(append(os.Environ(), a.Env...), "HEDGE_JOB="+a.Job, "HEDGE_TASK="+task,
		"HEDGE_WORKER="+strconv.Itoa(int(a.Worker)), mark+"="+e.dir)
	g := &group{of: e, cmd: cmd, out: out.Name()}
	if err := e.start(g); err != nil {
		_ = os.Remove(g.out) // an empty file may stay
		return nil, fmt.Errorf("%w: job %s: %w", ErrStart, a.Job, err)
	}
	return g, nil
}

func (e *Executor) start(g *group) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return errors.New("the executor is closed")
	}
	s := start{g.cmd, make(chan error)}
	e.starts <- s
	err := <-s.done
	if err == nil {
		e.groups[g] = true
	}
	return err
}

// Close kills all commands. Their Wait returns as after any other end. Later starts fail.
func (e *Executor) Close() error {
	e.mu.Lock()
	already := e.closed
	e.closed = true
	for g := range e.groups {
		_ = g.Kill() // what has ended cannot be killed
	}
	e.mu.Unlock()
	if !already {
		close(e.starts)
	}
	<-e.stopped
	return nil
}

// group is a command and everything that it started.
type group struct {
	of    *Executor
	cmd   *exec.Cmd
	out   string
	mu    sync.Mutex
	ended bool // its process ID may be reused
	once  sync.Once
	err   error
}

func (g *group) signal(s syscall.Signal) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		return nil
	}
	if err := syscall.Kill(-g.cmd.Process.Pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("process: %w", err)
	}
	return nil
}

// Pause implements [live.Running].
func (g *group) Pause() error { return g.signal(syscall.SIGSTOP) }

// Resume implements [live.Running].
func (g *group) Resume() error { return g.signal(syscall.SIGCONT) }

// Kill implements [live.Running].
func (g *group) Kill() error { return g.signal(syscall.SIGKILL) }

// Wait implements [live.Running]. It kills what the command has left running.
func (g *group) Wait() error {
	g.once.Do(func() {
		awaitEnd(g.cmd.Process.Pid)
		_ = g.Kill() // there may be nothing left
		g.mu.Lock()
		g.ended = true
		g.mu.Unlock()
		err := g.cmd.Wait()
		g.of.mu.Lock()
		delete(g.of.groups, g)
		g.of.mu.Unlock()
		if err != nil {
			g.err = fmt.Errorf("%w: %w, see %s", ErrFailed, err, g.out)
			return
		}
		_ = os.Remove(g.out) // nobody needs it
	})
	return g.err
}

package loopback

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/hedgesched/hedge/adapters/live"
)

// patience is how long a process may take to end when it is told to.
const patience = 15 * time.Second

// Config configures a fleet.
type Config struct {
	// Dir is an empty folder for journals and logs.
	Dir string
	// Dispatches is the number of dispatches, at least 1, and Agents the number of agents started at first.
	Dispatches, Agents int
	// LostAfter is as in live.DispatchConfig.
	LostAfter time.Duration
	// Args are the arguments of the fleet's processes; nil means those of this program.
	Args []string
	// Task is the program of the tasks of [Fleet.Replay], as for [Command].
	Task string
}

// Fleet is the processes of a fleet. It is not safe for concurrent use.
type Fleet struct {
	Config
	addresses []string
	processes map[string]*running
}

// running is a process. The process ends when its input is closed.
type running struct {
	cmd   *exec.Cmd
	input io.WriteCloser
	ended chan struct{}
}

// Start starts a fleet. The calling program must call [Main] first of all. Call [Fleet.Stop] when done.
func Start(c Config) (*Fleet, error) {
	if c.Args == nil {
		c.Args = os.Args[1:]
	}
	f := &Fleet{Config: c, processes: map[string]*running{}}
	var listeners []net.Listener
	for range c.Dispatches {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("loopback: %w", err)
		}
		f.addresses = append(f.addresses, l.Addr().String())
		listeners = append(listeners, l)
	}
	for _, l := range listeners { // closed only now, so that all addresses differ
		_ = l.Close() // only its address was needed
	}
	if err := f.run(); err != nil {
		f.Stop()
		return nil, err
	}
	return f, nil
}

func (f *Fleet) run() error {
	for i := range f.Dispatches {
		if err := f.StartDispatch(i); err != nil {
			return err
		}
	}
	for i := range f.Agents {
		if err := f.StartAgent(i); err != nil {
			return err
		}
	}
	return nil
}

// StartDispatch starts the dispatch at a place, from 0. It must not be running.
func (f *Fleet) StartDispatch(place int) error {
	return f.start(Dispatch(place), role{Dispatch: true, Place: place})
}

// StartAgent starts agent i, from 0. It must not be running.
func (f *Fleet) StartAgent(i int) error { return f.start(Agent(i), role{Agent: true}) }

// Dispatch is the name of a dispatch's process.
func Dispatch(place int) string { return fmt.Sprintf("dispatch-%d", place) }

// Agent is the name of an agent's process, and of the agent.
func Agent(i int) string { return fmt.Sprintf("agent-%03d", i) }

func (f *Fleet) start(name string, r role) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	r.Name, r.Addresses, r.LostAfter, r.Dir = name, f.addresses, f.LostAfter, filepath.Join(f.Dir, name)
	if err := os.MkdirAll(r.Dir, 0o700); err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	log, err := os.OpenFile(f.log(name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	defer log.Close()
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	p := &running{cmd: exec.Command(program, f.Args...), ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), variable+"="+string(text))
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if p.input, err = p.cmd.StdinPipe(); err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	go func() {
		_ = p.cmd.Wait() // how it ends is in its log
		close(p.ended)
	}()
	f.processes[name] = p
	return nil
}

func (f *Fleet) log(name string) string { return filepath.Join(f.Dir, name+".log") }

// Kill ends a process at once, as a crash does, and returns when it has ended. It does nothing if the process does not
// run.
func (f *Fleet) Kill(name string) { f.end(name, os.Kill) }

// End tells a process to end, and kills it if it has not ended after 15 s.
func (f *Fleet) End(name string) { f.end(name, syscall.SIGTERM) }

func (f *Fleet) end(name string, s os.Signal) {
	p := f.processes[name]
	if p == nil {
		return
	}
	delete(f.processes, name)
	_ = p.cmd.Process.Signal(s) // it may have ended
	select {
	case <-p.ended:
	case <-time.After(patience):
		_ = p.cmd.Process.Kill() // as above
		<-p.ended
	}
	_ = p.input.Close() // nobody reads it any more
}

// Stop ends all processes, the registrar last.
func (f *Fleet) Stop() {
	names := make([]string, 0, len(f.processes))
	for name := range f.processes {
		names = append(names, name)
	}
	for _, name := range names { // all are told before the first is waited for
		if p := f.processes[name]; name != Dispatch(0) {
			_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		}
	}
	for _, name := range names {
		if name != Dispatch(0) {
			f.End(name)
		}
	}
	f.End(Dispatch(0))
}

// Ended returns an error about processes that have ended by themselves; nil if there are none.
func (f *Fleet) Ended() error {
	var errs []error
	for name, p := range f.processes {
		select {
		case <-p.ended:
			text, err := os.ReadFile(f.log(name))
			errs = append(errs, fmt.Errorf("loopback: %s has ended: %s", name, text), err)
		default:
		}
	}
	return errors.Join(errs...)
}

// Ready returns when every worker has a connected agent. It returns an error if a process has ended.
func (f *Fleet) Ready(ctx context.Context) error {
	client, err := f.Client()
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	for {
		workers, present, err := client.Census(ctx)
		if err != nil {
			return fmt.Errorf("loopback: %w", err)
		}
		if workers == present {
			return nil
		}
		if err := f.Ended(); err != nil {
			return err
		}
		wait(ctx, 20*time.Millisecond)
	}
}

// Client is a client of the fleet.
func (f *Fleet) Client() (*live.Client, error) { return live.Dial(f.addresses[0], nil) }

// Logs writes the logs of all processes.
func (f *Fleet) Logs(w io.Writer) {
	names, _ := filepath.Glob(filepath.Join(f.Dir, "*.log")) // the pattern is good
	for _, name := range names {
		text, err := os.ReadFile(name)
		fmt.Fprintf(w, "--- %s %v\n%s", filepath.Base(name), err, text)
	}
}

// Package serve starts the solver service that package ortools is the client of: a Python program on OR-Tools' wheel,
// in a virtual environment that it makes on first use. It needs Python 3.11 or later with venv, and PyPI for the first
// time.
//
// It installs nothing outside its own folder of the user's cache, installs no signal handlers, and
// leaves no process behind, not even if the program itself is killed: the service then notices that its standard input
// has ended.
package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hedgesched/hedge/solver/milp"
)

// DefaultGrace is how long running solves may go on when the service is told to stop.
const DefaultGrace = 10 * time.Second

// leave is how long the service may take to end once its grace is over, before it is killed: on a machine that is very
// busy that is many seconds.
const leave = time.Minute

// Config is how the service runs. The zero value serves this machine alone, without TLS.
type Config struct {
	// Listen is the address to listen on, "host:port" or "unix:/path"; port 0 takes a free one. "" means
	// ortools.DefaultAddress.
	Listen string
	// MaxSolves is how many models are solved at a time; the service answers "busy" to more. 0 means one for each CPU.
	MaxSolves int
	// MaxMessage is the largest message received or sent, in bytes; 0 means ortools.DefaultMaxMessage.
	MaxMessage int
	// Grace is how long running solves may go on when ctx has ended; then they are interrupted, and clients get what there
	// is. 0 means DefaultGrace, and negative interrupts them at once.
	Grace time.Duration
	// Cert and Key are PEM files: the server's certificate chain and its key. Without them there is no TLS.
	Cert, Key string
	// ClientCA is a PEM file of authorities: clients must have a certificate of one of them. "" lets all in.
	ClientCA string
	// Log is given what the service and its solvers write to standard error; nil discards it.
	Log io.Writer
	// Ready is called once, with the address, when the service can be called.
	Ready func(address string)
	// Python is the interpreter to make the virtual environment with; "" means python3.
	Python string
	// Cache is the folder for virtual environments; "" means hedge in os.UserCacheDir.
	Cache string
}

// Run runs the service until ctx ends, and returns when it has stopped: with nil if that was because of ctx. It makes
// the virtual environment first if there is none. Errors are milp.ErrUnavailable, or ctx's if the service did not run
// yet.
func Run(ctx context.Context, c Config) error {
	p, err := prepare(ctx, c.Python, c.Cache, &tail{to: c.Log})
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, p.python,
		append([]string{filepath.Join(p.program, "server.py"), "--until-eof"}, c.flags()...)...)
	ownGroup(cmd)
	log := &tail{to: c.Log}
	cmd.Stderr = log
	in, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("%w: %w", milp.ErrUnavailable, err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("%w: %w", milp.ErrUnavailable, err)
	}
	cmd.Cancel = in.Close
	cmd.WaitDelay = max(c.grace(), 0) + leave
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%w: %s: %w", milp.ErrUnavailable, p.python, err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if address, ok := strings.CutPrefix(lines.Text(), "listening on "); ok && c.Ready != nil {
			c.Ready(address)
		}
	}
	err = cmd.Wait()
	if code := new(exec.ExitError); ctx.Err() != nil && (cmd.ProcessState.Success() || !errors.As(err, &code)) {
		return nil
	}
	if err == nil {
		err = errors.New("it stopped by itself")
	}
	return fmt.Errorf("%w: the service: %w%s", milp.ErrUnavailable, err, log.last())
}

func (c Config) grace() time.Duration {
	if c.Grace == 0 {
		return DefaultGrace
	}
	return c.Grace
}

func (c Config) flags() []string {
	flags := []string{"--grace", strconv.FormatFloat(max(c.grace(), 0).Seconds(), 'f', -1, 64)}
	for _, f := range [][2]string{{"--listen", c.Listen}, {"--tls-cert", c.Cert}, {"--tls-key", c.Key},
		{"--tls-client-ca", c.ClientCA}} {
		if f[1] != "" {
			flags = append(flags, f[0], f[1])
		}
	}
	if c.MaxSolves != 0 {
		flags = append(flags, "--max-solves", strconv.Itoa(c.MaxSolves))
	}
	if c.MaxMessage != 0 {
		flags = append(flags, "--max-message", strconv.Itoa(c.MaxMessage))
	}
	return flags
}

// tail hands on what is written to it and keeps the end of it, for messages.
type tail struct {
	mu  sync.Mutex
	to  io.Writer
	end []byte
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end = append(t.end, p...)
	if over := len(t.end) - 1000; over > 0 {
		t.end = append([]byte(nil), t.end[over:]...)
	}
	if t.to == nil {
		return len(p), nil
	}
	return t.to.Write(p)
}

// last is the end of what was written, to be appended to a message.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := strings.TrimSpace(string(t.end))
	if s == "" {
		return ""
	}
	return ": " + s
}

// Package serve starts the solver service whose client is package ortools: a Python program that uses OR-Tools' wheel,
// in a virtual environment that is made on first use. It needs Python 3.11 or later with venv, and PyPI for the first
// time.
//
// It installs nothing outside its own folder of the user's cache, and installs no signal handlers. It leaves no process
// behind, even if the program itself is killed: the service then sees the end of its standard input.
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

// DefaultGrace is how long running solves may go on after the service was told to stop.
const DefaultGrace = 10 * time.Second

// leave is how long the service may take to end after its grace before it is killed. On a very busy machine it needs
// many seconds.
const leave = time.Minute

// Config says how the service runs. The zero value serves only this machine, without TLS.
type Config struct {
	// Listen is the address to listen on, "host:port" or "unix:/path"; port 0 takes a free one. "" means
	// ortools.DefaultAddress.
	Listen string
	// MaxSolves is the number of models solved concurrently; the service answers "busy" to more. 0 means one per CPU.
	MaxSolves int
	// MaxMessage is the largest message received or sent, in bytes; 0 means ortools.DefaultMaxMessage.
	MaxMessage int
	// Grace is how long running solves may go on after ctx has ended. Then they are interrupted, and clients get the best
	// points so far. 0 means DefaultGrace. A negative value interrupts them at once.
	Grace time.Duration
	// Cert and Key are PEM files: the server's certificate chain and its key. Without them there is no TLS.
	Cert, Key string
	// ClientCA is a PEM file of authorities that must have signed the clients' certificates. "" accepts every client.
	ClientCA string
	// Log receives what the service and its solvers write to standard error; nil discards it.
	Log io.Writer
	// Ready is called once, with the address, when the service is ready.
	Ready func(address string)
	// Python is the interpreter for making the virtual environment; "" means python3.
	Python string
	// Cache is the folder for virtual environments; "" means hedge in os.UserCacheDir.
	Cache string
}

// Run runs the service until ctx ends, and returns nil once it has stopped for that reason. It first makes the virtual
// environment if there is none. Errors are milp.ErrUnavailable, or ctx's if the service did not run yet.
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

// tail passes on what is written to it, and keeps the end for messages.
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

// last is the end of what was written, for a message.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := strings.TrimSpace(string(t.end))
	if s == "" {
		return ""
	}
	return ": " + s
}

package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/hedgesched/hedge/solver/milp"
)

const (
	// lastLines is the number of log lines that an error quotes.
	lastLines = 10
	// longestLine is the length at which log lines are cut.
	longestLine = 1 << 16
	// patience is how long a cancelled solver may take to write its point: the time that milp.Solve waits, less the time
	// to read the point.
	patience = milp.Grace * 2 / 3
	// drain is how long to wait for the rest of the log if the child has ended but its end of the pipe is still open.
	drain = 5 * time.Second
)

// child is a solver's process.
type child struct {
	path   string
	args   []string
	dir    string
	gentle bool

	tail    []string // the last lines
	stopped bool     // it was told to stop, or was killed
	killed  bool
	exit    error // of Wait
}

// end says how it ended.
func (c *child) end() string {
	switch {
	case c.killed:
		return "was killed at the limit"
	case c.exit != nil:
		return "ended with " + c.exit.Error()
	}
	return "ended"
}

// run starts the child, passes on each line from this goroutine, and stops the child by p and when ctx ends. It returns
// after the child has ended and been waited for.
func (c *child) run(ctx context.Context, p plan, line func(string)) error {
	from, to, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("%w: %w", milp.ErrUnavailable, err)
	}
	defer from.Close()
	cmd := exec.Command(c.path, c.args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.dir, to, to
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	ownGroup(cmd)
	err = cmd.Start()
	to.Close()
	if err != nil {
		return fmt.Errorf("%w: executable %s: %w", milp.ErrUnavailable, c.path, err)
	}
	finished := false
	defer func() {
		if !finished { // line has panicked
			killGroup(cmd)
		}
	}()
	lines, quit := make(chan string, 64), make(chan struct{})
	defer close(quit)
	go readLines(from, lines, quit)
	gone := make(chan error, 1)
	go func() { gone <- cmd.Wait() }()
	c.watch(ctx, p, cmd, lines, gone, line)
	finished = true
	killGroup(cmd) // what the child has left running
	wait := drain
	if c.stopped {
		wait = patience / 4
	}
	_ = from.SetReadDeadline(time.Now().Add(wait))
	for text := range lines {
		c.took(text, line)
	}
	return nil
}

// watch passes lines on until the child has ended.
func (c *child) watch(ctx context.Context, p plan, cmd *exec.Cmd, lines <-chan string, gone <-chan error,
	line func(string)) {
	gentle, stopGentle := timer(p.gentle)
	defer stopGentle()
	kill, stopKill := timer(p.kill)
	defer stopKill()
	done := ctx.Done()
	for {
		select {
		case text, more := <-lines:
			if !more {
				lines = nil
				continue
			}
			c.took(text, line)
		case <-gentle:
			c.ask(cmd)
		case <-done:
			done = nil
			c.ask(cmd)
			if !c.gentle {
				c.stopped, c.killed = true, true
				killGroup(cmd)
			}
			var stop func()
			kill, stop = timer(patience)
			defer stop()
		case <-kill:
			c.stopped, c.killed = true, true
			killGroup(cmd)
		case c.exit = <-gone:
			return
		}
	}
}

// ask tells the child to stop, if it handles the signal.
func (c *child) ask(cmd *exec.Cmd) {
	if c.gentle {
		c.stopped = true
		interrupt(cmd)
	}
}

func (c *child) took(text string, line func(string)) {
	if len(c.tail) == lastLines {
		c.tail = append(c.tail[:0], c.tail[1:]...)
	}
	c.tail = append(c.tail, text)
	line(text)
}

// timer fires after d, never for 0.
func timer(d time.Duration) (<-chan time.Time, func()) {
	if d == 0 {
		return nil, func() {}
	}
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}

// readLines sends lines, cut if too long, until the end, an error or quit. Then it closes lines.
func readLines(r io.Reader, lines chan<- string, quit <-chan struct{}) {
	defer close(lines)
	b := bufio.NewReaderSize(r, longestLine)
	within := false // in a long line
	for {
		text, err := b.ReadSlice('\n')
		if len(text) > 0 && !within {
			select {
			case lines <- strings.TrimRight(string(text), "\r\n"):
			case <-quit:
				return
			}
		}
		within = errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !within {
			return
		}
	}
}

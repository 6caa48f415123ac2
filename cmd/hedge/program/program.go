// Package program is the command hedge, to be built into programs of one's own: with other engines, or with policies
// and predictors of one's own that hedge compare and the other commands run beside hedge's.
//
//	set := systems.Builtin()
//	err := set.Register(systems.System{Name: "mine", Summary: "starts what is widest", Policy: newMine})
//	os.Exit(program.Program{Systems: set}.Main())
//
// It is for commands alone. A library that schedules uses package sched and those beside it.
package program

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/hedgesched/hedge/cmd/hedge/internal/cli"
	"github.com/hedgesched/hedge/sched/systems"
	"github.com/hedgesched/hedge/solver/engines"
)

// Program is the command with what it can run. The zero value is hedge.
type Program struct {
	// Engines are those that --engine can name; nil means [Engines].
	Engines *engines.Set
	// Systems are those that --policies can name; nil means [systems.Builtin].
	Systems *systems.Set
}

// Main runs the command line of the process and returns its exit status. It handles interrupts: the first ends the
// command, the second the process.
func (p Program) Main() int {
	signal.Ignore(syscall.SIGPIPE) // a reader that went away is a failed write, not a silent death
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the second signal ends what does not hear the first
	return p.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

// Run runs one command line, without the program's name, until ctx ends, and returns the exit status: 0 for success.
// Errors are written to stderr.
func (p Program) Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	known := p.Engines
	if known == nil {
		known = Engines()
	}
	return cli.Main(ctx, args, cli.Host{In: stdin, Out: stdout, Err: stderr, Engines: known, Systems: p.Systems})
}

// Package program is what the commands hedge and hedge-full have in common; they differ in their engines alone.
package program

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/hedgesched/hedge/cmd/hedge/internal/cli"
	"github.com/hedgesched/hedge/solver/engines"
)

// Main runs the command line of the process with these engines and returns its exit status.
func Main(known *engines.Set) int {
	signal.Ignore(syscall.SIGPIPE) // a reader that went away is a failed write, not a silent death
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the second signal ends what does not hear the first
	return cli.Main(ctx, os.Args[1:], cli.Host{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Engines: known})
}

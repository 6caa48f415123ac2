// Command hedge simulates, compares and explains cluster scheduling policies.
// Run it with --help; every command has examples.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/hedgesched/hedge/cmd/hedge/internal/cli"
)

func main() {
	signal.Ignore(syscall.SIGPIPE) // a reader that went away is a failed write, not a silent death
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := cli.Main(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(code)
}

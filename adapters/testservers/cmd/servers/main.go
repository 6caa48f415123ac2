// Command servers builds the programs of the test servers ahead of time, so that no test waits for it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/hedgesched/hedge/adapters/testservers"
)

func main() {
	flag.Usage = func() { fmt.Fprintln(os.Stderr, "usage: servers NAME...") }
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	for _, name := range flag.Args() {
		path, err := testservers.Program(ctx, name)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1) //nolint:gocritic // the deferred stop only restores a signal handler
		}
		fmt.Println(path)
	}
}

// Command release makes the repository ready for a release, and shows that it is. Run it in the repository's root:
//
//	go run ./internal/release set v0.2.0   # the version of every module, in each go.mod and in go.work
//	go run ./internal/release tidy         # go mod tidy in every module, by the checkout as it is
//	go run ./internal/release proxy DIR    # a module proxy of the checkout: GOPROXY=file://DIR
//	go run ./internal/release apidiff      # the API against that of the last tag
//	go run ./internal/release tag          # one tag for each module, at HEAD, once everything is committed
//
// The modules are those of the file allmodules, and all have the same version. A module's go.mod requires its
// neighbours at that version, without replacing them, so that it means the same to whoever gets it. In the checkout
// go.work puts the folders in their place.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage: release set VERSION | tidy | proxy DIR | apidiff | tag")

func run(ctx context.Context, args []string, out io.Writer) error {
	repo, err := open(".")
	if err != nil {
		return err
	}
	var command string
	if len(args) > 0 {
		command, args = args[0], args[1:]
	}
	switch {
	case command == "set" && len(args) == 1:
		return repo.set(args[0])
	case command == "proxy" && len(args) == 1:
		return repo.proxy(ctx, args[0])
	case command == "tidy" && len(args) == 0:
		return repo.tidy(ctx)
	case command == "apidiff" && len(args) == 0:
		return repo.apidiff(ctx, out)
	case command == "tag" && len(args) == 0:
		return repo.tag(ctx, out)
	}
	return errUsage
}

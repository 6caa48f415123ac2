package serve_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/ortools/serve"
)

// Run serves until the context ends, here with an interrupt from the keyboard.
func ExampleRun() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := serve.Run(ctx, serve.Config{
		Listen: "127.0.0.1:0",
		Python: "no-such-python",
		Log:    os.Stderr,
		Ready:  func(address string) { fmt.Println("listening on", address) },
	})
	if errors.Is(err, milp.ErrUnavailable) {
		what, hint, _ := strings.Cut(err.Error(), "; ")
		fmt.Println(what)
		fmt.Println(hint)
	}
	// Output:
	// milp: solver unavailable: exec: "no-such-python": executable file not found in $PATH
	// Python 3.11 or later is needed, on Debian: apt-get install python3 python3-venv
}

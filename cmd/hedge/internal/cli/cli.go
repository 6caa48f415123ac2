// Package cli is hedge's command line: flags, exit statuses, progress and
// tables. What is computed lives in the packages beside it; what scripts rely on
// is written down in docs/cli.md and held by golden tests.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Exit statuses.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// Streams are the program's standard streams.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
}

// Main runs the command line and returns the exit status. An error is one
// line on s.Err.
func Main(ctx context.Context, args []string, s Streams) int {
	root := newRoot(&s)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	fmt.Fprintf(s.Err, "hedge: %s\n", oneLine(err))
	if errors.As(err, new(*failure)) || errors.Is(err, context.Canceled) {
		return exitFailed
	}
	return exitUsage
}

// failure marks an error as "the work failed" (status 1) where everything else
// is bad usage or bad input (status 2).
type failure struct{ err error }

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// failed marks err as a failure of the work; nil stays nil.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return &failure{err}
}

// oneLine joins the lines of an error's text.
func oneLine(err error) string {
	fields := strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' })
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	const most = 2000
	line := strings.Join(fields, "; ")
	if len(line) > most {
		line = strings.ToValidUTF8(line[:most], "") + " …"
	}
	return line
}

func newRoot(s *Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "hedge",
		Short: "Cluster scheduling under uncertainty: predict, plan, simulate, compare",
		Long: `hedge schedules jobs whose runtimes are not known but can be predicted as
distributions (3Sigma, EuroSys 2018), and shows on real cluster logs what that is worth.

With no --trace every command uses a small real log built into the program, so
this is all it takes to see a result:

  hedge compare`,
		Example: `  hedge compare                                    # policies side by side on the built-in log
  hedge compare --trace log.swf.gz --policies all --seeds 1,2,3 --report out/
  hedge predict --trace jobs.csv.gz                # how predictable is this cluster?
  hedge trace --trace jobs.csv.gz                  # what is in this log?`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          noArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.AddCommand(newCompare(s), newSimulate(s), newPredict(s), newTrace(s), newSolve(s), newReplay(s), newResults(s))
	return root
}

// noArgs refuses positional arguments with the command's name and the offender.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasParent() {
		return fmt.Errorf("unknown command %q: try hedge --help", args[0])
	}
	return fmt.Errorf("%s: unexpected argument %q: try %s --help", cmd.CommandPath(), args[0], cmd.CommandPath())
}

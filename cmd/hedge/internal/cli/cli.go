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

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/sched/systems"
	"github.com/hedgesched/hedge/solver/engines"
)

// Host is what the program has: standard streams, and the engines and systems that are part of it.
type Host struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
	// Engines are those that --engine can name.
	Engines *engines.Set
	// Systems are those that --policies can name; nil means [systems.Builtin].
	Systems *systems.Set
}

// stdout names itself in errors.
type stdout struct{ io.Writer }

func (s stdout) Write(b []byte) (int, error) {
	n, err := s.Writer.Write(b)
	if err != nil {
		err = fmt.Errorf("stdout: %w", err)
	}
	return n, err
}

// Main runs the command line and returns the exit status. An error is one
// line on s.Err.
func Main(ctx context.Context, args []string, s Host) int {
	s.Out = stdout{s.Out}
	root := newRoot(&s)
	root.SetArgs(args)
	err := noCommand(root, args)
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	if err == nil {
		return exitDone
	}
	fmt.Fprintf(s.Err, "hedge: %s\n", oneLine(err))
	if badInput(err) {
		return exitUsage
	}
	return exitFailed
}

// badInput tells whether the error is about what the user gave: all that is not a failure, and what the simulator
// refuses of a log only when it sees the whole of it.
func badInput(err error) bool {
	if errors.Is(err, context.Canceled) {
		return false
	}
	return !errors.As(err, new(*failure)) || errors.Is(err, sim.ErrConfig) || errors.Is(err, sim.ErrJob)
}

func newRoot(s *Host) *cobra.Command {
	if s.Systems == nil {
		s.Systems = systems.Builtin()
	}
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
		Version:       commit(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          noArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newCompare(s), newSimulate(s), newPredict(s), newTrace(s), newSolve(s), newReplay(s), newResults(s),
		newBench(s), newSolver(s), newWhy(s), newWhen(s), newWhatIf(s), newShadow(s), newAgent(s), newDispatch(s))
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Example = "  hedge completion bash > /etc/bash_completion.d/hedge"
			c.Args, c.RunE = shellArgs, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
	root.SetHelpCommand(newHelp(root))
	root.InitDefaultHelpCmd()
	return root
}

// noCommand refuses an unknown command before its flags are looked at.
func noCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") || strings.HasPrefix(args[0], "__") {
		return nil // __complete is what shells call
	}
	if cmd, _, _ := root.Find(args[:1]); cmd != root {
		return nil
	}
	return noArgs(root, args)
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

// shellArgs refuses shells that there is no completion for.
func shellArgs(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("hedge completion: found %q, expected bash, zsh, fish or powershell", args[0])
}

// newHelp is the help command; unlike cobra's it fails on what there is no help for.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Help about any command",
		Example: "  hedge help compare",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return fmt.Errorf("hedge help: found %q, expected a command, try hedge --help", args[len(args)-1])
			}
			return cmd.Help()
		},
	}
}

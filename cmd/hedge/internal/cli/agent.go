package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hedgesched/hedge/adapters/live"
	"github.com/hedgesched/hedge/adapters/live/process"
)

// newAgent is the command that runs workers of a fleet.
func newAgent(s *Host) *cobra.Command {
	var f fleetFlags
	c := live.AgentConfig{}
	dir := ""
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Run tasks on this machine for the schedulers of hedge dispatch",
		Long: `agent runs workers of a scheduler made of messages (Eagle, Sparrow, Pigeon, Kairos and others). It runs the
commands of tasks as processes, and stops and continues them as the scheduler says. It goes on while a dispatch is
away. When an agent ends, its tasks end, and are run again elsewhere. --system and --fleet must be the same in every
process of the fleet.`,
		Example: `  hedge agent --fleet 127.0.0.1:7400 --system kairos --workers 3 --name a --dir /var/lib/hedge-agent`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if c.System, c.Fleet, c.TLS, err = f.open(s); err != nil {
				return err
			}
			if c.Name == "" {
				if c.Name, err = os.Hostname(); err != nil {
					return fmt.Errorf("--name: %w", err)
				}
			}
			if dir, err = folder(dir); err != nil {
				return err
			}
			e, err := process.New(dir)
			if err != nil {
				return failed(err)
			}
			c.Executor, c.Log = e, logger(s)
			return lived(errors.Join(live.RunAgent(cmd.Context(), c), e.Close()))
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	f.add(fs)
	fs.StringVar(&c.Name, "name", "", "name of this agent, unique in the fleet (default: the host name)")
	fs.IntVar(&c.Workers, "take", 1, "number of workers that this agent asks for")
	fs.StringVar(&dir, "dir", "", "folder for the output of failed tasks, used by this agent alone")
	fs.IntVar(&c.Attempts, "attempts", 1, "how often a command is tried before its task has failed")
	return cmd
}

// lived keeps errors about parameters as bad usage, and marks all others as failures.
func lived(err error) error {
	if errors.Is(err, live.ErrConfig) {
		return err
	}
	return failed(err)
}

// folder creates a folder if need be and returns its absolute path.
func folder(dir string) (string, error) {
	if dir == "" {
		return "", fmt.Errorf("--dir: found none, expected a folder")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("--dir: %w", err)
	}
	return filepath.Abs(dir)
}

package cli

import (
	"fmt"
	"io"
	"net"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hedgesched/hedge/adapters/live"
)

// newDispatch is the command that runs schedulers of a fleet, and the parent of the commands submit and status.
func newDispatch(s *Host) *cobra.Command {
	var f fleetFlags
	c := live.DispatchConfig{}
	listen, dir := "", ""
	cmd := &cobra.Command{
		Use:   "dispatch",
		Short: "Run the schedulers of a fleet of hedge agents",
		Long: `dispatch runs a scheduler made of messages (Eagle, Sparrow, Pigeon, Kairos and others) for the agents that
connect to it. A fleet may have several dispatches, which divide the distributed schedulers among them. The first in
--fleet accepts the jobs. A dispatch that has ended, even by kill -9, goes on where it was when it is started again
with its folder.`,
		Example: `  hedge dispatch --fleet 127.0.0.1:7400 --system kairos --workers 3 --dir /var/lib/hedge-dispatch
  hedge dispatch submit --to 127.0.0.1:7400 --name hello --tasks 5 -- sh -c 'echo task $HEDGE_TASK'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if c.System, c.Fleet, c.TLS, err = f.open(s); err != nil {
				return err
			}
			if c.Place < 0 || c.Place >= len(c.Fleet) {
				return fmt.Errorf("--place: found %d, expected 0 to %d", c.Place, len(c.Fleet)-1)
			}
			if c.Dir, err = folder(dir); err != nil {
				return err
			}
			if listen == "" {
				listen = c.Fleet[c.Place].Address
			}
			if c.Listener, err = net.Listen("tcp", listen); err != nil {
				return failed(err)
			}
			c.Log = logger(s)
			return lived(live.RunDispatch(cmd.Context(), c))
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	f.add(fs)
	fs.IntVar(&c.Place, "place", 0, "index of this dispatch in --fleet, from 0")
	fs.StringVar(&dir, "dir", "", "folder for the journals, used by this dispatch alone")
	fs.StringVar(&listen, "listen", "", "`address` to listen on (default: the one in --fleet)")
	fs.DurationVar(&c.LostAfter, "lost-after", 15*time.Second,
		"how long an agent may be away before others get its workers")
	cmd.AddCommand(newSubmit(s), newStatus(s))
	return cmd
}

// registrarFlags say where the registrar is.
type registrarFlags struct {
	to     string
	secure tlsFlags
}

func (f *registrarFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.to, "to", "127.0.0.1:7400", "address of the fleet's first dispatch")
	f.secure.add(fs)
}

func (f *registrarFlags) dial() (*live.Client, error) {
	secure, err := f.secure.open(f.to)
	if err != nil {
		return nil, err
	}
	return live.Dial(f.to, secure)
}

func newSubmit(s *Host) *cobra.Command {
	var f registrarFlags
	var j live.Job
	wait := false
	cmd := &cobra.Command{
		Use:   "submit -- COMMAND [ARGUMENT…]",
		Short: "Submit a job: a command that is run once for each task",
		Long: `submit submits a job and ends when the job is in the dispatch's journal. Each task has its index, from 0, in
HEDGE_TASK and the job's name in HEDGE_JOB. A task may run more than once, if its agent is lost: it should publish
its effect in one step that is harmless the second time.`,
		Example: `  hedge dispatch submit --name count --tasks 10 --estimate 5s --wait -- ./count.sh`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("hedge dispatch submit: found no command, expected one after --")
			}
			j.Command.Args = args
			client, err := f.dial()
			if err != nil {
				return err
			}
			defer func() { _ = client.Close() }()
			if err := keepsTo([]limit{
				{"--name", fmt.Sprintf("%q", j.Name), j.Name != "", "a name"},
				{"--tasks", j.Tasks, j.Tasks >= 1, "1 or more"},
				{"--estimate", j.Estimate, j.Estimate >= 0, "0s or more"},
			}); err != nil {
				return err
			}
			if err := client.Submit(cmd.Context(), j); err != nil || !wait {
				return failed(err)
			}
			return tellStatus(cmd, s, client, j.Name, true, false)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	f.add(fs)
	fs.StringVar(&j.Name, "name", "", "name of the job, unique in the fleet")
	fs.IntVar(&j.Tasks, "tasks", 1, "number of tasks; each runs the command")
	fs.DurationVar(&j.Estimate, "estimate", 0, "estimated runtime of a task, for systems that use it")
	fs.BoolVar(&j.Long, "long", false, "the job is in the class of long jobs")
	fs.StringToStringVar(&j.Attributes, "attribute", nil,
		"NAME=VALUE,… of the job that predictors may use, such as user=ann,name=build")
	fs.StringVar(&j.After, "after", "",
		"name of an earlier `job`, whose next phase this job is: it starts when that is done")
	fs.BoolVar(&wait, "wait", false, "end only when the job is done")
	return cmd
}

func newStatus(s *Host) *cobra.Command {
	var f registrarFlags
	wait, asJSON := false, false
	cmd := &cobra.Command{
		Use:     "status JOB",
		Short:   "Show the progress of a job",
		Example: `  hedge dispatch status count --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("hedge dispatch status: found %d jobs, expected one", len(args))
			}
			client, err := f.dial()
			if err != nil {
				return err
			}
			defer func() { _ = client.Close() }()
			return tellStatus(cmd, s, client, args[0], wait, asJSON)
		},
	}
	f.add(cmd.Flags())
	cmd.Flags().BoolVar(&wait, "wait", false, "answer only when the job is done")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

// statusDocument is the JSON document of status. A time is null if the event has not happened.
type statusDocument struct {
	Schema    int        `json:"schema"`
	Command   string     `json:"command"`
	Job       string     `json:"job"`
	Done      bool       `json:"done"`
	Failed    int        `json:"failed_tasks"`
	Submitted *time.Time `json:"submitted"`
	Ended     *time.Time `json:"ended"`
}

// tellStatus prints the progress of a job. With wait, failed tasks are a failure of the command.
func tellStatus(cmd *cobra.Command, s *Host, client *live.Client, job string, wait, asJSON bool) error {
	look := client.Inspect
	if wait {
		look = client.Wait
	}
	found, err := look(cmd.Context(), job)
	if err != nil {
		return failed(err)
	}
	if asJSON {
		return writeJSON(s.Out, statusDocument{1, "dispatch status", job, found.Done, found.Failed,
			given(found.Submitted), given(found.Ended)})
	}
	if _, err := io.WriteString(s.Out, statusLine(job, &found)); err != nil {
		return failed(err)
	}
	if wait && found.Failed > 0 {
		return failed(fmt.Errorf("job %s: %d tasks failed", job, found.Failed))
	}
	return nil
}

func given(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	utc := t.UTC()
	return &utc
}

func statusLine(job string, s *live.Status) string {
	switch {
	case s.Done:
		return fmt.Sprintf("%s: done after %v, %d tasks failed\n", job, s.Ended.Sub(s.Submitted).Round(time.Millisecond),
			s.Failed)
	case s.Submitted.IsZero():
		return fmt.Sprintf("%s: waits for the phase before\n", job)
	}
	return fmt.Sprintf("%s: submitted %s, %d tasks failed\n", job, s.Submitted.UTC().Format(time.RFC3339), s.Failed)
}

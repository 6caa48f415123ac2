package cli

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/outlook"
	"github.com/hedgesched/hedge/sched/why"
)

// whyDocument is the JSON document of hedge why.
type whyDocument struct {
	Schema  int    `json:"schema"`
	Command string `json:"command"`
	Policy  string `json:"policy"`
	*why.Explanation
	// Start and End are the times until a pending job starts and ends, Meets the probability of its deadline; nil for
	// other jobs.
	Start *when    `json:"start_s,omitempty"`
	End   *when    `json:"end_s,omitempty"`
	Meets *float64 `json:"meets_deadline,omitempty"`
}

// look adds the estimated start and end, by an estimator that has seen no other snapshot.
func (d *whyDocument) look(s *sched.Snapshot, plan *sched.Plan) error {
	estimator, err := outlook.New(outlook.Config{Seed: 1})
	if err != nil {
		return err
	}
	told, err := estimator.Look(s, plan)
	for i := range told {
		if o := &told[i]; o.Job == d.Job {
			start, end := timesOf(&o.Start), timesOf(&o.End)
			d.Start, d.End, d.Meets = &start, &end, orNull(o.MeetsDeadline)
		}
	}
	return err
}

func newWhy(s *Host) *cobra.Command {
	var f snapshotFlags
	var job string
	var tries int
	cmd := &cobra.Command{
		Use:   "why",
		Short: "Explain why a job waits, and find the smallest changes that would start it",
		Long: `why takes a recorded snapshot (from hedge simulate --snapshots, or from a sched/record.Recorder in
your program), has the policy plan it, and explains one job: which running jobs hold the room that it needs and
when they are expected to end, which jobs get room before it, which resource is short and by how much, and the
smallest change of each kind with which it would start now. Each change is tried: the policy plans again with the
change, and with the next smaller one.`,
		Example: `  hedge why --snapshot cycle-17.json.gz --job train-42
  hedge why --snapshot recording.jsonl --line 17 --job train-42 --policy edf --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if job == "" {
				return errors.New("--job: found nothing, expected the id of a job")
			} else if tries < 0 {
				return fmt.Errorf("--tries: found %d, expected at least 0", tries)
			}
			threads := min(runtime.GOMAXPROCS(0), 6) // there are six kinds of changes to try
			planner, done, err := f.sideBySide(s, f.policy, threads)
			if err != nil {
				return fmt.Errorf("--policy: %w", err)
			}
			defer done()
			snapshot, err := f.read(s)
			if err != nil {
				return err
			}
			plan, err := planner(cmd.Context(), snapshot)
			if err != nil {
				return failed(err)
			}
			o := why.Options{Tries: tries, Threads: threads}
			if tries > 0 {
				o.Plan = planner
			}
			e, err := why.New(snapshot, plan, o)
			if err != nil {
				return failed(err)
			}
			x, err := e.Explain(cmd.Context(), job)
			if errors.Is(err, why.ErrUnknownJob) {
				return fmt.Errorf("--job: found %q, expected a job of the snapshot, such as %s", job,
					strings.Join(jobNames(snapshot), ", "))
			} else if err != nil {
				return failed(err)
			}
			if !f.json {
				_, err = fmt.Fprintln(s.Out, x)
				return failed(err)
			}
			doc := &whyDocument{Schema: schema, Command: "why", Policy: f.policy, Explanation: x}
			if err := doc.look(snapshot, plan); err != nil {
				return failed(err)
			}
			return writeJSON(s.Out, doc)
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&job, "job", "", "the `id` of the job")
	cmd.Flags().IntVar(&tries, "tries", 300,
		"limit of the plans made to find changes; 0 tries nothing and looks at free room alone")
	return cmd
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/hedgesched/hedge/cmd/hedge/internal/figures"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/backfill"
	"github.com/hedgesched/hedge/sched/outlook"
	"github.com/hedgesched/hedge/sched/record"
)

// whenDocument is the JSON document of hedge when.
type whenDocument struct {
	Schema  int       `json:"schema"`
	Command string    `json:"command"`
	Jobs    []whenJob `json:"jobs"`
}

// whenJob is when a job starts and ends, in seconds from the snapshot's Now. A time is null if it is never; Meets is
// null if the job has no deadline.
type whenJob struct {
	Job       string   `json:"job"`
	Start     when     `json:"start_s"`
	End       when     `json:"end_s"`
	Meets     *float64 `json:"meets_deadline"`
	WalltimeS *float64 `json:"walltime_start_s"`
}

// timesOf takes the percentiles of a distribution that a document has.
func timesOf(t *outlook.Times) when {
	return when{orNull(t.Quantile(0.1)), orNull(t.Quantile(0.5)), orNull(t.Quantile(0.9))}
}

// orNull is nil for infinities and NaN, which JSON does not have.
func orNull(x float64) *float64 {
	if !finite(x) {
		return nil
	}
	return &x
}

func newWhen(s *Host) *cobra.Command {
	var f snapshotFlags
	var job string
	var seed uint64
	cmd := &cobra.Command{
		Use:   "when",
		Short: "Estimate when the jobs of a recorded snapshot start and end",
		Long: `when takes a recorded snapshot (from hedge simulate --snapshots, or from a sched/record.Recorder in
your program), has the policy plan it, and estimates when each pending job starts and ends: the 10th, 50th and
90th percentiles, and the probability of meeting the deadline. It also shows the start by walltime planning, as a
batch system estimates it from the times that users ask for.

If --snapshot is a recording of several lines or a directory, all snapshots up to the last (or to --line) are
planned in order, and the estimates are corrected by what became of earlier ones.`,
		Example: `  hedge simulate --snapshots snapshots/ >/dev/null
  hedge when --snapshot snapshots/3sigma-1-00100.json.gz
  hedge when --snapshot snapshots/ --line 100 --job 3418 --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return tellWhen(cmd.Context(), s, &f, job, seed)
		},
	}
	f.add(cmd)
	cmd.Flags().Lookup("snapshot").Usage += ", or a directory of them"
	cmd.Flags().StringVar(&job, "job", "", "the `id` of a single job (default: all)")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed of the simulated worlds")
	return cmd
}

// tellWhen plans every snapshot, shows it to the estimator, and prints the estimates of the last.
func tellWhen(ctx context.Context, s *Host, f *snapshotFlags, job string, seed uint64) error {
	fresh, done, err := f.policies(s, f.policy)
	if err != nil {
		return fmt.Errorf("--policy: %w", err)
	}
	defer done()
	policy, err := fresh()
	if err != nil {
		return err
	}
	estimator, err := outlook.New(outlook.Config{Seed: seed})
	if err != nil {
		return err
	}
	var last *sched.Snapshot
	var told []outlook.Outlook
	err = f.each(s, func(snapshot *sched.Snapshot) error {
		plan, err := policy.Plan(ctx, snapshot)
		if err != nil {
			return failed(err)
		}
		last = snapshot
		told, err = estimator.Look(snapshot, plan)
		return failed(err)
	})
	if err != nil {
		return err
	}
	doc, err := whenOf(last, told, job)
	if err != nil {
		return err
	}
	if f.json {
		return writeJSON(s.Out, doc)
	}
	return failed(whenTable(s.Out, doc))
}

// errEnough ends the reading of snapshots.
var errEnough = errors.New("enough")

// each reads the snapshots in order, up to --line.
func (f *snapshotFlags) each(s *Host, see func(*sched.Snapshot) error) error {
	paths := []string{f.path}
	if info, err := os.Stat(f.path); err == nil && info.IsDir() {
		if paths, err = filepath.Glob(filepath.Join(f.path, "*.json*")); err != nil {
			return err
		}
		slices.Sort(paths)
	}
	line := 0
	for _, path := range paths {
		err := eachIn(s, path, func(snapshot *sched.Snapshot) error {
			line++
			if err := see(snapshot); err != nil {
				return err
			}
			if line == f.line {
				return errEnough
			}
			return nil
		})
		if errors.Is(err, errEnough) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	switch {
	case line == 0:
		return fmt.Errorf("%s: found no snapshot, expected a recording", f.path)
	case f.line > 0:
		return fmt.Errorf("--line: found %d, expected at most %d, the lines of %s", f.line, line, f.path)
	}
	return nil
}

func eachIn(s *Host, path string, see func(*sched.Snapshot) error) error {
	in, name, err := openInput(path, s.In)
	if err != nil {
		return fmt.Errorf("--snapshot: %w", err)
	}
	defer in.Close()
	plain, err := unpacked(in)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	r := record.NewReader(plain)
	for {
		snapshot, err := r.Read()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := see(snapshot); err != nil {
			return err
		}
	}
}

// whenOf makes the document, of one job or of all.
func whenOf(s *sched.Snapshot, told []outlook.Outlook, job string) (*whenDocument, error) {
	walltime, err := backfill.Starts(s, backfill.Requested())
	if err != nil {
		return nil, failed(err)
	}
	at := make(map[string]float64, len(walltime))
	for i := range walltime {
		at[s.Pending[i].Job.ID] = math.Inf(1)
		if !walltime[i].IsZero() {
			at[s.Pending[i].Job.ID] = walltime[i].Sub(s.Now).Seconds()
		}
	}
	d := &whenDocument{Schema: schema, Command: "when", Jobs: []whenJob{}}
	for i := range told {
		o := &told[i]
		if job == "" || o.Job == job {
			d.Jobs = append(d.Jobs, whenJob{Job: o.Job, Start: timesOf(&o.Start), End: timesOf(&o.End),
				Meets: orNull(o.MeetsDeadline), WalltimeS: orNull(at[o.Job])})
		}
	}
	if job != "" && len(d.Jobs) == 0 {
		return nil, fmt.Errorf("--job: found %q, expected a job that waits, such as %s", job, strings.Join(jobNames(s), ", "))
	}
	return d, nil
}

func whenTable(w io.Writer, d *whenDocument) error {
	var p page
	rows := make([]table.Row, len(d.Jobs))
	text := func(x *float64) string {
		if x == nil {
			return "never"
		}
		return figures.Span(*x)
	}
	for i := range d.Jobs {
		j := &d.Jobs[i]
		meets := "–"
		if j.Meets != nil {
			meets = figures.Percent(*j.Meets)
		}
		rows[i] = table.Row{j.Job, text(j.Start.P10), text(j.Start.P50), text(j.Start.P90), text(j.End.P50), text(j.End.P90),
			meets, text(j.WalltimeS)}
	}
	p.line("From the snapshot's now:")
	p.line("")
	p.table(table.Row{"job", "starts p10", "p50", "p90", "ends p50", "p90", "in time", "by walltime"}, rows...)
	return p.to(w)
}

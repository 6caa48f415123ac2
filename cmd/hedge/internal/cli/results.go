package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hedgesched/hedge/cmd/hedge/internal/results"
)

// resultsFlags are what results has beyond the workload's flags.
type resultsFlags struct {
	traces, sweeps, only, out, notes, cache, commit string
	fresh                                           bool
}

func newResults(s *Streams) *cobra.Command {
	var f workloadFlags
	var r resultsFlags
	cmd := &cobra.Command{
		Use:   "results",
		Short: "Run the paper's experiments on several logs and write docs/results.md",
		Long: `results runs, on every log, prediction and all policies, and on those of --sweeps the ablation over slack, the
load sweep, the sweep over samples of history and the perturbation grid; it writes tables with 95 % intervals,
beside each the paper's claims and whether they hold. Finished parts are kept in --cache, so that an interrupted
run goes on where it was and --only does one section at a time. Explanations come from the notes file,
whose "## section" headings name where they go.`,
		Example: `  hedge results --traces google=google.tr.gz,kth=KTH-SP2.swf.gz --seeds 1,2,3,4,5
  hedge results --traces 'theta=theta.swf.gz?tasks-per-node=16,table=jobs.csv.gz?only=prediction' --only prediction,variants
  hedge results --traces google=google.tr.gz --sweeps google --hours 1 --seeds 1,2`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			plan, err := r.plan(s, &f)
			if err != nil {
				return err
			}
			text, err := results.Run(cmd.Context(), plan)
			switch {
			case errors.Is(err, results.ErrInput):
				return err
			case err != nil:
				return failed(err)
			}
			if r.out == "-" {
				_, err = bytes.NewBufferString(text).WriteTo(s.Out)
				return failed(err)
			}
			if err := os.MkdirAll(filepath.Dir(r.out), 0o755); err != nil {
				return failed(err)
			}
			return failed(os.WriteFile(r.out, []byte(text), 0o644))
		},
	}
	f.add(cmd)
	f.policies = "all"
	fs := cmd.Flags()
	fs.StringVar(&f.seeds, "seeds", "1,2,3,4,5", "seeds")
	fs.StringVar(&r.traces, "traces", "", "name=path[?tasks-per-node=N&hours=H&cycle=D&train=FILE&workload=KIND&only=SECTION], comma-separated (default: the built-in sample)")
	fs.StringVar(&r.sweeps, "sweeps", "", "names of the logs for the sweeps (default: the first)")
	fs.StringVar(&r.only, "only", "all", "sections to run, the others being written from what is kept: "+strings.Join(results.Sections(), ", "))
	fs.StringVar(&r.out, "out", "docs/results.md", "page to write, - for stdout")
	fs.StringVar(&r.notes, "notes", "docs/results-notes.md", "explanations to merge in")
	fs.StringVar(&r.cache, "cache", "results", "directory of finished parts")
	fs.StringVar(&r.commit, "commit", "", "commit to name (default: the one built from)")
	fs.BoolVar(&r.fresh, "fresh", false, "run again what is kept")
	for _, name := range []string{"trace", "format", "train", "tasks-per-node", "log"} {
		_ = fs.MarkHidden(name) // they are set for each log
	}
	return cmd
}

func (r *resultsFlags) plan(s *Streams, f *workloadFlags) (*results.Plan, error) {
	if err := f.finish(); err != nil {
		return nil, err
	}
	p := &results.Plan{Base: f.spec, Cache: r.cache, Fresh: r.fresh, Commit: r.commit, Machine: machine(), Now: time.Now,
		Command: strings.Join(append([]string{"hedge"}, os.Args[1:]...), " "), Tell: func(what string) { note(s, "%s", what) }}
	if p.Commit == "" {
		p.Commit = commit()
	}
	var err error
	if r.traces == "" {
		p.Traces = []results.Trace{{Name: "sample", TasksPerNode: 1}}
	} else if p.Traces, err = results.ParseTraces(r.traces); err != nil {
		return nil, fmt.Errorf("--traces: %w", err)
	}
	p.Sweeps = []string{p.Traces[0].Name}
	if r.sweeps != "" {
		p.Sweeps = strings.Split(r.sweeps, ",")
	}
	p.Only = results.Sections()
	if r.only != "all" {
		p.Only = strings.Split(r.only, ",")
	}
	for _, name := range p.Only {
		if !slices.Contains(results.Sections(), name) {
			return nil, fmt.Errorf("--only: found %q, expected all or some of %s", name, strings.Join(results.Sections(), ", "))
		}
	}
	text, err := os.ReadFile(r.notes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	p.Notes = string(text)
	return p, nil
}

// machine names what the numbers were made on.
func machine() string {
	name := "unknown processor"
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.SplitSeq(string(info), "\n") {
			if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
				name = strings.TrimSpace(value)
				break
			}
		}
	}
	return fmt.Sprintf("%d × %s, %s/%s, %s", runtime.NumCPU(), name, runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// commit is the revision the program was built from.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	revision, dirty := "unknown", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = " (modified)"
		}
	}
	return revision + dirty
}

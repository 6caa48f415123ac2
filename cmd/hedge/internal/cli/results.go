package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
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
	fresh, mix                                      bool
}

func newResults(s *Host) *cobra.Command {
	var f workloadFlags
	var r resultsFlags
	cmd := &cobra.Command{
		Use:   "results",
		Short: "Run the paper's experiments on several logs and write docs/results.md",
		Long: `results runs, on every log, prediction and all policies, and on those of --sweeps the ablation over slack, the
load sweep, the sweep over samples of history and the perturbation grid, how often the probabilities that 3sigma tells come true, and how estimates of starts
come out (on logs that ask for it with only=starts, or on all with --only starts), and comparisons of hedge compare
--workload tasks (on logs that ask for them with tasks=FLAGS); it writes tables with 95 % intervals,
beside each the paper's claims and whether they hold. Finished parts are kept in --cache, so that an interrupted
run goes on where it was and --only does one section at a time; parts of another commit are refused unless --mix. Explanations come from the notes file,
whose "## section" headings name where they go.`,
		Example: `  hedge results --traces @docs/logs.txt --sweeps google-30min
  hedge results --traces google=google.tr.gz,kth=KTH-SP2.swf.gz --seeds 1,2,3,4,5
  hedge results --traces 'theta=theta.swf.gz?tasks-per-node=16,table=jobs.csv.gz?only=prediction' --only prediction,variants
  hedge results --traces google=google.tr.gz --sweeps google --hours 1 --seeds 1,2`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			plan, err := r.plan(s, &f)
			if err != nil {
				return err
			}
			return r.write(cmd.Context(), s, plan)
		},
	}
	f.add(cmd, s)
	f.policies = "all"
	cmd.Flags().StringVar(&f.seeds, "seeds", "1,2,3,4,5", "seeds")
	r.add(cmd)
	for _, name := range perLog {
		_ = cmd.Flags().MarkHidden(name)
	}
	return cmd
}

// add defines the flags.
func (r *resultsFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&r.traces, "traces", "",
		"name=path[?tasks-per-node=N&hours=H&cycle=D&train=FILE&workload=KIND&only=SECTION&optional=true], "+
			"comma-separated, or @FILE with one a line and its source; the path builtin is the built-in sample, which is also "+
			"the default")
	fs.StringVar(&r.sweeps, "sweeps", "", "names of the logs for the sweeps (default: the first)")
	fs.StringVar(&r.only, "only", "all", "sections to run, the others being written from what is kept: "+
		strings.Join(results.Sections(), ", "))
	fs.StringVar(&r.out, "out", "docs/results.md", "page to write, - for stdout")
	fs.StringVar(&r.notes, "notes", "docs/results-notes.md", "explanations to merge in")
	fs.StringVar(&r.cache, "cache", "results", "directory of finished parts")
	fs.StringVar(&r.commit, "commit", "", "commit to name (default: the one built from)")
	fs.BoolVar(&r.fresh, "fresh", false, "run again what is kept")
	fs.BoolVar(&r.mix, "mix", false, "take what is kept of other commits; the page names each")
}

// write runs the plan under a progress bar and writes the page.
func (r *resultsFlags) write(ctx context.Context, s *Host, plan *results.Plan) error {
	var bar *progress
	plan.Step = func(done, total int, what string) {
		if bar == nil {
			bar = newProgress(s.Err, total, what)
		}
		bar.set(done, what)
	}
	text, err := results.Run(ctx, plan)
	bar.done()
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
	return failed(os.WriteFile(r.out, []byte(text), 0o644))
}

// perLog are the flags of workloads that results has for each log, within --traces.
var perLog = []string{"trace", "format", "train", "tasks-per-node", "log", "log-format", "capture"}

func (r *resultsFlags) plan(s *Host, f *workloadFlags) (*results.Plan, error) {
	for _, name := range perLog {
		if f.flags.Changed(name) {
			return nil, fmt.Errorf("--%s: found with hedge results, expected in --traces", name)
		}
	}
	if err := errors.Join(f.finish(), outputFile("--out", r.out), outputDirectory("--cache", r.cache)); err != nil {
		return nil, err
	}
	p := &results.Plan{Base: f.spec, Engines: s.Engines, Systems: s.Systems, Cache: r.cache, Fresh: r.fresh, Mix: r.mix,
		Commit: r.commit, Machine: machine(), Now: time.Now,
		Compare: s.compareTasks, Command: commandLine(os.Args[1:]), Tell: func(what string) { note(s, "%s", what) }}
	if p.Commit == "" {
		p.Commit = commit()
	}
	if err := r.logs(s, p); err != nil {
		return nil, err
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
		return nil, fmt.Errorf("--notes: %w", pathError(err))
	}
	p.Notes = string(text)
	return p, nil
}

// compareTasks is the document of hedge compare --workload tasks with these arguments.
func (s *Host) compareTasks(ctx context.Context, args []string) ([]byte, error) {
	var out, errs bytes.Buffer
	host := Host{In: s.In, Out: &out, Err: &errs, Engines: s.Engines, Systems: s.Systems}
	if status := Main(ctx, append([]string{"compare", "--workload", workloadTasks}, args...), host); status != exitDone {
		return nil, errors.New(strings.TrimPrefix(strings.TrimSpace(errs.String()), "hedge: "))
	}
	return out.Bytes(), nil
}

// logs fills in the logs of the plan and which of them the sweeps run on.
func (r *resultsFlags) logs(s *Host, p *results.Plan) error {
	var err error
	file, isFile := strings.CutPrefix(r.traces, "@")
	switch {
	case r.traces == "":
		p.Traces = []results.Trace{{Name: "sample", TasksPerNode: 1}}
	case isFile:
		var text []byte
		if text, err = os.ReadFile(file); err == nil {
			p.Traces, err = results.ParseTraceFile(file, string(text))
		}
	default:
		p.Traces, err = results.ParseTraces(r.traces)
	}
	if err != nil {
		return fmt.Errorf("--traces: %w", pathError(err))
	}
	p.Traces = slices.DeleteFunc(p.Traces, func(t results.Trace) bool {
		_, err := os.Stat(t.Path)
		left := t.Optional && t.Path != "" && errors.Is(err, fs.ErrNotExist)
		if left {
			note(s, "%s is left out: %s is not there", t.Name, t.Path)
		}
		return left
	})
	if len(p.Traces) == 0 {
		return errors.New("--traces: found no log that is there, expected at least one")
	}
	p.Sweeps = []string{p.Traces[0].Name}
	if r.sweeps != "" {
		p.Sweeps = strings.Split(r.sweeps, ",")
	}
	for _, name := range p.Sweeps {
		if !slices.ContainsFunc(p.Traces, func(t results.Trace) bool { return t.Name == name }) {
			return fmt.Errorf("--sweeps: found %q, expected names of --traces", name)
		}
	}
	return nil
}

// commandLine writes the command as a shell takes it, a flag a line where it is long.
func commandLine(args []string) string {
	words := []string{"hedge"}
	for _, arg := range args {
		if strings.ContainsAny(arg, " &?*$'\"\\") {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words = append(words, arg)
	}
	line := strings.Join(words, " ")
	if len(line) > 120 {
		line = strings.ReplaceAll(line, " --", " \\\n  --")
	}
	return line
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

// unknownCommit stands for the revision of a program that does not know it.
const unknownCommit = "unknown"

// commit is the revision that the program was built from.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unknownCommit
	}
	return commitOf(info)
}

// commitOf is the revision that the go command has stamped, or the version of a program that was installed by its
// version.
func commitOf(info *debug.BuildInfo) string {
	revision, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = " (modified)"
		}
	}
	switch v := info.Main.Version; {
	case revision != "":
		return revision + dirty
	case v != "" && v != "(devel)":
		return v
	}
	return unknownCommit
}

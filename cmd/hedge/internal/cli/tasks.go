package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hedgesched/hedge/adapters/sim/agents"
	"github.com/hedgesched/hedge/adapters/sim/published"
	"github.com/hedgesched/hedge/adapters/sim/tasklog"
	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/cmd/hedge/internal/figures"
	"github.com/hedgesched/hedge/cmd/hedge/internal/records"
	"github.com/hedgesched/hedge/cmd/hedge/internal/report"
	"github.com/hedgesched/hedge/cmd/hedge/internal/stats"
	"github.com/hedgesched/hedge/sched/eagle"
	"github.com/hedgesched/hedge/sched/slearn"
	"github.com/hedgesched/hedge/sched/systems"
)

// defaultShortShare is the percentage of nodes that Eagle's authors set apart for the Yahoo trace.
const defaultShortShare = 2

// maxTasks bounds the memory of a simulation, which holds every task by itself.
const maxTasks = 100_000_000

// workloadTasks is the --workload whose tasks are placed one by one.
const workloadTasks = "tasks"

// taskFlags are the flags of --workload tasks alone.
type taskFlags struct {
	config                   published.Config
	rules, estimate, jobsOut string
	heartbeat                time.Duration
	paper                    paperFlags
	gs                       gsFlags
	pick                     pickFlags
	// logDir and reported are --log and --report.
	logDir   string
	reported bool
	observer tasklog.Observer // of the run that goes on, if it is followed
	// planner is what runs a policy that plans the whole cluster.
	planner centralRun
	// ownShare tells that --short-share was given; share is what it is otherwise, on enough nodes.
	ownShare bool
	share    float64
}

func (t *taskFlags) add(fs *pflag.FlagSet) {
	own := pflag.NewFlagSet("tasks", pflag.ContinueOnError)
	c := &t.config
	own.Float64Var(&c.ShortShare, "short-share", defaultShortShare,
		"percent of the nodes that take short tasks only, by default one node at least (--workload tasks)")
	own.Float64Var(&c.Cutoff, "cutoff", 90.5811, "seconds of the mean task above which a job is long (--workload tasks)")
	own.IntVar(&c.MinProbes, "min-probes", 20, "least number of a short job's probes (--workload tasks)")
	own.DurationVar(&t.heartbeat, "heartbeat", 7*time.Second, "how old dlwl's knowledge may be (--workload tasks)")
	own.StringVar(&t.estimate, "estimate", "mean",
		"by which runtimes easy and conservative plan: requested, forecast, or quantile:Q; "+
			"with --workload tasks: mean, uniform:A,B, the mean times a random factor, or history, what a policy that plans "+
			"forecasts")
	own.Lookup("estimate").DefValue = "requested; mean"
	own.StringVar(&t.rules, "rules", "paper",
		"paper, or published: those of the public Eagle simulator (--workload tasks)")
	t.paper.add(own)
	t.gs.add(own)
	t.pick.add(own)
	fs.AddFlagSet(own)
	fs.Lookup("workload").Usage = "window, e2e, replay, dag or tasks"
}

func taskFlagNames() []string {
	return slices.Concat(paperFlagNames(), gsFlagNames(), []string{"jobs", "max-tasks", "warm-up", "generate",
		"short-share", "cutoff", "min-probes", "heartbeat", "rules", "jobs-out"})
}

// commonFlagNames are those of simulate and compare that every workload has.
func commonFlagNames() []string {
	return []string{"workload", "policy", "policies", "trace", "format", "strict", "max-bad", "nodes", "seed", "seeds",
		"estimate", "json", "load", "train"}
}

// checkOthers refuses flags that the workload does not have.
func checkOthers(fs *pflag.FlagSet, workload string) error {
	var err error
	fs.Visit(func(f *pflag.Flag) {
		own := slices.Contains(taskFlagNames(), f.Name)
		common := slices.Contains(commonFlagNames(), f.Name)
		switch tasks := workload == workloadTasks; {
		case err != nil:
		case slices.Contains(sharedFlagNames(), f.Name) && workload != workloadShared:
			err = fmt.Errorf("--%s: found with --workload %s, expected --workload %s", f.Name, workload, workloadShared)
		case workload == workloadShared && !common && !slices.Contains(append(sharedFlagNames(), sharedAlso()...), f.Name):
			err = fmt.Errorf("--%s: found with --workload %s, expected another workload", f.Name, workload)
		case own && !tasks:
			err = fmt.Errorf("--%s: found with --workload %s, expected --workload %s", f.Name, workload, workloadTasks)
		case tasks && !own && !common && !slices.Contains(tasksAlso(), f.Name):
			err = fmt.Errorf("--%s: found with --workload %s, expected another workload", f.Name, workloadTasks)
		}
	})
	return err
}

// tasksDocument is what simulate --workload tasks --json prints.
type tasksDocument struct {
	Schema   int           `json:"schema"`
	Command  string        `json:"command"`
	Workload tasksWorkload `json:"workload"`
	Run      tasksRun      `json:"run"`
}

type tasksWorkload struct {
	Trace       string  `json:"trace"`
	Jobs        int     `json:"jobs"`
	Tasks       int     `json:"tasks"`
	Nodes       int     `json:"nodes"`
	Cores       int     `json:"cores"`
	OfferedLoad float64 `json:"offered_load"`
	// Variation is of the runs of GS alone.
	Variation *gsVariation `json:"variation,omitempty"`
	records.Records
}

type tasksRun struct {
	Policy string `json:"policy"`
	Seed   int64  `json:"seed"`
	Short  jct    `json:"short"`
	Long   jct    `json:"long"`
	All    jct    `json:"all"`
	*GSFigures
	cold        int       // jobs before the end of --warm-up
	completions []float64 // of all jobs, in seconds
	longest     []float64 // of all jobs, the seconds of their longest tasks
	sizes       []float64 // of all jobs, in seconds
	long        []bool    // of all jobs
	queues      *report.Queues
	tasks       []int32 // of all jobs
	BusyMean    float64 `json:"busy_mean"`
	MakespanS   float64 `json:"makespan_s"`
	Messages    *int64  `json:"messages"` // null for a policy that plans, which sends none
	Events      int64   `json:"events"`
	EventsPerS  float64 `json:"events_per_s"`
	WallSWall   float64 `json:"wall_s_wall"`
	PeakMB      float64 `json:"peak_mb"`
}

// jct is the completion times of a class of jobs.
type jct struct {
	Jobs int `json:"jobs"`
	JCT  struct {
		Mean float64 `json:"mean"`
		P50  float64 `json:"p50"`
		P90  float64 `json:"p90"`
		P99  float64 `json:"p99"`
	} `json:"jct_s"`
}

func jctOf(jobs []published.JobResult, of func(*published.JobResult) bool) jct {
	var seconds []float64
	for i := range jobs {
		if j := &jobs[i]; of(j) {
			seconds = append(seconds, j.End-j.Submit)
		}
	}
	return jctOfSeconds(seconds)
}

func jctOfSeconds(seconds []float64) jct {
	c := jct{Jobs: len(seconds)}
	if len(seconds) > 0 {
		slices.Sort(seconds)
		c.JCT.Mean = stats.Mean(seconds)
		c.JCT.P50, c.JCT.P90 = stats.Between(seconds, 0.5), stats.Between(seconds, 0.9)
		c.JCT.P99 = stats.Between(seconds, 0.99)
	}
	return c
}

// runTasks simulates a task-level workload.
func runTasks(cmd *cobra.Command, s *Host, f *simulation, t *taskFlags) error {
	if err := t.finish(cmd, f, s); err != nil {
		return err
	}
	log, err := readTasks(s, &f.spec, t)
	if err != nil {
		return err
	}
	d, result, err := t.run(cmd.Context(), f.policies, log)
	if err != nil {
		return err
	}
	if err := t.writeJobs(s, result.Jobs); err != nil {
		return failed(err)
	}
	return f.emit(s, d, func(path string) error { return report.WriteTasks(path, t.page(&d.Workload, []tasksRun{d.Run})) },
		func(w io.Writer) error { return tasksTable(w, d) })
}

// run simulates what is configured, which goes by that name.
func (t *taskFlags) run(ctx context.Context, policy string, log *taskLog) (*tasksDocument, *published.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	work, err := log.pick(uint64(t.config.Seed))
	if err != nil {
		return nil, nil, err
	}
	follow, err := t.follow(policy)
	if err != nil {
		return nil, nil, err
	}
	began := time.Now()
	var result *published.Result
	var found *GSFigures
	if t.observer = follow.observer(); t.rules == "published" {
		c := t.config
		c.Observer = t.observer
		result, err = published.Run(&work.Workload, c)
	} else {
		result, found, err = t.runPaper(ctx, work)
	}
	if err != nil {
		return nil, nil, errors.Join(err, follow.close(nil))
	}
	d := t.document(policy, log.log, &work.Workload, result, time.Since(began).Seconds())
	if d.Run.GSFigures = found; found != nil {
		v := t.gs.variation(work)
		d.Workload.Variation = &v
	}
	for i := range result.Jobs {
		d.Run.completions = append(d.Run.completions, result.Jobs[i].End-result.Jobs[i].Submit)
		d.Run.tasks = append(d.Run.tasks, work.Workload.Jobs[i].Tasks)
		d.Run.sizes = append(d.Run.sizes, work.size(i))
	}
	if t.reported {
		d.Run.queues = follow.queues
		t.keep(&d.Run, &work.Workload, result)
	}
	return d, result, errors.Join(follow.close(&d.Run), t.warmUp(&d.Run, result.Jobs))
}

// warmUp leaves the jobs of --warm-up out of the figures.
func (t *taskFlags) warmUp(run *tasksRun, jobs []published.JobResult) error {
	from := jobs[0].Submit + t.pick.warmUp.Seconds()
	for run.cold < len(jobs) && jobs[run.cold].Submit < from {
		run.cold++
	}
	if run.cold == len(jobs) {
		return fmt.Errorf("--warm-up: found %v, expected less than there is between submissions", t.pick.warmUp)
	}
	late := jobs[run.cold:]
	run.Short = jctOf(late, func(j *published.JobResult) bool { return !j.Long })
	run.Long = jctOf(late, func(j *published.JobResult) bool { return j.Long })
	run.All = jctOf(late, func(*published.JobResult) bool { return true })
	return nil
}

// finish checks the flags and makes the configuration.
func (t *taskFlags) finish(cmd *cobra.Command, f *simulation, s *Host) error {
	if !cmd.Flags().Changed("policy") {
		f.policies = "eagle"
	}
	system, err := chooseOne(f.systems, f.policies, workloadTasks)
	if err != nil {
		return fmt.Errorf("--policy: %w", err)
	}
	if t.config.Seed, err = strconv.ParseInt(f.seeds, 10, 64); err != nil {
		return fmt.Errorf("--seed: found %q, expected a whole number", f.seeds)
	}
	if err := t.check(cmd.Flags(), f, s, []systems.System{system}); err != nil {
		return err
	}
	if err := errors.Join(t.use(&system), t.outputs(f)); err != nil {
		return err
	}
	if t.jobsOut == "-" && f.json {
		return errors.New("--jobs-out: found - with --json, expected a file, as both write to stdout")
	}
	return outputFile("--jobs-out", t.jobsOut)
}

// check checks the flags for systems of tasks, and makes the configuration of them.
func (t *taskFlags) check(fs *pflag.FlagSet, f *simulation, host *Host, of []systems.System) error {
	c, spec := &t.config, &f.spec
	t.plan(f, host)
	t.ownShare, t.share = fs.Changed("short-share"), defaultShortShare
	if err := t.pick.check(fs, spec); err != nil {
		return err
	}
	t.pick.follow(fs, t)
	switch t.rules {
	case "published", "paper":
	default:
		return fmt.Errorf("--rules: found %q, expected paper or published", t.rules)
	}
	if err := t.checkPaper(fs); err != nil {
		return err
	}
	if err := checkOwners(fs, f.systems, of); err != nil {
		return err
	}
	if t.estimate == byHistory && !slices.ContainsFunc(of, func(s systems.System) bool { return plans(&s) }) {
		return fmt.Errorf("--estimate: found %s with %s, expected a policy that plans, such as 3sigma", byHistory, of[0].Name)
	}
	c.Nodes, c.Heartbeat = spec.Nodes, int((t.heartbeat+time.Second-1)/time.Second)
	if t.rules == "published" && (t.heartbeat < time.Second || t.heartbeat%time.Second != 0) {
		return fmt.Errorf("--heartbeat: found %v, expected whole seconds from 1s on", t.heartbeat)
	}
	if err := t.factors(); err != nil {
		return err
	}
	t.gs.given = fs.Changed("features")
	if err := t.gs.check(); err != nil {
		return err
	}
	return checkFormat(spec.Trace, spec.Format)
}

// use configures the system, and checks what it makes of the flags.
func (t *taskFlags) use(s *systems.System) error {
	if t.planner.of = nil; plans(s) && t.rules != "published" {
		of := *s
		t.planner.of, t.config.Variant = &of, eagle.Switches{}
		if err := keepsTo(periods(&t.planner.spec)); err != nil {
			return err
		}
		return t.planner.try()
	}
	variant, ok := s.Agents.(eagle.Switches)
	switch {
	case ok:
	case t.rules == "published":
		return fmt.Errorf("%s: found with --rules published, expected one of Eagle's family", s.Name)
	case !t.paper.knows(s.Agents):
		return fmt.Errorf("%s: found with --workload %s, expected a system that it can simulate", s.Name, workloadTasks)
	}
	c := &t.config
	if _, isGS := s.Agents.(slearn.Scheme); isGS && t.pick.mix != nil {
		return fmt.Errorf("%s: found with --generate, expected a log, whose jobs have features", s.Name)
	}
	if err := t.paper.checkReserved(s); err != nil {
		return err
	}
	c.Variant, t.paper.agents = variant, s.Agents
	if !t.ownShare {
		c.ShortShare = defaultShare(c, t.share)
	}
	return inTaskFlags(c.Check())
}

// defaultShare is the --short-share that nobody gave: the default, or on few nodes what makes one of them.
func defaultShare(c *published.Config, share float64) float64 {
	if !c.Variant.Partition || c.Nodes < 2 {
		return share
	}
	const above = 1 + 1e-9 // shares are rounded down to nodes
	return max(share, 100*above/float64(c.Nodes))
}

// inTaskFlags says an error about parameters in the words of the command line.
func inTaskFlags(err error) error {
	var c *published.ConfigError
	if !errors.As(err, &c) {
		return err
	}
	flag := map[string]string{"Nodes": "--nodes", "ShortShare": "--short-share", "Cutoff": "--cutoff",
		"MinProbes": "--min-probes", "Heartbeat": "--heartbeat", "Low": "--estimate"}[c.Field]
	return fmt.Errorf("%s: found %v, expected %s", cmp.Or(flag, c.Field), c.Value, c.Want)
}

// factors reads --estimate.
func (t *taskFlags) factors() error {
	c := &t.config
	if c.Low, c.High = 0, 0; t.estimate == "mean" || t.estimate == byHistory {
		return nil
	}
	low, high, ok := strings.Cut(strings.TrimPrefix(t.estimate, "uniform:"), ",")
	var errs [2]error
	c.Low, errs[0] = strconv.ParseFloat(low, 64)
	c.High, errs[1] = strconv.ParseFloat(high, 64)
	bounded := c.Low > 0 && c.High >= c.Low && c.High <= 1000
	if !strings.HasPrefix(t.estimate, "uniform:") || !ok || errors.Join(errs[:]...) != nil || !bounded {
		return fmt.Errorf("--estimate: found %q, expected mean, history, or uniform:A,B with 0 < A <= B <= 1000",
			t.estimate)
	}
	return nil
}

func (t *taskFlags) document(policy string, log *trace.Log, w *agents.Workload, r *published.Result,
	wall float64) *tasksDocument {
	seconds := 0.0
	for _, d := range w.Runtimes {
		if t.rules == "published" {
			d = d.Truncate(time.Second)
		}
		seconds += d.Seconds()
	}
	load := 0.0
	if span := (w.Jobs[len(w.Jobs)-1].Submit - w.Jobs[0].Submit).Seconds(); span > 0 {
		load = seconds / (span * float64(t.config.Nodes) * float64(t.paper.cores))
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return &tasksDocument{Schema: schema, Command: "simulate",
		Workload: tasksWorkload{Trace: log.Name, Jobs: len(w.Jobs), Tasks: len(w.Runtimes), Nodes: t.config.Nodes,
			Cores: t.paper.cores, OfferedLoad: load, Records: records.Of(log)},
		Run: tasksRun{Policy: policy, Seed: t.config.Seed,
			Short:    jctOf(r.Jobs, func(j *published.JobResult) bool { return !j.Long }),
			Long:     jctOf(r.Jobs, func(j *published.JobResult) bool { return j.Long }),
			All:      jctOf(r.Jobs, func(*published.JobResult) bool { return true }),
			BusyMean: r.Busy, MakespanS: r.Makespan, Messages: t.messages(r), Events: r.Events,
			EventsPerS: float64(r.Events) / max(wall, 1e-9), WallSWall: wall, PeakMB: float64(memory.Sys) / (1 << 20)}}
}

// messages are those of a run of agents.
func (t *taskFlags) messages(r *published.Result) *int64 {
	if t.planner.of != nil {
		return nil
	}
	return &r.Messages
}

// writeJobs writes --jobs-out.
func (t *taskFlags) writeJobs(s *Host, jobs []published.JobResult) error {
	var out io.Writer = s.Out
	switch t.jobsOut {
	case "":
		return nil
	case "-":
	default:
		file, err := os.Create(t.jobsOut)
		if err != nil {
			return pathError(err)
		}
		return errors.Join(jobLines(file, jobs), file.Close())
	}
	return jobLines(out, jobs)
}

func jobLines(w io.Writer, jobs []published.JobResult) error {
	b := bufio.NewWriter(w)
	for i, j := range jobs {
		class := 0
		if j.Long {
			class = 1
		}
		fmt.Fprintf(b, "%d %.4f %d\n", i+1, j.End, class)
	}
	return b.Flush()
}

func tasksTable(w io.Writer, d *tasksDocument) error {
	var p page
	p.line("%s: %d jobs, %d tasks at load %.3f on %d nodes; %s, seed %d", d.Workload.Trace, d.Workload.Jobs,
		d.Workload.Tasks,
		d.Workload.OfferedLoad, d.Workload.Nodes, d.Run.Policy, d.Run.Seed)
	p.records(&d.Workload.Records)
	p.table(jctHead(), jctRows(&d.Run.Short, &d.Run.Long, &d.Run.All)...)
	return p.to(w)
}

func jctHead() table.Row { return table.Row{"completion, s", "jobs", "mean", "p50", "p90", "p99"} }

func jctRows(short, long, all *jct) []table.Row {
	var rows []table.Row
	for _, c := range []struct {
		name string
		of   *jct
	}{{"short", short}, {"long", long}, {"all", all}} {
		rows = append(rows, table.Row{c.name, c.of.Jobs, figures.Number(c.of.JCT.Mean), figures.Number(c.of.JCT.P50),
			figures.Number(c.of.JCT.P90), figures.Number(c.of.JCT.P99)})
	}
	return rows
}

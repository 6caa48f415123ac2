package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/hedgesched/hedge/adapters/sim/agents"
	"github.com/hedgesched/hedge/adapters/sim/agents/generate"
	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/cmd/hedge/internal/experiment"
	"github.com/hedgesched/hedge/sched/agent"
)

// pickFlags say which jobs of a log are run with --workload tasks.
type pickFlags struct {
	jobs, maxTasks int
	load           float64       // 0: as in the log
	warmUp         time.Duration // jobs submitted before this after the first have no part in the figures
	// generate is the name of a mix of jobs to be made in place of a log.
	generate string
	mix      *generate.Mix
}

// Defaults of --generate.
const (
	generatedJobs = 500_000
	generatedLoad = 0.8
)

func (p *pickFlags) add(fs *pflag.FlagSet) {
	fs.IntVar(&p.jobs, "jobs", 0, "jobs drawn at random from the log, by the seed; 0: all (--workload tasks); "+
		"with --generate how many are made, 0: 500000")
	fs.StringVar(&p.generate, "generate", "",
		"make jobs of the classes of yahoo or google, at --load or 0.8, in place of a log (--workload tasks)")
	fs.DurationVar(&p.warmUp, "warm-up", 0,
		"jobs submitted so soon after the first have no part in the figures (--workload tasks)")
	fs.IntVar(&p.maxTasks, "max-tasks", 0, "leave out jobs of more tasks; 0: none (--workload tasks)")
}

func (p *pickFlags) check(fs *pflag.FlagSet, spec *experiment.Spec) error {
	p.load = 0
	if fs.Changed("load") {
		p.load = spec.Load
	}
	switch {
	case p.jobs < 0:
		return fmt.Errorf("--jobs: found %d, expected 0 or more", p.jobs)
	case p.maxTasks < 0:
		return fmt.Errorf("--max-tasks: found %d, expected 0 or more", p.maxTasks)
	case p.warmUp < 0:
		return fmt.Errorf("--warm-up: found %v, expected 0 or more", p.warmUp)
	case fs.Changed("load") && !(p.load > 0 && p.load <= 1000):
		return fmt.Errorf("--load: found %v, expected above 0, at most 1000", p.load)
	case p.generate == "":
		return nil
	}
	for _, name := range []string{"trace", "format", "train", "max-tasks"} {
		if fs.Changed(name) {
			return fmt.Errorf("--generate: found with --%s, expected one of them", name)
		}
	}
	mix, err := generate.Named(p.generate)
	if err != nil {
		return fmt.Errorf("--generate: found %q, expected %s", p.generate, strings.Join(generate.Names(), " or "))
	}
	p.mix = &mix
	return nil
}

// follow has flags that nobody gave be what the mix of --generate has them.
func (p *pickFlags) follow(fs *pflag.FlagSet, t *taskFlags) {
	if p.mix == nil {
		return
	}
	if !fs.Changed("cutoff") {
		t.config.Cutoff = p.mix.Cutoff
	}
	if !fs.Changed("heartbeat") {
		t.heartbeat = p.mix.Heartbeat
	}
	if !fs.Changed("short-share") {
		t.share = p.mix.ShortShare
	}
}

// taskLog is a log that workloads are picked from.
type taskLog struct {
	pickFlags
	log *trace.Log
	// train is what was before, jobs is what may be picked.
	train, jobs []trace.Job
	slots       int
	last        *taskWork // what was picked last, and for which seed
	seed        uint64
}

// taskWork is a workload; the jobs of the log, if it is of one, are in its order.
type taskWork struct {
	agents.Workload
	train []trace.Job
	jobs  []*trace.Job
}

// readTasks reads the log as a workload of tasks.
func readTasks(s *Host, spec *experiment.Spec, t *taskFlags) (*taskLog, error) {
	l := &taskLog{pickFlags: t.pick, slots: spec.Nodes * t.paper.cores}
	if t.pick.mix != nil {
		l.log = &trace.Log{Name: "generated from the classes of " + t.pick.generate}
		return l, nil
	}
	log, err := readSorted(s, spec)
	if err != nil {
		return nil, err
	}
	l.log, l.jobs = log, log.Jobs
	tasks := 0
	for i := range log.Jobs {
		if j := &log.Jobs[i]; j.Tasks > maxTasks-tasks {
			return nil, fmt.Errorf("%s:%d: tasks: found %d, and %d before, expected at most %d in a log with --workload %s",
				log.Name, j.Line, j.Tasks, tasks, maxTasks, workloadTasks)
		}
		tasks += log.Jobs[i].Tasks
	}
	if err := l.split(s, spec); err != nil {
		return nil, err
	}
	return l, t.gs.checkFeatures(l)
}

// split takes the jobs of --train away.
func (l *taskLog) split(s *Host, spec *experiment.Spec) error {
	share, err := strconv.ParseFloat(spec.Train, 64)
	switch {
	case spec.Train == "":
	case err != nil:
		history, err := readLog(s, spec.Train, &trace.Options{Strict: spec.Strict, MaxBad: spec.MaxBad})
		if err != nil {
			return fmt.Errorf("--train: %w", err)
		}
		l.train = history.Jobs
	case !(share >= 0 && share < 1):
		return fmt.Errorf("--train: found %v, expected a share from 0 to below 1, or a file", share)
	default:
		n := int(share * float64(len(l.jobs)))
		l.train, l.jobs = l.jobs[:n], l.jobs[n:]
	}
	l.jobs = slices.DeleteFunc(slices.Clone(l.jobs), func(j trace.Job) bool {
		return l.maxTasks > 0 && j.Tasks > l.maxTasks
	})
	if len(l.jobs) == 0 {
		return fmt.Errorf("%s: no job is left to run, of %d", l.log.Name, len(l.log.Jobs))
	}
	if n := l.pickFlags.jobs; n > len(l.jobs) {
		return fmt.Errorf("--jobs: found %d, expected at most %d, what there is to draw from in %s", n, len(l.jobs),
			l.log.Name)
	}
	return nil
}

// pick draws the jobs of a seed, and brings them to the load that is asked for.
func (l *taskLog) pick(seed uint64) (*taskWork, error) {
	if l.last != nil && (l.seed == seed || l.pickFlags.jobs == 0 && l.mix == nil) {
		return l.last, nil
	}
	if l.mix != nil {
		l.last = nil // before there is another as large
		made, err := generate.New(l.mix, generate.Spec{Jobs: cmp.Or(l.pickFlags.jobs, generatedJobs), Slots: l.slots,
			Load: cmp.Or(l.load, generatedLoad), Seed: seed})
		if err != nil {
			return nil, fmt.Errorf("--generate: %w", err)
		}
		l.last, l.seed = &taskWork{Workload: *made}, seed
		return l.last, nil
	}
	w := &taskWork{train: l.train}
	// A selection sample keeps the order: each job is taken with the share of those to be taken among those that are left.
	random := agent.NewRandom(seed, drawAddress)
	want := len(l.jobs)
	if l.pickFlags.jobs > 0 {
		want = min(want, l.pickFlags.jobs)
	}
	for i := range l.jobs {
		if random.Below(len(l.jobs)-i) < want {
			want--
			w.jobs = append(w.jobs, &l.jobs[i])
		}
	}
	stretch := l.stretch(w.jobs)
	first := w.jobs[0].Submit
	for _, j := range w.jobs {
		scaled := *j
		if l.load > 0 {
			scaled.Submit = time.Duration(float64((j.Submit-first).Seconds()*stretch) * 1e9)
		}
		if err := w.Add(&scaled); err != nil {
			return nil, fmt.Errorf("%s: %w", l.log.Name, err)
		}
	}
	l.last, l.seed = w, seed
	return w, nil
}

// drawAddress is the address that no part has, so that the draw of jobs is of its own.
const drawAddress = -2

// stretch is the factor of arrival times that makes the jobs' load what is asked for.
func (l *taskLog) stretch(jobs []*trace.Job) float64 {
	seconds := 0.0
	for _, j := range jobs {
		seconds += size(j)
	}
	span := (jobs[len(jobs)-1].Submit - jobs[0].Submit).Seconds()
	if span <= 0 || l.load <= 0 {
		return 1
	}
	return seconds / (span * float64(l.slots) * l.load)
}

// size is the summed time of a job's tasks, in seconds.
func (w *taskWork) size(job int) float64 {
	if w.jobs != nil {
		return size(w.jobs[job])
	}
	sum := time.Duration(0)
	for _, d := range w.Tasks(&w.Workload.Jobs[job]) {
		sum += d
	}
	return sum.Seconds()
}

// size is the summed time of a job's tasks, in seconds.
func size(j *trace.Job) float64 {
	if len(j.TaskRuntimes) != j.Tasks {
		return j.Runtime.Seconds() * float64(j.Tasks)
	}
	sum := 0.0
	for _, d := range j.TaskRuntimes {
		sum += d.Seconds()
	}
	return sum
}

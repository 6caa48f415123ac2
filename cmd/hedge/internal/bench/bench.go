// Package bench runs solving engines side by side on placement problems, each run in a process of its own, so that
// memory is counted for it alone and an engine that crashes or hangs spoils no other. It measures; it compares nothing
// and draws no conclusion.
package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/milp"
)

// Spec says what to run.
type Spec struct {
	// Program is the hedge to run: its command solve has the engines.
	Program string
	// Problems are files, Engines what --engine takes.
	Problems, Engines []string
	// At are the moments to look at a run; the last is its time limit.
	At []time.Duration
	// Work, if not empty, are the limits in work units that take the place of At: an engine then runs once for each,
	// without a time limit.
	Work []int64
	// Seed is that of randomised search.
	Seed int64
	// Threads are the numbers of threads that each engine may use: it runs once with each.
	Threads []int
	// Splits is what --splits takes.
	Splits string
	// Gap is the relative gap to stop at.
	Gap float64
	// Reach is the engine of Engines whose time to what the others have in the end is told; "" for none. It runs alone,
	// after them.
	Reach string
	// Parallel is how many of the others run at the same time; 0 is 1.
	Parallel int
	// Oracle is an engine that is given OracleTime, one thread and no gap for each problem whose best plan Engines leave
	// unproven; "" for none. Its plans and bounds are among those that the others are held against.
	Oracle     string
	OracleTime time.Duration
}

// racer is an engine with as many threads as it may use in a run.
type racer struct {
	engine  string
	threads int
}

// racers are what runs on each problem.
func (s *Spec) racers() []racer {
	list := make([]racer, 0, len(s.Engines)*len(s.Threads))
	for _, engine := range s.Engines {
		for _, n := range s.Threads {
			list = append(list, racer{engine, n})
		}
	}
	return list
}

// Steps is how many runs there are, without those of the oracle.
func (s *Spec) Steps() int { return len(s.Problems) * len(s.racers()) }

// Document is what hedge bench prints.
type Document struct {
	Schema  int       `json:"schema"`
	Command string    `json:"command"`
	Machine string    `json:"machine"`
	Commit  string    `json:"commit"`
	AtS     []float64 `json:"at_s"`
	// Work are the limits in work units, where they take the place of moments.
	Work     []int64   `json:"work,omitempty"`
	Problems []Problem `json:"problems"`
	// Totals count what each engine reached.
	Totals []Total `json:"totals"`
	// Reach sums the problems' up; nil where none was asked for.
	Reach *ReachSummary `json:"reach,omitempty"`
}

// Problem is one problem and the runs on it.
type Problem struct {
	// Name is the file's, with its folder's before it where several files have that name.
	Name string `json:"name"`
	// Folder is the name of the folder that the file is in.
	Folder string `json:"folder"`
	Jobs   int    `json:"jobs"`
	// Model is what generic solvers are given, and BuildMS how long it takes to make.
	Model   Size    `json:"model"`
	BuildMS float64 `json:"build_ms"`
	// BestObjective and BestBound are the best of all runs.
	BestObjective float64  `json:"best_objective"`
	BestBound     *float64 `json:"best_bound"`
	// Wrong lists the engines whose bound is below a plan that another one has, beyond [solver.Tolerance]: that plan has
	// been checked, so the bound is wrong, or the plan needs the tolerance that rows are checked with.
	Wrong []string `json:"wrong,omitempty"`
	Runs  []Run    `json:"runs"`
	// Oracle is the oracle's run; nil where it was not asked.
	Oracle *Run `json:"oracle,omitempty"`
	// Reach is nil where none was asked for.
	Reach *Reach `json:"reach,omitempty"`
}

// Size is a model's.
type Size struct {
	Vars     int `json:"vars"`
	Integers int `json:"integers"`
	Rows     int `json:"rows"`
	Entries  int `json:"entries"`
}

// Run is one engine on one problem.
type Run struct {
	Engine  string `json:"engine"`
	Threads int    `json:"threads"`
	// FirstMS is when the first plan was there, null without one.
	FirstMS *float64 `json:"first_ms"`
	// Objective and Gap are those in hand at each moment, or at the end of each limit of work: null without a plan, or
	// without a bound that was told by then.
	Objective []*float64 `json:"objective"`
	Gap       []*float64 `json:"gap"`
	// Spent are the work units that were used up within each limit of work.
	Spent []int64 `json:"spent,omitempty"`
	// Bound is the lowest that was told, Stop and WallMS are of the last limit.
	Bound  *float64    `json:"bound"`
	Stop   solver.Stop `json:"stop"`
	WallMS float64     `json:"wall_ms"`
	// PeakMB is the process's largest resident set; a solver service is another process.
	PeakMB float64 `json:"peak_mb"`
	Error  string  `json:"error,omitempty"`

	plans []plan // as they were told
}

// Do runs every engine on every problem. Step is told of each run as it begins, never by two goroutines at the same
// time.
func Do(ctx context.Context, spec *Spec, step func(done int, what string)) ([]Problem, error) {
	out := make([]Problem, 0, len(spec.Problems))
	titles := names(spec.Problems)
	done := 0
	for i, path := range spec.Problems {
		p, err := load(path, spec.Splits)
		if err != nil {
			return nil, err
		}
		p.Name = titles[i]
		p.Runs = make([]Run, len(spec.racers()))
		for _, turn := range spec.turns() {
			if err := together(ctx, spec, path, turn, p.Runs, func(engine string) {
				step(done, p.Name+" "+engine)
				done++
			}); err != nil {
				return nil, err
			}
		}
		p.best()
		if spec.Oracle != "" && !p.proven(spec.Gap) {
			step(done, p.Name+" "+spec.Oracle)
			if err := p.ask(ctx, spec, path); err != nil {
				return nil, err
			}
		}
		if spec.Reach != "" {
			p.Reach = reach(spec, p.Runs)
		}
		out = append(out, *p)
	}
	return out, nil
}

// names are the files' names without what they end in; those that several files have are told apart by their folders'.
func names(paths []string) []string {
	list, times := make([]string, len(paths)), map[string]int{}
	for i, path := range paths {
		list[i], _, _ = strings.Cut(filepath.Base(path), ".json")
		times[list[i]]++
	}
	for i, path := range paths {
		if times[list[i]] > 1 {
			list[i] = folder(path) + "/" + list[i]
		}
	}
	return list
}

// folder is the name of the folder that a file is in.
func folder(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	return filepath.Base(filepath.Dir(path))
}

// ask gives the problem to the oracle.
func (p *Problem) ask(ctx context.Context, spec *Spec, path string) error {
	alone := *spec
	alone.At, alone.Work, alone.Gap = []time.Duration{spec.OracleTime}, nil, 0
	p.Oracle = &Run{}
	if err := one(ctx, &alone, path, racer{spec.Oracle, 1}, p.Oracle); err != nil {
		return err
	}
	p.best()
	return nil
}

// turns are the engines, by index, that may run at the same time: the one whose time matters most is alone.
func (s *Spec) turns() [][]int {
	var others, alone []int
	for i, r := range s.racers() {
		if r.engine == s.Reach {
			alone = append(alone, i)
		} else {
			others = append(others, i)
		}
	}
	return [][]int{others, alone}
}

// together runs the engines of a turn on a problem, spec.Parallel of them at a time.
func together(ctx context.Context, spec *Spec, path string, turn []int, runs []Run, step func(engine string)) error {
	errs := make([]error, len(turn))
	racers := spec.racers()
	places := make(chan struct{}, max(1, spec.Parallel))
	var running sync.WaitGroup
	for i, k := range turn {
		places <- struct{}{}
		step(racers[k].engine)
		running.Go(func() {
			defer func() { <-places }()
			errs[i] = one(ctx, spec, path, racers[k], &runs[k])
		})
	}
	running.Wait()
	return errors.Join(errs...)
}

// load reads a problem and measures its model.
func load(path, splits string) (*Problem, error) {
	p, err := solver.ReadProblemFile(path)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	rule := map[string]solver.SplitRule{"continuous": solver.SplitsContinuous, "now": solver.SplitsNow}[splits]
	c, err := milp.Compile(p, rule, milp.RelaxNone)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	built := time.Since(began)
	m := c.Model
	return &Problem{Folder: folder(path), Jobs: len(p.Jobs), BuildMS: ms(built),
		Model: Size{Vars: m.Vars(), Integers: m.Integers(), Rows: m.Rows(), Entries: m.Entries()}}, nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// plan is a line of hedge solve --plans.
type plan struct {
	MS        float64  `json:"t_ms"`
	Objective float64  `json:"objective"`
	Bound     *float64 `json:"bound"`
}

// one runs an engine on a problem and puts what came of it into run. A run that fails is a finding, not an error.
func one(ctx context.Context, spec *Spec, path string, r racer, run *Run) error {
	n := len(spec.At)
	if len(spec.Work) > 0 {
		n = len(spec.Work)
	}
	*run = Run{Engine: r.engine, Threads: r.threads, Objective: make([]*float64, n), Gap: make([]*float64, n)}
	if len(spec.Work) == 0 {
		return run.byTime(ctx, spec, path)
	}
	run.Spent = make([]int64, n)
	for i, work := range spec.Work {
		sol, err := run.solve(ctx, spec, path, "--work", strconv.FormatInt(work, 10))
		if err != nil {
			return err
		}
		run.Spent[i] = sol.Work
		if sol.Objective > 0 {
			run.Objective[i], run.Gap[i] = &sol.Objective, sol.Gap
		}
		if run.Error != "" {
			return nil
		}
	}
	return nil
}

// byTime solves once, with the last moment as the limit.
func (r *Run) byTime(ctx context.Context, spec *Spec, path string) error {
	dir, err := os.MkdirTemp("", "hedge-bench")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // what stays is in the temporary folder
	file := filepath.Join(dir, "plans.jsonl")
	if _, err := r.solve(ctx, spec, path, "--time", spec.At[len(spec.At)-1].String(), "--plans", file); err != nil {
		return err
	}
	if err := r.read(file, spec.At); err != nil && r.Error == "" {
		r.Error = err.Error()
	}
	return nil
}

// solve runs hedge solve within a limit. What does not depend on moments is put into r.
func (r *Run) solve(ctx context.Context, spec *Spec, path string, limit ...string) (*solver.Solution, error) {
	cmd := exec.CommandContext(ctx, spec.Program,
		append([]string{"solve", "--problem", path, "--engine", r.Engine, "--threads", fmt.Sprint(r.Threads),
			"--splits", spec.Splits, "--gap", fmt.Sprint(spec.Gap), "--seed", fmt.Sprint(spec.Seed), "--json"}, limit...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	failed := cmd.Run()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	r.PeakMB = max(r.PeakMB, peak(cmd.ProcessState))
	if failed != nil {
		r.Error = strings.TrimSpace(errs.String())
		if r.Error == "" {
			r.Error = failed.Error()
		}
	}
	var sol solver.Solution
	if err := json.Unmarshal(out.Bytes(), &sol); err != nil && failed == nil {
		return nil, fmt.Errorf("%s solve: %w", spec.Program, err)
	}
	r.Stop, r.WallMS = sol.Stop, sol.WallMS
	if sol.Bound != nil && (r.Bound == nil || *sol.Bound < *r.Bound) {
		r.Bound = sol.Bound
	}
	return &sol, nil
}

// read fills in what was in hand when.
func (r *Run) read(file string, at []time.Duration) error {
	f, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var p plan
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		r.add(p, at)
	}
	return lines.Err()
}

func (r *Run) add(p plan, at []time.Duration) {
	r.plans = append(r.plans, p)
	if r.FirstMS == nil && p.Objective > 0 {
		r.FirstMS = &p.MS
	}
	for i, t := range at {
		// The plan that a limit ends with is told a moment after it.
		if p.MS > ms(t) && i < len(at)-1 {
			continue
		}
		if p.Objective > 0 && (r.Objective[i] == nil || p.Objective > *r.Objective[i]) {
			r.Objective[i] = &p.Objective
		}
		if p.Bound != nil && r.Objective[i] != nil {
			gap := max(0, (*p.Bound-*r.Objective[i])/max(*p.Bound, 1e-9))
			r.Gap[i] = &gap
		}
	}
}

// best looks for the best of all runs.
func (p *Problem) best() {
	runs := p.All()
	for _, r := range runs {
		for _, o := range r.Objective {
			if o != nil {
				p.BestObjective = max(p.BestObjective, *o)
			}
		}
		if r.Bound != nil && (p.BestBound == nil || *r.Bound < *p.BestBound) {
			p.BestBound = r.Bound
		}
	}
	p.Wrong = nil
	for _, r := range runs {
		if b := r.Bound; b != nil && *b < p.BestObjective-float64(solver.Tolerance*max(1, math.Abs(p.BestObjective))) {
			p.Wrong = append(p.Wrong, r.Engine)
		}
	}
}

// All are the runs, with the oracle's.
func (p *Problem) All() []*Run {
	list := make([]*Run, 0, len(p.Runs)+1)
	for i := range p.Runs {
		list = append(list, &p.Runs[i])
	}
	if p.Oracle != nil {
		list = append(list, p.Oracle)
	}
	return list
}

// proven says whether the best plan is within a relative gap of the best bound, whoever has them.
func (p *Problem) proven(gap float64) bool {
	return p.BestBound != nil && within((*p.BestBound-p.BestObjective)/max(*p.BestBound, 1e-9), gap)
}

// within says whether a gap is no more than the most, but for the tolerance of bounds.
func within(gap, most float64) bool { return gap <= most+solver.Tolerance }

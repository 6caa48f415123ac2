package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/format"
	"github.com/hedgesched/hedge/solver/milp/internal/unbounded"
)

// Config says which executable to use.
type Config struct {
	// Solver is the kind of solver: "cbc", "glpsol", "highs" or "scip".
	Solver string
	// Path is the executable; "" looks for Solver in $PATH at every solve.
	Path string
	// Dir is the place for temporary folders; "" is the system's.
	Dir string
	// Args are added after the solver's own arguments, for cbc before the command to solve. They may break the backend.
	Args []string
}

// Backend is a [milp.Backend] that runs a solver's executable. It is safe for concurrent use: each solve is a process
// of its own.
type Backend struct {
	cfg     Config
	dialect dialect
}

// New makes the backend that cfg describes. It does not look for the executable yet; see [Backend.Available]. The error
// is [milp.ErrInvalid] for an unknown solver.
func New(cfg Config) (*Backend, error) {
	for _, d := range dialects() {
		if d.name == cfg.Solver {
			cfg.Args = slices.Clone(cfg.Args)
			return &Backend{cfg: cfg, dialect: d}, nil
		}
	}
	return nil, fmt.Errorf("%w: process: found solver %q, expected one of %s", milp.ErrInvalid, cfg.Solver,
		strings.Join(Solvers(), ", "))
}

// Solvers are the valid values of Config.Solver.
func Solvers() []string {
	var names []string
	for _, d := range dialects() {
		names = append(names, d.name)
	}
	return names
}

// Name is "process:" and the solver's name.
func (b *Backend) Name() string { return "process:" + b.dialect.name }

// Caps says what the solver's executable can do by its command line. Its version is not known.
func (b *Backend) Caps() milp.Caps { return b.dialect.caps }

// Available is nil if the executable exists. Otherwise it is [milp.ErrUnavailable] and says what to install.
func (b *Backend) Available() error {
	_, err := b.program()
	return err
}

func (b *Backend) program() (string, error) {
	name := b.cfg.Path
	if name == "" {
		name = b.dialect.name
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%w: executable %s: %w (to install it: %s)", milp.ErrUnavailable, name, err, b.dialect.install)
	}
	if path, err = filepath.Abs(path); err != nil { // the solver is started in another folder
		return "", fmt.Errorf("%w: executable %s: %w", milp.ErrUnavailable, name, err)
	}
	return path, nil
}

// job is one solve.
type job struct {
	m       *milp.Model
	opts    milp.Options
	dir     string
	limit   time.Duration // the solver's own limit, 0 for none
	started bool          // a start file was written
}

func (j *job) file(name string) string { return filepath.Join(j.dir, name) }

// gap is the relative gap to request. Solvers divide by the objective, or by the larger of objective and bound.
// Options.Gap divides by the bound. The gap is chosen such that reaching it by their measure reaches the target by
// ours.
func (j *job) gap() float64 {
	g := j.opts.TargetGap()
	return g / (1 + g)
}

// widest is how far below objective, relative to it, the bound may be when a solver of a minimisation has stopped at
// gap. The solver divides by the objective, or by the larger of objective and bound. For a negative objective the bound
// is larger, and g/(1+g) of it is g of the objective.
func (j *job) widest(objective float64) float64 {
	if objective < 0 {
		return j.opts.TargetGap()
	}
	return j.gap()
}

// Solve solves m with the executable; see [milp.Backend] and the package's comment.
func (b *Backend) Solve(ctx context.Context, m *milp.Model, opts milp.Options) (*milp.Result, error) {
	began := time.Now()
	if opts.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, began.Add(opts.Time))
		defer cancel()
	}
	res, err := b.once(ctx, m, opts, began)
	if err != nil || !b.dialect.mixes || res.Stop != milp.StopInfeasible && res.Stop != milp.StopInfeasibleOrUnbounded ||
		!unbounded.Possible(m) {
		return res, err
	}
	opts.Start = nil
	return res, unbounded.Settle(m, res, func(other *milp.Model) (*milp.Result, error) {
		return b.once(ctx, other, opts, time.Now())
	})
}

// once runs the executable once. The call began at that time.
func (b *Backend) once(ctx context.Context, m *milp.Model, opts milp.Options, began time.Time) (*milp.Result, error) {
	path, err := b.program()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(b.cfg.Dir, "hedge-"+b.dialect.name+"-")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", milp.ErrUnavailable, err)
	}
	defer remove(dir)
	j := &job{m: m, opts: opts, dir: dir}
	if err := b.write(ctx, j); err != nil {
		if ctx.Err() != nil {
			return stopped(ctx, m), nil
		}
		return nil, err
	}
	return b.run(ctx, path, j, began)
}

// remove removes the folder. A process that was just killed may still be creating a file in it, so it may take several
// tries.
func remove(dir string) {
	for range 10 {
		if os.RemoveAll(dir) == nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// stopped is the result of a solve that ended before the solver began.
func stopped(ctx context.Context, m *milp.Model) *milp.Result {
	return &milp.Result{Stop: milp.StopOf(ctx.Err()), Bound: milp.NoBound(m), Raw: "stopped before the solver began",
		Nodes: -1, Iterations: -1}
}

// write writes the solver's input files.
func (b *Backend) write(ctx context.Context, j *job) error {
	f, err := os.Create(j.file("model.mps"))
	if err != nil {
		return fmt.Errorf("%w: %w", milp.ErrUnavailable, err)
	}
	err = errors.Join(format.WriteMinimized(&until{ctx, f}, j.m), f.Close())
	if err == nil && b.dialect.start != nil && len(j.opts.Start) > 0 {
		j.started, err = b.writeStart(j)
	}
	if err != nil && !errors.Is(err, milp.ErrInvalid) {
		err = fmt.Errorf("%w: %w", milp.ErrUnavailable, err)
	}
	return err
}

func (b *Backend) writeStart(j *job) (bool, error) {
	f, err := os.Create(j.file("start.sol"))
	if err != nil {
		return false, err
	}
	w := bufio.NewWriter(f)
	ok := b.dialect.start(w, j)
	return ok, errors.Join(w.Flush(), f.Close())
}

// until is a file that fails writes once ctx has ended.
type until struct {
	ctx context.Context
	f   *os.File
}

func (u *until) Write(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.f.Write(p)
}

// run runs the solver and reads its output.
func (b *Backend) run(ctx context.Context, path string, j *job, began time.Time) (*milp.Result, error) {
	plan := schedule(ctx, time.Now())
	j.limit = plan.own
	if ctx.Err() != nil {
		return stopped(ctx, j.m), nil
	}
	r := &reading{nodes: -1, iterations: -1}
	args, err := b.dialect.args(j, b.cfg.Args)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", milp.ErrUnavailable, err)
	}
	c := &child{path: path, args: args, dir: j.dir, gentle: b.dialect.gentle}
	setUp := time.Since(began)
	err = c.run(ctx, plan, func(line string) {
		b.dialect.line(r, line)
		if j.opts.Log != nil {
			j.opts.Log(line)
		}
	})
	if err != nil {
		return nil, err
	}
	b.dialect.finish(j, r)
	res, err := r.result(ctx, j, c)
	if res != nil {
		res.SetUp = setUp
	}
	return res, err
}

// plan says when to do what, counted from the child's start; 0 is never.
type plan struct {
	own    time.Duration // the solver's own limit
	gentle time.Duration // SIGINT
	kill   time.Duration
}

// schedule leaves more room before ctx's deadline if the deadline is further away.
func schedule(ctx context.Context, now time.Time) plan {
	deadline, ok := ctx.Deadline()
	if !ok {
		return plan{}
	}
	left := max(deadline.Sub(now), time.Millisecond)
	lead := min(max(left/10, 20*time.Millisecond), time.Second, left/2)
	return plan{own: left - lead, gentle: left - lead/2, kill: left - lead/8}
}

// interval is the range of values that a printed number may stand for.
type interval struct {
	low, high float64
}

// parseInterval reads a number. Printing may have lost half a unit of its last digit.
func parseInterval(text string) (interval, bool) {
	v, ok := parseFloat(text)
	if !ok {
		return interval{}, false
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	unit := 0
	if _, decimals, is := strings.Cut(mantissa, "."); is {
		unit = -len(decimals)
	}
	shift, _ := parseFloat("0" + strings.TrimLeft(exponent, "+-"))
	if strings.HasPrefix(exponent, "-") {
		shift = -shift
	}
	off := float64(0.5 * math.Pow(10, float64(unit)+shift))
	// Binary rounding may add to that.
	off += float64(1e-15 * math.Abs(v))
	return interval{v - off, v + off}, true
}

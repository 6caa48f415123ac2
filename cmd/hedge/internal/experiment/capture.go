package experiment

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hedgesched/hedge/solver"
)

// capturing is an engine whose problems are written to files, PREFIX-CYCLE.json.gz each.
type capturing struct {
	solver.Solver
	prefix string
	cycle  int
}

// Solve implements solver.Solver.
func (c *capturing) Solve(ctx context.Context, p *solver.Problem, opts solver.Options,
	report func(*solver.Solution)) (*solver.Solution, error) {
	c.cycle++
	if err := writeProblem(fmt.Sprintf("%s-%05d.json.gz", c.prefix, c.cycle), p); err != nil {
		return nil, err
	}
	return c.Solver.Solve(ctx, p, opts, report)
}

// Wait is its engine's; see solver.Wait.
func (c *capturing) Wait(ctx context.Context) error { return solver.Wait(ctx, c.Solver) }

func writeProblem(path string, p *solver.Problem) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	z := gzip.NewWriter(f)
	return errors.Join(solver.WriteProblem(z, p), z.Close(), f.Close())
}

// captured is engine as a run of a policy and a seed uses it.
func (e *Experiment) captured(engine solver.Solver, policy string, seed int64) solver.Solver {
	if e.spec.CaptureDir == "" {
		return engine
	}
	return &capturing{Solver: engine, prefix: filepath.Join(e.spec.CaptureDir, fmt.Sprintf("%s-%d", policy, seed))}
}

// snapshotFiles writes each snapshot of a recording to a file of its own, PREFIX-CYCLE.json.gz.
type snapshotFiles struct {
	prefix string
	cycle  int
}

// Write takes one snapshot, as a recorder writes it.
func (s *snapshotFiles) Write(line []byte) (int, error) {
	s.cycle++
	f, err := os.Create(fmt.Sprintf("%s-%05d.json.gz", s.prefix, s.cycle))
	if err != nil {
		return 0, err
	}
	z := gzip.NewWriter(f)
	_, err = z.Write(line)
	if err = errors.Join(err, z.Close(), f.Close()); err != nil {
		return 0, err
	}
	return len(line), nil
}

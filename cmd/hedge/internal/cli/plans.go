package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/hedgesched/hedge/solver"
)

// plan is a line of hedge solve --plans: a better plan, when it was found, and the bound if one was known.
type plan struct {
	MS        float64  `json:"t_ms"`
	Objective float64  `json:"objective"`
	Bound     *float64 `json:"bound"`
}

// watched is an engine whose plans are written down as it finds them.
type watched struct {
	solver.Solver
	mu    sync.Mutex
	began time.Time
	to    *json.Encoder
	err   error
}

// watch makes engine write its plans to --plans; done closes the file.
func (f *solveFlags) watch(engine solver.Solver) (seen solver.Solver, done func() error, err error) {
	if f.plans == "" {
		return engine, func() error { return nil }, nil
	}
	file, err := os.Create(f.plans)
	if err != nil {
		return nil, nil, pathError(err)
	}
	w := &watched{Solver: engine, to: json.NewEncoder(file)} // unbuffered: what a crash leaves is whole lines
	return w, func() error {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.to = nil
		return errors.Join(w.err, file.Close())
	}, nil
}

// Solve implements solver.Solver.
func (w *watched) Solve(ctx context.Context, p *solver.Problem, opts solver.Options,
	report func(*solver.Solution)) (*solver.Solution, error) {
	w.began = time.Now()
	sol, err := w.Solver.Solve(ctx, p, opts, func(sol *solver.Solution) {
		w.write(sol)
		report(sol)
	})
	if err == nil && sol != nil {
		w.write(sol)
	}
	return sol, err
}

func (w *watched) write(sol *solver.Solution) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.to == nil {
		return // an engine that goes on after its deadline
	}
	line := plan{MS: float64(time.Since(w.began)) / float64(time.Millisecond), Objective: sol.Objective, Bound: sol.Bound}
	w.err = errors.Join(w.err, w.to.Encode(line))
}

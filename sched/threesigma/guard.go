package threesigma

import (
	"fmt"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/utility"
)

// guard is a utility of a foreign type. Where that panics, or is NaN, guard keeps the error. From then on it answers 0
// and does not ask, so that it costs the one job and not the cycle.
type guard struct {
	of  utility.Utility
	err error // the first since take
}

// At implements [utility.Utility].
func (g *guard) At(t float64) float64 {
	if g.err != nil {
		return 0
	}
	var v float64
	v, g.err = utility.At(g.of, t)
	return v
}

// take returns the error that was kept, naming the job, and forgets it. A nil guard has none.
func (g *guard) take(j *sched.Job) error {
	if g == nil || g.err == nil {
		return nil
	}
	err := fmt.Errorf("job %s: %w", j.ID, g.err)
	g.err = nil
	return err
}

// worthOf is the job's worth. It has a guard unless it is a [utility.Curve], which never misbehaves.
func worthOf(j *sched.Job) (utility.Utility, *guard) {
	u := j.Worth()
	if _, ok := u.(*utility.Curve); ok {
		return u, nil
	}
	g := &guard{of: u}
	return g, g
}

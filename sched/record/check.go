package record

import (
	"fmt"
	"math"

	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
)

// fault is what is wrong with a field of a snapshot.
type fault struct {
	field string
	err   error
}

func (f *fault) Error() string { return f.field + ": " + f.err.Error() }

func (f *fault) Unwrap() error { return f.err }

func inconsistent(field, format string, args ...any) error {
	return &fault{field: field, err: fmt.Errorf("%w: %s", ErrSnapshot, fmt.Sprintf(format, args...))}
}

// check holds of whatever is written and whatever is read. What cannot be known of a cluster as it may be, such as
// that running jobs run on nodes that are still there, it leaves alone.
func check(s *sched.Snapshot) error {
	if s == nil || s.Nodes == nil {
		return inconsistent("nodes", "none")
	}
	if s.Cycle < 0 {
		return inconsistent("cycle", "found %v, expected at least 0", s.Cycle)
	}
	if want := s.Nodes.Len() * len(s.Nodes.Resources()); len(s.Free) != want {
		return inconsistent("free", "%d amounts, expected %d", len(s.Free), want)
	}
	for i, f := range s.Free {
		if !isFinite(f) {
			return inconsistent(fmt.Sprintf("free[%d]", i), "found %v, expected a finite number", f)
		}
	}
	if s.Others != nil && len(s.Others) != s.Nodes.Len() {
		return inconsistent("others", "of %d nodes, expected %d", len(s.Others), s.Nodes.Len())
	}
	for i, l := range s.Others {
		if err := l.Check(); err != nil {
			return inconsistent(fmt.Sprintf("others[%d]", i), "%v", err)
		}
	}
	ids := make(map[string]struct{}, len(s.Pending)+len(s.Held)+len(s.Running))
	for i := range s.Pending {
		p := &s.Pending[i]
		field := fmt.Sprintf("pending[%d]", i)
		if err := checkJob(ids, field, p.Job, &p.Prediction); err != nil {
			return err
		}
		if !isFinite(p.Attained) || p.Attained < 0 {
			return inconsistent(field+".attained", "found %v, expected a finite number of at least 0", p.Attained)
		}
	}
	for i := range s.Held {
		p := &s.Held[i]
		if err := checkJob(ids, fmt.Sprintf("held[%d]", i), p.Job, &p.Prediction); err != nil {
			return err
		}
	}
	for i := range s.Running {
		r := &s.Running[i]
		field := fmt.Sprintf("running[%d]", i)
		if err := checkJob(ids, field, r.Job, &r.Prediction); err != nil {
			return err
		}
		for k := range r.Use {
			if err := r.Use[k].Check(); err != nil {
				return inconsistent(fmt.Sprintf("%s.use[%d]", field, k), "%v", err)
			}
		}
		if !r.Ranges.Within(s.Nodes.Len()) {
			return inconsistent(field+".nodes", "%v of %d nodes", r.Ranges, s.Nodes.Len())
		}
		for k, nt := range r.Nodes {
			if nt.Tasks < 1 {
				return inconsistent(fmt.Sprintf("%s.nodes[%d].tasks", field, k), "found %d, expected at least 1", nt.Tasks)
			}
		}
	}
	return nil
}

func checkJob(ids map[string]struct{}, field string, j *sched.Job, p *predict.Prediction) error {
	if j == nil {
		return inconsistent(field+".job", "none")
	}
	if err := j.Validate(); err != nil {
		return &fault{field: field + ".job", err: err}
	}
	if _, twice := ids[j.ID]; twice {
		return inconsistent(field+".job.id", "%q comes twice", j.ID)
	}
	ids[j.ID] = struct{}{}
	if !isFinite(p.Point) {
		return inconsistent(field+".prediction.point", "found %v, expected a finite number", p.Point)
	}
	for _, q := range p.Usage.Quantities() {
		if of, _ := p.Usage.Of(q); !isFinite(of.Point) {
			return inconsistent(fmt.Sprintf("%s.prediction.usage.%s.point", field, q), "found %v, expected a finite number",
				of.Point)
		}
	}
	return nil
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

package adapters

import (
	"fmt"
	"maps"
	"math"
	"sync"

	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/usage"
)

// Bounds are what a job's user allows its tasks to be resized to when they start. Amounts are in the units of the
// nodes' capacities.
type Bounds struct {
	// Least and Most bound what a task reserves. Of a resource with a Most of 0, it reserves what the job asks for.
	Least, Most usage.Level
	// Limit is the largest limit of a task's memory, at least Most.Memory.
	Limit float64
	// Hard says that the cluster does not let a task use more memory than it reserves.
	Hard bool
	// Failures is the number of failed attempts. Each doubles the forecast of memory, for want of which the task may
	// have failed.
	Failures int
}

// Size is what a task reserves and may use, in place of what its job asks for. 0 stands for what the job asks for.
type Size struct {
	// Reserve is what the task reserves of its node.
	Reserve usage.Level
	// Limit is the memory that it may use at most; at least Reserve.Memory.
	Limit float64
}

// Resizing says how tasks are resized when they start. Only the tasks of jobs that allow it are; see [Job].Resize.
type Resizing struct {
	// Predictor forecasts what tasks use, such as a predict.History with the quantities CPU, Memory and MemoryMax. The
	// loop gets [Cluster.Predictor] in its place.
	Predictor predict.Predictor
	// Reserve is the quantile of the average CPU and memory that a task reserves; 0 means 0.5. Limit is the quantile of
	// the peak memory from which its limit is made; 0 means 0.99. Both are in (0, 1).
	Reserve, Limit float64
	// Margin multiplies that quantile, 1 to 100; 0 means 1.25.
	Margin float64
	// Samples is the number of completions that a forecast must be made from; 0 means 5. With fewer, tasks are not
	// resized.
	Samples int
}

// withDefaults checks the fields and fills in the defaults.
func (r Resizing) withDefaults() (Resizing, error) {
	if r.Predictor == nil {
		return r, fmt.Errorf("%w: Resize without a Predictor", ErrOptions)
	}
	for _, f := range []struct {
		name      string
		v         *float64
		def       float64
		low, high float64
	}{
		{"Reserve", &r.Reserve, 0.5, 1e-6, 1 - 1e-6}, {"Limit", &r.Limit, 0.99, 1e-6, 1 - 1e-6},
		{"Margin", &r.Margin, 1.25, 1, 100},
	} {
		if *f.v == 0 {
			*f.v = f.def
		}
		if !(*f.v >= f.low && *f.v <= f.high) {
			return r, fmt.Errorf("%w: Resize.%s of %v", ErrOptions, f.name, *f.v)
		}
	}
	if r.Samples < 0 {
		return r, fmt.Errorf("%w: Resize.Samples of %d", ErrOptions, r.Samples)
	}
	if r.Samples == 0 {
		r.Samples = 5
	}
	return r, nil
}

// size is the size of a job's tasks, or nil if they are as the job asks.
func (r *Resizing) size(spec *sched.Job, b *Bounds) *Size {
	if r == nil || b == nil {
		return nil
	}
	u := r.trusted(r.Predictor.Predict(spec.Features()).Usage)
	if u == nil {
		return nil
	}
	failed := math.Ldexp(1, min(max(b.Failures, 0), 30))
	of := func(q, or predict.Quantity, p, times float64) float64 {
		f, ok := u.Of(q)
		if !ok || f.Dist == nil {
			if f, ok = u.Of(or); !ok || f.Dist == nil {
				return 0
			}
		}
		if x := f.Dist.Quantile(p) * times; x >= 0 && !math.IsInf(x, 1) {
			return x
		}
		return 0
	}
	out := Size{Reserve: usage.Level{
		CPU:    between(of(predict.CPU, predict.CPUMax, r.Reserve, 1), b.Least.CPU, b.Most.CPU),
		Memory: between(of(predict.Memory, predict.MemoryMax, r.Reserve, failed), b.Least.Memory, b.Most.Memory),
	}}
	if out.Reserve.Memory > 0 {
		most := max(b.Limit, b.Most.Memory)
		out.Limit = between(of(predict.MemoryMax, predict.Memory, r.Limit, failed*r.Margin), out.Reserve.Memory, most)
		if b.Hard {
			out.Reserve.Memory = min(out.Limit, b.Most.Memory)
			out.Limit = out.Reserve.Memory
		}
	}
	if out == (Size{}) {
		return nil
	}
	return &out
}

// between is x within bounds, or 0 if it is not known or may not be set.
func between(x, least, most float64) float64 {
	if !(x > 0) || !(most > 0) {
		return 0
	}
	return min(max(x, least), most)
}

// trusted is the usage if it was forecast from enough completions, and nil otherwise.
func (r *Resizing) trusted(u *predict.Usage) *predict.Usage {
	for _, q := range u.Quantities() {
		if f, _ := u.Of(q); f.Samples < r.Samples {
			return nil
		}
	}
	return u
}

// on replaces a demand by what a task of this size reserves.
func (s *Size) on(demand sched.Resources) sched.Resources {
	if s == nil {
		return demand
	}
	out := maps.Clone(demand)
	if s.Reserve.CPU > 0 && demand[usage.CPU] > 0 {
		out[usage.CPU] = s.Reserve.CPU
	}
	if s.Reserve.Memory > 0 && demand[usage.Memory] > 0 {
		out[usage.Memory] = s.Reserve.Memory
	}
	return out
}

// reserved is what a task of the job reserves: what the cluster says, what it was asked for, or what the job demands.
func (t *tracked) reserved() sched.Resources {
	switch {
	case t.job.Reserved != nil:
		return t.job.Reserved
	case t.asked != nil:
		return t.asked.size.on(t.job.Spec.DemandOrNode())
	}
	return t.job.Spec.DemandOrNode()
}

// Predictor is the predictor for the loop if [Options].Resize is set; otherwise it is nil. It forecasts and learns as
// Resizing.Predictor does, but it does not forecast what the tasks of a job use if they cannot be resized. Such tasks
// keep what they ask for, whatever they use, so a policy must not count on the rest. It is safe for concurrent use if
// Resizing.Predictor is.
func (c *Cluster) Predictor() predict.Predictor {
	if c.opt.Resize == nil {
		return nil
	}
	if f, ok := c.opt.Resize.Predictor.(featured); ok {
		return struct {
			*forecaster
			featured
		}{&forecaster{c.opt.Resize, &c.sizable}, f}
	}
	return &forecaster{c.opt.Resize, &c.sizable}
}

// featured is a predictor that tells what it predicts from.
type featured interface{ Features() []predict.Feature }

// forecaster is [Cluster.Predictor].
type forecaster struct {
	opt     *Resizing
	sizable *sizable
}

// Predict forecasts a job.
func (f *forecaster) Predict(job predict.Job) predict.Prediction {
	p := f.opt.Predictor.Predict(job)
	if p.Usage = f.opt.trusted(p.Usage); !f.sizable.has(job.ID) {
		p.Usage = nil
	}
	return p
}

// Observe learns from a run.
func (f *forecaster) Observe(o predict.Observation) error { return f.opt.Predictor.Observe(o) }

// sizable are the ids of jobs whose tasks can be resized.
type sizable struct {
	mu sync.Mutex
	is map[string]struct{}
}

func (s *sizable) has(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.is[id]
	return ok
}

func (s *sizable) set(id string, is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !is {
		delete(s.is, id)
		return
	}
	if s.is == nil {
		s.is = make(map[string]struct{})
	}
	s.is[id] = struct{}{}
}

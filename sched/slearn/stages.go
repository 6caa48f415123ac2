package slearn

import (
	"fmt"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/sched/agent"
)

// Staged is a scheme for jobs with stages (section 6). Each stage is submitted as a job when the stages before it are
// done. A stage enters the queue of its whole job's size. The schemes are SLearn, ThreeSigma, PointEst, LAS and Oracle:
//
//   - SLearn samples one stage, the largest of those that wait for none. Its true task time over history's gives a
//     factor that corrects history's forecasts of the other stages.
//   - ThreeSigma and PointEst add up history's forecasts of the stages, with the actual times of those that are done.
//   - LAS adds up the times of the tasks that have ended, in all stages. It does not count running tasks.
//   - Oracle adds up the true times.
type Staged struct{ Scheme }

// Configure is [Scheme.Configure] for jobs with stages. The function stages returns all stages of the whole job that a
// stage belongs to. It is called when the whole job's first stage arrives.
func (s Staged) Configure(c *Config, k *Knowledge, stages func(*agent.Job) Stages) error {
	w := &wholes{stages: stages, thin: k.ThinLimit, open: map[int32]*whole{}}
	switch s.Scheme {
	case LAS:
		c.Predictor = w
		return nil
	case Oracle:
		if k.Truth == nil {
			return fmt.Errorf("%w: no truth", ErrConfig)
		}
		w.time = func(j *agent.Job) (float64, bool) { return k.Truth(j) / float64(j.Tasks), true }
		c.Predictor = w
		return nil
	case SLearn, ThreeSigma, PointEst:
	default:
		return fmt.Errorf("%w: scheme %d has no form for jobs with stages", ErrConfig, s.Scheme)
	}
	past, err := k.past()
	if err != nil {
		return err
	}
	w.past = &past
	seconds := UtilityTime
	if s.Scheme == PointEst {
		seconds = func(d dist.Distribution) float64 { return d.Quantile(0.5) }
	}
	w.time = func(j *agent.Job) (float64, bool) {
		p := w.past.Of.Predict(w.past.Describe(j))
		return seconds(p.Dist), p.Samples > 0
	}
	if s.Scheme == SLearn {
		w.sampling = NewSampling(k.Ratio)
	}
	c.Predictor = w
	return nil
}

// Stages are the stages of a whole job.
type Stages struct {
	// All are the stages. The first Roots of them wait for no other; the rest are in any order. All have the same Of,
	// which is the ID of one of them.
	All   []agent.Job
	Roots int
}

// wholes is the predictor of all staged schemes.
type wholes struct {
	stages   func(*agent.Job) Stages
	time     func(*agent.Job) (seconds float64, known bool) // of a task; nil in LAS
	past     *Past                                          // nil if nothing is learnt
	sampling *Sampling                                      // nil if nothing is sampled
	thin     int32
	open     map[int32]*whole // by Of
}

// whole is a job some of whose stages are not done.
type whole struct {
	stages []part
	first  int // the stage that is sampled: the root with the most work; -1 for none
	left   int
	ratio  float64 // the sampled stage's task time over history's forecast of it
	scaled bool    // the ratio is known
}

// part is a stage.
type part struct {
	id, tasks int32
	seconds   float64 // the mean task time
	known     bool    // seconds comes from history
	done      bool
	took      float64 // the summed time of the tasks that have ended
}

// of is the whole job of a stage. It is made when the first stage arrives.
func (w *wholes) of(j *agent.Job) *whole {
	if k := w.open[j.Of]; k != nil {
		return k
	}
	all := w.stages(j)
	k := &whole{stages: make([]part, len(all.All)), left: len(all.All), ratio: 1, first: -1}
	most := 0.0
	for i := range all.All {
		s := &all.All[i]
		p := part{id: s.ID, tasks: s.Tasks}
		if w.time != nil {
			p.seconds, p.known = w.time(s)
		}
		if work := p.seconds * float64(p.tasks); w.sampling != nil && i < all.Roots && (k.first < 0 || work > most) {
			k.first, most = i, work
		}
		k.stages[i] = p
	}
	if k.first >= 0 && k.stages[k.first].tasks < w.thin {
		k.first = -1
	}
	w.open[j.Of] = k
	return k
}

// stage finds a stage by ID. It returns nil and -1 if there is none.
func (k *whole) stage(id int32) (*part, int) {
	for i := range k.stages {
		if k.stages[i].id == id {
			return &k.stages[i], i
		}
	}
	return nil, -1
}

// size is the estimated summed time of all tasks, in seconds.
func (k *whole) size() float64 {
	sum := 0.0
	for i := range k.stages {
		switch p := &k.stages[i]; {
		case p.done:
			sum += p.took
		case i == k.first:
			sum += float64(p.seconds * float64(p.tasks))
		default:
			sum += float64(p.seconds * float64(p.tasks) * k.ratio)
		}
	}
	return sum
}

// Estimate implements [Predictor].
func (w *wholes) Estimate(s *Sample) Answer {
	k := w.of(&s.Job)
	p, at := k.stage(s.Job.ID)
	switch {
	case p == nil:
		return Answer{} // not among the whole job's stages
	case w.time == nil:
		p.took = s.Ended.Sum
		sum := 0.0
		for i := range k.stages {
			sum += k.stages[i].took
		}
		return Answer{Size: sum, Watch: true}
	case at != k.first || s.Placed:
		return Answer{Size: k.size()}
	}
	a := w.sampling.Estimate(s)
	if a.Pilots <= s.Pilots.Count || s.Late > 0 {
		w.scale(k, p, sampled(s))
		a.Size = k.size()
	}
	return a
}

// scale sets the factor from the sampled stage's mean task time. Without history the factor stays 1.
func (w *wholes) scale(k *whole, first *part, seconds float64) {
	if !k.scaled && first.known && first.seconds > 0 {
		k.ratio = seconds / first.seconds
	}
	k.scaled, first.seconds = true, seconds
}

// Learn implements [Learner].
func (w *wholes) Learn(o *Outcome) {
	if w.past != nil {
		w.past.Learn(o)
	}
	k := w.open[o.Job.Of]
	if k == nil {
		return
	}
	p, at := k.stage(o.Job.ID)
	if p == nil || p.done {
		return
	}
	if at == k.first && w.sampling != nil {
		w.sampling.Learn(o)
		if o.Ended.Count > 0 {
			w.scale(k, p, o.Ended.Mean()) // all tasks may have been pilots
		}
	}
	p.done, p.took = true, o.Ended.Sum
	if k.left--; k.left == 0 {
		delete(w.open, o.Job.Of)
	}
}

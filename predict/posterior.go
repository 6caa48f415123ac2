package predict

import (
	"fmt"
	"math"
	"sync"

	"github.com/hedgesched/hedge/dist"
)

// Posterior forecasts the stages of a job from what the stages before them took. Make one with [NewPosterior].
//
// The forecasts come from another predictor, which knows each stage by its history alone. But the stages of one job
// tend to be long or short together. So whenever a stage ends, the forecasts of those that are left are shifted and
// narrowed. Jobs without [Job].Of, and those of whose stages none has ended, are forecast as by the other predictor.
//
// Posterior goes by how many standard deviations a stage took more than its median, both as [BeliefOf] has them.
// Call that z. It is taken to be the sum of a part that all stages of a job share, of variance s, and of a part of its
// own, of variance 1-s. The shared part is a [Belief] that begins as (0, s) and is updated with the z of each stage
// that ends (section 4.1 of SLearn, NSDI 2022, where the tasks of a job are what the stages are here). How much is
// shared is learnt from all jobs: s is the correlation of a stage's z with the mean z of the stages of its job that
// ended before it. It begins at 0, so that nothing changes before there is evidence.
//
// It is safe for concurrent use.
type Posterior struct {
	of Predictor

	mu     sync.Mutex
	wholes map[string]*evidence
	// order has the names of wholes, the oldest first. It holds at most maxWholes of them.
	order []string
	// common is the sum, over stages that had some before them in their job, of the product of their z and the mean z
	// of those before; own is that of the mean of both squares, and unrelated at first. Both fade.
	common, own float64
}

// evidence is what the stages of one job have shown.
type evidence struct {
	count int
	sum   float64 // of z
}

const (
	// maxWholes is how many jobs are remembered whose stages may not all have ended. The oldest is forgotten first.
	maxWholes = 1 << 14
	// widest bounds z. The tails of runtimes are long, and one stage should not decide alone.
	widest = 3
	// fading is the weight that evidence of what is shared loses with each new stage.
	fading = 0.005
	// unrelated is the weight of the assumption that nothing is shared, in pairs of stages.
	unrelated = 10
	// mostShared keeps a part of its own for each stage.
	mostShared = 0.95
)

// NewPosterior returns a predictor that sharpens the forecasts of another one, which it owns from then on. The error
// wraps [ErrOptions].
func NewPosterior(of Predictor) (*Posterior, error) {
	if of == nil {
		return nil, fmt.Errorf("%w: no predictor", ErrOptions)
	}
	return &Posterior{of: of, wholes: map[string]*evidence{}, own: unrelated}, nil
}

// Shared is the share of the variance that the stages of a job have in common, from 0 to 0.95, as learnt so far.
func (p *Posterior) Shared() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shared()
}

func (p *Posterior) shared() float64 { return min(mostShared, max(0, p.common/p.own)) }

// Predict implements [Predictor].
func (p *Posterior) Predict(j Job) Prediction {
	out := p.of.Predict(j)
	if j.Of == "" || out.Samples == 0 {
		return out
	}
	p.mu.Lock()
	seen, share := p.wholes[j.Of], p.shared()
	var e evidence
	if seen != nil {
		e = *seen
	}
	p.mu.Unlock()
	if e.count == 0 || share == 0 {
		return out
	}
	prior := BeliefOf(out.Dist)
	z := Belief{Variance: share}.After(e.count, e.sum, 1-share)
	spread := math.Sqrt(prior.Variance)
	k := math.Sqrt(z.Variance + 1 - share)
	move := func(x float64) float64 {
		return max(0, prior.Mean+float64(spread*z.Mean)+float64(k*(x-prior.Mean)))
	}
	if d, err := moved(out.Dist, move); err == nil {
		out.Dist, out.Point = d, move(out.Point)
	}
	return out
}

// movedCells is the number of cells that a moved distribution has.
const movedCells = 128

// moved is the distribution of a rising function of a runtime.
func moved(d dist.Distribution, f func(float64) float64) (dist.Distribution, error) {
	h, err := dist.Tabulate(d, movedCells)
	if err != nil {
		return nil, err
	}
	x, cum := make([]float64, h.Len()), make([]float64, h.Len())
	for i := range x {
		at, c := h.Knot(i)
		x[i], cum[i] = f(at), c
	}
	if cum[0] > 0 { // a jump
		x, cum = append([]float64{x[0]}, x...), append([]float64{0}, cum...)
	}
	return dist.FromKnots(x, cum)
}

// Observe implements [Predictor]. It compares a stage's runtime with its forecast by the other predictor, and then has
// that learn it.
func (p *Posterior) Observe(o Observation) error {
	var z float64
	known := false
	if o.Job.Of != "" {
		if f := p.of.Predict(o.Job); f.Samples > 0 {
			prior := BeliefOf(f.Dist)
			if known = prior.Variance > 0 && !math.IsInf(prior.Variance, 0); known {
				z = min(widest, max(-widest, (o.Runtime-prior.Mean)/math.Sqrt(prior.Variance)))
			}
		}
	}
	if err := p.of.Observe(o); err != nil || !known {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.learn(o.Job.Of, z)
	return nil
}

// learn takes in the z of a stage that has ended.
func (p *Posterior) learn(of string, z float64) {
	e := p.wholes[of]
	if e == nil {
		if len(p.order) == maxWholes {
			delete(p.wholes, p.order[0])
			p.order = p.order[1:]
		}
		e = &evidence{}
		p.wholes[of] = e
		p.order = append(p.order, of)
	}
	if e.count > 0 {
		before := e.sum / float64(e.count)
		p.common += float64(z*before) - float64(fading*p.common)
		p.own += float64((float64(z*z)+float64(before*before))/2) - float64(fading*(p.own-unrelated))
	}
	e.count++
	e.sum += z
}

package predict

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"

	"github.com/hedgesched/hedge/dist"
)

// NewPerfect returns the predictor that knows every runtime. The function runtime gives a job's runtime in
// seconds, or false for a job it does not know. Such a job, and one with a value that is no
// runtime, gets the default prior of [HistoryOptions]. The predictor learns nothing. It is as
// safe for concurrent use as runtime.
func NewPerfect(runtime func(Job) (float64, bool)) (Predictor, error) {
	if runtime == nil {
		return nil, fmt.Errorf("%w: no runtimes", ErrOptions)
	}
	prior, err := defaultPrior()
	if err != nil {
		return nil, err
	}
	return &perfect{runtime: runtime, prior: prior}, nil
}

// NewPerfectUsage returns the predictor that knows every runtime, as [NewPerfect] does, and what every job uses. The
// function used gives the quantities of a job that are known. An amount that
// is negative, NaN or beyond [MaxRuntime] is passed over.
func NewPerfectUsage(runtime func(Job) (float64, bool), used func(Job) []Used) (Predictor, error) {
	if used == nil {
		return nil, fmt.Errorf("%w: no usage", ErrOptions)
	}
	p, err := NewPerfect(runtime)
	if err != nil {
		return nil, err
	}
	return &perfectUsage{Predictor: p, used: used}, nil
}

type perfectUsage struct {
	Predictor
	used func(Job) []Used
}

func (p *perfectUsage) Predict(job Job) Prediction {
	out := p.Predictor.Predict(job)
	of := make(map[Quantity]Prediction)
	for _, u := range p.used(job) {
		if isRuntime(u.Value) {
			of[u.Quantity] = Prediction{Dist: pointAt(u.Value), Point: u.Value, Expert: Expert{Estimator: "perfect"}}
		}
	}
	out.Usage = NewUsage(of)
	return out
}

type perfect struct {
	runtime func(Job) (float64, bool)
	prior   Prediction
}

func (p *perfect) Predict(job Job) Prediction {
	t, ok := p.runtime(job)
	if !ok || !isRuntime(t) {
		return p.prior
	}
	return Prediction{Dist: pointAt(t), Point: t, Expert: Expert{Estimator: "perfect"}}
}

func (p *perfect) Observe(o Observation) error { return o.check() }

// NewFixed returns the predictor that gives every job the same forecast, whose
// point is the distribution's mean. It learns nothing.
func NewFixed(d dist.Distribution) (Predictor, error) {
	if d == nil {
		return nil, fmt.Errorf("%w: no distribution", ErrOptions)
	}
	m := d.Mean()
	if math.IsNaN(m) || math.IsInf(m, 0) || m < 0 {
		return nil, fmt.Errorf("%w: distribution has mean %v", ErrOptions, m)
	}
	return &fixed{Prediction{Dist: d, Point: m, Expert: Expert{Estimator: "fixed"}}}, nil
}

type fixed struct{ p Prediction }

func (f *fixed) Predict(Job) Prediction      { return f.p }
func (f *fixed) Observe(o Observation) error { return o.check() }

// Perturbation describes the predictor of the perturbation study (section 6.3 of the paper): a
// normal distribution around a runtime that is off by a random share. No magnitude exceeds a million.
type Perturbation struct {
	// Shift is the mean relative error: 0.2 predicts 20 % too long on average.
	Shift float64
	// ShiftDeviation is the standard deviation of a job's shift around the mean
	// one; 0.1 in the paper. 0 shifts every job alike.
	ShiftDeviation float64
	// CoV is the forecast's standard deviation over the actual runtime, at least 0. With 0 the
	// forecast is a point.
	CoV float64
	// Seed selects the shifts. A job's shift depends on Seed and its ID alone.
	Seed uint64
}

// maxPerturbation is the largest magnitude in a Perturbation. It keeps every product with a runtime finite.
const maxPerturbation = 1e6

// NewPerturbed returns a predictor that forecasts N(µ = runtime·(1+shift), σ =
// runtime·CoV), truncated at 0, with shift ~ N(Shift, ShiftDeviation) drawn
// per job; a µ below 0 counts as 0. Jobs that runtime does not know get the default prior.
// It learns nothing.
func NewPerturbed(runtime func(Job) (float64, bool), p Perturbation) (Predictor, error) {
	for _, v := range []float64{p.Shift, p.ShiftDeviation, p.CoV} {
		if !(math.Abs(v) <= maxPerturbation) {
			return nil, fmt.Errorf("%w: perturbation by %v, at most %g", ErrOptions, v, maxPerturbation)
		}
	}
	if p.CoV < 0 || p.ShiftDeviation < 0 {
		return nil, fmt.Errorf("%w: perturbation with CoV %v, ShiftDeviation %v", ErrOptions, p.CoV, p.ShiftDeviation)
	}
	oracle, err := NewPerfect(runtime)
	if err != nil {
		return nil, err
	}
	return &perturbed{Predictor: oracle, p: p}, nil
}

type perturbed struct {
	Predictor
	p Perturbation
}

func (p *perturbed) Predict(job Job) Prediction {
	out := p.Predictor.Predict(job)
	if out.Expert.Estimator != "perfect" {
		return out
	}
	sum := fnv.New64a()
	sum.Write([]byte(job.ID))
	draw := rand.New(rand.NewPCG(p.p.Seed, sum.Sum64())).NormFloat64()
	runtime := out.Point
	mu := max(0, runtime*(1+p.p.Shift+float64(p.p.ShiftDeviation*draw)))
	out.Expert.Estimator = "perturbed"
	out.Point, out.Dist = mu, pointAt(mu)
	if sigma := runtime * p.p.CoV; sigma > 0 {
		if d, err := dist.NewNormal(mu, sigma); err == nil {
			out.Dist = d
		}
	}
	return out
}

func defaultPrior() (Prediction, error) {
	d, err := dist.NewLognormal(math.Log(600), 2)
	if err != nil {
		return Prediction{}, err
	}
	return Prediction{Dist: d, Point: d.Quantile(0.5), Expert: Expert{Estimator: "prior"}}, nil
}

package predict

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/hedgesched/hedge/dist"
)

var (
	// ErrRuntime is wrapped by Observe's refusal of a NaN, infinite or negative runtime.
	ErrRuntime = errors.New("predict: bad runtime")
	// ErrUsage is wrapped by Observe's refusal of a NaN, infinite or negative amount used, and of one beyond [MaxRuntime].
	ErrUsage = errors.New("predict: bad usage")
	// ErrOptions is wrapped by errors about options out of range.
	ErrOptions = errors.New("predict: bad options")
)

// MaxRuntime is the longest runtime predictors accept, in seconds: more than the age
// of the universe, and small enough for no sum of runtimes to overflow.
const MaxRuntime = 1e18

// Result is the kind of forecast a history gives.
type Result int

const (
	// ResultDistribution mixes the histories of the job's feature values (3σPredict).
	ResultDistribution Result = iota
	// ResultPoint is the chosen expert's point estimate alone (JVuPredict).
	ResultPoint
)

// HistoryOptions configure a [History]. A zero field takes its default.
type HistoryOptions struct {
	// Features are what history is kept by; default [DefaultFeatures]. [All]
	// is added when missing: it is what a job without history falls back to.
	Features []Feature
	// Bins bounds the bins of a feature value's histogram and of a forecast; default 80, at least 2.
	Bins int
	// Recent is the number of last values of which the median and the recent mean are taken;
	// default 20, at most 1024.
	Recent int
	// Alpha is the newest value's weight in the rolling estimate, in (0, 1]; default 0.6.
	Alpha float64
	// Forget is the factor by which an expert's past errors lose weight with each
	// new one, in (0, 1]. Default 1, as in the paper: errors never fade. On six
	// public logs 0.98 made the pinball loss of the best history better on two and worse on four.
	Forget float64
	// MinSamples is how many completions a feature value needs before it may
	// be preferred over others by its NMAE, at least 2 (one scored
	// prediction); default 2. On six public logs 3 and 5 put fewer points
	// within 2x. Where no feature value of a job has as many, see [History.Predict].
	MinSamples int
	// MaxValues bounds the feature values remembered in all; the least recently observed
	// are forgotten first. Default 1<<20. A feature value takes about 100
	// bytes with one sample, 280 with two, and up to a few KiB with many.
	MaxValues int
	// MaxBytes bounds the memory of the feature values remembered in all, in the same way. Default 1 GiB, which
	// MaxValues of a usual log do not reach. A feature value with a single sample counts as if it had two. Values longer
	// than [MaxValue] bytes are shortened.
	MaxBytes int64
	// Blend is how many of a job's feature values a forecast mixes, the best ones by their NMAE;
	// default 4. With 1 it is, as in the paper, the history of one feature value.
	Blend int
	// RecentOnly keeps and forecasts the recent values alone. By default a forecast has half of its mass on
	// recent values and half on all. RecentOnly is sharper where runtimes drift, and far worse where a
	// user submits long series of alike jobs.
	RecentOnly bool
	// Prior is the forecast without any history; default a lognormal with median 10 min
	// and a 95 % interval from 12 s to 8 h 24 min.
	Prior dist.Distribution
	// Result is the kind of forecast; default [ResultDistribution].
	Result Result
	// Quantities are what is forecast beside the runtime, each from a history of its own, by the same features and
	// experts; default none. The bounds of values and bytes are for all histories together, in equal parts.
	//
	// Where [CPU] and [CPUTime] are among them, a forecast is consistent: its points are of a runtime that is the CPU time
	// over the CPU. The one of the three that has been predicted worst by NMAE is scaled so that it agrees with the other
	// two, its distribution too.
	Quantities []Quantity
}

// withDefaults returns a checked copy with every zero field filled in.
func (o *HistoryOptions) withDefaults() (HistoryOptions, error) {
	var c HistoryOptions
	if o != nil {
		c = *o
	}
	if c.Features == nil {
		c.Features = DefaultFeatures()
	}
	orInt(&c.Bins, 80)
	orInt(&c.Recent, 20)
	orInt(&c.MinSamples, 2)
	orInt(&c.MaxValues, 1<<20)
	orInt(&c.Blend, 4)
	if c.MaxBytes == 0 {
		c.MaxBytes = 1 << 30
	}
	orFloat(&c.Alpha, 0.6)
	orFloat(&c.Forget, 1)
	if c.Prior == nil {
		prior, err := defaultPrior()
		if err != nil {
			return c, err
		}
		c.Prior = prior.Dist
	}
	if n := 1 + len(c.Quantities); n > 1 {
		c.MaxValues, c.MaxBytes = max(1, c.MaxValues/n), max(1, c.MaxBytes/int64(n))
	}
	return c, c.check()
}

func (o *HistoryOptions) check() error {
	switch {
	case o.Bins < 2:
		return fmt.Errorf("%w: Bins %d, at least 2", ErrOptions, o.Bins)
	case o.Recent < 1 || o.Recent > 1024:
		return fmt.Errorf("%w: Recent %d, 1 to 1024", ErrOptions, o.Recent)
	case o.MinSamples < 2:
		return fmt.Errorf("%w: MinSamples %d, at least 2", ErrOptions, o.MinSamples)
	case o.MaxValues < 1 || o.MaxValues > math.MaxInt32:
		return fmt.Errorf("%w: MaxValues %d, 1 to %d", ErrOptions, o.MaxValues, math.MaxInt32)
	case o.MaxBytes < 1:
		return fmt.Errorf("%w: MaxBytes %d, at least 1", ErrOptions, o.MaxBytes)
	case o.Blend < 1:
		return fmt.Errorf("%w: Blend %d, at least 1", ErrOptions, o.Blend)
	case !(o.Alpha > 0 && o.Alpha <= 1):
		return fmt.Errorf("%w: Alpha %v, in (0, 1]", ErrOptions, o.Alpha)
	case !(o.Forget > 0 && o.Forget <= 1):
		return fmt.Errorf("%w: Forget %v, in (0, 1]", ErrOptions, o.Forget)
	case o.Result != ResultDistribution && o.Result != ResultPoint:
		return fmt.Errorf("%w: Result %d", ErrOptions, o.Result)
	}
	for i, q := range o.Quantities {
		if q == "" || slices.Contains(o.Quantities[:i], q) {
			return fmt.Errorf("%w: Quantities[%d] is %q, which is no name or comes twice", ErrOptions, i, q)
		}
	}
	if m := o.Prior.Quantile(0.5); math.IsNaN(m) || math.IsInf(m, 0) || m < 0 {
		return fmt.Errorf("%w: Prior has median %v", ErrOptions, m)
	}
	return nil
}

func orInt(v *int, d int) {
	if *v == 0 {
		*v = d
	}
}

func orFloat(v *float64, d float64) {
	if *v == 0 {
		*v = d
	}
}

// History is 3σPredict (section 4.1). For every value of every feature it keeps a streaming histogram
// and four point estimators. An expert is a feature value with one of its estimators; it is scored by the
// normalised mean absolute error (NMAE) of what it would have predicted. The best expert gives the
// point, and the histories of the best feature values give the distribution, as the package comment
// tells. A History is safe for concurrent use; predictions run side by side.
type History struct {
	opts HistoryOptions
	plan *plan

	mu      sync.RWMutex
	table   *table
	scratch []float64
	keys    []byte

	blends sync.Pool  // of *blend
	others []quantity // in the order of the options
}

// NewHistory returns an empty history; nil options are the defaults. Options out
// of range are refused with [ErrOptions] or [ErrFeature].
func NewHistory(opts *HistoryOptions) (*History, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	features := append([]Feature(nil), o.Features...)
	hasAll := false
	for _, f := range features {
		hasAll = hasAll || len(f.parts) == 0
	}
	if !hasAll {
		features = append(features, All())
	}
	o.Features = features
	p, err := newPlan(features)
	if err != nil {
		return nil, err
	}
	h := &History{
		opts: o, plan: p, table: newTable(&o),
		scratch: make([]float64, 0, o.Recent),
	}
	for _, q := range o.Quantities {
		h.others = append(h.others, quantity{name: q, history: &History{
			opts: o, plan: p, table: newTable(&o), scratch: make([]float64, 0, o.Recent),
		}})
	}
	return h, nil
}

// Features are what history is kept by, in the order of the options and with [All].
func (h *History) Features() []Feature { return slices.Clone(h.opts.Features) }

// Len is the number of feature values remembered, of all quantities.
func (h *History) Len() int {
	n := 0
	for _, q := range h.others {
		n += q.history.Len()
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	return n + h.table.len()
}

// Predict forecasts the job's runtime, in seconds. The point is that of the expert with the lowest
// NMAE. Only feature values with at least MinSamples completions compete; ties go to the
// feature with more parts. If none has as many, the feature value with most parts that has any
// completion gives its median. A job without any history gets the prior and the prior's median.
//
// Under [ResultDistribution] Dist mixes the histories of the best feature values, as the
// package comment tells. Under [ResultPoint] it is the point. Predicting does not keep a
// feature value from being forgotten; only completions do.
//
// Usage has those of the Quantities of which the job has any history, by the same rules.
func (h *History) Predict(job Job) Prediction {
	var v values
	h.plan.values(job, &v)
	p, score := h.predict(&v)
	if len(h.others) > 0 {
		h.addUsage(&p, score, &v)
	}
	return p
}

// predict forecasts one quantity, and tells the NMAE of the expert that was chosen: infinite of one not trusted.
func (h *History) predict(v *values) (Prediction, float64) {
	var buf [maxOnStack]choice
	h.mu.RLock()
	cands := h.candidates(buf[:0], v)
	c := choose(cands)
	if c.e == nil {
		h.mu.RUnlock()
		return h.prior(), math.Inf(1)
	}
	p := Prediction{Point: c.e.estimate(c.k), Samples: int(min(c.e.count(), math.MaxInt))}
	var err error
	if h.opts.Result == ResultDistribution {
		p.Dist, err = h.forecast(cands)
	} else {
		p.Dist = pointAt(p.Point)
	}
	h.mu.RUnlock()
	if err != nil { // cannot happen: blend makes valid knots. If it did, the expert would say "prior".
		return h.prior(), math.Inf(1)
	}
	p.Expert = Expert{
		Feature: h.plan.names[c.feature], Value: h.plan.display(c.feature, v), Estimator: estimatorNames[c.k],
	}
	return p, c.score
}

// maxOnStack is the number of a job's feature values up to which choosing allocates nothing.
const maxOnStack = 32

func (h *History) prior() Prediction {
	m := h.opts.Prior.Quantile(0.5)
	p := Prediction{Dist: h.opts.Prior, Point: m, Expert: Expert{Estimator: "prior"}}
	if h.opts.Result == ResultPoint {
		p.Dist = pointAt(m)
	}
	return p
}

// choice is an expert under consideration.
type choice struct {
	e       *entry
	k       int
	feature int
	parts   int
	trusted bool
	score   float64
	weight  float64 // in the forecast, relative to the others; 0 when not trusted
}

// better says whether c should be preferred to d.
func (c *choice) better(d *choice) bool {
	switch {
	case d.e == nil:
		return true
	case c.trusted != d.trusted:
		return c.trusted
	case c.trusted && c.score != d.score:
		return c.score < d.score
	default:
		return c.parts > d.parts
	}
}

// candidates appends the best expert of each of the job's feature values that has
// history, in the order of the features. The caller holds mu.
func (h *History) candidates(out []choice, v *values) []choice {
	var buf [256]byte
	for f := range h.plan.features {
		key, ok := h.plan.key(buf[:0], f, v)
		if !ok {
			continue
		}
		e := h.table.get(key)
		if e == nil {
			continue
		}
		c := choice{e: e, feature: f, parts: len(h.plan.features[f]), trusted: e.count() >= uint64(h.opts.MinSamples)}
		c.k, c.score = h.bestEstimator(e, c.trusted)
		if c.trusted {
			c.weight = weigh(e.count(), c.score)
		}
		out = append(out, c)
	}
	return out
}

// choose picks the expert; its e is nil without history.
func choose(cands []choice) choice {
	var best choice
	for i := range cands {
		if cands[i].better(&best) {
			best = cands[i]
		}
	}
	return best
}

// bestEstimator is the entry's estimator of lowest NMAE, or the median while it is not trusted.
func (h *History) bestEstimator(e *entry, trusted bool) (k int, score float64) {
	if !trusted {
		return 1, math.Inf(1)
	}
	score = e.nmae(0)
	for i := 1; i < numEstimators; i++ {
		if s := e.nmae(i); s < score {
			k, score = i, s
		}
	}
	return k, score
}

// forecast is the distribution for a job with the candidates. The
// caller holds mu for reading, so no entry changes meanwhile.
func (h *History) forecast(cands []choice) (*dist.Histogram, error) {
	b, _ := h.blends.Get().(*blend)
	if b == nil {
		b = &blend{}
	}
	defer h.blends.Put(b)
	return b.forecast(cands, h.opts.Blend, h.opts.Bins)
}

// Observe learns from a completed run. Each of the job's feature values first scores its
// estimators by what they would have predicted, then learns the runtime. NaN, infinite and
// negative runtimes, and those beyond [MaxRuntime], are refused with [ErrRuntime] and change nothing.
//
// What the run has used teaches the histories of its quantities in the same way. An amount that is only a lower bound
// is learnt as the mean of the recent amounts above it, or else as it is; estimates above it count as right.
func (h *History) Observe(o Observation) error {
	if err := o.check(); err != nil {
		return err
	}
	var v values
	h.plan.values(o.Job, &v)
	for _, u := range o.Used {
		i := slices.IndexFunc(h.others, func(q quantity) bool { return q.name == u.Quantity })
		if i < 0 {
			continue
		}
		if err := h.others[i].history.observe(&v, u.Value, u.AtLeast); err != nil {
			return err
		}
	}
	return h.observe(&v, o.Runtime, false)
}

// observe learns one quantity.
func (h *History) observe(v *values, x float64, atLeast bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for f := range h.plan.features {
		key, ok := h.plan.key(h.keys[:0], f, v)
		h.keys = key
		if !ok {
			continue
		}
		e := h.table.use(key)
		before := e.size()
		err := e.observe(x, atLeast, &h.opts, h.scratch)
		h.table.room -= e.size() - before
		h.table.trim()
		if err != nil {
			return fmt.Errorf("predict: feature %s: %w", h.plan.names[f], err)
		}
	}
	return nil
}

func isRuntime(t float64) bool { return t >= 0 && t <= MaxRuntime }

func (o *Observation) check() error {
	if !isRuntime(o.Runtime) {
		return fmt.Errorf("%w: job %q ran %v s", ErrRuntime, o.Job.ID, o.Runtime)
	}
	for _, u := range o.Used {
		if !isRuntime(u.Value) {
			return fmt.Errorf("%w: job %q used %v of %q", ErrUsage, o.Job.ID, u.Value, u.Quantity)
		}
	}
	return nil
}

// Candidate is one expert's forecast for a job.
type Candidate struct {
	Expert Expert
	// Point is its estimate, in seconds.
	Point float64
	// NMAE is its normalised mean absolute error so far; +Inf when none of its
	// predictions has been scored.
	NMAE float64
	// Samples is the number of completions behind it.
	Samples int
	// Trusted tells that it has the MinSamples completions to compete by its NMAE.
	Trusted bool
	// Chosen marks the expert [History.Predict] would take.
	Chosen bool
}

// Explain lists every expert of the job that has a completion: by feature in the order of the options,
// then mean, median, rolling, recent. Without history it is empty.
func (h *History) Explain(job Job) []Candidate {
	var v values
	h.plan.values(job, &v)
	h.mu.RLock()
	defer h.mu.RUnlock()
	best := choose(h.candidates(nil, &v))
	var out []Candidate
	var buf [256]byte
	for f := range h.plan.features {
		key, ok := h.plan.key(buf[:0], f, &v)
		if !ok {
			continue
		}
		e := h.table.get(key)
		if e == nil {
			continue
		}
		value := h.plan.display(f, &v)
		for k, name := range estimatorNames {
			out = append(out, Candidate{
				Expert: Expert{Feature: h.plan.names[f], Value: value, Estimator: name},
				Point:  e.estimate(k), NMAE: e.nmae(k), Samples: int(min(e.count(), math.MaxInt)),
				Trusted: e.count() >= uint64(h.opts.MinSamples),
				Chosen:  e == best.e && k == best.k,
			})
		}
	}
	return out
}

// pointAt is the distribution of a single non-negative value.
func pointAt(x float64) dist.Distribution {
	p, err := dist.NewPoint(x)
	if err != nil {
		return dist.Point{}
	}
	return p
}

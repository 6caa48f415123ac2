package slearn

import (
	"math"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
)

// Joint is a predictor that combines history and sampling, which SLearn's paper leaves to future work (section 7). It
// is ours.
//
// A job starts with a belief about its mean task time, taken from history. The belief's variance is the forecast's,
// multiplied by the ratio of recent squared errors to forecast variances. Every pilot that ends sharpens the belief
// (section 4.1). So does every other task that ends while more tasks wait: the job changes its queue once the belief is
// sure of another. But the typical job is often known best by its pilots alone: then history only adds an error. So
// running medians of both errors are kept, and history has a say beside pilots only while that has lately been better.
//
// Sampling delays a job's other tasks, and saves jobs from a wrong queue. Pilots are no extra work. So a job is sampled
// unless history is sure of its queue, and whenever it was sure it has lately been right about as often as pilots, and
// with smaller errors. The number of pilots follows the sampling ratio, but is two at least. The second pilot tells how
// far off the first may be, and costs next to nothing, since both run in parallel. A third made jobs wait for longer.
// If history's median puts the job into the first queue, its pilots wait there instead of in the second queue. That
// serves small jobs sooner. If history is wrong, only the pilots' time is lost, and not the whole job's.
//
// A thin job enters the first queue, as in SLearn, unless history is sure that it is large.
//
// History can become wrong. A job whose pilots contradict the forecast goes by its pilots. If forecasts err to one side
// for many jobs, an alarm is raised ([predict.Drift]). While it lasts history is ignored, and Joint works as SLearn.
//
// It is not safe for concurrent use.
type Joint struct {
	past   Past
	thin   int32
	ratio  *Ratio
	queues Queues

	drift predict.Drift
	// Moving averages over wide jobs. within is the squared coefficient of variation of task times inside a job. excess
	// is the squared error of a forecast over its variance. missed is by how many queues the pilots' estimate was off.
	// trusted is the same for history, when it was sure.
	within, excess, missed, trusted float64
	// Running medians of relative errors, over wide jobs that were sampled and have a history: of the pilots alone, of the
	// belief after the pilots, and of history alone when it was sure.
	ofPilots, ofBelief, ofSure float64
	alarms                     Alarms

	priors []prior
	holes  []int32
}

// Alarms counts a [Joint]'s alarms.
type Alarms struct {
	// Raised is how often the alarm was raised. Jobs is how many jobs with a history have ended, and During how many of
	// these ended while the alarm was on.
	Raised, Jobs, During int
}

// The initial moving averages. In Google's log of 2011 the coefficient of variation inside wide jobs is 0.13 in the
// median and above 0.44 for one job in ten. In the paper's Table 7, 11 to 26 % of jobs are in a wrong queue.
// firstTrusted is high, so that history is not trusted before it has proved right.
const (
	firstWithin  = 0.25 * 0.25
	firstExcess  = 4
	firstMissed  = 0.1
	firstTrusted = 0.5
	// firstError is the same for all, so that history has no say before it has proved better. In the paper's section 4.3
	// the median error of pilots is 9 %.
	firstError = 0.1
	// toll is the price of waiting for pilots, in queues per job: as bad as if one job in twenty were off by one queue.
	toll = 0.05
	// follow is the weight of the latest job in the moving averages.
	follow = 0.02
	// worst bounds the value that one job contributes to excess.
	worst = 100
	// least bounds a forecast's variance from below, relative to the squared mean: a standard deviation of 1 %.
	least = 1e-4
)

const (
	// certain is how many standard deviations on either side of the belief's mean must lie in one queue for a job to
	// change its queue.
	certain = 2
	// fewest is the least number of pilots.
	fewest = 2
	// doubt is how many tasks the usual variance counts for, beside the job's own tasks.
	doubt = 2
)

// NewJoint returns a joint predictor. Jobs of fewer than thin tasks are thin. A nil ratio means the paper's adaptive
// one. The queues must be those of the system. The error wraps [ErrConfig].
func NewJoint(past Past, thin int32, ratio *Ratio, queues Queues) (*Joint, error) {
	full, err := queues.withDefaults()
	if err != nil {
		return nil, err
	}
	if ratio == nil {
		ratio = new(Ratio)
	}
	return &Joint{past: past, thin: thin, ratio: ratio, queues: full, within: firstWithin, excess: firstExcess,
		missed: firstMissed, trusted: firstTrusted, ofPilots: firstError, ofBelief: firstError, ofSure: firstError}, nil
}

// Alarms counts the alarms so far.
func (p *Joint) Alarms() Alarms { return p.alarms }

// prior is what was known of a job when it arrived. It is kept until the job is done.
type prior struct {
	forecast dist.Distribution // nil without history
	belief   predict.Belief
	sure     bool // history is sure of the job's queue
	percent  int  // the sampling ratio; 0 for a job that is not sampled
	first    bool // its pilots wait in the first queue
}

// Estimate implements [Predictor].
func (p *Joint) Estimate(s *Sample) Answer {
	if s.Note != 0 {
		return p.again(s, &p.priors[s.Note-1])
	}
	note := p.remember(s)
	k := &p.priors[note-1]
	known := k.forecast != nil && !p.drift.Alarm()
	switch {
	case s.Job.Tasks < p.thin:
		return Answer{Size: p.sizeOfThin(s, k, known), Note: note}
	case known && k.sure && p.ofSure < p.ofPilots && p.trusted <= p.missed+toll:
		return Answer{Size: size(s, k.belief), Watch: true, Note: note}
	}
	k.percent = p.ratio.Next()
	k.first = known && p.queues.of(size(s, k.belief)) == 0
	return Answer{Pilots: p.pilots(s, k), First: k.first, Watch: true, Note: note}
}

// pilots is how many pilots a job gets that is sampled.
func (p *Joint) pilots(s *Sample, k *prior) int {
	return min(int(s.Job.Tasks), max(fewest, pilots(k.percent, s.Job.Tasks)))
}

// remember stores what history says of a new job. The note is its index in priors plus 1.
func (p *Joint) remember(s *Sample) (note int32) {
	if len(p.holes) == 0 {
		p.priors = append(p.priors, prior{})
		p.holes = append(p.holes, int32(len(p.priors)))
	}
	note = p.holes[len(p.holes)-1]
	p.holes = p.holes[:len(p.holes)-1]
	k := prior{belief: predict.Unknown()}
	if f := p.past.Of.Predict(p.past.Describe(&s.Job)); f.Samples > 0 {
		k.forecast, k.belief = f.Dist, predict.BeliefOf(f.Dist)
		k.belief.Variance = max(k.belief.Variance, least*float64(k.belief.Mean*k.belief.Mean))
		k.sure = p.queueDoubt(s, f.Dist) <= firstMissed
	}
	p.priors[note-1] = k
	return note
}

// size is a job's size according to a belief, in seconds.
func size(s *Sample, b predict.Belief) float64 { return b.Mean * float64(s.Job.Tasks) }

// sizeOfThin is 0 for a thin job, unless history is sure that it does not belong in the first queue.
func (p *Joint) sizeOfThin(s *Sample, k *prior, known bool) float64 {
	if _, high := p.bounds(0); !known || k.forecast.CDF(high/float64(s.Job.Tasks)) > firstMissed {
		return 0
	}
	return size(s, k.belief)
}

// queueDoubt is the probability that the job does not belong in the queue of its median forecast.
func (p *Joint) queueDoubt(s *Sample, forecast dist.Distribution) float64 {
	tasks := float64(s.Job.Tasks)
	low, high := p.bounds(p.queues.of(forecast.Quantile(0.5) * tasks))
	return 1 - (forecast.CDF(high/tasks) - forecast.CDF(low/tasks))
}

// bounds are the limits of a queue: it is for jobs with low <= size < high.
func (p *Joint) bounds(queue int) (low, high float64) {
	high = p.queues.First.Seconds()
	for range queue {
		low, high = high, high*p.queues.Growth
	}
	if queue == p.queues.Count-1 {
		high = math.Inf(1)
	}
	return low, high
}

// isSure tells whether the interval of that many standard deviations on either side of the belief's mean lies in one
// queue.
func (p *Joint) isSure(s *Sample, b predict.Belief, deviations float64) bool {
	tasks := float64(s.Job.Tasks)
	low, high := p.bounds(p.queues.of(b.Mean * tasks))
	return b.Within(low/tasks, high/tasks, deviations)
}

// again answers about a job some of whose tasks may have ended. The tasks that end first are the short ones. So a job
// in a queue goes by its tasks only once at least as many have ended as are running.
func (p *Joint) again(s *Sample, k *prior) Answer {
	a := Answer{Size: s.Size, Watch: k.percent > 0 || s.Job.Tasks >= p.thin, Note: s.Note}
	seen := s.Pilots
	if s.Placed {
		seen = s.Ended
	}
	if s.Late > 0 {
		for range s.Out {
			seen.add(s.Late.Seconds())
		}
	}
	b := k.belief
	b.Variance *= p.excess
	if p.drift.Alarm() || p.ofBelief >= p.ofPilots {
		b = predict.Unknown()
	}
	b = p.posterior(b, &seen)
	switch {
	case !s.Placed:
		a.Size, a.Pilots, a.First = size(s, b), p.pilots(s, k), k.first
	case seen.Count >= s.Running && p.isSure(s, b, certain):
		a.Size = size(s, b)
	}
	return a
}

// posterior is the belief after some tasks. The variance of task times is pooled from the job's own tasks and, with the
// weight of a few tasks, the moving average.
func (p *Joint) posterior(prior predict.Belief, seen *Times) predict.Belief {
	if seen.Count == 0 {
		return prior
	}
	mean := seen.Mean()
	own := max(0, seen.Squares-float64(seen.Sum*mean))
	variance := (float64(doubt*p.within*float64(mean*mean)) + own) / float64(doubt+seen.Count-1)
	return prior.Doubted(seen.Count, seen.Sum, variance).After(seen.Count, seen.Sum, variance)
}

// Learn implements [Learner].
func (p *Joint) Learn(o *Outcome) {
	if o.Note == 0 {
		return
	}
	k := p.priors[o.Note-1]
	p.priors[o.Note-1] = prior{}
	p.holes = append(p.holes, o.Note)
	if k.forecast != nil {
		p.watch(place(k.forecast, o.Ended.Mean()))
	}
	if o.Job.Tasks >= max(p.thin, 2) && o.Ended.Sum > 0 {
		p.score(o, &k)
	}
	p.past.Learn(o)
}

// score updates the moving averages with a wide job.
func (p *Joint) score(o *Outcome, k *prior) {
	towards := func(figure *float64, x float64) { *figure += float64(follow * (x - *figure)) }
	mean, queue := o.Ended.Mean(), p.queues.of(o.Ended.Sum)
	off := func(mean float64) float64 {
		return math.Abs(float64(queue - p.queues.of(mean*float64(o.Job.Tasks))))
	}
	towards(&p.within, min(1, max(0, o.Ended.Squares/float64(o.Ended.Count)/float64(mean*mean)-1)))
	if k.forecast != nil {
		miss := mean - k.belief.Mean
		towards(&p.excess, max(1, min(worst, float64(miss*miss)/max(k.belief.Variance, math.SmallestNonzeroFloat64))))
	}
	if k.sure {
		towards(&p.trusted, off(k.belief.Mean))
	}
	if k.percent > 0 {
		p.ratio.Done(k.percent, o.Completion.Seconds()/o.Ended.Sum)
		towards(&p.missed, off(o.Pilots.Mean()))
		if k.forecast != nil {
			p.judge(k, &o.Pilots, mean)
		}
	}
}

// judge updates the running medians with a wide job that was sampled, and its true mean task time. A median rises or
// falls by a fixed share with each error above or below it.
func (p *Joint) judge(k *prior, pilots *Times, mean float64) {
	towards := func(median *float64, estimate float64) {
		if math.Abs(estimate-mean) > *median*mean {
			*median = min(1, *median*(1+follow))
		} else {
			*median /= 1 + follow
		}
	}
	b := k.belief
	b.Variance *= p.excess
	towards(&p.ofPilots, pilots.Mean())
	towards(&p.ofBelief, p.posterior(b, pilots).Mean)
	if k.sure {
		towards(&p.ofSure, k.belief.Mean)
	}
}

// watch updates the alarm.
func (p *Joint) watch(place float64) {
	before := p.drift.Alarm()
	p.drift.Observe(place)
	p.alarms.Jobs++
	if !p.drift.Alarm() {
		return
	}
	p.alarms.During++
	if !before {
		p.alarms.Raised++
	}
}

// place is the forecast's CDF at a runtime; at a jump, the middle of the jump.
func place(d dist.Distribution, x float64) float64 {
	return (d.CDF(x) + d.CDF(math.Nextafter(x, 0))) / 2
}

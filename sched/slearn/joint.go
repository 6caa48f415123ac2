package slearn

import (
	"math"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
)

// Joint is a predictor that joins history and sampling, which SLearn's paper leaves open (section 7). It is ours.
//
// A job starts with a belief of its mean task time: the forecast of history with its spread, which is widened by as
// much as forecasts have lately been further off than they said. Every pilot sharpens the belief (section 4.1), and
// so does every other task that ends while more wait: the job changes its queue when the belief has become sure of
// another one.
//
// Pilots have to run anyway. What they cost is that the other tasks wait for them; what they are worth is that fewer
// jobs enter a wrong queue. So a job is sampled unless history is sure of its queue and, when it was, has lately
// been right about as often as pilots were. The number of pilots is that of the sampling ratio: fewer save no time,
// since they run side by side, and more made no measured difference. If history's middle forecast has the job in the
// first queue, its pilots wait there and not behind it: that serves small jobs sooner, and where history is wrong it
// costs the time of some pilots and not that of the whole job.
//
// A thin job enters the first queue, as SLearn has it, unless history is sure that it is large.
//
// History can turn wrong. A job whose pilots contradict it goes by its pilots. When forecasts lean to one side, job
// after job, an alarm says so; as long as it lasts history counts for nothing, and all is as under SLearn.
type Joint struct {
	past   Past
	thin   int32
	ratio  *Ratio
	queues Queues

	drift predict.Drift
	// These follow the latest wide jobs. Within is the mean squared coefficient of variation of task times inside a
	// job. Excess is the mean squared error of forecasts over their variance. Missed is how many queues pilots have
	// been off, trusted the same of history where it was sure.
	within, excess, missed, trusted float64
	alarms                          Alarms

	priors []prior
	holes  []int32
}

// Alarms counts what a [Joint] has found of its history.
type Alarms struct {
	// Raised is how often the alarm was raised. Jobs is how many jobs with a history have ended, During how many of
	// these ended while the alarm was on.
	Raised, Jobs, During int
}

// The figures that a Joint starts with. Inside the median wide job of Google's log of 2011 the coefficient of
// variation is 0.13, inside one in ten above 0.44. The paper's Table 7 has 11 to 26 % of jobs in a wrong queue.
// History has to earn its trust.
const (
	firstWithin  = 0.25 * 0.25
	firstExcess  = 4
	firstMissed  = 0.1
	firstTrusted = 0.5
	// toll is what waiting for pilots is worth: that one job in twenty is off by a queue.
	toll = 0.05
	// follow is the weight of the latest job.
	follow = 0.02
	// worst bounds what one job adds to the excess.
	worst = 100
	// least is the variance that history has at least, as a share of the squared mean: a deviation of a hundredth.
	least = 1e-4
)

const (
	// certain is how many standard deviations of the belief must lie in another queue for a job to leave its own.
	certain = 2
	// doubt is how many tasks' worth the usual variance counts beside the job's own.
	doubt = 2
)

// NewJoint is a joint predictor. Jobs of fewer than thin tasks are thin. A nil ratio is the paper's adaptive one.
// The queues are those of the system.
func NewJoint(past Past, thin int32, ratio *Ratio, queues Queues) (*Joint, error) {
	full, err := queues.withDefaults()
	if err != nil {
		return nil, err
	}
	if ratio == nil {
		ratio = new(Ratio)
	}
	return &Joint{past: past, thin: thin, ratio: ratio, queues: full, within: firstWithin, excess: firstExcess,
		missed: firstMissed, trusted: firstTrusted}, nil
}

// Alarms counts the alarms so far.
func (p *Joint) Alarms() Alarms { return p.alarms }

// prior is what is known of a job that is not done, from when it came.
type prior struct {
	forecast dist.Distribution // nil without history
	belief   predict.Belief
	sure     bool // that history was, of the queue
	percent  int  // of its pilots; 0 for a job that needed none
	first    bool // that they are urgent
}

// Estimate is that of [Predictor].
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
	case known && k.sure && p.trusted <= p.missed+toll:
		return Answer{Size: size(s, k.belief), Watch: true, Note: note}
	}
	k.percent = p.ratio.Next()
	k.first = known && p.queues.of(size(s, k.belief)) == 0
	return Answer{Pilots: pilots(k.percent, s.Job.Tasks), First: k.first, Watch: true, Note: note}
}

// remember keeps what history says of a new job. The note is where, from 1 on.
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

// size is what a belief makes of a job.
func size(s *Sample, b predict.Belief) float64 { return b.Mean * float64(s.Job.Tasks) }

// sizeOfThin has a thin job enter the first queue unless history is sure that it belongs into another one.
func (p *Joint) sizeOfThin(s *Sample, k *prior, known bool) float64 {
	if _, high := p.bounds(0); !known || k.forecast.CDF(high/float64(s.Job.Tasks)) > firstMissed {
		return 0
	}
	return size(s, k.belief)
}

// queueDoubt is the probability that the job does not belong into the queue of its middle forecast.
func (p *Joint) queueDoubt(s *Sample, forecast dist.Distribution) float64 {
	tasks := float64(s.Job.Tasks)
	low, high := p.bounds(p.queues.of(forecast.Quantile(0.5) * tasks))
	return 1 - (forecast.CDF(high/tasks) - forecast.CDF(low/tasks))
}

// bounds are the sizes from which on and below which jobs belong to a queue.
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

// isSure tells whether the belief, so many standard deviations wide, lies in one queue.
func (p *Joint) isSure(s *Sample, b predict.Belief, deviations float64) bool {
	tasks := float64(s.Job.Tasks)
	low, high := p.bounds(p.queues.of(b.Mean * tasks))
	return b.Within(low/tasks, high/tasks, deviations)
}

// again is the answer about a job of which tasks have ended. What ends first is short, so a job that is in a queue
// goes by its tasks only once as many have ended as run.
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
	if p.drift.Alarm() {
		b = predict.Unknown()
	}
	b = p.posterior(b, &seen)
	switch {
	case !s.Placed:
		a.Size, a.Pilots, a.First = size(s, b), pilots(k.percent, s.Job.Tasks), k.first
	case seen.Count >= s.Running && p.isSure(s, b, certain):
		a.Size = size(s, b)
	}
	return a
}

// posterior is the belief after some tasks. Their variance is the job's own and, as long as these are few, the usual
// one.
func (p *Joint) posterior(prior predict.Belief, seen *Times) predict.Belief {
	if seen.Count == 0 {
		return prior
	}
	mean := seen.Mean()
	own := max(0, seen.Squares-float64(seen.Sum*mean))
	variance := (float64(doubt*p.within*float64(mean*mean)) + own) / float64(doubt+seen.Count-1)
	return prior.Doubted(seen.Count, seen.Sum, variance).After(seen.Count, seen.Sum, variance)
}

// Learn is that of [Learner].
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

// score has the figures follow a wide job.
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
	}
}

// watch feeds the alarm.
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

// place is where a runtime stands in its forecast: in the middle of a jump of the CDF.
func place(d dist.Distribution, x float64) float64 {
	return (d.CDF(x) + d.CDF(math.Nextafter(x, 0))) / 2
}

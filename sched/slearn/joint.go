package slearn

import (
	"math"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
)

// Joint is a predictor that joins history and sampling, which SLearn's paper leaves open (section 7). It is ours.
//
// A job starts with a belief of its mean task time: the forecast of history with its spread. If history is surer of the
// job's queue than sampling has lately been, the job enters it at once. Otherwise it runs pilots, no more than the
// sampling ratio says, and fewer where the belief needs fewer to be sure of the queue. Every pilot sharpens the belief
// (section 4.1), and so does every other task that ends while more wait: the job changes its queue when the belief has
// become sure of another one.
//
// A thin job enters the first queue, as SLearn has it, unless history is sure that it is large.
//
// History can turn wrong. A job whose pilots contradict it goes by its pilots. When forecasts lean to one side, job after
// job, an alarm says so; as long as it lasts history counts for nothing, and all is as under SLearn.
type Joint struct {
	past   Past
	thin   int32
	ratio  *Ratio
	queues Queues

	drift predict.Drift
	// within is the mean squared coefficient of variation of task times inside jobs; missed is the share of jobs that
	// sampling put into a wrong queue. Both follow the latest jobs.
	within, missed float64
	alarms         Alarms

	priors []prior
	holes  []int32
}

// Alarms counts what a [Joint] has found of its history.
type Alarms struct {
	// Raised is how often the alarm was raised. Jobs is how many jobs with a history have ended, During how many of these
	// ended while the alarm was on.
	Raised, Jobs, During int
}

// The figures that a Joint starts with: what the median wide job of public logs has, and about what the paper's Table 7
// says of SLearn.
const (
	firstWithin = 0.25 * 0.25
	firstMissed = 0.1
	// follow is the weight of the latest job in the figures that follow.
	follow = 0.02
)

const (
	// sure is how many standard deviations must lie in one queue for a belief to be sure of it: one in ten is beyond.
	sure = 1.2815515655446004
	// certain is the same for a job that is to leave its queue.
	certain = 2
	// doubt is how many tasks' worth the usual variance counts beside the job's own.
	doubt = 2
)

// NewJoint is a joint predictor. Jobs of fewer than thin tasks are thin. A nil ratio is the paper's adaptive one. The
// queues are those of the system.
func NewJoint(past Past, thin int32, ratio *Ratio, queues Queues) (*Joint, error) {
	full, err := queues.withDefaults()
	if err != nil {
		return nil, err
	}
	if ratio == nil {
		ratio = new(Ratio)
	}
	return &Joint{past: past, thin: thin, ratio: ratio, queues: full, within: firstWithin, missed: firstMissed}, nil
}

// Alarms counts the alarms so far.
func (p *Joint) Alarms() Alarms { return p.alarms }

// prior is what is known of a job that is not done, from when it came.
type prior struct {
	forecast dist.Distribution // nil without history
	belief   predict.Belief
	percent  int // of its pilots; 0 for a job that needed none
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
	case known && p.queueDoubt(s, k.forecast) <= p.missed:
		return Answer{Size: size(s, k.belief), Watch: true, Note: note}
	}
	k.percent = p.ratio.Next()
	return Answer{Pilots: p.need(s, k, known), Watch: true, Note: note}
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
	}
	p.priors[note-1] = k
	return note
}

// size is what a belief makes of a job.
func size(s *Sample, b predict.Belief) float64 { return b.Mean * float64(s.Job.Tasks) }

// sizeOfThin has a thin job enter the first queue unless history is sure that it belongs into another one.
func (p *Joint) sizeOfThin(s *Sample, k *prior, known bool) float64 {
	if _, high := p.bounds(0); !known || k.forecast.CDF(high/float64(s.Job.Tasks)) > p.missed {
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

// need is how many pilots make the belief sure of a queue, if they are as it expects; at most the percentage.
func (p *Joint) need(s *Sample, k *prior, known bool) int {
	most := pilots(k.percent, s.Job.Tasks)
	if !known {
		return most
	}
	variance := p.within * float64(k.belief.Mean*k.belief.Mean)
	for n := 1; n < most; n++ {
		if p.isSure(s, k.belief.After(n, float64(n)*k.belief.Mean, variance), sure) {
			return n
		}
	}
	return most
}

func (p *Joint) isSure(s *Sample, b predict.Belief, deviations float64) bool {
	tasks := float64(s.Job.Tasks)
	low, high := p.bounds(p.queues.of(b.Mean * tasks))
	return b.Within(low/tasks, high/tasks, deviations)
}

// again is the answer about a job of which tasks have ended. What ends first is short, so a job that is in a queue goes by
// its tasks only once as many have ended as run.
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
	if p.drift.Alarm() {
		b = predict.Unknown()
	}
	b = p.posterior(b, &seen)
	switch {
	case !s.Placed:
		a.Size = size(s, b)
		if !p.isSure(s, b, sure) {
			a.Pilots = pilots(k.percent, s.Job.Tasks)
		}
	case seen.Count >= s.Running && p.isSure(s, b, certain):
		a.Size = size(s, b)
	}
	return a
}

// posterior is the belief after some tasks. Their variance is the job's own and, as long as these are few, the usual one.
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
	mean := o.Ended.Mean()
	if k.forecast != nil {
		p.watch(place(k.forecast, mean))
	}
	if o.Job.Tasks >= max(p.thin, 2) && mean > 0 {
		spread := max(0, o.Ended.Squares/float64(o.Ended.Count)/float64(mean*mean)-1)
		p.within += float64(follow * (min(spread, 1) - p.within))
	}
	if k.percent > 0 && o.Ended.Sum > 0 {
		p.ratio.Done(k.percent, o.Completion.Seconds()/o.Ended.Sum)
		miss := 0.0
		if p.queues.of(o.Pilots.Mean()*float64(o.Job.Tasks)) != p.queues.of(o.Ended.Sum) {
			miss = 1
		}
		p.missed += float64(follow * (miss - p.missed))
	}
	p.past.Learn(o)
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

package outlook

import (
	"slices"
	"time"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
)

// None of these was tuned.
const (
	// latest is how many of the latest runs of a group tell of its next ones.
	latest = 64
	// trust is how many runs a forecast counts as beside them.
	trust = 20
	// steps is the number of equally probable parts of a forecast, between which runs shift probability.
	steps = 10
)

// peers are the runs of jobs that the predictor takes to be alike: whose forecasts are of the same feature value. A
// forecast is made from runs that have completed. It does not know that dozens of the job's peers run at this moment,
// and have run for longer than most did before. Jobs of a batch are often alike, and it is the batch that runs for long
// which makes others wait.
type peers struct {
	groups map[value]*group
	runs   map[string]*run // those that have not ended
}

// value is a feature value.
type value struct{ feature, value string }

func valueOf(e *predict.Expert) value { return value{e.Feature, e.Value} }

// group is the runs of one feature value, from the first that still runs or later: the latest ones by start, whether
// they have ended or not. So it has no more of the long ones than there are, unlike the jobs that run at one time.
type group struct {
	ring       []*run
	next       int
	open       int // runs that have not ended; none: the group is forgotten
	round      int // in which ended and cut were made
	ended, cut []float64
}

// run is one run of a job.
type run struct {
	of      value
	started time.Time
	slow    float64
	ran     float64 // seconds, in terms of full speed
	over    bool    // the job has completed
	round   int     // in which it was last seen to run
}

// see takes in what runs and what has completed.
func (p *peers) see(s *sched.Snapshot, round int) {
	for i := range s.Running {
		r := &s.Running[i]
		known := p.runs[r.Job.ID]
		if known == nil || !known.started.Equal(r.Started) {
			if known != nil {
				p.end(known)
			}
			known = &run{of: valueOf(&r.Prediction.Expert), started: r.Started, slow: sched.Stretch(r.Speed)}
			p.runs[r.Job.ID] = known
			p.begin(known)
		}
		known.ran, known.round = max(0, s.Now.Sub(r.Started).Seconds())/known.slow, round
	}
	for _, d := range s.Completed {
		if r := p.runs[d.Job]; r != nil && r.round != round {
			r.ran, r.over = max(0, d.At.Sub(r.started).Seconds())/r.slow, true
		}
	}
	for id, r := range p.runs { // the order does not matter
		if r.round != round {
			p.end(r)
			delete(p.runs, id)
		}
	}
}

func (p *peers) begin(r *run) {
	g := p.groups[r.of]
	if g == nil {
		g = &group{}
		p.groups[r.of] = g
	}
	g.open++
	if len(g.ring) < latest {
		g.ring = append(g.ring, r)
		return
	}
	g.ring[g.next] = r
	g.next = (g.next + 1) % latest
}

func (p *peers) end(r *run) {
	if g := p.groups[r.of]; g != nil {
		if g.open--; g.open == 0 {
			delete(p.groups, r.of)
		}
	}
}

// sort collects the runtimes of the jobs that have completed, and of those that have not.
func (g *group) sort(round int) {
	if g.round == round {
		return
	}
	g.round, g.ended, g.cut = round, g.ended[:0], g.cut[:0]
	for _, r := range g.ring {
		if r.over {
			g.ended = append(g.ended, r.ran)
		} else {
			g.cut = append(g.cut, r.ran)
		}
	}
	slices.Sort(g.ended)
	slices.Sort(g.cut)
}

// outlived is what the runs of a group say about a forecast: the probability, corrected, of each multiple of 1/steps.
type outlived struct {
	at   [steps + 1]float64
	some bool // else the forecast stays as it is
}

// compare corrects a forecast whose quantiles between the steps are knots. It is the Bayesian estimate from censored
// runtimes, with a Dirichlet prior around the forecast (Susarla and Van Ryzin, "Nonparametric Bayesian estimation of
// survival curves from incomplete observations", JASA 1976), in steps. A run that has not ended counts in the steps
// that it has outlived entirely. So the correction is a little too cautious.
func (g *group) compare(knots *[steps - 1]float64) outlived {
	out := outlived{some: true}
	past := 0 // of cut, those that the step has not been observed of
	ended, cut := g.ended, g.cut
	left := len(ended)
	for k := range steps {
		died := left
		if k < steps-1 {
			died = 0
			for len(ended) > 0 && ended[0] <= knots[k] {
				ended = ended[1:]
				died++
			}
			for past < len(cut) && cut[past] < knots[k] {
				past++
			}
		} else {
			past = len(cut)
		}
		risk := left + len(cut) - past
		hazard := (trust/float64(steps) + float64(died)) / (float64(trust*float64(steps-k))/steps + float64(risk))
		out.at[k+1] = out.at[k] + float64((1-out.at[k])*hazard)
		left -= died
	}
	out.at[steps] = 1
	return out
}

// tell is the corrected probability of what the forecast gives the probability p.
func (o *outlived) tell(p float64) float64 {
	if !o.some {
		return p
	}
	k := min(int(p*steps), steps-1)
	return o.at[k] + float64((o.at[k+1]-o.at[k])*(float64(p*steps)-float64(k)))
}

// quantile is the quantile of the corrected forecast.
func (o *outlived) quantile(forecast dist.Distribution, p float64) float64 {
	if !o.some {
		return forecast.Quantile(p)
	}
	k := 0
	for k < steps-1 && o.at[k+1] <= p {
		k++
	}
	part := 0.0
	if o.at[k+1] > o.at[k] {
		part = (p - o.at[k]) / (o.at[k+1] - o.at[k])
	}
	return forecast.Quantile(min(1, (float64(k)+part)/steps))
}

// foresee takes in a job's forecast, and corrects it by the job's peers.
func (e *Estimator) foresee(w *waiting, p *sched.Pending) {
	forecast := forecast(p.Prediction.Dist, p.Prediction.Point)
	g := e.peers.groups[valueOf(&p.Prediction.Expert)]
	fresh := w.forecast != forecast
	if fresh {
		w.forecast = forecast
		for k := range w.knots {
			w.knots[k] = forecast.Quantile(float64(k+1) / steps)
		}
	}
	var now outlived
	if g != nil {
		g.sort(e.round)
		now = g.compare(&w.knots)
	}
	if !fresh && now == w.outlived {
		return
	}
	w.outlived = now
	for i := range w.runtimes {
		w.runtimes[i] = w.outlived.quantile(forecast, (float64(i)+0.5)/parts)
	}
}

// met is the probability that a job runs for no longer than that at full speed, in seconds.
func (w *waiting) met(runtime float64) float64 { return w.outlived.tell(w.forecast.CDF(runtime)) }

package outlook

import (
	"cmp"
	"math"
	"slices"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/sched"
)

// candidate is a pending job of this cycle.
type candidate struct {
	*waiting
	pending *sched.Pending
	index   int // in the snapshot
	traits  traits
	size    []float64
	slow    float64 // expected slowdown, 1 for full speed
	// fast and off are the slowdowns on the nodes where it is fastest, and off them.
	fast, off float64
	never     bool // the plan gives it up, or even empty nodes cannot hold it
}

// held is a job that runs once the plan is carried out.
type held struct {
	hash    uint64
	runtime dist.Distribution
	ran     float64 // seconds, in terms of full speed
	passed  float64 // forecast probability of having ended by now
	slow    float64
	size    []float64
}

// cycle is the working state of Look.
type cycle struct {
	now      float64
	free     []float64
	total    []float64
	running  []held
	jobs     []candidate // those that go on waiting
	starting []candidate // those that the plan starts
	decision map[string]*sched.Decision
	plan     *sched.Plan
	snap     *sched.Snapshot
}

// Look takes in a cycle and returns an outlook for each pending job, in the snapshot's order. The plan must be of the
// snapshot, and cycles must come in order of time. A job that the plan starts has a Start of 0; any other starts in the
// next cycle at the earliest. Look changes neither the snapshot nor the plan. The error is that of
// [sched.CheckSnapshot].
func (e *Estimator) Look(s *sched.Snapshot, plan *sched.Plan) ([]Outlook, error) {
	if err := sched.CheckSnapshot(s); err != nil {
		return nil, err
	}
	if !e.began {
		e.began, e.origin = true, s.Now
	}
	e.cycle = max(s.Cycle.Seconds(), 1)
	e.round++
	c := e.take(s, plan)
	e.learn(c)
	e.review(c)
	e.imagine(c)
	return e.tell(c), nil
}

// take collects the state of the cycle.
func (e *Estimator) take(s *sched.Snapshot, plan *sched.Plan) *cycle {
	c := &cycle{now: s.Now.Sub(e.origin).Seconds(), snap: s, plan: plan,
		decision: make(map[string]*sched.Decision, len(plan.Decisions))}
	for i := range plan.Decisions {
		c.decision[plan.Decisions[i].Job] = &plan.Decisions[i]
	}
	width := len(s.Nodes.Resources())
	if !slices.Equal(e.resources, s.Nodes.Resources()) {
		e.resources, e.recent = s.Nodes.Resources(), arrivals{} // their sizes are of other resources
	}
	c.free, c.total = make([]float64, width), make([]float64, width)
	for i, x := range s.Nodes.Capacity() {
		c.total[i%width] += x
		c.free[i%width] += max(0, s.Free[i])
	}
	e.peers.see(s, e.round)
	for i := range s.Running {
		r := &s.Running[i]
		size := e.sizeOf(c, r.Job)
		if d := c.decision[r.Job.ID]; d != nil && d.Kind == sched.Preempt {
			add(c.free, size, 1)
			continue
		}
		h := held{hash: hashOf(r.Job.ID, e.config.Seed), runtime: forecast(r.Prediction.Dist, r.Prediction.Point), size: size}
		h.slow = sched.Stretch(r.Speed)
		h.ran = max(0, s.Now.Sub(r.Started).Seconds()) / h.slow
		h.passed = h.runtime.CDF(h.ran)
		c.running = append(c.running, h)
	}
	for i := range s.Pending {
		e.pend(c, i)
	}
	return c
}

// forecast returns the distribution of a prediction, or its point as one.
func forecast(d dist.Distribution, point float64) dist.Distribution {
	if d != nil {
		return d
	}
	p, err := dist.NewPoint(point)
	if err != nil {
		p, _ = dist.NewPoint(0) // the point is not a runtime
	}
	return p
}

func add(to, size []float64, sign float64) {
	for r, x := range size {
		to[r] += float64(sign * x)
	}
}

// sizeOf is what a whole gang holds of each resource.
func (e *Estimator) sizeOf(c *cycle, j *sched.Job) []float64 {
	demand, err := c.snap.Nodes.Demand(j.Demand)
	if err != nil {
		return make([]float64, len(c.free))
	}
	size := make([]float64, len(demand))
	for r, d := range demand {
		size[r] = float64(d * float64(j.Tasks))
	}
	return size
}

// pend takes in a pending job, as one that starts now or as one that waits.
func (e *Estimator) pend(c *cycle, index int) {
	p := &c.snap.Pending[index]
	w := e.jobs[p.Job.ID]
	runtime := forecast(p.Prediction.Dist, p.Prediction.Point)
	size := e.sizeOf(c, p.Job)
	t := e.traits(c, p, size)
	if w == nil || w.job != p.Job {
		w = &waiting{job: p.Job, hash: hashOf(p.Job.ID, e.config.Seed), first: c.now}
		e.jobs[p.Job.ID] = w
		a := arrival{at: t.submitted, traits: t, deadline: t.deadline - t.submitted, runtime: runtime, size: size}
		e.recent.add(&a)
	}
	w.seen = e.round
	e.foresee(w, p)
	if d := c.decision[p.Job.ID]; d != nil && d.Kind == sched.Start {
		add(c.free, size, -1)
		slow := sched.Stretch(c.snap.Nodes.Speed(p.Job, d.Nodes))
		if p.Job.Speeds.Uneven() {
			e.slow.learn(slow > stretchOn(p.Job))
		}
		c.running = append(c.running, held{hash: w.hash, runtime: runtime, slow: slow, size: size})
		e.started(w, c.now)
		c.starting = append(c.starting, candidate{waiting: w, pending: p, index: index, traits: t, slow: slow,
			fast: slow, off: slow})
		return
	}
	w.cycles++
	j := candidate{waiting: w, pending: p, index: index, traits: t, size: size,
		slow: e.slow.of(p.Job), fast: stretchOn(p.Job)}
	if j.off = j.fast; p.Job.Speeds.Uneven() {
		j.off = stretchOff(p.Job)
	}
	for r, x := range size {
		j.never = j.never || x > c.total[r]+enough
	}
	reason := &c.plan.Rest
	if d := c.decision[p.Job.ID]; d != nil {
		reason = &d.Reason
	}
	switch reason.Code {
	case sched.ReasonSpent, sched.ReasonNoUtility:
		j.never, e.givesUp = true, 1
	case sched.ReasonTooLarge, sched.ReasonNoFeasibleSet:
		j.never = true
	}
	c.jobs = append(c.jobs, j)
}

func (e *Estimator) traits(c *cycle, p *sched.Pending, size []float64) traits {
	j := p.Job
	t := traits{submitted: j.Submitted.Sub(e.origin).Seconds(), priority: j.Priority, deadline: math.Inf(1),
		planned: math.Inf(1), mean: p.Prediction.Point}
	if p.Prediction.Dist != nil {
		t.mean = p.Prediction.Dist.Mean()
	}
	if j.Deadline > 0 {
		t.deadline = t.submitted + j.Deadline.Seconds()
	}
	share := 0.0
	for r, x := range size {
		share = max(share, x/max(c.total[r], enough))
	}
	t.worth = j.Worth().At(c.now-t.submitted+t.mean) / max(share*max(t.mean, 1), 1e-12)
	if d := c.decision[j.ID]; d != nil && !d.Start.IsZero() {
		t.planned = max(0, d.Start.Sub(c.snap.Now).Seconds())
	}
	return t
}

// started compares the earlier estimates of a job with its start.
func (e *Estimator) started(w *waiting, now float64) {
	for i := range w.tellings {
		t := &w.tellings[i]
		e.drift.learn(t, now, e.cycle)
		e.tails[t.stage].started(t, now)
		e.orders.learn(t, now-t.at, e.cycle)
	}
	delete(e.jobs, w.job.ID)
}

// learn takes in how long jobs have waited so far, and forgets jobs that are gone.
func (e *Estimator) learn(c *cycle) {
	for id, w := range e.jobs { // the order of deletions does not matter
		if w.seen != e.round {
			delete(e.jobs, id)
		}
	}
	e.drift.begin()
	for i := range c.jobs {
		for k := range c.jobs[i].tellings {
			t := &c.jobs[i].tellings[k]
			e.drift.wait(t, c.now, e.cycle)
			e.tails[t.stage].waits(t, c.now)
		}
	}
	e.observed = e.drift.settle(e.observed, e.cycle)
	for i := range e.tails {
		e.tails[i].settle()
	}
}

// imagine simulates as many worlds as the work limit allows, and at least two.
func (e *Estimator) imagine(c *cycle) {
	if len(c.jobs) == 0 {
		return
	}
	e.world.work = 0
	best := e.orders.best()
	for n := 0; n < e.config.Worlds && (n < 2 || e.world.work < e.config.Work); n++ {
		w := e.next
		e.next = (e.next + 1) % e.config.Worlds
		e.simulate(c, w, best)
		for i := range c.jobs {
			j := &c.jobs[i]
			if len(j.samples) == 0 {
				j.samples = make([]float64, e.config.Worlds)
				for k := range j.samples {
					j.samples[k] = math.NaN()
				}
			}
			j.samples[w] = c.now + e.world.start[i]
		}
	}
	if e.asks(c) {
		e.ask(c)
	}
}

// simulate runs one world with the queue in one order.
func (e *Estimator) simulate(c *cycle, number, order int) {
	w := &e.world
	w.cycle, w.depth = c.snap.Cycle.Seconds(), depth(len(c.jobs))
	w.free = append(w.free[:0], c.free...)
	w.ends, w.jobs, w.queue, w.start = w.ends[:0], w.jobs[:0], w.queue[:0], w.start[:0]
	salt := mix(uint64(number) + 1)
	for i := range c.running {
		h := &c.running[i]
		p := h.passed + float64((1-h.passed)*draw(mix(h.hash^salt), number))
		left := float64((h.runtime.Quantile(min(p, 1)) - h.ran) * h.slow)
		if !(left > 0) { // it overran its forecast: it runs for the overrun again
			_, hi := h.runtime.Bounds()
			left = max(h.ran-hi, e.cycle)
		}
		w.push(ending{left, h.size})
	}
	left := 0
	for i := range c.jobs {
		j := &c.jobs[i]
		w.start = append(w.start, math.Inf(1))
		if j.never {
			continue
		}
		left++
		u := mix(j.hash ^ salt)
		slow := stretchOn(j.job)
		if j.job.Speeds.Uneven() && uniform(mix(u)) < e.slow.share() {
			slow = stretchOff(j.job)
		}
		w.add(entry{key: j.traits.key(order), seq: int32(i), at: int32(i), size: j.size,
			until:   e.until(&j.traits, c.now),
			runtime: float64(slow * j.outlived.quantile(j.forecast, draw(u, number)))})
	}
	w.line()
	most := len(c.jobs) + 200
	if disciplines[order] == strict {
		most = 0 // later arrivals delay no one
	}
	w.run(disciplines[order], left, e.recent.replay(c.now, e.givesUp, number, mix(salt^e.config.Seed), most, order))
}

// until is the time at which a job is given up, in seconds from now; +Inf if the policy has given up none yet.
func (e *Estimator) until(t *traits, now float64) float64 {
	if e.givesUp <= 0 {
		return math.Inf(1)
	}
	return t.deadline - now
}

// asks reports whether to compare the orders in this cycle: whether an estimate of some job is due.
func (e *Estimator) asks(c *cycle) bool {
	return slices.ContainsFunc(c.jobs, func(j candidate) bool { return due(j.cycles) })
}

// due reports whether an estimate is kept in this cycle of a job's wait: the first, second, fourth, eighth and so on.
func due(cycles int) bool { return cycles&(cycles-1) == 0 }

// ask simulates one world in each of the next orders, and keeps their estimates of the jobs that are due.
func (e *Estimator) ask(c *cycle) {
	for i := range c.jobs {
		j := &c.jobs[i]
		if !due(j.cycles) || j.never {
			continue
		}
		t := telling{at: c.now, stage: j.stage()}
		t.median, t.spread = e.raw(c, j)
		for o := range t.orders {
			t.orders[o] = math.NaN()
		}
		j.tellings = append(j.tellings, t)
	}
	for n := range asked {
		if n > 0 && e.world.work > 2*e.config.Work {
			break
		}
		o := e.turn
		e.turn = (e.turn + 1) % orders
		e.simulate(c, 0, o)
		for i := range c.jobs {
			if j := &c.jobs[i]; due(j.cycles) && !j.never {
				j.tellings[len(j.tellings)-1].orders[o] = e.world.start[i]
			}
		}
	}
}

// sorted returns a job's samples in ascending order, in seconds since the origin.
func (e *Estimator) sorted(j *candidate) []float64 {
	e.scratch = e.scratch[:0]
	for _, x := range j.samples {
		if !math.IsNaN(x) {
			e.scratch = append(e.scratch, x)
		}
	}
	slices.SortFunc(e.scratch, cmp.Compare[float64])
	return e.scratch
}

// raw is the uncorrected estimate: the median in seconds from now, and the standard deviation of its logarithm.
func (e *Estimator) raw(c *cycle, j *candidate) (median, spread float64) {
	sorted := e.sorted(j)
	median = max(0, quantileOf(sorted, 0.5)-c.now)
	lo, hi := max(0, quantileOf(sorted, 0.16)-c.now), max(0, quantileOf(sorted, 0.84)-c.now)
	return median, max(least, logRatio(hi, lo, e.cycle)/2)
}

// least is the smallest standard deviation of a logarithm that is believed.
const least = 0.2

// quantileOf interpolates linearly: sample i of n is the quantile at (i+1/2)/n.
func quantileOf(sorted []float64, p float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.Inf(1)
	}
	at := float64(p*float64(n)) - 0.5
	i := int(math.Floor(at))
	switch {
	case i < 0:
		return sorted[0]
	case i >= n-1:
		return sorted[n-1]
	}
	lo, hi := sorted[i], sorted[i+1]
	if lo == hi || math.IsInf(hi, 1) {
		return hi
	}
	return lo + float64((hi-lo)*(at-float64(i)))
}

// tell makes the outlooks.
func (e *Estimator) tell(c *cycle) []Outlook {
	out := make([]Outlook, 0, len(c.jobs)+len(c.starting))
	next := 0
	for i := range c.jobs {
		j := &c.jobs[i]
		for ; next < len(c.starting) && c.starting[next].index < j.index; next++ {
			out = append(out, Outlook{})
			e.begins(c, &c.starting[next], &out[len(out)-1])
		}
		out = append(out, Outlook{})
		o := &out[len(out)-1]
		o.Job, o.MeetsDeadline = j.job.ID, math.NaN()
		if j.never {
			for l := range o.Start.at {
				o.Start.at[l], o.End.at[l] = math.Inf(1), math.Inf(1)
			}
			if j.job.Deadline > 0 {
				o.MeetsDeadline = 0
			}
			continue
		}
		e.starts(c, j, &o.Start)
		e.ends(c, j, j.stage(), o)
	}
	for ; next < len(c.starting); next++ {
		out = append(out, Outlook{})
		e.begins(c, &c.starting[next], &out[len(out)-1])
	}
	return out
}

// starts fills in the start: the worlds' estimate, corrected by how such estimates came out.
func (e *Estimator) starts(c *cycle, j *candidate, to *Times) {
	median, spread := e.raw(c, j)
	s := &e.drift.shifts[scale(median, e.cycle)]
	soonest := e.cycle
	var z [levels]float64
	for l := range z {
		z[l] = float64((1-s.weight)*prior[l]) + float64(s.weight*s.at[l])
	}
	e.tails[j.stage()].stretch(&z)
	for l := range toldLevels {
		at := float64((min(median, longest)+e.cycle)*math.Exp(spread*z[l])) - e.cycle
		if at = max(at, soonest); at >= longest/2 {
			at = math.Inf(1)
		}
		to.at[l] = at
		soonest = at
	}
	if n := len(j.tellings); n > 0 && j.tellings[n-1].at == c.now {
		t := &j.tellings[n-1]
		t.early, t.late = c.now+to.at[1], c.now+to.at[levels-2]
	}
}

// prior are the standardised quantiles before anything is learnt: those of the normal distribution.
var prior = [levels]float64{-1.96, -1.28, -0.67, 0, 0.67, 1.28, 1.96}

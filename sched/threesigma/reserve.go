package threesigma

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/place"
)

// ReasonReserved says that the job has waited for longer than [Config.Reserve], and that nodes are kept for it. Start
// of [sched.Decision] is when the jobs that run there are expected to have ended.
const ReasonReserved sched.ReasonCode = "reserved"

// surely is the quantile of a running job's remaining time by which a reservation reckons with its end.
const surely = 0.9

// reservation keeps nodes for one job. No other job starts on what is kept, but for one that has a job preempted there;
// so, without preemptions, the job starts at the latest when the jobs that ran there at first have ended. Nodes are
// chosen anew when the nodes of the cluster change, or what the job may have.
type reservation struct {
	k      *known
	at     int // the job in Snapshot.Pending
	choice *choice
	set    *sched.NodeSet
	nodes  []sched.NodeTasks
	start  time.Time // when the jobs that run there are expected to have ended
	// kept is what is kept of what is free now, by node and resource; rows are the nodes of which something is kept.
	kept []float64
	rows []int
	now  []sched.NodeTasks // where the job starts in this cycle; nil if it waits
}

// setAside finds the job that has waited too long, if there is one. It returns the snapshot without this job and
// without what the job is given, or what is kept for it.
func (p *Policy) setAside(s *sched.Snapshot) *sched.Snapshot {
	if p.cfg.Reserve == 0 {
		return s
	}
	r := p.reserved
	if r == nil || !r.lasts(p, s) {
		r = p.oldest(s)
	}
	if p.reserved = r; r == nil {
		return s
	}
	r.now = nil
	placer := &p.placer
	placer.Reset(s)
	for i := range r.k.choices {
		c := &r.k.choices[i]
		if nodes, ok := placer.Place(c.Demand, c.Nodes, r.k.job.Tasks); ok {
			r.choice, r.now, r.nodes = c, nodes, nil
			return r.without(s, nodes)
		}
	}
	if r.nodes == nil || r.set != s.Nodes {
		p.promise(r, s)
	}
	if r.start.Before(s.Now) { // a job runs for longer than was expected
		r.start = s.Now.Add(p.period)
	}
	return r.without(s, r.nodes)
}

// lasts tells whether the job of the reservation still waits, and brings the reservation up to date.
func (r *reservation) lasts(p *Policy, s *sched.Snapshot) bool {
	for i := range s.Pending {
		if s.Pending[i].Job != r.k.job {
			continue
		}
		k := p.known(&s.Pending[i], s.Nodes)
		if k != r.k { // its choices are others
			r.nodes = nil
		}
		r.k, r.at = k, i
		return p.deserves(k, s.Now)
	}
	return false
}

// deserves tells whether the job has waited for too long, is still of use, and has nodes that can hold it.
func (p *Policy) deserves(k *known, now time.Time) bool {
	j := k.job
	return now.Sub(j.Submitted) > p.cfg.Reserve && len(k.choices) > 0 &&
		(j.Deadline <= 0 || p.cfg.RunLate || now.Sub(j.Submitted) < j.Deadline)
}

// oldest is a reservation for the job that has waited longest, as far as any has waited too long.
func (p *Policy) oldest(s *sched.Snapshot) *reservation {
	for i := range s.Pending { // in order of submission
		w := &s.Pending[i]
		if s.Now.Sub(w.Job.Submitted) <= p.cfg.Reserve {
			return nil
		}
		if k := p.known(w, s.Nodes); p.deserves(k, s.Now) {
			return &reservation{k: k, at: i}
		}
	}
	return nil
}

// leaver is a running job, and the time in seconds by which it has surely left.
type leaver struct {
	run  *sched.Running
	left float64
}

// promise chooses nodes, of those that running jobs surely leave first: where the job is expected to end first.
func (p *Policy) promise(r *reservation, s *sched.Snapshot) {
	leavers := make([]leaver, len(s.Running))
	for i := range s.Running {
		leavers[i] = leaver{&s.Running[i], p.leaves(&s.Running[i], s.Now)}
	}
	slices.SortStableFunc(leavers, func(a, b leaver) int { return cmp.Compare(a.left, b.left) })
	r.set, r.nodes = s.Nodes, nil
	best := math.Inf(1)
	for i := range r.k.choices {
		c := &r.k.choices[i]
		nodes, left := p.drain(c, r.k.job.Tasks, s, leavers)
		if end := left + r.k.whole[c.level].Mean(); nodes != nil && (r.nodes == nil || end < best) {
			best, r.choice, r.nodes = end, c, nodes
			r.start = s.Now.Add(time.Duration(min(left, maxPromise) * float64(time.Second)))
		}
	}
	if r.nodes == nil { // what else holds the nodes is not in the snapshot: it is about to end
		r.start = s.Now.Add(p.period)
	}
}

// maxPromise keeps times in range, in seconds.
const maxPromise = 1e9

// drain finds how many of the leavers must be gone for the gang to fit, and where it then fits.
func (p *Policy) drain(c *choice, tasks int, s *sched.Snapshot, leavers []leaver) (on []sched.NodeTasks, left float64) {
	placer := place.NewPlacer(s)
	without := func(n int) {
		placer.Reset(s)
		for _, l := range leavers[:n] {
			placer.Release(l.run)
		}
	}
	n := sort.Search(len(leavers), func(n int) bool {
		without(n)
		return placer.FitsAtLeast(c.Demand, c.Nodes, tasks)
	})
	without(n)
	if on, _ = placer.Place(c.Demand, c.Nodes, tasks); on != nil && n > 0 {
		left = leavers[n-1].left
	}
	return on, left
}

// leaves is the time in seconds until the running job has surely ended.
func (p *Policy) leaves(r *sched.Running, now time.Time) float64 {
	h := p.holding(r)
	if h.fault != nil {
		return maxPromise
	}
	elapsed, d := now.Sub(r.Started).Seconds(), h.runtime
	passed := d.CDF(elapsed)
	if left := d.Quantile(passed+float64((1-passed)*surely)) - elapsed; passed < 1 && left > 0 {
		return left
	}
	return p.until(d, elapsed) - elapsed
}

// without is the snapshot without the job and without what is kept on these nodes.
func (r *reservation) without(s *sched.Snapshot, nodes []sched.NodeTasks) *sched.Snapshot {
	c := *s
	c.Pending = slices.Delete(slices.Clone(s.Pending), r.at, r.at+1)
	c.Free = slices.Clone(s.Free)
	r.kept, r.rows = r.kept[:0], r.rows[:0]
	if r.choice == nil {
		return &c
	}
	res := len(r.choice.Demand)
	for _, at := range nodes {
		n, ok := s.Nodes.Index(at.Node)
		if !ok {
			continue
		}
		r.rows = append(r.rows, n)
		for i, d := range r.choice.Demand {
			free := &c.Free[n*res+i]
			take := min(float64(float64(at.Tasks)*d), max(*free, 0))
			*free -= take
			r.kept = append(r.kept, take)
		}
	}
	return &c
}

// keep takes what is kept off the capacity of the window, and from the promised start on all that the job needs.
func (r *reservation) keep(m *model) {
	T, res := m.problem.Slots, len(m.problem.Resources)
	from := 0
	if r.now == nil {
		from = min(m.policy.cfg.slotAt(m.snap.Now, r.start), T)
	}
	at := 0
	for _, nt := range r.held() {
		n, ok := m.snap.Nodes.Index(nt.Node)
		if !ok {
			continue
		}
		for i, d := range r.choice.Demand {
			row := m.capacity[(m.parts.Of(n)*res+i)*T:][:T]
			for t := range row {
				if t < from {
					row[t] -= r.kept[at]
				} else {
					row[t] -= float64(float64(nt.Tasks) * d)
				}
			}
			at++
		}
	}
}

// held are the nodes that the job gets now, or that are kept for it.
func (r *reservation) held() []sched.NodeTasks {
	if r.now != nil {
		return r.now
	}
	return r.nodes
}

// decide adds the decision for the job to the plan of the others.
func (r *reservation) decide(p *Policy, s *sched.Snapshot, plan *sched.Plan) {
	d := sched.Decision{Job: r.k.job.ID, Kind: sched.Defer, Start: r.start,
		Reason: sched.Reason{Code: ReasonReserved, Probability: sched.UnknownProbability}}
	if r.choice != nil {
		d.Reason.Set = r.choice.Set.String()
	}
	if r.now != nil {
		d.Kind, d.Nodes, d.Start, d.Reason.Code = sched.Start, r.now, s.Now, sched.ReasonPlaced
		r.k.release()
		p.reserved = nil
	}
	at := len(plan.Decisions) - len(s.Pending) + 1 + r.at // preemptions come first, then a decision for each pending job
	plan.Decisions = slices.Insert(plan.Decisions, at, d)
}

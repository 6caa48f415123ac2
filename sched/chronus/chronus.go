// Package chronus schedules by leases, by the rules of Chronus (Gao et al., "Chronus: A Novel Deadline-aware Scheduler
// for Deep Learning Training Jobs", SoCC 2021). It is there to be compared with.
//
// # The rules
//
// Time is divided into leases of one length. A job with a deadline asks for as many leases as its runtime needs. It is
// accepted if the cluster has that many for it before the deadline, beside the leases of the jobs accepted before it;
// its leases are then reserved. A job whose utility has several steps asks for the step worth most first, and then for
// the later ones. Nothing takes a reserved lease away. A job that is not accepted runs without leases.
//
// What reserved leases leave free goes to jobs without leases in this cycle: first those with deadlines that can still
// be met, then best effort, then those with deadlines that cannot be met, and last those whose leases begin later;
// among equals, the one with the least machine time. Where a reserved lease needs the room, jobs without leases and of
// lower priority are stopped, the last to be started first. The same is done for a job that is not accepted, but would
// end within the present lease, and in time.
//
// # What differs
//
// Chronus has a solver arrange the leases of all jobs anew, with gaps, since its jobs keep their work when they are
// stopped. Here the leases of a job follow each other, and a job that was accepted is never stopped; so no work is lost
// but that of jobs without leases. Chronus profiles jobs, scales them, and moves them together; here runtimes are
// forecasts, and gangs are placed as by other policies. Runtimes count at the speed of the slowest node that a job may
// use.
//
// The package reads no clock and uses no randomness.
package chronus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/place"
	"github.com/hedgesched/hedge/utility"
)

// ErrConfig is wrapped by errors about a [Config].
var ErrConfig = errors.New("chronus: invalid configuration")

// Config of a policy. The zero value is ready for use.
type Config struct {
	// Lease is the length of a lease, at least [LeastLease]; 0 means [DefaultLease].
	Lease time.Duration
}

const (
	// DefaultLease is the default of [Config.Lease].
	DefaultLease = 20 * time.Minute
	// LeastLease is the shortest lease.
	LeastLease = 100 * time.Millisecond
)

// maxLeases is how far ahead leases are reserved.
const maxLeases = 4096

// Policy is a [sched.Policy]. It is for one goroutine at a time.
type Policy struct {
	lease  time.Duration
	placer place.Placer
	// known are the jobs that were asked for, by id.
	known map[string]*known
	cycle uint64
	began time.Time
	// left is how much of the cluster each lease from first on has left, as a share.
	left  []float64
	first int
}

// known is what is kept of a job.
type known struct {
	accepted bool
	from, n  int     // its leases
	share    float64 // of the cluster
	seen     uint64
}

// New returns a policy. Its error wraps [ErrConfig].
func New(cfg Config) (*Policy, error) {
	if cfg.Lease != 0 && cfg.Lease < LeastLease {
		return nil, fmt.Errorf("%w: Lease = %v, want 0 or at least %v", ErrConfig, cfg.Lease, LeastLease)
	}
	return &Policy{lease: cmp.Or(cfg.Lease, DefaultLease), known: map[string]*known{}}, nil
}

// Name implements [sched.Policy].
func (*Policy) Name() string { return "chronus" }

// wait is a pending job in a cycle.
type wait struct {
	index  int
	job    *sched.Job
	demand []float64
	site   *sched.Site
	known  *known
	length float64 // expected runtime in seconds
	left   float64 // seconds until its deadline; +Inf without one
	work   float64 // machine time
}

// Plan implements [sched.Policy]. It returns the error of [sched.CheckSnapshot].
func (p *Policy) Plan(_ context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	if err := sched.CheckSnapshot(s); err != nil {
		return nil, err
	}
	p.cycle++
	p.open(s)
	t := &turn{Policy: p, snap: s, plan: &sched.Plan{
		Rest: sched.Reason{Code: sched.ReasonWaiting, Probability: sched.UnknownProbability}}}
	p.placer.Reset(s)
	waits := t.admit()
	t.victims()
	for i := range waits {
		if w := &waits[i]; w.known.accepted && w.known.from <= p.first {
			t.take(w)
		}
	}
	slices.SortStableFunc(waits, func(a, b wait) int {
		return cmp.Or(cmp.Compare(late(&a), late(&b)), cmp.Compare(a.work, b.work))
	})
	for i := range waits {
		w := &waits[i]
		switch {
		case w.started(t):
		case late(w) == 0 && w.length <= p.remains(s.Now):
			t.take(w)
		default:
			t.start(w)
		}
	}
	p.forget(s)
	t.plan.Decisions = append(t.stops, t.plan.Decisions...)
	return t.plan, nil
}

// late sorts jobs that do not run on leases in this cycle: 0 with a deadline that can be met, 1 without, 2 with one
// that cannot, and 3 those that have later leases.
func late(w *wait) int {
	switch {
	case w.known.accepted:
		return 3
	case math.IsInf(w.left, 1):
		return 1
	case w.length <= w.left:
		return 0
	}
	return 2
}

func (w *wait) started(t *turn) bool { return t.begun[w.index] }

// open brings the leases up to date.
func (p *Policy) open(s *sched.Snapshot) {
	if p.began.IsZero() {
		p.began = s.Now
	}
	now := int(s.Now.Sub(p.began) / p.lease)
	if drop := now - p.first; drop > 0 {
		p.left = p.left[min(drop, len(p.left)):]
		p.first = now
	}
}

// remains is the rest of the present lease in seconds.
func (p *Policy) remains(now time.Time) float64 {
	return (time.Duration(p.first+1)*p.lease - now.Sub(p.began)).Seconds()
}

// leases is how many leases a time in seconds takes.
func (p *Policy) leases(seconds float64) int {
	return int(max(1, min(math.Ceil(seconds/p.lease.Seconds()-1e-9), maxLeases+1)))
}

// accept reserves leases for a new job with a deadline, from the next one on, if there are enough.
func (p *Policy) accept(w *wait) {
	n := p.leases(w.length)
	for _, by := range steps(w.job) {
		end := w.job.Submitted.Add(time.Duration(by * float64(time.Second))).Sub(p.began)
		last := int(min(int64(end/p.lease), int64(p.first+maxLeases)))
		if from, ok := p.fits(w.known.share, n, last); ok {
			w.known.accepted, w.known.from, w.known.n = true, from, n
			p.reserve(w.known, -1)
			return
		}
	}
}

// steps are the times, in seconds since the submission, at which the worth of a completion falls, the first first.
func steps(j *sched.Job) []float64 {
	out := []float64{j.Deadline.Seconds()}
	if c, ok := j.Worth().(*utility.Curve); ok {
		for _, pt := range c.Points() {
			if pt.T > 0 && pt.T < out[0] {
				out = append(out, pt.T)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// fits finds the first n leases in a row that have the share left, the last of them before last.
func (p *Policy) fits(share float64, n, last int) (from int, ok bool) {
	run := 0
	for at := 1; p.first+at < last && at < maxLeases; at++ {
		if at >= len(p.left) || p.left[at] >= share-1e-9 {
			run++
		} else {
			run = 0
		}
		if run == n {
			return p.first + at - n + 1, true
		}
	}
	return 0, false
}

// reserve takes a job's leases, or gives back those that are left if sign is 1.
func (p *Policy) reserve(k *known, sign float64) {
	for at := max(k.from-p.first, 0); at < k.from+k.n-p.first; at++ {
		for len(p.left) <= at {
			p.left = append(p.left, 1)
		}
		p.left[at] += float64(sign * k.share)
	}
}

// forget gives back the leases of jobs that are gone.
func (p *Policy) forget(s *sched.Snapshot) {
	for i := range s.Running {
		if k := p.known[s.Running[i].Job.ID]; k != nil {
			k.seen = p.cycle
		}
	}
	var gone []string
	for id, k := range p.known {
		if k.seen != p.cycle {
			gone = append(gone, id)
		}
	}
	slices.Sort(gone) // sums of leases do not depend on the map's order
	for _, id := range gone {
		if k := p.known[id]; k.accepted {
			p.reserve(k, 1)
		}
		delete(p.known, id)
	}
}

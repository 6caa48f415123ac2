// Package backfill has the two backfilling schedulers of batch systems as policies. Both take the pending jobs in order
// of submission and plan with estimates of runtimes. A later job may start before an earlier one if that delays no
// reservation.
//
//   - [NewEasy] reserves for the first job that has to wait (Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995).
//   - [NewConservative] reserves for every job when it arrives (Mu'alem and Feitelson, "Utilization, predictability,
//     workloads, and user runtime estimates in scheduling the IBM SP2 with backfilling", TPDS 2001). When a job ends
//     before its estimate, the reservations are moved forward one by one, in order of submission. A reservation is
//     moved back only for want of room: because a job overruns its estimate, or because nodes are lost. So no job
//     starts later than its first reservation if no job overruns and no node is lost.
//
// [Starts] gives the same plan as an estimate of when each pending job starts, as Slurm's squeue --start does.
//
// An [Estimate] chooses the runtime to plan with: the time that the user asked for, the forecast's point, or a quantile
// of the forecast. If forecasts are right, a job overruns its q-quantile, and may delay reservations, with probability
// 1-q.
//
// A job starts on its fastest nodes if it can start there as early as anywhere else. If cycles come at regular
// intervals, reservations start at cycles. The policies never preempt. They use no randomness and no clock but the
// snapshot's.
package backfill

import (
	"context"
	"encoding/binary"
	"math"
	"time"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/place"
)

func appendAll(b []byte, v []float64) []byte {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

// policy is EASY or conservative backfill.
type policy struct {
	name     string
	all      bool // conservative: every job gets a reservation and keeps it
	estimate Estimate

	units   units
	profile profile
	placer  place.Placer
	holders place.Holders
	kept    map[string]*reservation
}

// reservation is the time and place at which a job is to start.
type reservation struct {
	job    *sched.Job
	start  time.Time
	length int64
	place  *where
	shares []share

	at    int64 // start in nanoseconds from the snapshot's Now
	valid bool  // it is in the profile
}

// NewEasy returns EASY backfill. The first job that has to wait gets a reservation, and later jobs start if they do not
// delay it. The policy is for one goroutine at a time.
func NewEasy(e Estimate) sched.Policy { return &policy{name: "easy", estimate: e} }

// NewConservative returns conservative backfill. Every job gets a reservation, and later jobs start if they delay none.
// The policy remembers reservations between plans; it is for one goroutine at a time.
func NewConservative(e Estimate) sched.Policy {
	return &policy{name: "conservative", all: true, estimate: e, kept: map[string]*reservation{}}
}

// Name is "easy" or "conservative".
func (p *policy) Name() string { return p.name }

// Plan starts what may start now, and gives the start of each reservation.
func (p *policy) Plan(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := sched.CheckSnapshot(s); err != nil {
		return nil, err
	}
	t := turn{policy: p, snap: s, plan: &sched.Plan{}}
	changed := p.begin(s)
	t.placer.Reset(s)
	if p.all {
		t.conservative(changed)
	} else {
		t.easy()
	}
	t.explain()
	return t.plan, nil
}

// Starts estimates when each pending job of the snapshot would start, in the snapshot's order. It reserves for one job
// after another, as a batch system's planner does. The zero time means that the job could never start. The error is
// that of [sched.CheckSnapshot].
func Starts(s *sched.Snapshot, e Estimate) ([]time.Time, error) {
	if err := sched.CheckSnapshot(s); err != nil {
		return nil, err
	}
	p := policy{estimate: e}
	p.begin(s)
	out := make([]time.Time, len(s.Pending))
	for i := range s.Pending {
		pending := &s.Pending[i]
		w := p.units.want(pending.Job)
		if r := p.reserve(pending, &w); r != nil {
			out[i] = s.Now.Add(time.Duration(r.at))
		}
	}
	return out, nil
}

// begin makes the profile of the running jobs. It reports whether the units have changed.
func (p *policy) begin(s *sched.Snapshot) (changed bool) {
	changed = p.units.renew(s)
	p.profile.reset(s.Nodes, p.units.width, p.units.free(s), int64(s.Cycle))
	for i := range s.Running {
		r := &s.Running[i]
		need, at := s.Nodes.Held(r)
		if need == nil {
			continue // it holds nothing this cluster has
		}
		end := p.estimate.left(r, s.Now, s.Cycle)
		for k, n := range at {
			if n >= 0 {
				p.profile.add(int(p.units.of[n]), end, never, p.units.on(need), r.Nodes[k].Tasks)
			}
		}
	}
	return changed
}

// reserve finds the earliest start of a job and takes what the job needs then. It returns nil if there is none.
func (p *policy) reserve(of *sched.Pending, w *want) *reservation {
	if w.err != nil || w.required.holds < of.Job.Tasks {
		return nil
	}
	r := &reservation{job: of.Job}
	limit := never
	length := p.estimate.of(of.Job, &of.Prediction)
	for _, at := range w.levels {
		p.try(r, at.where, slowed(length, at.speed), limit)
		if r.valid {
			limit = r.at
		}
	}
	if !r.valid {
		return nil
	}
	r.shares = p.profile.fill(r.place.units, r.place.demand, r.job.Tasks, r.at, r.length)
	p.profile.take(r.shares, r.place.demand, r.at, r.length)
	return r
}

// try moves a reservation to a place where it can start before the limit.
func (p *policy) try(r *reservation, at *where, length, limit int64) {
	start, ok := p.profile.earliest(at.units, at.demand, r.job.Tasks, length, limit)
	if ok {
		r.at, r.length, r.place, r.valid = start, length, at, true
	}
}

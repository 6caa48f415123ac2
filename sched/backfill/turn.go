package backfill

import (
	"cmp"
	"slices"
	"time"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/place"
)

// turn is a plan in the making.
type turn struct {
	*policy
	snap    *sched.Snapshot
	plan    *sched.Plan
	waits   []waiting
	started []*sched.Job
	at      []int  // of started, in plan.Decisions
	head    string // the job that EASY has reserved for
}

// waiting is a decision whose reason is to name the jobs that hold the room.
type waiting struct {
	decision int // or -1 for the plan's rest
	place    *where
}

// easy starts jobs in order until one has to wait, reserves for that job, and then starts later jobs that fit beside
// the reservation.
func (t *turn) easy() {
	for i := range t.snap.Pending {
		p := &t.snap.Pending[i]
		w := t.units.want(p.Job)
		switch {
		case t.refuse(p.Job, &w), t.startNow(p, &w):
		case t.head == "":
			if r := t.reserve(p, &w); r != nil {
				t.head = p.Job.ID
				t.wait(r)
			} else {
				t.queue(w.required)
			}
		default:
			t.queue(w.required)
		}
	}
}

// startNow starts a job if it fits from now to its estimated end, on the fastest nodes where it does.
func (t *turn) startNow(p *sched.Pending, w *want) bool {
	full := t.estimate.of(p.Job, &p.Prediction)
	for _, level := range w.levels {
		at, length := level.where, slowed(full, level.speed)
		if at.bound < p.Job.Tasks {
			continue
		}
		room := 0
		for _, u := range at.units {
			room += min(t.profile.room(int(u), at.demand, 0, 1), p.Job.Tasks)
		}
		if room < p.Job.Tasks {
			at.bound = room // within a plan the free room only shrinks
			continue
		}
		shares := t.profile.fill(at.units, at.demand, p.Job.Tasks, 0, length)
		if shares == nil {
			continue
		}
		t.profile.take(shares, at.demand, 0, length)
		t.start(p.Job, at, shares)
		return true
	}
	return false
}

// start places a gang on nodes of the units that its shares name.
func (t *turn) start(j *sched.Job, at *where, shares []share) {
	var nodes []sched.NodeTasks
	for _, s := range shares {
		placed, ok := t.placer.Place(at.need, t.units.cells[s.unit], s.tasks)
		if !ok { // not reached: the profile and the placer count alike
			continue
		}
		nodes = append(nodes, placed...)
	}
	t.started, t.at = append(t.started, j), append(t.at, len(t.plan.Decisions))
	t.plan.Stats.Options++
	t.plan.Decisions = append(t.plan.Decisions, sched.Decision{Job: j.ID, Kind: sched.Start, Nodes: nodes,
		Reason: sched.Reason{Code: sched.ReasonPlaced, Set: at.name, Probability: sched.UnknownProbability}})
}

// refuse defers a job that even empty nodes cannot hold.
func (t *turn) refuse(j *sched.Job, w *want) bool {
	code := sched.ReasonTooLarge
	switch {
	case w.err != nil:
		code = sched.ReasonNoFeasibleSet
	case w.required.holds >= j.Tasks:
		return false
	}
	t.plan.Decisions = append(t.plan.Decisions, sched.Decision{Job: j.ID, Reason: sched.Reason{Code: code,
		Set: w.required.name, Obstacle: t.snap.Nodes.Obstacle(j, j.Required), Probability: sched.UnknownProbability}})
	return true
}

// wait defers a job to the start of its reservation.
func (t *turn) wait(r *reservation) {
	t.plan.Stats.Options++
	t.waits = append(t.waits, waiting{len(t.plan.Decisions), r.place})
	t.plan.Decisions = append(t.plan.Decisions, sched.Decision{Job: r.job.ID, Start: t.snap.Now.Add(time.Duration(r.at)),
		Reason: sched.Reason{Code: sched.ReasonWaiting, Set: r.place.name, Probability: sched.UnknownProbability}})
}

// queue defers a job without a reservation. All such jobs share one reason.
func (t *turn) queue(at *where) {
	if t.plan.Rest.Code == "" {
		t.plan.Rest = sched.Reason{Code: sched.ReasonWaiting, Probability: sched.UnknownProbability}
		if t.head != "" {
			t.plan.Rest.Ahead = []string{t.head}
		}
		t.waits = append(t.waits, waiting{-1, at})
	}
}

// conservative restores the reservations, moves them forward, and adds those of new jobs.
func (t *turn) conservative(changed bool) {
	wants := make([]want, len(t.snap.Pending))
	now := make([]*reservation, len(t.snap.Pending))
	for i := range wants {
		p := &t.snap.Pending[i]
		wants[i] = t.units.want(p.Job)
		if r := t.kept[p.Job.ID]; r != nil && r.job == p.Job && r.place != nil {
			now[i] = r
		}
	}
	t.restore(now, wants, changed)
	for i, r := range now {
		if r != nil && !r.valid {
			now[i] = t.reserve(&t.snap.Pending[i], &wants[i])
		}
	}
	for i, r := range now {
		if r != nil && r.at > 0 {
			now[i] = t.forward(&t.snap.Pending[i], &wants[i], r)
		}
	}
	clear(t.kept)
	for i, r := range now {
		p := &t.snap.Pending[i]
		if t.refuse(p.Job, &wants[i]) {
			continue
		}
		if r == nil {
			r = t.reserve(p, &wants[i])
		}
		t.decide(p, &wants[i], r)
	}
}

// decide starts a job whose reservation is for now, and keeps every other reservation.
func (t *turn) decide(p *sched.Pending, w *want, r *reservation) {
	switch {
	case r == nil: // no start within 200 years
		t.queue(w.required)
	case r.at == 0:
		t.start(p.Job, r.place, r.shares)
		t.kept[p.Job.ID] = r // in case the start fails
		r.start = t.snap.Now
	default:
		t.wait(r)
		t.kept[p.Job.ID] = r
		r.start = t.snap.Now.Add(time.Duration(r.at))
	}
}

// restore puts reservations back into the profile in order of their starts. Those without room become invalid.
func (t *turn) restore(kept []*reservation, wants []want, changed bool) {
	order := make([]int, 0, len(kept))
	for i, r := range kept {
		if r != nil {
			r.at = t.profile.align(max(0, int64(r.start.Sub(t.snap.Now))))
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(kept[a].at, kept[b].at) })
	for _, i := range order {
		r, w, p := kept[i], &wants[i], &t.snap.Pending[i]
		if w.err != nil || w.required.holds < r.job.Tasks {
			r.valid = false
			continue
		}
		level := w.levels[len(w.levels)-1]
		for _, l := range w.levels {
			if r.place.name == l.name {
				level = l
				break
			}
		}
		length := slowed(t.estimate.of(p.Job, &p.Prediction), level.speed)
		r.place, r.length = level.where, length
		if changed {
			r.shares = t.profile.fill(r.place.units, r.place.demand, r.job.Tasks, r.at, length)
			r.valid = r.shares != nil
		} else {
			r.valid = t.profile.holds(r.shares, r.place.demand, r.at, length)
		}
		if r.valid {
			t.profile.take(r.shares, r.place.demand, r.at, length)
		}
	}
}

// forward moves a reservation to the earliest start that is possible now.
func (t *turn) forward(p *sched.Pending, w *want, r *reservation) *reservation {
	t.profile.give(r.shares, r.place.demand, r.at, r.length)
	if better := t.reserve(p, w); better != nil && better.at <= r.at {
		return better
	} else if better != nil {
		t.profile.give(better.shares, better.place.demand, better.at, better.length)
	}
	t.profile.take(r.shares, r.place.demand, r.at, r.length)
	return r
}

// explain names the jobs that hold the room which others wait for. It does so once for each place.
func (t *turn) explain() {
	if len(t.waits) == 0 {
		return
	}
	t.holders.Reset(t.snap, &t.placer, nil)
	for i, j := range t.started {
		t.holders.Start(j, t.plan.Decisions[t.at[i]].Nodes)
	}
	found := map[*where]sched.Reason{}
	for _, w := range t.waits {
		r, known := found[w.place]
		if !known {
			r.Ahead, r.More = t.holders.Of(w.place.need, w.place.nodes)
			found[w.place] = r
		}
		to := &t.plan.Rest
		if w.decision >= 0 {
			to = &t.plan.Decisions[w.decision].Reason
		}
		if len(to.Ahead) > 0 {
			place.Behind(to, r.Ahead, r.More)
		} else {
			to.Ahead, to.More = r.Ahead, r.More
		}
	}
}

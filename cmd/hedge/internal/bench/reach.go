package bench

import (
	"math"
	"time"

	"github.com/hedgesched/hedge/solver"
)

// Reach is how long an engine took to a plan as good as the best that the others had in the end. As good is any that is
// worth at most Spec.Gap less, relatively, for all engines alike: each may stop there, so that to ask for more would be
// to ask for what none is to look for.
type Reach struct {
	// Engine is the one whose time it is. Rival is the one of the others that had Target, the best plan's value of them
	// all, first; "" where none had a plan.
	Engine string   `json:"engine"`
	Rival  string   `json:"rival"`
	Target *float64 `json:"target"`
	// RivalMS is when Rival first had it, null without one; GivenMS is the time limit, or RivalMS if Rival ended before
	// the limit.
	RivalMS *float64 `json:"rival_ms"`
	GivenMS float64  `json:"given_ms"`
	// MS is when Engine had it, its first plan where no other had one; null if it never did.
	MS *float64 `json:"ms"`
	// Speedup is RivalMS / MS, and SpeedupGiven is GivenMS / MS; null where neither side had a plan. Where one of the
	// times is unknown the time limit stands for it, and Censored says which side's: the quotients are then bounds.
	Speedup      *float64 `json:"speedup"`
	SpeedupGiven *float64 `json:"speedup_given"`
	// Censored is empty, [NoRival] or [NotReached].
	Censored string `json:"censored"`
	// Failed are the others whose runs ended with an error, so that it says nothing of them.
	Failed []string `json:"failed,omitempty"`
}

// ReachSummary sums up the reaches of several problems. Its means are geometric, with bounds in the place of what is
// censored.
type ReachSummary struct {
	Engine string `json:"engine"`
	// Problems are those with a quotient; of them, in NoRival no other engine had a plan, and in NotReached this one was
	// never as good.
	Problems   int `json:"problems"`
	NoRival    int `json:"no_rival"`
	NotReached int `json:"not_reached"`
	// Speedup and SpeedupGiven are null without problems.
	Speedup      *float64 `json:"speedup"`
	SpeedupGiven *float64 `json:"speedup_given"`
}

// Values of Reach.Censored: none of the others had a plan, so that the quotients are lower bounds; or the engine never
// was as good, so that they are upper ones.
const (
	NoRival    = "rivals"
	NotReached = "engine"
)

// rounding is how much less a plan may be worth, relatively, and still count as good as another where no gap is
// allowed.
const rounding = 1e-9

// leastMS keeps quotients finite: nothing is told of in less than a microsecond.
const leastMS = 1e-3

// reach compares spec.Reach with the other engines.
func reach(spec *Spec, runs []Run) *Reach {
	limit := spec.At[len(spec.At)-1]
	r := &Reach{Engine: spec.Reach, GivenMS: ms(limit)}
	target := 0.0
	for i := range runs {
		if runs[i].Engine == spec.Reach {
			continue
		}
		target = max(target, runs[i].last())
		if runs[i].Error != "" {
			r.Failed = append(r.Failed, runs[i].Engine)
		}
	}
	for i := range runs {
		run := &runs[i]
		at := run.since(target * (1 - max(spec.Gap, rounding)))
		switch {
		case at == nil:
		case run.Engine == spec.Reach:
			r.MS = at
		case target > 0 && (r.RivalMS == nil || *at < *r.RivalMS):
			r.Rival, r.RivalMS, r.GivenMS = run.Engine, at, ms(limit)
			if run.Stop == solver.StopOptimal || run.Stop == solver.StopGap || run.Stop == solver.StopWork {
				r.GivenMS = *at
			}
		}
	}
	if target > 0 {
		r.Target = &target
	}
	r.divide(limit)
	return r
}

// last is the value of the last plan, 0 without one.
func (r *Run) last() float64 {
	if o := r.Objective[len(r.Objective)-1]; o != nil {
		return *o
	}
	return 0
}

// since is when a plan worth that much, or any worth more than nothing, was there first; nil if there was none.
func (r *Run) since(value float64) *float64 {
	for i := range r.plans {
		if p := &r.plans[i]; p.Objective > 0 && p.Objective >= value {
			return &p.MS
		}
	}
	return nil
}

// divide fills in the quotients, with the limit for what never came.
func (r *Reach) divide(limit time.Duration) {
	mine, theirs := ms(limit), ms(limit)
	switch {
	case r.MS == nil && r.RivalMS == nil:
		return
	case r.RivalMS == nil:
		r.Censored, mine = NoRival, *r.MS
	case r.MS == nil:
		r.Censored, theirs = NotReached, *r.RivalMS
	default:
		mine, theirs = *r.MS, *r.RivalMS
	}
	mine = max(mine, leastMS)
	first, given := max(theirs, leastMS)/mine, max(r.GivenMS, leastMS)/mine
	r.Speedup, r.SpeedupGiven = &first, &given
}

// Summary sums the problems' reaches up; nil if there are none.
func Summary(problems []Problem) *ReachSummary {
	var s *ReachSummary
	var first, given float64
	for i := range problems {
		r := problems[i].Reach
		if r == nil {
			continue
		}
		if s == nil {
			s = &ReachSummary{Engine: r.Engine}
		}
		if r.Speedup == nil {
			continue
		}
		s.Problems++
		first, given = first+math.Log(*r.Speedup), given+math.Log(*r.SpeedupGiven)
		switch r.Censored {
		case NoRival:
			s.NoRival++
		case NotReached:
			s.NotReached++
		}
	}
	if s == nil || s.Problems == 0 {
		return s
	}
	first, given = math.Exp(first/float64(s.Problems)), math.Exp(given/float64(s.Problems))
	s.Speedup, s.SpeedupGiven = &first, &given
	return s
}

package sched

import (
	"fmt"
	"math"
	"time"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched/ranges"
	"github.com/hedgesched/hedge/sched/usage"
)

// phase is where a job is in its life.
type phase uint8

const (
	pending  phase = iota
	starting       // told to start, not yet confirmed; holds resources and counts as running
	running
	stopping // told to stop, not yet confirmed; holds resources and is not shown to policies
	delayed  // pending, but not shown to policies before its time
	held     // pending, but not shown to policies before its parents have finished
)

// tracked is a job the loop knows.
type tracked struct {
	job        *Job
	prediction predict.Prediction  // of what is left to do
	whole      *predict.Prediction // of a job that has kept some work: as it was made
	done       time.Duration       // of the work, at full speed, that is kept
	*stay                          // where it runs; of a job that has not run, the state's nowhere
	notBefore  time.Time           // of a job that is delayed
	attained   float64             // the most CPU time that a task has had in a run that was lost, in core-seconds
	demand     []float64           // over needs; nil where no node offers it
	needs      *NodeSet            // what demand is of; nil where it is to be worked out
	checked    uint64              // the check in which a decision on it was last seen
	waits      int                 // the number of its parents that have not finished
	speed      float64             // of a job that runs; see Running.Speed
	phase      phase
	dated      bool // an event has told when it started
	unsure     bool // done is a guess, since nobody has told when an earlier run started
	gone       bool
	shown      bool // the last snapshot had it among the pending
}

// stay is where and since when a job runs. Of many jobs that wait it is one, so that they take less memory.
type stay struct {
	started  time.Time
	nodes    []NodeTasks
	ranges   ranges.Set // in place of nodes, by index in inRanges
	inRanges *NodeSet
	leaving  []NodeTasks  // tasks that were told to stop while the others go on; they hold resources
	use      []usage.Task // as last measured
	at       []int32      // of each of nodes, its index in on, -1 where it is gone
	on       *NodeSet     // what at is of; nil where it is to be worked out
}

// fullSpeed is in how many seconds the job would have run at full speed what it ran in. It is
// rounded to the nanosecond, which undoes the rounding of a longer runtime, but not to 0.
func (j *tracked) fullSpeed(ran time.Duration) float64 {
	if s := Stretch(j.speed); s > 1 {
		ran = max(min(1, ran), time.Duration(math.Round(float64(ran)/s)))
	}
	return ran.Seconds()
}

// keep notes how much of the work of a job that was stopped need not be done again, and what is to be expected of the
// rest.
func (j *tracked) keep(e *Event, now time.Time) {
	if !j.job.Checkpoint {
		return
	}
	until := now
	if !e.Time.IsZero() {
		until = wall(e.Time)
	}
	whole := j.prediction
	switch {
	case j.done == 0:
	case j.whole == nil: // it was stopped before it was forecast
		whole = predict.Prediction{}
	default:
		whole = *j.whole
	}
	if e.Done != 0 {
		j.done, j.unsure = max(0, e.Done), false
	} else {
		j.unsure = j.unsure || !j.dated
		j.done += time.Duration(math.Round(j.fullSpeed(max(0, until.Sub(j.started))) * float64(time.Second)))
	}
	j.prediction = j.foresee(whole)
}

// ran is for how long a job ran that has finished: its Runtime or, without one, the time between the events Started and
// Finished, where both have told theirs. It is longer than 0; the error says why it is not known.
func (j *tracked) ran(e *Event) (time.Duration, error) {
	switch {
	case e.Runtime < 0:
		return 0, bad(e, fmt.Sprintf("nothing learnt: Runtime is %v, which is negative", e.Runtime))
	case e.Runtime > 0:
		return e.Runtime, nil
	case !j.dated:
		return 0, bad(e, "nothing learnt: it has no Runtime, and no event Started has told since when the job ran")
	case e.Time.IsZero():
		return 0, bad(e, "nothing learnt: it has no Runtime and no Time")
	case j.unsure:
		return 0, bad(e, "nothing learnt: it has no Runtime, and how much the job had done before it was stopped is "+
			"not known")
	}
	ran := wall(e.Time).Sub(j.started)
	if ran <= 0 {
		return 0, bad(e, fmt.Sprintf("nothing learnt: it has no Runtime, and its Time is %v after the start", ran))
	}
	return ran, nil
}

// foresee takes a forecast of the whole job.
func (j *tracked) foresee(p predict.Prediction) predict.Prediction {
	if j.done > 0 {
		whole := p
		j.whole = &whole
		p = rest(p, j.done.Seconds())
	}
	return p
}

// rest is the forecast of what is left of a job that has done some seconds of its work. A forecast
// that cannot be conditioned, of a type that package dist does not know, stays as it is.
func rest(p predict.Prediction, done float64) predict.Prediction {
	d, err := dist.Condition(p.Dist, done)
	if err != nil {
		return p
	}
	if d, err = dist.Shift(d, -done); err != nil {
		return p
	}
	p.Dist, p.Point = d, max(0, p.Point-done)
	return p
}

// need is what one task holds of the cluster's nodes; nil if none offers it. It is worked out once a cluster.
func (j *tracked) need(of *NodeSet) []float64 {
	if j.needs != of {
		j.needs = of
		j.demand, _ = of.Demand(j.job.Demand) // of an error: nil
	}
	return j.demand
}

// places are the indexes of the job's nodes. They are worked out once a cluster and move.
func (j *tracked) places(of *NodeSet) []int32 {
	if j.on == of {
		return j.at
	}
	j.on = of
	j.at = of.Indexes(j.at[:0], j.nodes)
	return j.at
}

// name has the job's nodes named, since what follows counts them one by one or by other numbers.
func (j *tracked) name() {
	if len(j.ranges) > 0 {
		j.nodes, j.on = j.inRanges.Named(j.ranges), nil
		j.ranges, j.inRanges = nil, nil
	}
}

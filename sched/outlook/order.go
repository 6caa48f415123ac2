package outlook

import (
	"math"
)

// discipline is what happens when the first of the queue does not fit.
type discipline uint8

const (
	greedy    discipline = iota // it is passed over
	strict                      // all wait for it
	reserving                   // others start if they do not delay it
)

// The orders in which a world goes through the queue.
const (
	bySubmission  = iota // strictly
	byReservation        // of the first that waits
	passing              // by submission, passing over what does not fit
	byPriority
	byDeadline
	byRuntime
	byWorth // what the job is worth if it starts now, for each resource-second
	byPlan  // as the plan says, the rest by worth
	orders
)

var disciplines = [orders]discipline{bySubmission: strict, byReservation: reserving}

// traits are what orders look at.
type traits struct {
	submitted float64 // seconds since the origin
	priority  int
	deadline  float64 // seconds since the origin; +Inf without one
	mean      float64
	worth     float64
	planned   float64 // seconds from now; +Inf if not planned
}

// key is a job's place in an order, least first; ties are by submission.
func (t *traits) key(order int) float64 {
	switch order {
	case byPriority:
		return -float64(t.priority)
	case byDeadline:
		return t.deadline
	case byRuntime:
		return t.mean
	case byWorth:
		return -t.worth
	case byPlan:
		if !math.IsInf(t.planned, 1) {
			return -1e300 * (1 - t.planned/(1+t.planned))
		}
		return -t.worth
	default:
		return t.submitted
	}
}

// scores tell which order has told starts best.
type scores struct {
	error, weight [orders]float64
}

// fading is the weight of an error after each later one.
const fading = 0.99

// learn takes in what an order has said of a job that has now waited for so long.
func (s *scores) learn(t *telling, waited, unit float64) {
	for o, m := range t.orders {
		if math.IsNaN(m) {
			continue
		}
		s.error[o] = float64(s.error[o]*fading) + math.Abs(logRatio(waited, m, unit))
		s.weight[o] = float64(s.weight[o]*fading) + 1
	}
}

// best is the order with the least mean error. The prior is byPlan.
func (s *scores) best() int {
	best, least := byPlan, math.Inf(1)
	for _, o := range [...]int{byPlan, byWorth, byReservation, passing, bySubmission, byPriority, byDeadline, byRuntime} {
		const prior = 5 // jobs with an error of 1
		e := (s.error[o] + prior) / (s.weight[o] + prior)
		if e < least {
			best, least = o, e
		}
	}
	return best
}

// longest bounds a ratio where something never happens.
const longest = 1e9

// logRatio is the logarithm of a true wait over an estimated one. A unit is added to both.
func logRatio(waited, estimated, unit float64) float64 {
	return math.Log((min(waited, longest) + unit) / (min(estimated, longest) + unit))
}

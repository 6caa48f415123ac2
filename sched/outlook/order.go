package outlook

import (
	"math"
)

// discipline is what happens when the first job of the queue does not fit.
type discipline uint8

const (
	greedy    discipline = iota // the job is passed over
	strict                      // all others wait for it
	reserving                   // the job gets a reservation that others must not delay
)

// The orders in which a world goes through the queue.
const (
	bySubmission  = iota // strict
	byReservation        // by submission, with a reservation for the first that waits
	passing              // by submission, passing over what does not fit
	byPriority
	byDeadline
	byRuntime
	byWorth // worth if started now, per resource-second, highest first
	byPlan  // by planned start, the rest by worth
	orders
)

var disciplines = [orders]discipline{bySubmission: strict, byReservation: reserving}

// traits are what the orders sort by.
type traits struct {
	submitted float64 // seconds since the origin
	priority  int
	deadline  float64 // seconds since the origin; +Inf without one
	mean      float64
	worth     float64
	planned   float64 // seconds from now; +Inf if not planned
}

// key is a job's sort key in an order, ascending; ties are by submission.
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

// scores tell which order has estimated starts best.
type scores struct {
	error, weight [orders]float64
}

// fading is the factor by which each new error reduces the weight of the older ones.
const fading = 0.99

// learn compares the estimates of the orders with a job's true wait.
func (s *scores) learn(t *telling, waited, unit float64) {
	for o, m := range t.orders {
		if math.IsNaN(m) {
			continue
		}
		s.error[o] = float64(s.error[o]*fading) + math.Abs(logRatio(waited, m, unit))
		s.weight[o] = float64(s.weight[o]*fading) + 1
	}
}

// best is the order with the least mean error. Ties, as before anything is learnt, go to byPlan.
func (s *scores) best() int {
	best, least := byPlan, math.Inf(1)
	for _, o := range [...]int{byPlan, byWorth, byReservation, passing, bySubmission, byPriority, byDeadline, byRuntime} {
		const prior = 5 // imagined jobs with an error of 1
		e := (s.error[o] + prior) / (s.weight[o] + prior)
		if e < least {
			best, least = o, e
		}
	}
	return best
}

// longest limits waits in a ratio, in seconds, since some never end.
const longest = 1e9

// logRatio is the logarithm of the true wait over the estimated one, with unit added to both.
func logRatio(waited, estimated, unit float64) float64 {
	return math.Log((min(waited, longest) + unit) / (min(estimated, longest) + unit))
}

package place

import (
	"math"
	"time"
)

// slotLengths are the slot lengths that PlanAhead chooses from.
var slotLengths = [...]time.Duration{
	time.Second, 1500 * time.Millisecond, 2 * time.Second, 3 * time.Second, 5 * time.Second,
	7500 * time.Millisecond, 10 * time.Second, 15 * time.Second, 20 * time.Second, 30 * time.Second,
	45 * time.Second, time.Minute, 90 * time.Second, 2 * time.Minute, 3 * time.Minute, 5 * time.Minute,
	450 * time.Second, 10 * time.Minute, 15 * time.Minute, 20 * time.Minute, 30 * time.Minute,
	45 * time.Minute, time.Hour, 90 * time.Minute, 2 * time.Hour, 3 * time.Hour, 4 * time.Hour,
	6 * time.Hour, 8 * time.Hour, 12 * time.Hour, 18 * time.Hour, 24 * time.Hour,
}

// planQuantile is the share of the spans that the window covers.
const planQuantile = 0.85

// PlanAhead suggests a plan-ahead window and a slot length for jobs with these spans. A span is the time from a job's
// submission to its deadline or, without a deadline, its runtime. The window covers the 85th percentile of the spans,
// so that most jobs have an option for every start in time. The slot is a round length that divides the window into 12
// to 20 slots, which keeps the problem small. The window is at least 12 s and at most 20 days. The spans are reordered.
func PlanAhead(spans []time.Duration) (window, slot time.Duration) {
	slot = slotLengths[0]
	if len(spans) == 0 {
		return 12 * slot, slot
	}
	want := nth(spans, int(math.Ceil(planQuantile*float64(len(spans))))-1)
	for _, l := range slotLengths {
		if 12*l <= want {
			slot = l
		}
	}
	n := min((want-1)/slot+1, 20)
	return max(n, 12) * slot, slot
}

// nth returns the element that would be at index k if the spans were sorted. It reorders them. It takes linear time
// except on adversarial input.
func nth(s []time.Duration, k int) time.Duration {
	for {
		pivot := s[len(s)/2]
		lo, hi := 0, len(s) // s[:lo] is less than the pivot, s[hi:] is more
		for i := 0; i < hi; {
			switch {
			case s[i] < pivot:
				s[i], s[lo] = s[lo], s[i]
				lo, i = lo+1, i+1
			case s[i] > pivot:
				hi--
				s[i], s[hi] = s[hi], s[i]
			default:
				i++
			}
		}
		switch {
		case k < lo:
			s = s[:lo]
		case k >= hi:
			s, k = s[hi:], k-hi
		default:
			return pivot
		}
	}
}

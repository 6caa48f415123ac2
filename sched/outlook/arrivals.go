package outlook

import (
	"math"

	"github.com/hedgesched/hedge/dist"
)

// remembered is the number of latest arrivals that stand for those to come.
const remembered = 256

// arrival is a job that has arrived, as a model of one that may arrive.
type arrival struct {
	at       float64 // seconds since the origin
	traits   traits
	deadline float64 // seconds after arrival; +Inf without one
	runtime  dist.Distribution
	size     []float64
}

// arrivals are the latest arrivals.
type arrivals struct {
	ring []arrival
	next int
}

func (a *arrivals) add(j *arrival) {
	if len(a.ring) < remembered {
		a.ring = append(a.ring, *j)
		return
	}
	a.ring[a.next] = *j
	a.next = (a.next + 1) % remembered
}

// few is the number of arrivals below which none are expected.
const few = 10

// quiet is the number of mean gaps without an arrival after which gaps are stretched.
const quiet = 5

// replay returns the source of future arrivals that [world.run] takes: the latest arrivals in order, starting at a
// random one. All gaps between them are longer or shorter by a factor of the world, since the load may change.
func (a *arrivals) replay(
	now, giveUp float64, number int, hash uint64, most, order int,
) func() (float64, entry, bool) {
	n := len(a.ring)
	if n < few {
		return func() (float64, entry, bool) { return 0, entry{}, false }
	}
	oldest, latest := &a.ring[a.next%n], &a.ring[(a.next+n-1)%n]
	mean := (latest.at - oldest.at) / float64(n-1)
	stretch := 1.0
	if mean > 0 {
		stretch = max(1, (now-latest.at)/(quiet*mean))
	}
	stretch *= math.Exp2(float64(2*spaced(number, 0.7548776662466927)) - 1)
	i := int(hash % uint64(n))
	t := -float64(uniform(mix(hash)) * mean * stretch)
	count := 0
	return func() (float64, entry, bool) {
		if count >= most || mean <= 0 {
			return 0, entry{}, false
		}
		before := &a.ring[(a.next+i)%n]
		i = (i + 1) % n
		j := &a.ring[(a.next+i)%n]
		gap := mean
		if i > 0 {
			gap = max(0, j.at-before.at)
		}
		t += float64(gap * stretch)
		count++
		hash = mix(hash)
		e := entry{at: -1, seq: math.MaxInt32 - int32(most-count), size: j.size, until: math.Inf(1),
			runtime: j.runtime.Quantile(draw(hash, number))}
		as := j.traits
		as.submitted = now + t
		as.deadline = as.submitted + j.deadline
		as.planned = math.Inf(1)
		e.key = as.key(order)
		if !math.IsInf(j.deadline, 1) && giveUp > 0 {
			e.until = t + j.deadline
		}
		return max(t, 0), e, true
	}
}

// mix is a step of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// uniform is above 0 and below 1.
func uniform(hash uint64) float64 { return (float64(hash>>12) + 0.5) / (1 << 52) }

// alike is the probability that a runtime is drawn at its world's quantile. Forecasts err together: a user's jobs are
// all longer than before, or a day is busy. If all were drawn on their own, their errors would cancel out, and the
// worlds would be too much alike.
const alike = 0.6

// draw is the quantile of a job's runtime in a world: the world's own, or one of the job alone.
func draw(hash uint64, number int) float64 {
	if uniform(mix(hash^alone)) < alike {
		return spaced(number, 0.6180339887498949)
	}
	return uniform(hash)
}

// alone makes the choice independent of the value drawn.
const alone = 0xabcdef

// spaced spreads the worlds evenly over 0 to 1. World 0 is at a half.
func spaced(number int, by float64) float64 {
	x := 0.5 + float64(float64(number)*by)
	return x - math.Floor(x)
}

// hashOf is FNV-1a.
func hashOf(id string, seed uint64) uint64 {
	h := uint64(14695981039346656037) ^ seed
	for i := range len(id) {
		h = (h ^ uint64(id[i])) * 1099511628211
	}
	return h
}

package predict

import (
	"math"
	"sync/atomic"

	"github.com/hedgesched/hedge/dist"
)

// The four point estimators of a feature value, as [Expert].Estimator names them.
const (
	// EstimatorMean is the mean of all runtimes.
	EstimatorMean = "mean"
	// EstimatorMedian is the median of the recent runtimes.
	EstimatorMedian = "median"
	// EstimatorRolling is the exponentially weighted mean.
	EstimatorRolling = "rolling"
	// EstimatorRecent is the mean of the recent runtimes.
	EstimatorRecent = "recent"
)

const numEstimators = 4

var estimatorNames = [numEstimators]string{EstimatorMean, EstimatorMedian, EstimatorRolling, EstimatorRecent}

// entry is the history of one feature value. Its memory is bounded: options.Recent values, one sketch and a
// few sums. Entries live in slabs and are linked by index in order of last use.
type entry struct {
	key    string
	n      uint64
	est    [numEstimators]float64 // what each estimator says now
	err    [numEstimators]float64 // sum of |estimate - actual|, forgotten at the rate of options.Forget
	act    float64                // sum of actuals over the same predictions
	ring   []float64              // the recent values; ring[head] is the oldest once full
	head   int
	sketch *dist.Sketch          // nil while the ring still holds every value
	cells  atomic.Pointer[cells] // of the sketch, made when first asked for; nil when stale
	prev   int32
	next   int32
}

const (
	// entryBytes is what an entry takes at least: itself, and its place in the table's index and list.
	entryBytes = 320
	// binBytes is what a bin of a sketch takes.
	binBytes = 32
)

// size is about how many bytes the entry takes. It is not below what it takes.
func (e *entry) size() int64 {
	n := entryBytes + int64(len(e.key)) + 8*int64(cap(e.ring))
	if e.sketch != nil {
		n += 64 + binBytes*2*int64(e.sketch.Bins()+1) + 8*int64(len(cells{}))
	}
	return n
}

// reset makes the entry a new one.
func (e *entry) reset(key string) {
	e.key, e.n, e.act, e.head = key, 0, 0, 0
	e.est, e.err = [numEstimators]float64{}, [numEstimators]float64{}
	e.ring, e.sketch = nil, nil
	e.cells.Store(nil)
}

// observe scores the estimators by what they said before x, then learns x. Of an x that is a lower bound it learns what
// the recent values above it are on average, and no estimate above it is wrong.
func (e *entry) observe(x float64, atLeast bool, o *HistoryOptions, scratch []float64) error {
	bound := x
	if atLeast {
		x = e.above(x)
	}
	if err := e.learn(x, o); err != nil {
		return err
	}
	if e.n > 0 {
		for k := range e.err {
			off := math.Abs(e.est[k] - x)
			if atLeast {
				off = max(0, bound-e.est[k])
			}
			e.err[k] = float64(e.err[k]*o.Forget) + off
		}
		e.act = float64(e.act*o.Forget) + x
	}
	e.n++
	e.estimate(x, o, scratch)
	if e.sketch != nil {
		e.cells.Store(nil)
	}
	return nil
}

// above is the mean of the recent values that are larger than x; x itself where none is.
func (e *entry) above(x float64) float64 {
	mean, n := 0.0, 0.0
	for _, v := range e.ring {
		if v > x {
			n++
			mean += (v - mean) / n
		}
	}
	return max(x, mean)
}

// learn puts x into the ring and, once the ring no longer holds everything, the sketch.
func (e *entry) learn(x float64, o *HistoryOptions) error {
	if len(e.ring) < o.Recent {
		if len(e.ring) == cap(e.ring) {
			e.ring = append(make([]float64, 0, min(o.Recent, max(1, 2*len(e.ring)))), e.ring...)
		}
		e.ring = append(e.ring, x)
		return nil
	}
	if !o.RecentOnly {
		if e.sketch == nil {
			s, err := sketchOf(e.ring, e.head, o.Bins)
			if err != nil {
				return err
			}
			e.sketch = s
		}
		if err := e.sketch.Add(x); err != nil {
			return err
		}
	}
	e.ring[e.head] = x
	e.head = (e.head + 1) % len(e.ring)
	return nil
}

// estimate refreshes the estimators after x was learnt.
func (e *entry) estimate(x float64, o *HistoryOptions, scratch []float64) {
	sorted := append(scratch[:0], e.ring...)
	insertionSort(sorted)
	m := len(sorted)
	recent := 0.0
	for _, v := range sorted {
		recent += v / float64(m)
	}
	median := sorted[m/2]
	if m%2 == 0 {
		median = sorted[m/2-1] + float64((sorted[m/2]-sorted[m/2-1])/2)
	}
	rolling := x
	if e.n > 1 {
		rolling = float64(o.Alpha*x) + float64((1-o.Alpha)*e.est[2])
	}
	mean := e.est[0] + (x-e.est[0])/float64(e.n)
	e.est = [numEstimators]float64{mean, median, rolling, recent}
}

// nmae is the normalised mean absolute error of an estimator so far: +Inf
// before the first scored prediction.
func (e *entry) nmae(k int) float64 {
	switch {
	case e.n < 2:
		return math.Inf(1)
	case e.err[k] == 0:
		return 0
	case e.act == 0:
		return math.Inf(1)
	}
	return e.err[k] / e.act
}

// sketchOf feeds a ring, oldest value first, to a new sketch.
func sketchOf(ring []float64, head, bins int) (*dist.Sketch, error) {
	s := dist.NewSketch(bins)
	for i := range ring {
		if err := s.Add(ring[(head+i)%len(ring)]); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func insertionSort(x []float64) {
	for i := 1; i < len(x); i++ {
		v, j := x[i], i
		for ; j > 0 && x[j-1] > v; j-- {
			x[j] = x[j-1]
		}
		x[j] = v
	}
}

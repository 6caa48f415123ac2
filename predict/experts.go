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
// few sums. Entries live in slabs and are linked by index in order of last use. Most feature values have one sample,
// and of these nothing else is kept: it is what every estimator says.
type entry struct {
	key        string
	past       *past      // nil before the second sample
	only       [1]float64 // the first sample, where past is nil
	hash       uint32     // of the key, as the table's
	prev, next int32
	some       bool // there is a sample
}

// past is what is kept of several samples.
type past struct {
	n      uint64
	est    [numEstimators]float64 // what each estimator says now
	err    [numEstimators]float64 // sum of |estimate - actual|, forgotten at the rate of options.Forget
	act    float64                // sum of actuals over the same predictions
	ring   []float64              // the recent values; ring[head] is the oldest once full
	head   int
	sketch *dist.Sketch          // nil while the ring still holds every value
	cells  atomic.Pointer[cells] // of the sketch, made when first asked for; nil when stale
}

// pastOf is the past of one sample.
func pastOf(x float64) *past {
	return &past{n: 1, est: [numEstimators]float64{x, x, x, x}, ring: []float64{x}}
}

// isOne tells that the past is as pastOf makes it.
func (p *past) isOne() bool {
	one := p.n == 1 && p.act == 0 && p.sketch == nil && len(p.ring) == 1
	for k := 0; one && k < numEstimators; k++ {
		one = p.est[k] == p.ring[0] && p.err[k] == 0
	}
	return one
}

// count is the number of samples.
func (e *entry) count() uint64 {
	switch {
	case e.past != nil:
		return e.past.n
	case e.some:
		return 1
	}
	return 0
}

// estimate is what an estimator says, of an entry with a sample.
func (e *entry) estimate(k int) float64 {
	if e.past == nil {
		return e.only[0]
	}
	return e.past.est[k]
}

// nmae is the normalised mean absolute error of an estimator so far: +Inf before the first scored prediction.
func (e *entry) nmae(k int) float64 {
	if e.past == nil {
		return math.Inf(1)
	}
	return e.past.nmae(k)
}

// recent are the values of the ring, in no order.
func (e *entry) recent() []float64 {
	if e.past == nil {
		return e.only[:e.count()]
	}
	return e.past.ring
}

const (
	// entryBytes is what an entry takes at most but for what follows: itself, its past, and its place in the table's
	// index and list.
	entryBytes = 320
	// binBytes is what a bin of a sketch takes.
	binBytes = 32
)

// size is about how many bytes the entry takes, as if it had a past. It is not below what it takes.
func (e *entry) size() int64 {
	n := entryBytes + int64(len(e.key))
	if e.past == nil {
		return n + 8*int64(e.count())
	}
	n += 8 * int64(cap(e.past.ring))
	if sketch := e.past.sketch; sketch != nil {
		n += 64 + binBytes*2*int64(sketch.Bins()+1) + 8*int64(len(cells{}))
	}
	return n
}

// observe learns x; see past.observe.
func (e *entry) observe(x float64, atLeast bool, o *HistoryOptions, scratch []float64) error {
	if !e.some {
		e.some, e.only[0] = true, x
		return nil
	}
	if e.past == nil {
		e.past = pastOf(e.only[0])
	}
	return e.past.observe(x, atLeast, o, scratch)
}

// observe scores the estimators by what they said before x, then learns x. Of an x that is a lower bound it learns what
// the recent values above it are on average, and no estimate above it is wrong.
func (p *past) observe(x float64, atLeast bool, o *HistoryOptions, scratch []float64) error {
	bound := x
	if atLeast {
		x = p.above(x)
	}
	if err := p.learn(x, o); err != nil {
		return err
	}
	for k := range p.err {
		off := math.Abs(p.est[k] - x)
		if atLeast {
			off = max(0, bound-p.est[k])
		}
		p.err[k] = float64(p.err[k]*o.Forget) + off
	}
	p.act = float64(p.act*o.Forget) + x
	p.n++
	p.estimate(x, o, scratch)
	if p.sketch != nil {
		p.cells.Store(nil)
	}
	return nil
}

// above is the mean of the recent values that are larger than x; x itself where none is.
func (p *past) above(x float64) float64 {
	mean, n := 0.0, 0.0
	for _, v := range p.ring {
		if v > x {
			n++
			mean += (v - mean) / n
		}
	}
	return max(x, mean)
}

// learn puts x into the ring and, once the ring no longer holds everything, the sketch.
func (p *past) learn(x float64, o *HistoryOptions) error {
	if len(p.ring) < o.Recent {
		if len(p.ring) == cap(p.ring) {
			p.ring = append(make([]float64, 0, min(o.Recent, max(1, 2*len(p.ring)))), p.ring...)
		}
		p.ring = append(p.ring, x)
		return nil
	}
	if !o.RecentOnly {
		if p.sketch == nil {
			s, err := sketchOf(p.ring, p.head, o.Bins)
			if err != nil {
				return err
			}
			p.sketch = s
		}
		if err := p.sketch.Add(x); err != nil {
			return err
		}
	}
	p.ring[p.head] = x
	p.head = (p.head + 1) % len(p.ring)
	return nil
}

// estimate refreshes the estimators after x was learnt.
func (p *past) estimate(x float64, o *HistoryOptions, scratch []float64) {
	sorted := append(scratch[:0], p.ring...)
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
	rolling := float64(o.Alpha*x) + float64((1-o.Alpha)*p.est[2])
	mean := p.est[0] + (x-p.est[0])/float64(p.n)
	p.est = [numEstimators]float64{mean, median, rolling, recent}
}

// nmae is +Inf before the first scored prediction.
func (p *past) nmae(k int) float64 {
	switch {
	case p.n < 2:
		return math.Inf(1)
	case p.err[k] == 0:
		return 0
	case p.act == 0:
		return math.Inf(1)
	}
	return p.err[k] / p.act
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

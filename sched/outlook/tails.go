package outlook

import "math"

// tails adapt how far the quantiles are from the median, by how many starts were outside of the intervals told. It is
// adaptive conformal inference (Gibbs and Candès, "Adaptive conformal inference under distribution shift", NeurIPS
// 2021) on the two ends of the 80 % interval. In the long run a tenth of the starts are before it and a tenth after it,
// whatever the policy, the log and the errors of the forecasts, as far as the limits of the widening allow.
//
// A verdict comes as soon as it is certain. That a job starts after its interval is certain when the interval has
// passed, though the job still waits. So a burst of jobs that wait for longer than estimated widens the estimates
// before they have started.
type tails struct{ early, late tail }

// newTails are tails that have learnt nothing. The worlds know neither how wrong the forecasts are together nor how the
// policy departs from its order, so their intervals are widened until starts show how wide they have to be.
func newTails() tails { return tails{early: tail{widening: doubtful}, late: tail{widening: doubtful}} }

// tail is one end. Its widening is a logarithm; 0 leaves the estimate as it is.
type tail struct {
	widening float64
	sum      float64 // of the verdicts of this cycle: 1-miss for a start outside, -miss for one inside
	verdicts int
}

const (
	// miss is the share of starts that belong beyond an end.
	miss = 0.1
	// pace is how far a verdict moves a tail. Half and twice as much make little difference on google and kth.
	pace = 0.1
	// doubtful is the widening before anything is learnt. It was chosen on google and kth, of 0, 0.3 and 0.5.
	doubtful = 0.3
	// narrowest and widest limit the widening.
	narrowest, widest = -1, 2.5
)

func (t *tail) judge(outside bool) {
	t.verdicts++
	t.sum -= miss
	if outside {
		t.sum++
	}
}

// settle takes in the verdicts of a cycle. They are not independent, so that n of them count as √n.
func (t *tail) settle() {
	if t.verdicts == 0 {
		return
	}
	step := pace * t.sum / math.Sqrt(float64(t.verdicts))
	t.widening = min(max(t.widening+step, narrowest), widest)
	t.sum, t.verdicts = 0, 0
}

// started judges an estimate by the start of its job.
func (t *tails) started(told *telling, now float64) {
	t.waits(told, now)
	if !told.judgedEarly {
		t.early.judge(now < told.early)
	}
	if !told.judgedLate {
		t.late.judge(false)
	}
}

// waits judges an estimate of a job that has waited until now, as far as the verdict is certain.
func (t *tails) waits(told *telling, now float64) {
	if !told.judgedEarly && now > told.early {
		told.judgedEarly = true
		t.early.judge(false)
	}
	if !told.judgedLate && now > told.late {
		told.judgedLate = true
		t.late.judge(true)
	}
}

func (t *tails) settle() {
	t.early.settle()
	t.late.settle()
}

// stretch moves the standardised quantiles away from the median, or towards it.
func (t *tails) stretch(z *[levels]float64) {
	early, late, median := math.Exp(t.early.widening), math.Exp(t.late.widening), z[levels/2]
	for l := range z {
		factor := early
		if l > levels/2 {
			factor = late
		}
		z[l] = median + float64((z[l]-median)*factor)
	}
}

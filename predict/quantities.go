package predict

import (
	"math"

	"github.com/hedgesched/hedge/dist"
)

// quantity is the history of something that jobs use.
type quantity struct {
	name    Quantity
	history *History
}

// addUsage forecasts the quantities, and makes the forecasts consistent. The NMAE of the runtime's expert is given.
func (h *History) addUsage(p *Prediction, runtime float64, v *values) {
	of := make(map[Quantity]Prediction, len(h.others))
	scores := make(map[Quantity]float64, len(h.others))
	for _, q := range h.others {
		if f, score := q.history.predict(v); f.Samples > 0 {
			of[q.name], scores[q.name] = f, score
		}
	}
	cpu, hasCPU := of[CPU]
	work, hasWork := of[CPUTime]
	if hasCPU && hasWork && p.Samples > 0 {
		switch worst := max(runtime, scores[CPU], scores[CPUTime]); worst { // of equal ones the less predictable by nature
		case runtime:
			p.scale(work.Point, cpu.Point*p.Point)
		case scores[CPU]:
			cpu.scale(work.Point, cpu.Point*p.Point)
		default:
			work.scale(cpu.Point*p.Point, work.Point)
		}
		of[CPU], of[CPUTime] = cpu, work
	}
	if len(of) > 0 {
		p.Usage = NewUsage(of)
	}
}

// scale multiplies a forecast by a ratio, unless that is no number above 0 or takes it out of range.
func (p *Prediction) scale(by, over float64) {
	ratio := by / over
	if !(ratio > 0) || math.IsInf(ratio, 1) || !isRuntime(p.Point*ratio) {
		return
	}
	d, err := dist.Scale(p.Dist, ratio)
	if err != nil {
		return
	}
	p.Dist, p.Point = d, p.Point*ratio
}

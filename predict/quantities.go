package predict

import (
	"math"

	"github.com/hedgesched/hedge/dist"
)

// quantity is a quantity that jobs use, and its history.
type quantity struct {
	name    Quantity
	history *History
}

// addUsage forecasts the quantities. Then it makes work = CPU · runtime hold for the points, by scaling the forecast
// whose expert has the largest NMAE. Runtime is the NMAE of the runtime's expert.
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
		switch worst := max(runtime, scores[CPU], scores[CPUTime]); worst { // ties: the naturally less predictable first
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

// scale multiplies a forecast by the ratio by/over. It does nothing if the ratio is not finite and above 0, or if the
// result is out of range.
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

package profile

import (
	"cmp"
	"math"
	"slices"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"

	"github.com/hedgesched/hedge/cmd/hedge/internal/stats"
)

// crpsLevels is the number of equally spaced quantiles over which the continuous ranked
// probability score, twice the integral of the pinball loss over levels, is summed.
const crpsLevels = 50

var coverages = [...]struct {
	name  string
	share float64
}{{"50", .5}, {"80", .8}, {"95", .95}}

// score gathers one predictor's errors.
type score struct {
	n, noHistory, within int
	ape, us              []float64
	absolute, actual     float64
	pinball              [9]float64
	crps                 float64
	covered              [len(coverages)]int
	histogram            [21]int
	chosen               map[string]int
	expert               map[Estimate]*expertScore
}

type expertScore struct {
	within           int
	ape              []float64
	absolute, actual float64
}

func newScore() *score {
	return &score{chosen: map[string]int{}, expert: map[Estimate]*expertScore{}}
}

// add scores a prediction of a runtime of y > 0 seconds that took us microseconds.
func (s *score) add(p predict.Prediction, y, us float64) {
	s.n++
	if p.Samples == 0 {
		s.noHistory++
	}
	s.us = append(s.us, us)
	s.chosen[chosenName(p.Expert)]++
	s.absolute += math.Abs(p.Point - y)
	s.actual += y
	s.ape = append(s.ape, math.Abs(p.Point-y)/y)
	if within2x(p.Point, y) {
		s.within++
	}
	s.histogram[bucketOf(float64((p.Point-y)/y*100))]++
	for i := range s.pinball {
		level := float64(i+1) / 10
		s.pinball[i] += pinball(p.Dist.Quantile(level), y, level)
	}
	s.crps += crps(p.Dist, y)
	for i, c := range coverages {
		if p.Dist.Quantile((1-c.share)/2) <= y && y <= p.Dist.Quantile((1+c.share)/2) {
			s.covered[i]++
		}
	}
}

func chosenName(e predict.Expert) string {
	if e.Feature == "" {
		return e.Estimator
	}
	return e.Feature
}

func (s *score) experts(estimates []Estimate, y float64) {
	for _, e := range estimates {
		point := e.Point
		e.Point = 0
		x := s.expert[e]
		if x == nil {
			x = &expertScore{}
			s.expert[e] = x
		}
		x.ape = append(x.ape, math.Abs(point-y)/y)
		x.absolute += math.Abs(point - y)
		x.actual += y
		if within2x(point, y) {
			x.within++
		}
	}
}

func within2x(estimate, actual float64) bool {
	return actual/2 <= estimate && estimate <= actual*2
}

// bucketOf is the index of the 5 % bucket around a decile: 0 is -100 to -95, 1 is -95 to -85,
// ..., 19 is 85 to 95, and 20 the tail above.
func bucketOf(percent float64) int {
	return min(20, max(0, int(math.Floor((percent+105)/10))))
}

func pinball(q, y, level float64) float64 {
	if y >= q {
		return level * (y - q)
	}
	return (1 - level) * (q - y)
}

func crps(d dist.Distribution, y float64) float64 {
	sum := 0.0
	for i := range crpsLevels {
		level := (float64(i) + .5) / crpsLevels
		sum += pinball(d.Quantile(level), y, level)
	}
	return 2 * sum / crpsLevels
}

// result turns sums into shares and means; with nothing tested all are zero.
func (s *score) result(name string) Result {
	n := float64(max(1, s.n))
	mean := s.actual / n
	norm := func(sum float64) float64 {
		if mean == 0 {
			return 0
		}
		return sum / n / mean
	}
	ape := stats.Sorted(s.ape)
	r := Result{
		Name: name, Within2x: float64(s.within) / n,
		MedianAPE: stats.Quantile(ape, .5), P90APE: stats.Quantile(ape, .9), NMAE: norm(s.absolute),
		Pinball:  Pinball{P10: norm(s.pinball[0]), P50: norm(s.pinball[4]), P90: norm(s.pinball[8])},
		CRPS:     norm(s.crps),
		Coverage: map[string]float64{}, Chosen: map[string]float64{},
		PredictUS: latencyOf(s.us),
	}
	for _, sum := range s.pinball {
		r.Pinball.MeanOverDeciles += norm(sum) / float64(len(s.pinball))
	}
	for i, c := range coverages {
		r.Coverage[c.name] = float64(s.covered[i]) / n
	}
	for name, count := range s.chosen {
		r.Chosen[name] = float64(count) / n
	}
	r.ErrorHistogram = s.buckets(n)
	r.Experts = s.expertRows()
	return r
}

func (s *score) buckets(n float64) []Bucket {
	rows := make([]Bucket, len(s.histogram))
	for i, count := range s.histogram {
		to := float64(10*i - 95)
		rows[i] = Bucket{From: max(-100, to-10), To: &to, Share: float64(count) / n}
	}
	rows[len(rows)-1].To = nil
	return rows
}

func (s *score) expertRows() []Expert {
	rows := make([]Expert, 0, len(s.expert))
	for key, x := range s.expert {
		ape := stats.Sorted(x.ape)
		row := Expert{Feature: key.Feature, Estimator: key.Estimator, Jobs: len(ape),
			Within2x: float64(x.within) / float64(len(ape)), MedianAPE: stats.Quantile(ape, .5)}
		if x.actual > 0 {
			row.NMAE = x.absolute / x.actual
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b Expert) int {
		return cmp.Or(cmp.Compare(a.Feature, b.Feature), cmp.Compare(a.Estimator, b.Estimator))
	})
	return rows
}

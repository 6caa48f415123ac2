package workload

import (
	"fmt"

	"github.com/hedgesched/hedge/predict"
)

// Deadline is the DEADLINE-n family (3Sigma, section 6.4): base with every SLO job's slack fixed to each of
// slacks in turn, in per cent of the runtime.
func Deadline(base Spec, slacks ...float64) []Spec {
	return vary(base, "DEADLINE-%g", slacks, func(s *Spec, v float64) { s.Slack = []float64{v} })
}

// LoadSweep is the E2E-LOAD-ℓ family: base at each of loads.
func LoadSweep(base Spec, loads ...float64) []Spec {
	return vary(base, "E2E-LOAD-%g", loads, func(s *Spec, v float64) { s.Load = v })
}

// SampleSweep is the E2E-SAMPLE-n family: base with at most n samples of
// history for each recurring job.
func SampleSweep(base Spec, ns ...int) []Spec {
	return vary(base, "E2E-SAMPLE-%d", ns, func(s *Spec, v int) { s.MaxTrainSamples = v })
}

// Scalability is the SCALABILITY-n family (3Sigma, section 6.5): jobs generated as in E2E
// at each of the rates. The paper's base has 12,583 nodes and load 0.95.
func Scalability(base Spec, jobsPerHour ...float64) []Spec {
	return vary(base, "SCALABILITY-%g", jobsPerHour, func(s *Spec, v float64) { s.Kind, s.JobsPerHour = E2E, v })
}

func vary[T any](base Spec, name string, values []T, set func(*Spec, T)) []Spec {
	out := make([]Spec, len(values))
	for i, v := range values {
		out[i] = base.clone()
		out[i].Name = fmt.Sprintf(name, v)
		set(&out[i], v)
	}
	return out
}

// Perturbations is the grid of synthetic estimates, shift by shift and in each CoV by CoV: a
// job's estimate is normal around runtime·(1+s) with standard deviation runtime·CoV, s being
// normal around the shift with the paper's deviation of 0.1 (3Sigma, section 6.3). Give each to [predict.NewPerturbed].
func Perturbations(seed uint64, shifts, covs []float64) []predict.Perturbation {
	grid := make([]predict.Perturbation, 0, len(shifts)*len(covs))
	for _, s := range shifts {
		for _, c := range covs {
			grid = append(grid, predict.Perturbation{Shift: s, ShiftDeviation: 0.1, CoV: c, Seed: seed})
		}
	}
	return grid
}

package solvertest

import (
	"fmt"
	"math/rand/v2"

	"github.com/hedgesched/hedge/solver"
)

// Tiny returns a random problem small enough for [Optimum]: at most 3 jobs with
// up to 3 options, 2 partitions, 2 resources, 4 slots, 2 running jobs. The same
// seed gives the same problem.
func Tiny(seed uint64) *solver.Problem {
	return random(rand.New(rand.NewPCG(seed, 7)), 3, 3, 2, 2, 4, 2, 3)
}

// Random returns a random problem with the given number of jobs on four
// partitions, with up to eight options per job and a running job per four jobs.
func Random(seed uint64, jobs int) *solver.Problem {
	p := random(rand.New(rand.NewPCG(seed, 11)), jobs, 8, 4, 2, 8, jobs/4, 8)
	return p
}

func random(r *rand.Rand, jobs, options, parts, resources, slots, running, gang int) *solver.Problem {
	P, R, T := 1+r.IntN(parts), 1+r.IntN(resources), 1+r.IntN(slots)
	p := &solver.Problem{SlotSeconds: 60, Slots: T}
	for i := range R {
		p.Resources = append(p.Resources, fmt.Sprintf("r%d", i))
	}
	for x := range P {
		p.Partitions = append(p.Partitions, solver.Partition{Name: fmt.Sprintf("x%d", x), Nodes: gang})
		byResource := make([][]float64, R)
		for i := range byResource {
			for range T {
				byResource[i] = append(byResource[i], float64(r.IntN(4*gang+1))/4)
			}
		}
		p.Capacity = append(p.Capacity, byResource)
	}
	for j := range jobs {
		job := solver.Job{ID: fmt.Sprintf("j%d", j)}
		for range r.IntN(options + 1) {
			job.Options = append(job.Options, randomOption(r, P, R, T, gang))
		}
		p.Jobs = append(p.Jobs, job)
	}
	for m := range running {
		run := solver.Running{ID: fmt.Sprintf("m%d", m), PreemptCost: float64(r.IntN(20)), Demand: demand(r, R),
			Alloc: []solver.Split{{Partition: r.IntN(P), Count: 1 + r.IntN(gang)}}}
		for range r.IntN(T + 1) {
			run.Usage = append(run.Usage, float64(r.IntN(5))/4)
		}
		p.Running = append(p.Running, run)
	}
	return p
}

func randomOption(r *rand.Rand, P, R, T, gang int) solver.Option {
	o := solver.Option{Set: "any", Start: r.IntN(T), Count: 1 + r.IntN(gang), Demand: demand(r, R), Value: 1 + float64(float64(r.IntN(40))/2)}
	o.Partitions = append(o.Partitions, r.Perm(P)[:1+r.IntN(P)]...)
	for range r.IntN(T - o.Start + 1) {
		o.Usage = append(o.Usage, float64(1+r.IntN(4))/4)
	}
	return o
}

func demand(r *rand.Rand, R int) []float64 {
	d := make([]float64, R)
	for i := range d {
		d[i] = float64(r.IntN(5)) / 2
	}
	return d
}

package solvertest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/hedgesched/hedge/solver"
)

// Tiny returns a random problem small enough for [Optimum]: 3 jobs with up to 3 options, and 2
// running ones, on up to 2 partitions, 2 resources and 4 slots. The same seed gives the same problem.
func Tiny(seed uint64) *solver.Problem {
	return random(rand.New(rand.NewPCG(seed, 7)), 3, 3, 2, 2, 4, 2, 3)
}

// Ranked is [Tiny] with priorities and less that is free, so that who may preempt whom often matters.
func Ranked(seed uint64) *solver.Problem { return rank(Tiny(seed), seed) }

// rank gives p's jobs priorities, most of which may take the room of some running jobs only.
func rank(p *solver.Problem, seed uint64) *solver.Problem {
	r := rand.New(rand.NewPCG(seed, 19))
	for j := range p.Jobs {
		p.Jobs[j].Priority = r.IntN(4) - 1
	}
	for m := range p.Running {
		p.Running[m].MinPriority = r.IntN(5)
		p.Running[m].PreemptCost /= 8
	}
	for _, byResource := range p.Capacity {
		for _, bySlot := range byResource {
			for t := range bySlot {
				bySlot[t] /= 4
			}
		}
	}
	return p
}

// Random returns a random problem with the given number of jobs on up to four
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
			Alloc: []solver.Alloc{{Partition: r.IntN(P), Count: 1 + r.IntN(gang)}}}
		for range r.IntN(T + 1) {
			run.Usage = append(run.Usage, float64(r.IntN(5))/4)
		}
		p.Running = append(p.Running, run)
	}
	return p
}

func randomOption(r *rand.Rand, P, R, T, gang int) solver.Option {
	o := solver.Option{Set: "any", Start: r.IntN(T), Count: 1 + r.IntN(gang), Demand: demand(r, R),
		Value: 1 + float64(float64(r.IntN(40))/2)}
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

// Mixed returns a random problem whose numbers are of very different magnitudes, from next
// to nothing to what [solver.Validate] just accepts: up to 8 jobs, 3 partitions, 2 resources,
// 4 slots and 4 running jobs.
func Mixed(seed uint64) *solver.Problem {
	r := rand.New(rand.NewPCG(seed, 17))
	p := random(r, 1+r.IntN(8), 5, 3, 2, 4, r.IntN(5), 6)
	m := magnitudes{r}
	for x := range p.Capacity {
		for i := range p.Capacity[x] {
			m.mix(p.Capacity[x][i], largestAmount)
		}
	}
	for j := range p.Jobs {
		for i := range p.Jobs[j].Options {
			o := &p.Jobs[j].Options[i]
			m.mix(o.Demand, largestAmount)
			m.mix(o.Usage, 1)
			o.Value = m.of(o.Value, largestValue)
			if r.IntN(8) == 0 {
				o.Count = 1 + r.IntN(math.MaxInt32)
			}
		}
	}
	for k := range p.Running {
		run := &p.Running[k]
		m.mix(run.Demand, largestAmount)
		m.mix(run.Usage, 1)
		run.PreemptCost = m.of(run.PreemptCost, largestValue)
		for i := range run.Alloc {
			if r.IntN(8) == 0 {
				run.Alloc[i].Count = 1 + r.IntN(math.MaxInt32)
			}
		}
	}
	return p
}

// What Validate accepts.
const (
	largestAmount = 1e24
	largestValue  = 1e15
)

type magnitudes struct{ *rand.Rand }

// mix changes about half of the numbers' magnitudes.
func (m magnitudes) mix(list []float64, most float64) {
	for i, v := range list {
		if m.IntN(2) == 0 {
			list[i] = m.of(v, most)
		}
	}
}

// of is v times a power of ten, mostly a moderate one.
func (m magnitudes) of(v, most float64) float64 {
	e := m.NormFloat64() * 8
	if m.IntN(12) == 0 {
		e = -330 * m.Float64()
	}
	if w := v * math.Pow(10, e); v == 0 || w > 0 {
		return min(w, most)
	}
	return math.SmallestNonzeroFloat64
}

package solvertest

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/hedgesched/hedge/solver"
)

// Cycle returns a random problem like a scheduling cycle of a busy cluster: gangs
// of one task up to a quarter of the cluster, runtimes known as distributions,
// deadlines or values that fall with time, preferred and other equivalence sets,
// capacity that comes free as running jobs end, and running jobs that may be
// preempted. The same arguments give the same problem.
func Cycle(seed uint64, jobs, running int) *solver.Problem {
	return CycleOf(seed, Shape{Jobs: jobs, Running: running})
}

// Shape is what a random cycle looks like; zero sizes but those of Jobs and Running are drawn.
type Shape struct {
	// Jobs are pending, Running may be preempted.
	Jobs, Running int
	// Partitions of Nodes nodes each, Slots slots and Resources resources, at most 2.
	Partitions, Nodes, Slots, Resources int
	// Widest is the largest gang's share of the cluster's nodes; 0 is a quarter.
	Widest float64
}

// CycleOf is [Cycle] with the sizes of its cluster given.
func CycleOf(seed uint64, s Shape) *solver.Problem {
	r := rand.New(rand.NewPCG(seed, 13))
	c := cycle{Rand: r, parts: 2 + r.IntN(9), nodes: 16 << r.IntN(5), resources: 1 + r.IntN(2), slots: 12 + 4*r.IntN(4)}
	c.parts, c.nodes = cmp.Or(s.Partitions, c.parts), cmp.Or(s.Nodes, c.nodes)
	c.resources, c.slots = cmp.Or(s.Resources, c.resources), cmp.Or(s.Slots, c.slots)
	c.widest = cmp.Or(s.Widest, 0.25)
	p := &solver.Problem{SlotSeconds: 60, Slots: c.slots, Resources: []string{"cpu", "mem"}[:c.resources]}
	for x := range c.parts {
		p.Partitions = append(p.Partitions, solver.Partition{Name: fmt.Sprintf("p%d", x), Nodes: c.nodes})
		p.Capacity = append(p.Capacity, c.capacity())
	}
	for j := range s.Jobs {
		p.Jobs = append(p.Jobs, solver.Job{ID: fmt.Sprintf("j%d", j), Options: c.job()})
	}
	for m := range s.Running {
		p.Running = append(p.Running, c.running(m))
	}
	return p
}

type cycle struct {
	*rand.Rand
	parts, nodes, resources, slots int
	widest                         float64
}

// capacity is what comes free in one partition.
func (c *cycle) capacity() [][]float64 {
	free := make([][]float64, c.resources)
	now, later := c.Float64()*0.1, 0.2+float64(0.5*c.Float64())
	for i := range free {
		share := now
		for range c.slots {
			free[i] = append(free[i], math.Round(1000*share*float64(c.nodes*(1+3*i)))/1000)
			share += float64((later - share) * c.Float64() * 0.5)
		}
	}
	return free
}

// usage is a staircase of survival probabilities for at most slots slots.
func (c *cycle) usage(slots int) []float64 {
	n := 1 + c.IntN(2*c.slots)
	u, left := []float64{1}, 1.0
	for t := 1; t < min(n, slots); t++ {
		if c.IntN(3) == 0 {
			left *= 1 - float64(0.7*c.Float64())
		}
		u = append(u, max(1e-6, math.Round(1e6*left)/1e6)) // zero is no usage
	}
	return u[:min(len(u), slots)]
}

func (c *cycle) demand() []float64 {
	d := []float64{1}
	if c.resources == 2 {
		d = append(d, []float64{0.5, 1, 2, 4}[c.IntN(4)])
	}
	return d
}

// job offers every start of the first half, everywhere and on preferred partitions.
func (c *cycle) job() []solver.Option {
	largest := math.Log(max(1, float64(c.parts*c.nodes)*c.widest))
	count := max(1, int(math.Exp(c.Float64()*c.Float64()*largest)))
	demand, usage := c.demand(), c.usage(c.slots)
	value := float64(count) * math.Exp(c.NormFloat64()) * 50
	deadline := c.IntN(2) == 0
	last := 1 + c.IntN(c.slots/2)
	sets := [][]int{c.Perm(c.parts)}
	if c.IntN(2) == 0 {
		sets = append(sets, sets[0][:1+c.parts*3/5])
	}
	var opts []solver.Option
	for s, set := range sets {
		parts := slices.Clone(set)
		slices.Sort(parts)
		for start := range last {
			v := value * (1 - float64(0.8*float64(start)/float64(c.slots)))
			if deadline {
				v = value / (1 + math.Exp(float64(start)-float64(0.8*float64(last))))
			}
			if len(sets) == 2 && s == 0 {
				v *= 0.8
			}
			opts = append(opts, solver.Option{Set: fmt.Sprintf("s%d", s), Start: start, Count: count, Demand: demand,
				Partitions: parts, Usage: usage[:min(len(usage), c.slots-start)], Value: max(1e-6, math.Round(1e6*v)/1e6)})
		}
	}
	return opts
}

func (c *cycle) running(m int) solver.Running {
	run := solver.Running{ID: fmt.Sprintf("r%d", m), Demand: c.demand(), Usage: c.usage(c.slots)}
	left := 0
	for _, x := range c.Perm(c.parts)[:1+c.IntN(2)] {
		n := 1 + c.IntN(max(1, c.nodes/10))
		left += n
		run.Alloc = append(run.Alloc, solver.Alloc{Partition: x, Count: n})
	}
	run.PreemptCost = math.Round(1e4*float64(left)*math.Exp(c.NormFloat64())*60) / 1e4
	return run
}

package native

import (
	"slices"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/pack"
)

// cells are partitions that no option tells apart: each that an option goes to, it goes to all of them. They are the partitioning that the options' own equivalence sets
// need, where a problem's is that of all sets in play.
type cells struct {
	of    []int // of each partition: its cell
	n     int
	size  []int // scratch: of each cell: its partitions,
	in    []int // those that the option goes to,
	moved []int // and the new cell that these are moved to, -1 for none
}

// find finds the cells of an instance.
func (c *cells) find(in *pack.Instance) {
	c.of, c.size, c.in, c.moved = pack.Resize(c.of, in.Parts), pack.Resize(c.size, in.Parts), pack.Resize(c.in, in.Parts), pack.Resize(c.moved, in.Parts)
	clear(c.of)
	clear(c.size)
	c.n, c.size[0] = 1, in.Parts
	var last []int
	for o := range in.Opts {
		if parts := in.Part[in.Opts[o].P0:in.Opts[o].P1]; !slices.Equal(parts, last) {
			c.split(parts)
			last = parts
		}
	}
}

// split divides cells that are in the set of partitions in part.
func (c *cells) split(set []int) {
	clear(c.in)
	for _, x := range set {
		c.in[c.of[x]]++
	}
	for k := range c.n {
		if c.moved[k] = -1; c.in[k] > 0 && c.in[k] < c.size[k] {
			c.moved[k], c.size[c.n] = c.n, c.in[k]
			c.size[k] -= c.in[k]
			c.n++
		}
	}
	for _, x := range set {
		if to := c.moved[c.of[x]]; to >= 0 {
			c.of[x] = to
		}
	}
}

// join is the problem of an instance with each cell in place of its partitions. Capacities are the instance's, which may be rounded.
func (c *cells) join(in *pack.Instance) solver.Problem {
	p := in.P
	q := solver.Problem{SlotSeconds: p.SlotSeconds, Slots: p.Slots, Resources: p.Resources, Partitions: make([]solver.Partition, c.n)}
	for x, k := range c.of {
		q.Partitions[k].Nodes += p.Partitions[x].Nodes
	}
	for range c.n {
		rows := make([][]float64, len(p.Resources))
		for r := range rows {
			rows[r] = make([]float64, in.T)
		}
		q.Capacity = append(q.Capacity, rows)
	}
	for row, v := range in.Cap {
		if r := row / in.T % in.R; r < len(p.Resources) {
			q.Capacity[c.of[row/in.T/in.R]][r][row%in.T] += v / in.Scale(r)
		}
	}
	c.joinOptions(&q, p)
	for m := range p.Running {
		q.Running = append(q.Running, c.joinRunning(p.Running[m]))
	}
	return q
}

// joinOptions gives q the jobs of p.
func (c *cells) joinOptions(q, p *solver.Problem) {
	var last, list []int // options mostly have the same set as those before them
	for j := range p.Jobs {
		job := solver.Job{ID: p.Jobs[j].ID, Priority: p.Jobs[j].Priority, Options: slices.Clone(p.Jobs[j].Options)}
		for i := range job.Options {
			o := &job.Options[i]
			if list == nil || !slices.Equal(o.Partitions, last) {
				last, list = o.Partitions, c.list(o.Partitions)
			}
			o.Partitions = list
		}
		q.Jobs = append(q.Jobs, job)
	}
}

// list is the cells of a set of partitions, in the order that these are in.
func (c *cells) list(set []int) []int {
	list := make([]int, 0, len(set))
	for _, x := range set {
		if !slices.Contains(list, c.of[x]) {
			list = append(list, c.of[x])
		}
	}
	return list
}

// joinRunning is a running job in the cells.
func (c *cells) joinRunning(r solver.Running) solver.Running {
	tasks := make([]int, c.n)
	for _, a := range r.Alloc {
		tasks[c.of[a.Partition]] += a.Count
	}
	r.Alloc = nil
	for k, n := range tasks {
		if n > 0 {
			r.Alloc = append(r.Alloc, solver.Alloc{Partition: k, Count: n})
		}
	}
	return r
}

// confine lets no more tasks of an option into a cell than there is room for in its partitions one by one. The options of both instances are the same by number.
func (c *cells) confine(joined, in *pack.Instance) {
	sum := make([]float64, c.n)
	for o := range in.Opts {
		a, b := &in.Opts[o], &joined.Opts[o]
		clear(sum)
		for i := a.P0; i < a.P1; i++ {
			sum[c.of[in.Part[i]]] += in.Limit[i]
		}
		for i := b.P0; i < b.P1; i++ {
			joined.Limit[i] = min(joined.Limit[i], sum[joined.Part[i]])
		}
		b.Dead = b.Dead || a.Dead
	}
}

package distsched

import (
	"slices"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/sched"
)

// candidate is a machine for one more task of a job. Candidates are ordered as in section 5.2.3: by the smallest risk
// that memory runs short, the smallest risk that CPU does, the least memory left, the least CPU left, and at random.
type candidate struct {
	memoryRisk, cpuRisk float64
	memory, cpu         float64 // what is left on average
	tie                 uint64
	at                  int32
	count               int32 // tasks of the job that the option puts there already
	changes             int32 // machine.changes when the candidate was weighed
	fits                bool
}

// negligible is a risk that counts as 0, so that rounding errors do not decide the order of machines.
const negligible = 1e-9

func (a *candidate) before(b *candidate) bool {
	switch {
	case a.memoryRisk != b.memoryRisk:
		return a.memoryRisk < b.memoryRisk
	case a.cpuRisk != b.cpuRisk:
		return a.cpuRisk < b.cpuRisk
	case a.memory != b.memory:
		return a.memory < b.memory
	case a.cpu != b.cpu:
		return a.cpu < b.cpu
	case a.tie != b.tie:
		return a.tie < b.tie
	}
	return a.at < b.at
}

// pick puts some tasks of a job on a machine.
type pick struct {
	at    int32
	count int
}

// option is where a job would start now, and its value. It is out of date once tasks have started elsewhere.
type option struct {
	nodes    []int32     // the candidates' machines; nil if there are no candidates yet
	of       []candidate // by position in nodes
	upTo     int         // how many of machines.touched the candidates take into account
	picks    []pick      // empty if the gang does not fit
	stretch  float64     // how many times longer the job takes than at full speed
	value    float64     // expected utility
	inTime   float64     // the probability of meeting the deadline
	key      float64     // the largest starts first
	eviction float64     // the probability that a task of the job is evicted
}

// weigh fills in a candidate's risks and room, and whether one more task fits. If one does not, what is left of them is
// undefined.
func (p *Policy) weigh(k *known, c *candidate) {
	m := &p.machines.of[c.at]
	c.changes = m.changes
	if c.fits = p.machines.fits(c.at, k.demand, int(c.count)); !c.fits {
		return
	}
	c.memoryRisk, c.memory = risk(m.memory, &k.memoryOn, k.profile.memory, int(c.count)+1, &p.scratch)
	if c.fits = c.memoryRisk <= min(k.risk, m.risk); !c.fits {
		return
	}
	c.cpuRisk, c.cpu = risk(m.cpu, &k.cpuOn, k.profile.cpu, int(c.count)+1, &p.scratch)
	c.fits = c.cpuRisk <= p.cfg.CPURisk
}

// risk is the probability that the total exceeds its limit with count more tasks (equation 5.1), and what is left on
// average without them. If the node offers none of a resource that the task may use, the risk is 2, which no bound
// admits.
func risk(t *dist.Total, on *[]sized, a *dist.Atoms, count int, scratch *dist.Summand) (p, left float64) {
	if t == nil {
		if a.Max() > 0 {
			return 2, 0
		}
		return 0, 0
	}
	s := scratch
	if count == 1 {
		s = one(on, a, t.Step())
	} else {
		s.Set(a, float64(count), t.Step())
	}
	if p = t.TailWith(s, t.Limit()); p < negligible {
		p = 0
	}
	return p, t.Limit() - t.Mean()
}

// build makes a job's option: on its fastest nodes or, if the gang does not fit there, on the next level of nodes, down
// to all that it may use.
func (p *Policy) build(k *known) {
	last := len(k.levels) - 1
	for i := range k.levels {
		l := &k.levels[i]
		if len(l.nodes) == 0 && i < last {
			continue
		}
		k.option.stretch = l.stretch
		if p.place(k, l.nodes) {
			return
		}
	}
}

// place puts the gang on some of these nodes, one task after the other, and tells whether it fits.
func (p *Policy) place(k *known, nodes []int32) bool {
	o := &k.option
	p.refresh(k, nodes)
	p.heap = p.heap[:0]
	for i := range o.of {
		if o.of[i].fits {
			p.heap = append(p.heap, o.of[i])
		}
	}
	o.picks = o.picks[:0]
	h := p.heap
	if k.job.Tasks > 1 {
		heapify(h)
	} else {
		bestFirst(h)
	}
	p.done = p.done[:0]
	for range k.job.Tasks {
		if len(h) == 0 {
			return false
		}
		c := &h[0]
		c.count++
		was := *c
		p.weigh(k, c)
		if !c.fits {
			p.done = append(p.done, was)
			h[0] = h[len(h)-1]
			h = h[:len(h)-1]
		}
		down(h, 0)
	}
	for i := range h {
		if h[i].count > 0 {
			p.done = append(p.done, h[i])
		}
	}
	slices.SortFunc(p.done, func(a, b candidate) int { return int(a.at) - int(b.at) })
	for i := range p.done {
		o.picks = append(o.picks, pick{at: p.done[i].at, count: int(p.done[i].count)})
	}
	return true
}

// fastest are the nodes that are tried first.
func (k *known) fastest() []int32 {
	for i := range k.levels {
		if len(k.levels[i].nodes) > 0 {
			return k.levels[i].nodes
		}
	}
	return nil
}

// weighAll weighs all nodes for the pending jobs that may run on any node. It goes machine by machine, so that the
// machine's sums stay in the processor's cache.
func (p *Policy) weighAll() {
	all := p.machines.set.All()
	p.anywhere = p.anywhere[:0]
	for _, k := range p.pending {
		if k.err == nil && k.demand != nil && same(k.fastest(), all) {
			o := &k.option
			o.nodes, o.upTo = all, 0
			o.of = p.room(o.of, len(all))
			p.anywhere = append(p.anywhere, k)
		}
	}
	for i, n := range all {
		for _, k := range p.anywhere {
			c := &k.option.of[i]
			*c = candidate{at: n, tie: mix(k.salt + uint64(n))}
			p.weigh(k, c)
		}
	}
}

// refresh updates a job's candidates: all of them if they are for other nodes, else those on machines where tasks have
// started since.
func (p *Policy) refresh(k *known, nodes []int32) {
	o := &k.option
	touched := p.machines.touched
	if !same(o.nodes, nodes) {
		o.nodes, o.upTo = nodes, len(touched)
		o.of = p.room(o.of, len(nodes))
		for i, n := range nodes {
			c := candidate{at: n, tie: mix(k.salt + uint64(n))}
			p.weigh(k, &c)
			o.of[i] = c
		}
		return
	}
	for _, at := range touched[o.upTo:] {
		if i, ok := position(nodes, at); ok && o.of[i].changes != p.machines.of[at].changes {
			p.weigh(k, &o.of[i])
		}
	}
	o.upTo = len(touched)
}

// room returns a slice of n candidates. It reuses memory.
func (p *Policy) room(of []candidate, n int) []candidate {
	if last := len(p.spare) - 1; cap(of) < n && last >= 0 {
		of, p.spare = p.spare[last], p.spare[:last]
	}
	return slices.Grow(of[:0], n)[:n]
}

// same tells whether both are the same slice in memory.
func same(a, b []int32) bool {
	return len(a) == len(b) && len(a) > 0 && &a[0] == &b[0]
}

// position is the index of a node in an ascending list of nodes.
func position(nodes []int32, at int32) (int, bool) {
	if int(at) < len(nodes) && nodes[at] == at { // the list has all nodes up to this one
		return int(at), true
	}
	return slices.BinarySearch(nodes, at)
}

// bestFirst brings the best candidate to the front. A gang of one task needs no more order than that.
func bestFirst(h []candidate) {
	best := 0
	for i := range h {
		if h[i].before(&h[best]) {
			best = i
		}
	}
	if best > 0 {
		h[0], h[best] = h[best], h[0]
	}
}

func heapify(h []candidate) {
	for i := len(h)/2 - 1; i >= 0; i-- {
		down(h, i)
	}
}

// down restores the heap's order below a candidate that has become worse.
func down(h []candidate, i int) {
	for {
		l := 2*i + 1
		if l >= len(h) {
			return
		}
		if r := l + 1; r < len(h) && h[r].before(&h[l]) {
			l = r
		}
		if !h[l].before(&h[i]) {
			return
		}
		h[i], h[l] = h[l], h[i]
		i = l
	}
}

// gang is the option in the form of a plan.
func (p *Policy) gang(o *option) []sched.NodeTasks {
	out := make([]sched.NodeTasks, len(o.picks))
	for i, pk := range o.picks {
		out[i] = sched.NodeTasks{Node: p.machines.set.Node(int(pk.at)).Name, Tasks: pk.count}
	}
	return out
}

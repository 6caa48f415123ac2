package backfill

import (
	"slices"
	"strings"

	"github.com/hedgesched/hedge/sched"
)

// units are what the profile counts. If all tasks demand the same, a unit is the set of nodes that no equivalence set
// tells apart, and its free amount is a number of tasks: a reservation is then not bound to nodes before it starts.
// Otherwise each node is a unit of its own with all its resources, and a reservation is for particular nodes.
type units struct {
	nodes  *sched.NodeSet
	task   []float64       // the demand of every task; nil if demands differ
	keys   map[string]bool // labels that equivalence sets use
	of     []int32         // unit by node
	cells  [][]int32       // nodes by unit
	demand []float64       // of a task, where task is not nil: 1
	width  int
	places map[string]*where
}

// where is the equivalence set that gangs with one demand may use.
type where struct {
	name   string
	demand []float64 // on a unit
	need   []float64 // on a node
	nodes  []int32
	units  []int32
	holds  int // tasks on empty nodes
	bound  int // upper bound of the tasks that fit now, in this cycle
}

// want is where a job may run.
type want struct {
	required *where
	levels   []level // the fastest first; the last is required
	err      error
}

// level is a set of nodes with the speed of a job there.
type level struct {
	*where
	speed float64
}

// renew takes in a snapshot and reports whether the units have changed.
func (u *units) renew(s *sched.Snapshot) (changed bool) {
	task, same := common(s)
	fresh := u.nodes != s.Nodes || (u.task != nil) != same || same && !slices.Equal(u.task, task)
	if fresh {
		*u = units{nodes: s.Nodes, keys: map[string]bool{}}
		if same {
			u.task = task
		}
	}
	if u.note(s) || fresh {
		u.divide()
		fresh = true
	}
	if fresh || len(u.places) > 2*len(s.Pending)+1024 {
		u.places = map[string]*where{}
	}
	for _, p := range u.places {
		p.bound = p.holds
	}
	return fresh
}

// common returns the demand of a task, if it is the same for all jobs.
func common(s *sched.Snapshot) (task []float64, same bool) {
	look := func(j *sched.Job) bool {
		d, err := s.Nodes.Demand(j.Demand)
		if err != nil {
			return true // it holds nothing this cluster has
		}
		if task == nil {
			task = d
		}
		return slices.Equal(task, d)
	}
	for i := range s.Pending {
		if !look(s.Pending[i].Job) {
			return nil, false
		}
	}
	for i := range s.Running {
		if !look(s.Running[i].Job) {
			return nil, false
		}
	}
	return task, task != nil
}

// note takes in the labels that pending jobs' equivalence sets use, and reports whether any is new.
func (u *units) note(s *sched.Snapshot) (news bool) {
	if u.task == nil {
		return false
	}
	for i := range s.Pending {
		j := s.Pending[i].Job
		for _, l := range j.Levels() {
			for _, k := range l.On.Keys() {
				news = news || !u.keys[k]
				u.keys[k] = true
			}
		}
	}
	return news
}

// divide makes the units.
func (u *units) divide() {
	n := u.nodes.Len()
	u.of, u.cells = make([]int32, n), nil
	if u.task == nil {
		u.width, u.demand = len(u.nodes.Resources()), nil
		for i := range u.of {
			u.of[i] = int32(i)
			u.cells = append(u.cells, []int32{int32(i)})
		}
		return
	}
	u.width, u.demand = 1, []float64{1}
	keys := make([]string, 0, len(u.keys))
	for k := range u.keys {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	known := map[string]int32{}
	for i := range u.of {
		id := u.signature(i, keys)
		c, ok := known[id]
		if !ok {
			c = int32(len(u.cells))
			known[id] = c
			u.cells = append(u.cells, nil)
		}
		u.of[i] = c
		u.cells[c] = append(u.cells[c], int32(i))
	}
}

// signature is the part of a node's labels that equivalence sets can see.
func (u *units) signature(node int, keys []string) string {
	var b strings.Builder
	labels := u.nodes.Node(node).Labels
	for _, k := range keys {
		if v, ok := labels[k]; ok {
			b.WriteString("=")
			b.WriteString(v)
		}
		b.WriteByte(0)
	}
	return b.String()
}

// free is what is free now on each unit.
func (u *units) free(s *sched.Snapshot) []float64 {
	if u.task == nil {
		return s.Free
	}
	width := len(u.task)
	out := make([]float64, len(u.cells))
	for n, c := range u.of {
		out[c] += float64(u.nodes.Fit(u.task, s.Free[n*width:(n+1)*width]))
	}
	return out
}

// on is what one task holds on a unit.
func (u *units) on(need []float64) []float64 {
	if u.task != nil {
		return u.demand
	}
	return need
}

// want returns the sets of a job.
func (u *units) want(j *sched.Job) want {
	need, err := u.nodes.Demand(j.Demand)
	if err != nil {
		return want{err: err, required: &where{name: j.Required.String()}}
	}
	w := want{required: u.place(j.Required, need)}
	levels := j.Levels()
	for _, l := range levels[:len(levels)-1] {
		if p := u.place(l.On, need); len(p.nodes) < len(w.required.nodes) {
			w.levels = append(w.levels, level{p, l.Factor})
		}
	}
	w.levels = append(w.levels, level{w.required, levels[len(levels)-1].Factor})
	return w
}

func (u *units) place(set sched.EquivalenceSet, need []float64) *where {
	key := set.String()
	if u.task == nil {
		key = string(appendAll([]byte(key), need))
	}
	if p := u.places[key]; p != nil {
		return p
	}
	p := &where{name: set.String(), need: need, demand: u.on(need), nodes: u.nodes.NodesOf(set)}
	p.holds = u.nodes.Holds(need, p.nodes)
	p.bound = p.holds
	for _, n := range p.nodes {
		p.units = append(p.units, u.of[n])
	}
	slices.Sort(p.units)
	p.units = slices.Compact(p.units)
	u.places[key] = p
	return p
}

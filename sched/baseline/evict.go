package baseline

import (
	"cmp"
	"math"
	"slices"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/place"
)

// evictor finds which running jobs to preempt.
type evictor struct {
	nodes   *sched.NodeSet
	running []sched.Running
	least   int      // lowest priority of those running
	lined   bool     // queue is of this cycle
	queue   []victim // in the order in which they are preempted
	chosen  []int
	inside  []bool // scratch: node is in the site looked at
}

type victim struct {
	run   *sched.Running
	nodes []int32 // resolved when first looked at
	gone  bool
}

// reset starts a cycle; the running jobs are put in order when first there is need.
func (e *evictor) reset(s *sched.Snapshot) {
	e.nodes, e.running, e.lined = s.Nodes, s.Running, false
	e.least = math.MaxInt
	for i := range s.Running {
		e.least = min(e.least, s.Running[i].Job.Priority)
	}
}

// lineUp puts the running jobs in order of preemption: lowest priority first,
// then the latest started, ties by id.
func (e *evictor) lineUp() {
	if e.lined {
		return
	}
	e.lined = true
	e.queue = e.queue[:0]
	for i := range e.running {
		e.queue = append(e.queue, victim{run: &e.running[i]})
	}
	slices.SortFunc(e.queue, func(a, b victim) int {
		return cmp.Or(
			cmp.Compare(a.run.Job.Priority, b.run.Job.Priority),
			b.run.Started.Compare(a.run.Started),
			cmp.Compare(a.run.Job.ID, b.run.Job.ID))
	})
	if cap(e.inside) < e.nodes.Len() {
		e.inside = make([]bool, e.nodes.Len())
	}
	e.inside = e.inside[:e.nodes.Len()]
}

// makeRoom gives back the resources of as few jobs as it takes for the gang to fit,
// in order of preemption, and returns their ids. It returns none, and changes nothing, if
// not even all of lower priority would do.
func (e *evictor) makeRoom(p *place.Placer, job *sched.Job, w *want) []string {
	if w.required.Holds < job.Tasks || e.least >= job.Priority {
		return nil
	}
	e.lineUp()
	for _, n := range w.required.Nodes {
		e.inside[n] = true
	}
	fit := p.Fits(w.demand, w.required.Nodes)
	e.chosen = e.chosen[:0]
	for i := range e.queue {
		v := &e.queue[i]
		if fit >= job.Tasks || v.run.Job.Priority >= job.Priority {
			break
		}
		if v.gone {
			continue
		}
		gain, touches := e.release(p, v, w)
		if !touches {
			continue
		}
		fit += gain
		e.chosen = append(e.chosen, i)
	}
	var victims []string
	if fit >= job.Tasks {
		victims = e.prune(p, w, fit-job.Tasks)
	} else {
		for _, i := range e.chosen {
			p.Keep(e.queue[i].run)
		}
	}
	for _, n := range w.required.Nodes {
		e.inside[n] = false
	}
	return victims
}

// release frees what the victim holds and counts the tasks that this makes
// room for. It does nothing for victims outside the nodes looked at. Gain may be 0 where
// only several victims together make room.
func (e *evictor) release(p *place.Placer, v *victim, w *want) (gain int, touches bool) {
	e.resolve(v)
	if !slices.ContainsFunc(v.nodes, func(n int32) bool { return e.inside[n] }) {
		return 0, false
	}
	gain = -e.fits(p, v, w)
	p.Release(v.run)
	return gain + e.fits(p, v, w), true
}

// resolve looks up the victim's nodes once.
func (e *evictor) resolve(v *victim) {
	if v.nodes != nil {
		return
	}
	_, on := e.nodes.Held(v.run)
	v.nodes = make([]int32, 0, len(on))
	for _, n := range on {
		if n >= 0 {
			v.nodes = append(v.nodes, n)
		}
	}
	slices.Sort(v.nodes)
	v.nodes = slices.Compact(v.nodes)
}

// fits counts the tasks that fit now on those of the victim's nodes that are looked at.
func (e *evictor) fits(p *place.Placer, v *victim, w *want) int {
	fit := 0
	for i, n := range v.nodes {
		if e.inside[n] {
			fit += p.Fits(w.demand, v.nodes[i:i+1])
		}
	}
	return fit
}

// prune keeps the victims that are needed, given how many tasks more than
// the gang fit now: those that would be preempted last are spared first.
func (e *evictor) prune(p *place.Placer, w *want, spare int) []string {
	kept := make([]int, 0, len(e.chosen))
	for k := len(e.chosen) - 1; k >= 0; k-- {
		v := &e.queue[e.chosen[k]]
		before := e.fits(p, v, w)
		p.Keep(v.run)
		if loss := before - e.fits(p, v, w); loss <= spare {
			spare -= loss
			continue
		}
		p.Release(v.run)
		kept = append(kept, e.chosen[k])
	}
	slices.Reverse(kept)
	ids := make([]string, len(kept))
	for i, k := range kept {
		e.queue[k].gone = true
		ids[i] = e.queue[k].run.Job.ID
	}
	return ids
}

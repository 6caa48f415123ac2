package whatif

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/hedgesched/hedge/sched"
)

// Apply returns a copy of the snapshot with the changes applied in order. The original stays as it is; the copy shares
// everything that the changes do not touch, so neither may be modified afterwards. A held job becomes pending if a
// change ends the last job that it waits for. A change of policy does nothing here: see [PolicyOf]. Errors wrap
// [ErrChange] and name the change. The snapshot must be one that [sched.CheckSnapshot] accepts.
func Apply(s *sched.Snapshot, changes []Change) (*sched.Snapshot, error) {
	copied := *s
	w := &world{snap: &copied}
	if len(changes) > few {
		w.index()
	}
	for i := range changes {
		if err := w.apply(&changes[i]); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrChange, clip(changes[i].String()), err)
		}
	}
	if err := w.settle(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrChange, err)
	}
	return w.snap, nil
}

// few is the number of changes up to which jobs are searched for linearly, without an index.
const few = 8

// world is the changed snapshot under construction.
type world struct {
	snap    *sched.Snapshot
	owned   struct{ pending, running, free bool } // lists that are copies already; Held is replaced whole
	pending map[string]int                        // index by ID; nil until there are many changes
	running map[string]int
	// withdrawn and ended are jobs to be removed once all changes are applied: from pending and held, and from running.
	withdrawn, ended map[string]struct{}
	places           []place        // the nodes, once one of them changes
	names            map[string]int // of places
	moved            bool           // the pending jobs need to be sorted again
}

func (w *world) apply(c *Change) error {
	switch c.Verb {
	case Drain:
		return w.drain(c.Name)
	case Cordon:
		return w.cordon(c.Name)
	case AddNodes:
		return w.addNodes(c)
	case AddJobs:
		return w.addJobs(c)
	case Drop:
		return w.drop(c.Name)
	case Policy:
		return nil
	case Tasks, Priority, Require, Demand, Deadline:
		return w.edit(c)
	}
	return fmt.Errorf("unknown verb %q", c.Verb)
}

// edit changes a pending job.
func (w *world) edit(c *Change) error {
	i := w.pendingAt(c.Name)
	if i < 0 {
		if w.runningAt(c.Name) >= 0 {
			return fmt.Errorf("job %q runs, and only a job that waits can be changed", c.Name)
		}
		return fmt.Errorf("no job %q waits", c.Name)
	}
	job := *w.snap.Pending[i].Job
	switch c.Verb {
	case Tasks:
		job.Tasks = c.Count
	case Priority:
		job.Priority = c.Count
	case Require:
		job.Required = c.Set
	case Deadline:
		job.Deadline, job.Utility = c.Span, nil // the worth follows from the deadline
	case Demand:
		demand := maps.Clone(job.DemandOrNode())
		for name, amount := range c.Resources {
			demand[name] = amount
			if amount == 0 {
				delete(demand, name)
			}
		}
		if job.Demand = demand; len(demand) == 0 {
			return fmt.Errorf("nothing is left of what a task of job %q needs", c.Name)
		}
	}
	if err := job.Validate(); err != nil {
		return err
	}
	w.own(&w.owned.pending)
	w.snap.Pending[i].Job = &job
	return nil
}

// own copies a list before it is first modified.
func (w *world) own(done *bool) {
	if *done {
		return
	}
	*done = true
	switch done {
	case &w.owned.pending:
		w.snap.Pending = slices.Clone(w.snap.Pending)
	case &w.owned.running:
		w.snap.Running = slices.Clone(w.snap.Running)
	case &w.owned.free:
		w.snap.Free = slices.Clone(w.snap.Free)
	}
}

// drop marks a job as gone and frees what it holds.
func (w *world) drop(id string) error {
	if w.pendingAt(id) < 0 {
		i := w.runningAt(id)
		if i < 0 && w.heldAt(id) >= 0 {
			mark(&w.withdrawn, id)
			return nil
		}
		if i < 0 {
			return fmt.Errorf("no job %q waits or runs", id)
		}
		w.release(&w.snap.Running[i])
		mark(&w.ended, id)
		return nil
	}
	mark(&w.withdrawn, id)
	return nil
}

func mark(set *map[string]struct{}, id string) {
	if *set == nil {
		*set = map[string]struct{}{}
	}
	(*set)[id] = struct{}{}
}

// release frees what a running job holds on the nodes of the snapshot.
func (w *world) release(r *sched.Running) {
	demand, err := w.snap.Nodes.Demand(r.Job.Demand)
	if err != nil {
		return // it holds nothing this cluster has
	}
	w.own(&w.owned.free)
	for _, nt := range r.Nodes {
		n, ok := w.snap.Nodes.Index(nt.Node)
		if !ok {
			continue
		}
		at := n * len(demand)
		for k, d := range demand {
			free, capacity := w.snap.Free[at+k]+float64(d*float64(nt.Tasks)), w.snap.Nodes.Capacity()[at+k]
			if math.Abs(free-capacity) <= rounding*capacity { // nothing runs there any more
				free = capacity
			}
			w.snap.Free[at+k] = free
		}
	}
}

// rounding is the relative error of a capacity allowed in sums of free amounts.
const rounding = 1e-9

func (w *world) addJobs(c *Change) error {
	var like *sched.Pending
	if i := w.pendingAt(c.Name); i >= 0 {
		like = &w.snap.Pending[i]
	} else if i := w.runningAt(c.Name); i >= 0 {
		r := &w.snap.Running[i]
		like = &sched.Pending{Job: r.Job, Prediction: r.Prediction}
	} else {
		return fmt.Errorf("no job %q waits or runs", c.Name)
	}
	w.index()
	added := make([]sched.Pending, 0, c.Count)
	for n := 1; len(added) < c.Count; n++ {
		job := *like.Job
		job.ID, job.Submitted = fmt.Sprintf("%s+%d", c.Name, n), w.snap.Now
		job.After, job.Of = nil, "" // a copy is no stage of the larger job
		if w.pendingAt(job.ID) >= 0 || w.runningAt(job.ID) >= 0 {
			continue
		}
		if err := job.Validate(); err != nil {
			return err
		}
		added = append(added, sched.Pending{Job: &job, Prediction: like.Prediction})
	}
	w.own(&w.owned.pending)
	for _, p := range added {
		w.snap.Pending = append(w.snap.Pending, p)
		w.pending[p.Job.ID] = len(w.snap.Pending) - 1
	}
	w.moved = true
	return nil
}

// index builds the maps from job ID to index.
func (w *world) index() {
	if w.pending != nil {
		return
	}
	w.pending, w.running = make(map[string]int, len(w.snap.Pending)), make(map[string]int, len(w.snap.Running))
	for i := range w.snap.Pending {
		w.pending[w.snap.Pending[i].Job.ID] = i
	}
	for i := range w.snap.Running {
		w.running[w.snap.Running[i].Job.ID] = i
	}
}

// pendingAt is the index of a pending job, -1 if there is none.
func (w *world) pendingAt(id string) int {
	if _, gone := w.withdrawn[id]; gone {
		return -1
	}
	if w.pending != nil {
		if i, ok := w.pending[id]; ok {
			return i
		}
		return -1
	}
	return slices.IndexFunc(w.snap.Pending, func(p sched.Pending) bool { return p.Job.ID == id })
}

// heldAt is the index of a held job, -1 if there is none.
func (w *world) heldAt(id string) int {
	if _, gone := w.withdrawn[id]; gone {
		return -1
	}
	return slices.IndexFunc(w.snap.Held, func(p sched.Pending) bool { return p.Job.ID == id })
}

// runningAt is the index of a running job, -1 if there is none.
func (w *world) runningAt(id string) int {
	if _, gone := w.ended[id]; gone {
		return -1
	}
	if w.running != nil {
		if i, ok := w.running[id]; ok {
			return i
		}
		return -1
	}
	return slices.IndexFunc(w.snap.Running, func(r sched.Running) bool { return r.Job.ID == id })
}

// unhold removes withdrawn jobs from the held ones, and makes those pending whose last parent was ended by a change.
func (w *world) unhold() {
	if len(w.snap.Held) == 0 || len(w.ended)+len(w.withdrawn) == 0 {
		return
	}
	there := make(map[string]struct{})
	for i := range w.snap.Running {
		there[w.snap.Running[i].Job.ID] = struct{}{}
	}
	for _, p := range slices.Concat(w.snap.Pending, w.snap.Held) {
		there[p.Job.ID] = struct{}{}
	}
	var held []sched.Pending
	for _, p := range w.snap.Held {
		isThere := func(id string) bool { _, ok := there[id]; return ok }
		hasEnded := func(id string) bool { _, ok := w.ended[id]; return ok && !isThere(id) }
		switch _, gone := w.withdrawn[p.Job.ID]; {
		case gone:
		case slices.ContainsFunc(p.Job.After, hasEnded) && !slices.ContainsFunc(p.Job.After, func(id string) bool {
			_, withdrawn := w.withdrawn[id]
			return withdrawn || isThere(id)
		}):
			w.own(&w.owned.pending)
			w.snap.Pending, w.moved = append(w.snap.Pending, p), true
		default:
			held = append(held, p)
		}
	}
	w.snap.Held = held
}

// settle removes the jobs that are gone, sorts the pending ones, and rebuilds the nodes if any has changed.
func (w *world) settle() error {
	if len(w.withdrawn) > 0 {
		w.own(&w.owned.pending)
		w.snap.Pending = slices.DeleteFunc(w.snap.Pending, func(p sched.Pending) bool {
			_, gone := w.withdrawn[p.Job.ID]
			return gone
		})
	}
	if len(w.ended) > 0 {
		w.own(&w.owned.running)
		w.snap.Running = slices.DeleteFunc(w.snap.Running, func(r sched.Running) bool {
			_, gone := w.ended[r.Job.ID]
			return gone
		})
	}
	w.unhold()
	if w.moved {
		slices.SortStableFunc(w.snap.Pending, func(a, b sched.Pending) int {
			if c := a.Job.Submitted.Compare(b.Job.Submitted); c != 0 {
				return c
			}
			return strings.Compare(a.Job.ID, b.Job.ID)
		})
	}
	if w.places == nil {
		return nil
	}
	return w.rebuild()
}

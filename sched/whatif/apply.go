package whatif

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/hedgesched/hedge/sched"
)

// Apply is a copy of the snapshot to which the changes are applied in their order. The snapshot stays as it is; both
// share what the changes leave alone. A change of the policy changes no snapshot: see [PolicyOf]. Errors wrap
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

// few is the number of changes up to which jobs are looked for one after another.
const few = 8

// world is a snapshot in the making.
type world struct {
	snap    *sched.Snapshot
	owned   struct{ pending, running, free bool } // copied already; held jobs are copied where they change
	pending map[string]int                        // index by id, where there are many changes
	running map[string]int
	// withdrawn leave the pending jobs and ended the running ones, when all changes are made.
	withdrawn, ended map[string]struct{}
	places           []place        // the nodes, once one of them changes
	names            map[string]int // of places
	moved            bool           // the order of pending jobs may be another
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
		job.Deadline, job.Utility = c.Span, nil // what it is worth follows from the deadline
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

// own copies a list before the first change of it.
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

// release gives back what a running job holds on the nodes of the snapshot.
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

// rounding is the part of a capacity by which sums of what is free may be off.
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

// index makes the jobs be found by a map.
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

// pendingAt is the index of a job that waits, -1 if there is none.
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

// heldAt is the index of a job that waits for others to finish, -1 if there is none.
func (w *world) heldAt(id string) int {
	if _, gone := w.withdrawn[id]; gone {
		return -1
	}
	return slices.IndexFunc(w.snap.Held, func(p sched.Pending) bool { return p.Job.ID == id })
}

// runningAt is the index of a job that runs, -1 if there is none.
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

// unhold takes held jobs out that are gone, and has those wait for room whose last parent has ended by a change.
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

// settle takes the jobs out that are gone, puts the others in order, and makes the nodes anew if they have changed.
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

package place

import (
	"iter"
	"slices"
	"time"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/ranges"
)

// MaxAhead is the largest number of jobs in [sched.Reason].Ahead.
const MaxAhead = 5

// Holders says who holds the room that jobs wait for, so that all policies explain themselves alike. It belongs to one
// cycle: call Reset once the plan's starts and preemptions are known. Its zero value is ready for Reset; it is not safe
// for concurrent use.
type Holders struct {
	snap   *sched.Snapshot
	nodes  *sched.NodeSet
	ledger *sched.Ledger
	gone   map[string]struct{} // jobs that the plan preempts
	starts []holder            // jobs that it starts
	held   []holder            // the others by their ends, then starts; made when first it is needed
	on     []int32             // node indexes of the jobs that start; holders share it
	first  []ending            // scratch
	short  []int32             // by node: tasks that fit, or -1 if the node is not looked at or could hold no more
	trial  sched.Ledger
}

// holder is a job that holds some of the resources of its nodes.
type holder struct {
	job    *sched.Job
	run    *sched.Running    // nil if the plan starts it
	nodes  []sched.NodeTasks // with their indexes in on
	ranges ranges.Set        // in place of nodes and on
	demand []float64
	on     []int32
}

// Held is a job that holds some of the room that tasks lack.
type Held struct {
	Job *sched.Job
	// Running is the job's entry in the snapshot, nil if the plan starts the job.
	Running *sched.Running
	// Tasks is the number of further tasks that would fit if this job alone held nothing.
	Tasks int
}

// Reset starts with the running jobs of a snapshot, without those that the decisions preempt. The placer must have what
// the plan leaves free. Jobs that the plan starts are added by Start.
func (h *Holders) Reset(s *sched.Snapshot, placer *Placer, decisions []sched.Decision) {
	h.snap, h.nodes, h.ledger = s, s.Nodes, &placer.ledger
	h.starts, h.held, h.on = h.starts[:0], h.held[:0], h.on[:0]
	clear(h.gone)
	for i := range decisions {
		if decisions[i].Kind == sched.Preempt {
			if h.gone == nil {
				h.gone = make(map[string]struct{})
			}
			h.gone[decisions[i].Job] = struct{}{}
		}
	}
}

// preempted tells whether the plan stops a running job.
func (h *Holders) preempted(r *sched.Running) bool {
	if len(h.gone) == 0 {
		return false
	}
	_, gone := h.gone[r.Job.ID]
	return gone
}

// list makes held.
func (h *Holders) list() {
	if len(h.held) > 0 {
		return
	}
	for i := range h.snap.Running {
		r := &h.snap.Running[i]
		if h.preempted(r) {
			continue
		}
		j := holder{job: r.Job, run: r, nodes: r.Nodes, ranges: r.Ranges}
		if len(r.Ranges) > 0 {
			j.demand, _ = h.nodes.Holding(r)
		} else {
			j.demand, j.on = h.nodes.Held(r)
		}
		if j.demand != nil {
			h.held = append(h.held, j)
		}
	}
	slices.SortStableFunc(h.held, func(a, b holder) int { return a.run.Until().Compare(b.run.Until()) })
	h.held = append(h.held, h.starts...)
	if len(h.short) != h.nodes.Len() {
		h.short = make([]int32, h.nodes.Len())
		for n := range h.short {
			h.short[n] = -1
		}
	}
}

// Start adds a job that the plan starts on these nodes.
func (h *Holders) Start(job *sched.Job, nodes []sched.NodeTasks) {
	from := len(h.on)
	h.on = h.nodes.Indexes(h.on, nodes)
	h.start(holder{job: job, nodes: nodes, on: h.on[from:len(h.on):len(h.on)]})
}

// StartRanges is Start with the nodes as ranges.
func (h *Holders) StartRanges(job *sched.Job, on ranges.Set) { h.start(holder{job: job, ranges: on}) }

func (h *Holders) start(j holder) {
	demand, err := h.nodes.Demand(j.job.Demand)
	if err != nil {
		return // it holds nothing this cluster has
	}
	j.demand = demand
	h.starts = append(h.starts, j)
	h.held = h.held[:0]
}

// Of names the jobs that hold the room which tasks of the demand lack on these nodes. It looks at the nodes that could
// hold more such tasks if they were empty. On each, it names the jobs that hold some of a resource of which too little
// is left for one more task. Running jobs come first, by their forecast ends, then jobs that the plan starts. It names
// at most [MaxAhead] jobs; more is the number of the others.
func (h *Holders) Of(demand []float64, nodes []int32) (names []string, more int) {
	if h.nodes.IsAll(nodes) && h.ledger.Whole(demand) {
		return h.ofWhole(demand)
	}
	h.binding(demand, nodes, func(j *holder) bool {
		if len(names) < MaxAhead {
			names = append(names, j.job.ID)
		} else {
			more++
		}
		return true
	})
	return names, more
}

// ending is a running job, by its place in the snapshot, and when it ends.
type ending struct {
	at    int
	until time.Time
}

// ofWhole is Of where every node that anybody holds is one that the tasks lack. Then it need not look at nodes, nor put
// more jobs in order than it names.
func (h *Holders) ofWhole(demand []float64) (names []string, more int) {
	h.first = h.first[:0]
	for i := range h.snap.Running {
		r := &h.snap.Running[i]
		if h.preempted(r) || !h.holdsSome(r, demand) {
			continue
		}
		e := ending{at: i, until: r.Until()}
		k := len(h.first)
		for k > 0 && e.until.Before(h.first[k-1].until) {
			k--
		}
		if len(h.first) == MaxAhead {
			more++
			if k == MaxAhead {
				continue
			}
			h.first = h.first[:MaxAhead-1]
		}
		h.first = slices.Insert(h.first, k, e)
	}
	for _, e := range h.first {
		names = append(names, h.snap.Running[e.at].Job.ID)
	}
	for i := range h.starts {
		switch j := &h.starts[i]; {
		case !needs(demand, j.demand) || !j.somewhere():
		case len(names) < MaxAhead:
			names = append(names, j.job.ID)
		default:
			more++
		}
	}
	return names, more
}

// holdsSome tells whether a running job holds some of what the demand is for, on a node that is there.
func (h *Holders) holdsSome(r *sched.Running, demand []float64) bool {
	if len(r.Ranges) > 0 {
		its, _ := h.nodes.Holding(r)
		return needs(demand, its)
	}
	its, on := h.nodes.Held(r)
	return needs(demand, its) && slices.ContainsFunc(on, func(n int32) bool { return n >= 0 })
}

// needs tells whether two demands have a resource in common.
func needs(demand, its []float64) bool {
	for r, d := range its {
		if d > 0 && demand[r] > 0 {
			return true
		}
	}
	return false
}

// somewhere tells whether a job is on a node that is there.
func (j *holder) somewhere() bool {
	return len(j.ranges) > 0 || slices.ContainsFunc(j.on, func(n int32) bool { return n >= 0 })
}

// each are the nodes of a job that are there, with its tasks.
func (j *holder) each() iter.Seq2[int32, int32] {
	if len(j.ranges) > 0 {
		return j.ranges.All()
	}
	return func(yield func(int32, int32) bool) {
		for i, n := range j.on {
			if n >= 0 && !yield(n, int32(j.nodes[i].Tasks)) {
				return
			}
		}
	}
}

// Each yields all jobs that [Holders.Of] names or counts, in the same order.
func (h *Holders) Each(demand []float64, nodes []int32) iter.Seq[Held] {
	return func(yield func(Held) bool) {
		free := h.ledger.Free()
		h.binding(demand, nodes, func(j *holder) bool {
			return yield(Held{Job: j.job, Running: j.run, Tasks: h.gain(j, demand, free)})
		})
	}
}

// binding calls tell for each job that holds room which the tasks lack, until tell returns false.
func (h *Holders) binding(demand []float64, nodes []int32, tell func(*holder) bool) {
	h.list()
	for i, n := range nodes {
		fit := h.ledger.Fit(demand, int(n))
		if fit < h.nodes.Holds(demand, nodes[i:i+1]) {
			h.short[n] = int32(fit)
		}
	}
	for i := range h.held {
		j := &h.held[i]
		if h.bindsSomewhere(j, demand) && !tell(j) {
			break
		}
	}
	for _, n := range nodes {
		h.short[n] = -1
	}
}

// gain is the number of further tasks that fit on the short nodes if a job gives back what it holds.
func (h *Holders) gain(j *holder, demand, free []float64) int {
	total := 0
	h.trial.Reset(h.nodes, free)
	for n, tasks := range j.each() {
		if h.short[n] >= 0 {
			before := h.trial.Fit(demand, int(n))
			h.trial.Give(int(n), j.demand, int(tasks))
			total += h.trial.Fit(demand, int(n)) - before
		}
	}
	return total
}

// bindsSomewhere reports whether a job binds on one of its nodes.
func (h *Holders) bindsSomewhere(j *holder, demand []float64) bool {
	for n := range j.each() {
		if h.binds(j, demand, n) {
			return true
		}
	}
	return false
}

// binds reports whether a job holds some of what a node lacks for one more task.
func (h *Holders) binds(j *holder, demand []float64, n int32) bool {
	if h.short[n] < 0 {
		return false
	}
	for r, d := range demand {
		if d > 0 && j.demand[r] > 0 && h.ledger.Lacks(int(n), r, d, int(h.short[n])+1) {
			return true
		}
	}
	return false
}

// Behind appends names to a reason's Ahead, each once and up to [MaxAhead] in all, and counts the others in More.
func Behind(r *sched.Reason, names []string, more int) {
	r.More += more
	ahead := slices.Clip(r.Ahead)
	for _, id := range names {
		switch {
		case slices.Contains(ahead, id):
		case len(ahead) < MaxAhead:
			ahead = append(ahead, id)
		default:
			r.More++
		}
	}
	r.Ahead = ahead
}

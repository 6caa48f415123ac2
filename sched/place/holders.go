package place

import (
	"iter"
	"slices"
	"time"

	"github.com/hedgesched/hedge/sched"
)

// MaxAhead is the largest number of jobs in [sched.Reason].Ahead.
const MaxAhead = 5

// Holders says who holds the room that jobs wait for, so that all policies explain themselves alike. It belongs to one
// cycle: call Reset once the plan's starts and preemptions are known. Its zero value is ready for Reset; it is not safe
// for concurrent use.
type Holders struct {
	nodes  *sched.NodeSet
	ledger *sched.Ledger
	held   []holder
	on     []int32 // node indexes of the jobs that start; holders share it
	short  []int32 // by node: tasks that fit, or -1 if the node is not looked at or could hold no more
	trial  sched.Ledger
}

// holder is a job that holds some of the resources of its nodes.
type holder struct {
	job    *sched.Job
	run    *sched.Running // nil if the plan starts it
	nodes  []sched.NodeTasks
	demand []float64
	on     []int32
	until  time.Time
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
	h.nodes, h.ledger, h.held, h.on = s.Nodes, &placer.ledger, h.held[:0], h.on[:0]
	gone := make(map[string]struct{})
	for i := range decisions {
		if decisions[i].Kind == sched.Preempt {
			gone[decisions[i].Job] = struct{}{}
		}
	}
	for i := range s.Running {
		r := &s.Running[i]
		if _, preempted := gone[r.Job.ID]; preempted {
			continue
		}
		runtime := r.Prediction.Point * sched.Stretch(r.Speed)
		demand, on := s.Nodes.Held(r)
		if demand != nil {
			h.held = append(h.held, holder{
				job: r.Job, run: r, nodes: r.Nodes, demand: demand, on: on, until: r.Started.Add(seconds(runtime)),
			})
		}
	}
	slices.SortStableFunc(h.held, func(a, b holder) int { return a.until.Compare(b.until) })
	if len(h.short) != s.Nodes.Len() {
		h.short = make([]int32, s.Nodes.Len())
		for n := range h.short {
			h.short[n] = -1
		}
	}
}

// seconds converts to a duration that is short enough to be added to a time.
func seconds(s float64) time.Duration {
	const most = float64(1 << 62)
	return time.Duration(max(0, min(s*float64(time.Second), most)))
}

// Start adds a job that the plan starts on these nodes.
func (h *Holders) Start(job *sched.Job, nodes []sched.NodeTasks) {
	from := len(h.on)
	h.on = h.nodes.Indexes(h.on, nodes)
	demand, err := h.nodes.Demand(job.Demand)
	if err != nil {
		return // it holds nothing this cluster has
	}
	h.held = append(h.held, holder{job: job, nodes: nodes, demand: demand, on: h.on[from:len(h.on):len(h.on)]})
}

// Of names the jobs that hold the room which tasks of the demand lack on these nodes. It looks at the nodes that could
// hold more such tasks if they were empty. On each, it names the jobs that hold some of a resource of which too little
// is left for one more task. Running jobs come first, by their forecast ends, then jobs that the plan starts. It names
// at most [MaxAhead] jobs; more is the number of the others.
func (h *Holders) Of(demand []float64, nodes []int32) (names []string, more int) {
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
	for i, n := range nodes {
		fit := h.ledger.Fit(demand, int(n))
		if fit < h.nodes.Holds(demand, nodes[i:i+1]) {
			h.short[n] = int32(fit)
		}
	}
	for i := range h.held {
		j := &h.held[i]
		if slices.ContainsFunc(j.on, func(n int32) bool { return h.binds(j, demand, n) }) && !tell(j) {
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
	for i, n := range j.on {
		if n >= 0 && h.short[n] >= 0 {
			before := h.trial.Fit(demand, int(n))
			h.trial.Give(int(n), j.demand, j.nodes[i].Tasks)
			total += h.trial.Fit(demand, int(n)) - before
		}
	}
	return total
}

// binds reports whether a job holds some of what a node lacks for one more task.
func (h *Holders) binds(j *holder, demand []float64, n int32) bool {
	if n < 0 || h.short[n] < 0 {
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

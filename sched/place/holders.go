package place

import (
	"iter"
	"slices"
	"time"

	"github.com/hedgesched/hedge/sched"
)

// MaxAhead is how many jobs [sched.Reason] names at most in Ahead.
const MaxAhead = 5

// Holders tells who holds the room that jobs wait for, so that every policy explains itself alike. It is of one cycle:
// Reset begins it once the plan's starts and preemptions are known. Its zero value is ready for Reset; it is not safe
// for concurrent use.
type Holders struct {
	nodes  *sched.NodeSet
	ledger *sched.Ledger
	held   []holder
	on     []int32 // nodes of the jobs that start, by index; each holder has a part of it
	short  []int32 // by node: how many tasks fit, or -1 where the node is not looked at or could hold no more
	trial  sched.Ledger
}

// holder is a job that holds a part of some nodes.
type holder struct {
	job    *sched.Job
	run    *sched.Running // nil if it starts with the plan
	nodes  []sched.NodeTasks
	demand []float64
	on     []int32
	until  time.Time
}

// Held is a job that holds some of the room that tasks lack.
type Held struct {
	Job *sched.Job
	// Running is the job as it runs, in the snapshot. It is nil for a job that starts with the plan.
	Running *sched.Running
	// Tasks is how many more of the tasks would fit if this job alone held nothing.
	Tasks int
}

// Reset begins with the running jobs of a snapshot. The placer has what the plan leaves on the nodes.
// The jobs in decisions that are preempted hold nothing. Jobs that the plan starts are added by Start.
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
		runtime := r.Prediction.Point
		if r.Slowed {
			runtime *= max(1, r.Job.Slowdown)
		}
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

// seconds is a duration that cannot overflow what a time is added to.
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

// Of names those that hold the room which tasks of the demand lack on these nodes: on each node that could hold more
// such tasks if it were empty, those that hold some of a resource of which too little is left for one more. The running
// ones come first, in the order in which their forecasts say that they end, then those that start with this plan. More
// is how many there are beyond those that are named.
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

// Each are all that [Holders.Of] tells of, in its order.
func (h *Holders) Each(demand []float64, nodes []int32) iter.Seq[Held] {
	return func(yield func(Held) bool) {
		free := h.ledger.Free()
		h.binding(demand, nodes, func(j *holder) bool {
			return yield(Held{Job: j.job, Running: j.run, Tasks: h.gain(j, demand, free)})
		})
	}
}

// binding tells of the jobs that hold the room which the tasks lack, until it is told to stop.
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

// gain is how many more tasks fit on the nodes that are short if a job holds nothing of what is otherwise free.
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

// binds tells whether a job holds some of what the node lacks for one more task.
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

// Behind adds names to those that a reason has ahead of its job, none of them twice, up to [MaxAhead].
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

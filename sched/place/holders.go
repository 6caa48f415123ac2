package place

import (
	"slices"
	"time"

	"github.com/hedgesched/hedge/sched"
)

// Holders tells who holds the room that jobs wait for, so that every policy explains itself alike. It is of one cycle:
// Reset begins it once the plan's starts and preemptions are known. Its zero value is ready for Reset; it is not safe
// for concurrent use.
type Holders struct {
	nodes  *sched.NodeSet
	ledger *sched.Ledger
	held   []holder
	on     []int32 // indexes of nodes; each holder has a part of it
	short  []int32 // by node: how many tasks fit, or -1 where the node is not looked at or could hold no more
}

// holder is a job that holds a part of some nodes.
type holder struct {
	id     string
	demand []float64
	on     []int32
	until  time.Time
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
		h.add(r.Job, r.Nodes, r.Started.Add(seconds(runtime)))
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
func (h *Holders) Start(job *sched.Job, nodes []sched.NodeTasks) { h.add(job, nodes, time.Time{}) }

func (h *Holders) add(job *sched.Job, nodes []sched.NodeTasks, until time.Time) {
	demand, err := h.nodes.Demand(job.Demand)
	if err != nil {
		return // it holds nothing this cluster has
	}
	from := len(h.on)
	for _, nt := range nodes {
		if n, ok := h.nodes.Index(nt.Node); ok {
			h.on = append(h.on, int32(n))
		}
	}
	h.held = append(h.held, holder{id: job.ID, demand: demand, on: h.on[from:len(h.on):len(h.on)], until: until})
}

// Of names those that hold the room which tasks of the demand lack on these nodes: on each node that could hold more
// such tasks if it were empty, those that hold some of a resource of which too little is left for one more. The running
// ones come first, in the order in which their forecasts say that they end, then those that start with this plan. More
// is how many there are beyond those that are named.
func (h *Holders) Of(demand []float64, nodes []int32) (names []string, more int) {
	for i, n := range nodes {
		fit := h.ledger.Fit(demand, int(n))
		if fit < h.nodes.Holds(demand, nodes[i:i+1]) {
			h.short[n] = int32(fit)
		}
	}
	most := new(sched.Reason).Room()
	for i := range h.held {
		switch j := &h.held[i]; {
		case !slices.ContainsFunc(j.on, func(n int32) bool { return h.binds(j, demand, n) }):
		case len(names) < most:
			names = append(names, j.id)
		default:
			more++
		}
	}
	for _, n := range nodes {
		h.short[n] = -1
	}
	return names, more
}

// binds tells whether a job holds some of what the node lacks for one more task.
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

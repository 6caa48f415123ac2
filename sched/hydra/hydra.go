// Package hydra is Hydra's scheduling (Yang et al., "Hydra: Deadline-aware and Efficiency-oriented Scheduling for Deep
// Learning Jobs on Heterogeneous GPUs", IEEE Transactions on Computers, 2023), made from its description. It is there
// to be compared with.
//
// # The rules
//
// Every machine has a queue. In each cycle all queues are made anew. Their cost is the tardiness of all jobs and, among
// queues of equal tardiness, the sum of their completion times. In each round, the pair of a waiting job and a machine
// is chosen that adds the least cost, with the machine's queue in its best order, until no job is left. Then every idle
// machine starts the first job of its queue. Nothing is preempted.
//
// If no job of a queue is late in order of runtime, then that order is best. Otherwise the heuristic takes the best of
// three orders: by runtime, by deadline, and by modified due date. [Config.Nodes] bounds a branch and bound over all
// orders, which starts from that.
//
// # What differs
//
// The paper weighs tardiness against completion times with a penalty that changes; how it changes is not known here, so
// completion times decide only between queues of equal tardiness. Its branch and bound stops after some seconds; this
// one stops after a number of nodes, so that plans are the same on any machine. Hydra knows jobs on one GPU only. Jobs
// of several tasks start here where there is room, in order of submission, before the others.
//
// The package reads no clock and uses no randomness.
package hydra

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/place"
)

// ErrConfig is wrapped by errors about a [Config].
var ErrConfig = errors.New("hydra: invalid configuration")

// Config of a policy. The zero value is the heuristic.
type Config struct {
	// Name is the policy's name; empty means "hydra".
	Name string
	// Nodes is the most nodes that the branch and bound of one queue visits, at least 0. 0 is the heuristic alone.
	Nodes int
}

// Policy is a [sched.Policy]. It is for one goroutine at a time.
type Policy struct {
	cfg    Config
	placer place.Placer
	order  orderer
}

// New returns a policy. Its error wraps [ErrConfig].
func New(cfg Config) (*Policy, error) {
	if cfg.Nodes < 0 {
		return nil, fmt.Errorf("%w: Nodes = %d, want at least 0", ErrConfig, cfg.Nodes)
	}
	if cfg.Name == "" {
		cfg.Name = "hydra"
	}
	return &Policy{cfg: cfg, order: orderer{limit: cfg.Nodes}}, nil
}

// Name implements [sched.Policy].
func (p *Policy) Name() string { return p.cfg.Name }

// job is one that waits. Times are in seconds from now.
type job struct {
	index  int // in the snapshot
	site   *sched.Site
	full   float64 // the runtime at full speed
	waited float64
	due    float64 // +Inf without a deadline
}

// machine is a node and its queue.
type machine struct {
	node  int32
	ready float64 // when the first of what runs there is expected to end
	idle  bool
	queue []task
	cost  cost
	// joins has, by job, what the job adds to the cost; it is not valid where the job cannot run.
	joins []join
}

// join is what comes of a job's joining a queue: the cost that it adds, and the queue with it.
type join struct {
	cost  cost
	queue []task
	valid bool
}

// Plan implements [sched.Policy]. It returns the error of [sched.CheckSnapshot], or of ctx if that ends before the
// queues are made. Its time grows with the cube of the number of jobs.
func (p *Policy) Plan(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	if err := sched.CheckSnapshot(s); err != nil {
		return nil, err
	}
	p.placer.Reset(s)
	plan := &sched.Plan{Rest: sched.Reason{Code: sched.ReasonWaiting, Probability: sched.UnknownProbability}}
	jobs := p.admit(s, plan)
	machines := p.machines(s)
	if !slices.ContainsFunc(machines, func(m machine) bool { return m.idle }) {
		return plan, nil
	}
	if err := p.assign(ctx, s, jobs, machines); err != nil {
		return nil, err
	}
	for i := range machines {
		if m := &machines[i]; m.idle && len(m.queue) > 0 {
			j := &jobs[m.queue[0].job]
			if nodes, ok := p.placer.Place(j.site.Demand, []int32{m.node}, 1); ok {
				p.start(s, plan, j.index, nodes)
			}
		}
	}
	return plan, nil
}

func (p *Policy) start(s *sched.Snapshot, plan *sched.Plan, index int, nodes []sched.NodeTasks) {
	j := s.Pending[index].Job
	plan.Decisions = append(plan.Decisions, sched.Decision{Job: j.ID, Kind: sched.Start, Nodes: nodes,
		Reason: sched.Reason{Code: sched.ReasonPlaced, Set: j.Required.String(), Probability: sched.UnknownProbability}})
}

// admit lists the jobs of one task. Others start where there is room, and jobs that no nodes can hold say so.
func (p *Policy) admit(s *sched.Snapshot, plan *sched.Plan) []job {
	var jobs []job
	for i := range s.Pending {
		q := &s.Pending[i]
		demand, err := s.Nodes.Demand(q.Job.Demand)
		var site *sched.Site
		if err == nil {
			site = s.Nodes.Site(q.Job.Required, demand)
		}
		if err != nil || site.Holds < q.Job.Tasks {
			plan.Decisions = append(plan.Decisions, sched.Decision{Job: q.Job.ID, Reason: sched.Reason{
				Code: sched.ReasonNoFeasibleSet, Set: q.Job.Required.String(),
				Obstacle: s.Nodes.Obstacle(q.Job, q.Job.Required), Probability: sched.UnknownProbability}})
			continue
		}
		if q.Job.Tasks > 1 {
			if nodes, ok := p.placer.Place(demand, site.Nodes, q.Job.Tasks); ok {
				p.start(s, plan, i, nodes)
			}
			continue
		}
		j := job{index: i, site: site, full: max(0, q.Prediction.Point), due: math.Inf(1),
			waited: max(0, s.Now.Sub(q.Job.Submitted).Seconds())}
		if q.Job.Deadline > 0 {
			j.due = q.Job.Deadline.Seconds() - j.waited
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// machines lists the nodes, with when each is expected to have room again: when the first of its jobs ends.
func (p *Policy) machines(s *sched.Snapshot) []machine {
	out := make([]machine, s.Nodes.Len())
	for i := range out {
		out[i] = machine{node: int32(i), idle: true}
	}
	for i := range s.Running {
		r := &s.Running[i]
		left := max(float64(r.Prediction.Point*sched.Stretch(r.Speed))-s.Now.Sub(r.Started).Seconds(), s.Cycle.Seconds(), 1)
		for _, nt := range r.Nodes {
			if at, ok := s.Nodes.Index(nt.Node); ok {
				m := &out[at]
				if m.idle || left < m.ready {
					m.ready = left
				}
				m.idle = false
			}
		}
	}
	return out
}

// assign fills the queues. Its error is that of ctx.
func (p *Policy) assign(ctx context.Context, s *sched.Snapshot, jobs []job, machines []machine) error {
	for i := range machines {
		if err := ctx.Err(); err != nil {
			return err
		}
		machines[i].joins = make([]join, len(jobs))
		for j := range jobs {
			p.weigh(s, &machines[i], jobs, j)
		}
	}
	open := make([]bool, len(jobs))
	for j := range open {
		open[j] = true
	}
	for range jobs {
		if err := ctx.Err(); err != nil {
			return err
		}
		best, on := -1, -1
		for i := range machines {
			for j := range jobs {
				at := &machines[i].joins[j]
				if open[j] && at.valid && (best < 0 || at.cost.less(machines[on].joins[best].cost)) {
					best, on = j, i
				}
			}
		}
		if best < 0 {
			return nil // no machine may run what is left
		}
		m := &machines[on]
		m.queue, m.cost, open[best] = m.joins[best].queue, m.cost.plus(m.joins[best].cost), false
		for j := range jobs {
			if open[j] {
				p.weigh(s, m, jobs, j)
			}
		}
	}
	return nil
}

// weigh works out what a job adds to the cost of a machine.
func (p *Policy) weigh(s *sched.Snapshot, m *machine, jobs []job, j int) {
	k, at := &jobs[j], &m.joins[j]
	if _, on := slices.BinarySearch(k.site.Nodes, m.node); !on {
		return
	}
	if m.idle && !p.placer.FitsAtLeast(k.site.Demand, []int32{m.node}, 1) {
		return
	}
	speed := s.Pending[k.index].Job.Speeds.On(s.Nodes.Node(int(m.node)).Labels)
	queue := append(slices.Clone(m.queue), task{job: j, length: float64(k.full * sched.Stretch(speed)), due: k.due,
		waited: k.waited})
	total := p.order.best(queue, m.ready)
	*at = join{cost: total.minus(m.cost), queue: queue, valid: true}
}

// cost is what a queue costs, or a difference of such costs.
type cost struct{ late, done float64 }

func (c cost) less(o cost) bool {
	return cmp.Or(cmp.Compare(c.late, o.late), cmp.Compare(c.done, o.done)) < 0
}

func (c cost) plus(o cost) cost  { return cost{c.late + o.late, c.done + o.done} }
func (c cost) minus(o cost) cost { return cost{c.late - o.late, c.done - o.done} }

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
	table  table
}

// New returns a policy. Its error wraps [ErrConfig].
func New(cfg Config) (*Policy, error) {
	if cfg.Nodes < 0 {
		return nil, fmt.Errorf("%w: Nodes = %d, want at least 0", ErrConfig, cfg.Nodes)
	}
	if cfg.Name == "" {
		cfg.Name = "hydra"
	}
	return &Policy{cfg: cfg, table: table{order: orderer{limit: cfg.Nodes}}}, nil
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

// Plan implements [sched.Policy]. It returns the error of [sched.CheckSnapshot], or of ctx if that ends before the
// queues are made.
func (p *Policy) Plan(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	if err := sched.CheckSnapshot(s); err != nil {
		return nil, err
	}
	p.placer.Reset(s)
	plan := &sched.Plan{Rest: sched.Reason{Code: sched.ReasonWaiting, Probability: sched.UnknownProbability}}
	jobs := p.admit(s, plan)
	p.survey(s)
	machines := p.table.machines
	if !slices.ContainsFunc(machines, func(m machine) bool { return m.idle }) {
		return plan, nil
	}
	p.list(s, jobs)
	if err := p.table.assign(ctx); err != nil {
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

// survey empties the queues of the nodes, and works out when each is expected to have room again: when the first of its
// jobs ends.
func (p *Policy) survey(s *sched.Snapshot) {
	machines := p.table.empty(s.Nodes.Len())
	for i := range s.Running {
		r := &s.Running[i]
		left := max(float64(r.Prediction.Point*sched.Stretch(r.Speed))-s.Now.Sub(r.Started).Seconds(), s.Cycle.Seconds(), 1)
		for _, nt := range r.Nodes {
			if at, ok := s.Nodes.Index(nt.Node); ok {
				m := &machines[at]
				if m.idle || left < m.ready {
					m.ready = left
				}
				m.idle = false
			}
		}
	}
}

// list writes down which jobs may join which queues, and how long they run there.
func (p *Policy) list(s *sched.Snapshot, jobs []job) {
	t := &p.table
	t.resize(len(jobs))
	for j := range jobs {
		k := &jobs[j]
		t.jobs[j] = task{job: j, due: k.due, waited: k.waited}
		levels := s.Pending[k.index].Job.Levels()
		for l := len(levels) - 1; l >= 0; l-- { // a faster level overrules those after it
			length := float64(k.full * sched.Stretch(levels[l].Factor))
			nodes := s.Nodes.Site(levels[l].On, k.site.Demand).Nodes
			for i, n := range nodes {
				if t.machines[n].idle && !p.placer.FitsAtLeast(k.site.Demand, nodes[i:i+1], 1) {
					continue
				}
				*t.join(int(n), j) = join{length: length, possible: true}
			}
		}
	}
}

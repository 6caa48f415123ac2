package distsched

import (
	"cmp"
	"container/heap"
	"context"
	"time"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/usage"
)

// Policy is DistSched's scheduler, DSSched. It implements [sched.Policy]. Between cycles it keeps what it has derived
// about jobs and machines. It is for one goroutine at a time.
type Policy struct {
	cfg      Config
	cycle    uint64
	jobs     map[string]*known
	outcomes map[int]*outcome // by priority, of the jobs of which Eviction told
	machines machines
	pending  []*known
	anywhere []*known // of pending: those that may run on any node

	heap, done []candidate
	spare      [][]candidate // memory to reuse
	shares     []float64     // by pick
	nodes      []onNode
	ended      []*known // jobs to learn from
	scratch    dist.Summand
}

// New returns a policy. Its error is a [*sched.ConfigError].
func New(cfg Config) (*Policy, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Policy{cfg: cfg, jobs: make(map[string]*known), outcomes: make(map[int]*outcome)}, nil
}

// Name implements [sched.Policy]: it is the configured name.
func (p *Policy) Name() string { return p.cfg.Name }

// Plan implements [sched.Policy]. A pending job that cannot be planned is deferred, with the error as its reason's
// Fault, and all others are planned. Plan fails only if the snapshot is inconsistent or the context is done.
func (p *Policy) Plan(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := sched.CheckSnapshot(s); err != nil {
		return nil, err
	}
	p.cycle++
	if p.machines.set != s.Nodes {
		p.unfollow()
	}
	begin := p.cfg.Stopwatch()
	if err := p.machines.renew(&p.cfg, s); err != nil {
		return nil, err
	}
	plan := &sched.Plan{Rest: sched.Reason{Code: sched.ReasonWaiting, Probability: sched.UnknownProbability}}
	p.takeUp(s, plan)
	if p.cfg.has(Preemption) {
		p.preempt(s, plan)
	}
	summed := p.cfg.Stopwatch()
	if err := p.choose(ctx, s.Now, plan); err != nil {
		return nil, err
	}
	plan.Stats.ValueTime = (p.cfg.Stopwatch() - summed).Seconds()
	plan.Stats.SolveTime = (summed - begin).Seconds()
	p.finish(s, plan)
	p.forget()
	return plan, nil
}

// takeUp reads the snapshot's jobs and updates the machines.
func (p *Policy) takeUp(s *sched.Snapshot, plan *sched.Plan) {
	for i := range s.Running {
		r := &s.Running[i]
		k := p.know(r.Job, &r.Prediction, 0, s.Nodes)
		k.follow.ran = true
		if k.err != nil {
			plan.Stats.Fault = cmp.Or(plan.Stats.Fault, k.err.Error())
			continue
		}
		if p.cfg.has(Observation) {
			p.watch(k, r, s.Cycle)
		}
		_, on := s.Nodes.Held(r)
		for i, at := range on {
			if at >= 0 {
				m := &p.machines.of[at]
				m.next = append(m.next, entry{of: k, count: r.Nodes[i].Tasks, version: k.versionOn(at)})
			}
		}
	}
	for _, k := range p.pending { // of the last cycle: free their candidates
		if k.option.of != nil {
			p.spare = append(p.spare, k.option.of)
			k.option.of = nil
		}
	}
	p.machines.settle(s)
	p.pending = p.pending[:0]
	for i := range s.Pending {
		w := &s.Pending[i]
		k := p.know(w.Job, &w.Prediction, w.Attained, s.Nodes)
		k.index = i
		p.awaits(k)
		if k.watched != nil { // observed in a run that is over
			k.watched = nil
			k.version++
		}
		k.option.nodes, k.option.picks = nil, k.option.picks[:0]
		p.pending = append(p.pending, k)
	}
}

// queue is a heap of the jobs that may start, with the best first.
type queue []*known

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	if q[i].option.key != q[j].option.key {
		return q[i].option.key > q[j].option.key
	}
	return byArrival(q[i], q[j]) < 0
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(*known)) }
func (q *queue) Pop() any {
	old := *q
	k := old[len(old)-1]
	*q = old[:len(old)-1]
	return k
}

// choose starts the job with the highest key, and repeats until no job fits (section 5.2.3).
//
// It builds an option again only when the job comes first and tasks have started since. Room only shrinks within a
// cycle, so an older option's value is taken as an upper bound of a newer one's. That is nearly always so: TestLazy
// compares with building all options again.
func (p *Policy) choose(ctx context.Context, now time.Time, plan *sched.Plan) error {
	p.weighAll()
	q := make(queue, 0, len(p.pending))
	for _, k := range p.pending {
		if k.err == nil && k.demand != nil && p.renew(k, now, plan) {
			q = append(q, k)
		}
	}
	heap.Init(&q)
	for len(q) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		k := q[0]
		if k.option.upTo < len(p.machines.touched) {
			if p.renew(k, now, plan) {
				heap.Fix(&q, 0)
			} else {
				heap.Pop(&q)
			}
			continue
		}
		heap.Pop(&q)
		p.start(k, plan)
	}
	return nil
}

// renew builds and values a job's option, and tells whether the job may start.
func (p *Policy) renew(k *known, now time.Time, plan *sched.Plan) bool {
	plan.Stats.Options++
	o := &k.option
	p.build(k)
	if len(o.picks) == 0 {
		return false
	}
	p.value(k, now)
	switch p.cfg.Order {
	case ByDensity:
		o.key = o.value / p.takes(k)
	case ByDeadline:
		o.key = -due(k, now)
	case ByRuntime:
		o.key = -k.length()
	default:
		o.key = o.value
	}
	return o.value > 0
}

// start starts a job at its option.
func (p *Policy) start(k *known, plan *sched.Plan) {
	o := &k.option
	k.started = p.cycle
	for _, pk := range o.picks {
		p.machines.start(pk.at, k, pk.count)
	}
	reason := sched.Reason{Code: sched.ReasonPlaced, Set: k.job.Required.String(), Value: o.value,
		Probability: sched.UnknownProbability}
	if k.worth.deadline > 0 {
		reason.Probability = o.inTime
	}
	plan.Stats.Value += o.value
	plan.Decisions = append(plan.Decisions,
		sched.Decision{Job: k.job.ID, Kind: sched.Start, Nodes: p.gang(o), Reason: reason})
}

// finish adds the reasons of jobs that cannot start at all, and names the resources that the plan overcommits.
func (p *Policy) finish(s *sched.Snapshot, plan *sched.Plan) {
	for _, k := range p.pending {
		reason := sched.Reason{Code: sched.ReasonWaiting, Set: k.job.Required.String(),
			Probability: sched.UnknownProbability}
		o := &k.option
		switch {
		case k.err != nil:
			reason.Code, reason.Fault = ReasonInvalid, k.err.Error()
		case k.demand == nil:
			reason.Code, reason.Obstacle = sched.ReasonNoFeasibleSet, s.Nodes.Obstacle(k.job, k.job.Required)
		case len(o.picks) > 0 && !(o.value > 0):
			reason.Code = sched.ReasonNoUtility
		default:
			continue
		}
		plan.Decisions = append(plan.Decisions, sched.Decision{Job: k.job.ID, Reason: reason})
	}
	for _, r := range [...]string{usage.CPU, usage.Memory} {
		if index(s.Nodes, r) >= 0 {
			plan.Overpacks = append(plan.Overpacks, r)
		}
	}
}

// ReasonInvalid is the reason of a pending job that cannot be planned; its Fault says why.
const ReasonInvalid sched.ReasonCode = "invalid"

// takes is the larger of the shares of the cluster's CPU and memory that a job uses on average.
func (p *Policy) takes(k *known) float64 {
	tasks := float64(k.job.Tasks)
	has := &p.machines.limits
	return max(tiny, tasks*k.profile.cpu.Mean()/max(has.CPU, tiny), tasks*k.profile.memory.Mean()/max(has.Memory, tiny))
}

// due is the time until a job's deadline, in seconds.
func due(k *known, now time.Time) float64 {
	if k.worth.deadline <= 0 {
		return maxTail
	}
	return k.worth.deadline - now.Sub(k.job.Submitted).Seconds()
}

// length is the expected runtime of a job that gets all the CPU that it wants, in seconds.
func (k *known) length() float64 {
	if k.profile.work > 0 {
		return k.profile.work / max(k.profile.cpu.Mean(), tiny)
	}
	return k.profile.runtime.Mean()
}

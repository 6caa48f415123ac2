package experiment

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/sched"
)

// Picture is the space-time plan of one cycle (3Sigma, figure 5): what running jobs are expected to hold
// of each rack in each slot, and where and when pending jobs are planned to start.
type Picture struct {
	// AtS is the time of the cycle since the start of the simulation, SlotS the slots' length.
	AtS, SlotS float64
	// Racks are the rows, Expected is [rack][slot] of the expected share of the rack in use by running jobs
	// and by what starts in this cycle.
	Racks    []string
	Expected [][]float64
	// Starts are the planned starts within the window. A start that is not at once has no nodes yet; it is
	// shown on the rack with most room in its slot among those the job prefers.
	Starts           []PlannedStart
	Pending, Running int
	// Asked tells that the cycle was chosen by its time.
	Asked bool
}

// PlannedStart is a gang's start.
type PlannedStart struct {
	Job        string
	Tasks      int
	Rack, Slot int
	Now, SLO   bool
}

// camera is a policy that keeps the picture of one cycle: the first not before at, or, if at is
// negative, that with the most planned starts.
type camera struct {
	sched.Policy
	slot  time.Duration
	slots int
	at    time.Duration
	score int
	best  *Picture
}

func newCamera(p sched.Policy, slot time.Duration, slots int, at time.Duration) *camera {
	return &camera{Policy: p, slot: slot, slots: slots, at: at}
}

// Plan is the policy's; the picture is taken on the way.
func (c *camera) Plan(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	plan, err := c.Policy.Plan(ctx, s)
	if err != nil {
		return nil, err
	}
	if c.at >= 0 {
		if c.best == nil && s.Now.Sub(sim.Epoch()) >= c.at {
			c.best = c.take(s, plan)
			c.best.Asked = true
		}
		return plan, nil
	}
	if score := starts(plan); score > c.score {
		c.score = score
		c.best = c.take(s, plan)
	}
	return plan, nil
}

// starts counts a plan's starts, those at once twice.
func starts(plan *sched.Plan) int {
	n := 0
	for i := range plan.Decisions {
		switch d := &plan.Decisions[i]; {
		case d.Kind == sched.Start:
			n += 2
		case d.Kind == sched.Defer && !d.Start.IsZero():
			n++
		}
	}
	return n
}

// canvas is a picture being drawn.
type canvas struct {
	*Picture
	camera *camera
	snap   *sched.Snapshot
	rackOf map[string]int // by node
	size   []float64
}

func (c *camera) take(s *sched.Snapshot, plan *sched.Plan) *Picture {
	v := &canvas{Picture: &Picture{AtS: s.Now.Sub(sim.Epoch()).Seconds(), SlotS: c.slot.Seconds(),
		Pending: len(s.Pending), Running: len(s.Running)}, camera: c, snap: s, rackOf: map[string]int{}}
	v.racks()
	gone := map[string]bool{}
	pending := make(map[string]*sched.Pending, len(s.Pending))
	for i := range s.Pending {
		pending[s.Pending[i].Job.ID] = &s.Pending[i]
	}
	for i := range plan.Decisions {
		if plan.Decisions[i].Kind == sched.Preempt {
			gone[plan.Decisions[i].Job] = true
		}
	}
	for i := range s.Running {
		if r := &s.Running[i]; !gone[r.Job.ID] {
			v.hold(r.Nodes, r.Prediction.Dist, sched.Stretch(r.Speed), s.Now.Sub(r.Started).Seconds())
		}
	}
	for i := range plan.Decisions {
		v.start(&plan.Decisions[i], pending)
	}
	for r := range v.Expected {
		for t := range v.Expected[r] {
			v.Expected[r][t] /= v.size[r]
		}
	}
	slices.SortStableFunc(v.Starts, func(a, b PlannedStart) int {
		return cmp.Or(cmp.Compare(a.Slot, b.Slot), cmp.Compare(a.Rack, b.Rack))
	})
	return v.Picture
}

func (v *canvas) racks() {
	index := map[string]int{}
	for i := range v.snap.Nodes.Len() {
		node := v.snap.Nodes.Node(i)
		rack := node.Labels[sim.RackLabel]
		at, ok := index[rack]
		if !ok {
			at = len(v.Racks)
			index[rack] = at
			v.Racks = append(v.Racks, rack)
			v.Expected = append(v.Expected, make([]float64, v.camera.slots))
			v.size = append(v.size, 0)
		}
		v.rackOf[node.Name] = at
		v.size[at]++
	}
}

// hold adds the expected consumption of tasks on nodes, given that they have run for elapsed seconds.
func (v *canvas) hold(nodes []sched.NodeTasks, d dist.Distribution, slow, elapsed float64) {
	still := 1 - d.CDF(elapsed/slow)
	for t := range v.camera.slots {
		p := 0.0
		switch {
		case t == 0:
			p = 1
		case still > 0:
			p = (1 - d.CDF((elapsed+float64(float64(t)*v.SlotS))/slow)) / still
		}
		for _, n := range nodes {
			v.Expected[v.rackOf[n.Node]][t] += float64(p * float64(n.Tasks))
		}
	}
}

func (v *canvas) start(d *sched.Decision, pending map[string]*sched.Pending) {
	p := pending[d.Job]
	if p == nil {
		return
	}
	mark := PlannedStart{Job: d.Job, Tasks: p.Job.Tasks, SLO: p.Job.Deadline > 0}
	switch {
	case d.Kind == sched.Start:
		v.hold(d.Nodes, p.Prediction.Dist, sched.Stretch(v.snap.Nodes.Speed(p.Job, d.Nodes)), 0)
		mark.Now = true
		if len(d.Nodes) > 0 {
			mark.Rack = v.rackOf[d.Nodes[0].Node]
		}
	case d.Kind == sched.Defer && !d.Start.IsZero():
		mark.Slot = int(d.Start.Sub(v.snap.Now) / v.camera.slot)
		if mark.Slot < 0 || mark.Slot >= v.camera.slots {
			return
		}
		mark.Rack = v.roomiest(p.Job, mark.Slot)
	default:
		return
	}
	v.Starts = append(v.Starts, mark)
}

// roomiest is the rack with the most expected room in a slot, among those where the job is fastest.
func (v *canvas) roomiest(j *sched.Job, slot int) int {
	best, room, fastest := 0, -1.0, j.Levels()[0]
	for r, name := range v.Racks {
		if j.Speeds.On(map[string]string{sim.RackLabel: name}) < fastest.Factor {
			continue
		}
		if free := v.size[r] - v.Expected[r][slot]; free > room {
			best, room = r, free
		}
	}
	return best
}

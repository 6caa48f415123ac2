package distsched_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/distsched"
	"github.com/hedgesched/hedge/sched/record"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/sched/usage"
	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/milptest/reference"
)

// world draws what a snapshot's tasks use.
type world struct {
	t   *testing.T
	s   *sched.Snapshot
	rng *rand.Rand
}

func (w *world) draw(p *predict.Prediction, q predict.Quantity) float64 {
	of, ok := p.Usage.Of(q)
	require.True(w.t, ok)
	return dist.Sample(of.Dist, w.rng)
}

// node is what runs on a node: of each job its tasks.
type onNode struct {
	of     *sched.Running
	count  float64
	weight float64
}

func (w *world) nodes() map[string][]onNode {
	out := make(map[string][]onNode)
	for i := range w.s.Running {
		r := &w.s.Running[i]
		for _, nt := range r.Nodes {
			out[nt.Node] = append(out[nt.Node],
				onNode{of: r, count: float64(nt.Tasks), weight: r.Job.Demand[usage.CPU] * float64(nt.Tasks)})
		}
	}
	return out
}

// gets is the CPU that each of a job's tasks gets on a machine (section 5.2.1): what it wants if that is within its
// share, its share if the others use more than theirs, and otherwise what they leave idle.
func gets(wants, tasks, share, running, capacity float64) float64 {
	switch {
	case wants <= share:
		return wants
	case running > capacity-tasks*share:
		return share
	default:
		return min(wants, (capacity-running)/tasks)
	}
}

// TestAgainstMonteCarlo: the probability of an eviction, that of meeting the deadline and the expected utility are
// those of drawing what every task uses and working out what becomes of the job.
func TestAgainstMonteCarlo(t *testing.T) {
	const draws, cores, memory = 4000, 32, 64
	risky := 0
	for seed := range uint64(9) {
		s := busy(t, seed, 4, 24+int(seed%3)*5, 1)
		p, err := distsched.New(distsched.Config{MemoryRisk: 0.4, CPURisk: 0.9})
		require.NoError(t, err)
		plan, err := p.Plan(context.Background(), s)
		require.NoError(t, err)
		if len(schedtest.Started(plan)) == 0 {
			continue
		}
		job, forecast := s.Pending[0].Job, &s.Pending[0].Prediction
		d := plan.Decisions[slices.IndexFunc(plan.Decisions, func(d sched.Decision) bool { return d.Kind == sched.Start })]
		value, inTime, eviction := p.OptionOf(job.ID)
		w := &world{t: t, s: s, rng: rand.New(rand.NewPCG(seed, 9))}
		nodes := w.nodes()
		worth, work, age := p.WorthOf(job.ID), p.WorkOf(job.ID), s.Now.Sub(job.Submitted).Seconds()
		stays, met, sum := 1.0, 0.0, 0.0
		for _, nt := range d.Nodes {
			evicted := 0.0
			for range draws {
				used := float64(nt.Tasks) * w.draw(forecast, predict.Memory)
				for _, o := range nodes[nt.Node] {
					used += o.count * w.draw(&o.of.Prediction, predict.Memory)
				}
				if used > 0.95*memory {
					evicted++
				}
			}
			stays *= 1 - evicted/draws
		}
		for range draws {
			wants := w.draw(forecast, predict.CPU)
			least := wants
			for _, nt := range d.Nodes {
				running, weights := 0.0, job.Demand[usage.CPU]*float64(nt.Tasks)
				for _, o := range nodes[nt.Node] {
					running += o.count * w.draw(&o.of.Prediction, predict.CPU)
					weights += o.weight
				}
				least = min(least, gets(wants, float64(nt.Tasks), cores*job.Demand[usage.CPU]/weights, running, cores))
			}
			end := age + work/least
			sum += worth.At(end)
			if end <= job.Deadline.Seconds() {
				met++
			}
		}
		if eviction > 0.01 {
			risky++
		}
		at := fmt.Sprintf("seed %d: %d tasks", seed, job.Tasks)
		// A few standard deviations of the draws, and what atoms and levels cost.
		assert.InDelta(t, 1-stays, eviction, 0.03+0.05*(1-stays), at)
		assert.InDelta(t, stays*sum/draws, value, 0.04, at)
		if job.Deadline > 0 {
			assert.InDelta(t, stays*met/draws, inTime, 0.05, at)
		}
	}
	require.Greater(t, risky, 3, "the cases must be risky")
}

// crowd is a loop over a cluster whose jobs use what they are predicted to, and come and go.
func crowd(t *testing.T, policy sched.Policy, seed uint64, steps int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 3))
	nodes := schedtest.Nodes(8, 2)
	for i := range nodes {
		nodes[i].Capacity = sched.Resources{usage.CPU: 8, usage.Memory: 16}
	}
	cluster := schedtest.NewCluster(schedtest.At(0), nodes)
	cluster.Refuse = func(string) bool { return rng.IntN(10) == 0 }
	loop, err := sched.NewLoop(cluster, policy, &forecaster{t: t, rng: rand.New(rand.NewPCG(seed, 4))})
	require.NoError(t, err)
	for i := range steps {
		now := schedtest.At(15 * float64(i))
		cluster.Advance(now)
		for k := range rng.IntN(5) {
			j := schedtest.Job(fmt.Sprintf("j%d-%d", i, k), 1+rng.IntN(6)).Submitted(15 * float64(i)).
				Demand(sched.Resources{usage.CPU: 1 + 2*rng.Float64(), usage.Memory: 1 + 4*rng.Float64()})
			switch rng.IntN(4) {
			case 0:
				j.Deadline(float64(100 + rng.IntN(500))).Priority(1)
			case 1:
				j.Prefers(sched.NodesWith("rack", "r1"), 1.5)
			case 2:
				j.Requires(sched.NodesWith("rack", "r0"))
			}
			cluster.Submit(j.Job(), float64(40+rng.IntN(200)))
		}
		switch {
		case i%20 == 10:
			cluster.NodeDown("n5")
		case i%20 == 15:
			cluster.NodeUp(nodes[5])
		}
		_, err := loop.Step(context.Background(), now)
		require.NoError(t, err)
	}
}

// forecaster forecasts what it draws.
type forecaster struct {
	t   *testing.T
	rng *rand.Rand
}

func (f *forecaster) Predict(j predict.Job) predict.Prediction {
	return schedtest.Job(j.ID, 1).Uses(predict.CPU, drawn(f.t, f.rng, 0.3+f.rng.Float64())).
		Uses(predict.Memory, drawn(f.t, f.rng, 0.5+2*f.rng.Float64())).
		Uses(predict.CPUTime, drawn(f.t, f.rng, 100)).Prediction()
}

func (*forecaster) Observe(predict.Observation) error { return nil }

// naive compares each plan with that of a policy that has seen nothing before.
type naive struct {
	*distsched.Policy
	t       *testing.T
	name    string
	started int
}

func (n *naive) Plan(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	want, err := newPolicy(n.t, n.name).Plan(ctx, s.Clone())
	require.NoError(n.t, err)
	got, err := n.Policy.Plan(ctx, s)
	require.NoError(n.t, err)
	require.Equal(n.t, want.Decisions, got.Decisions)
	require.Equal(n.t, want.Stats.Value, got.Stats.Value)
	n.started += len(schedtest.Started(got))
	return got, nil
}

// TestIncremental: what is kept from cycle to cycle changes no bit of any plan, and saves most of the sums.
func TestIncremental(t *testing.T) {
	for _, name := range []string{"dist", "point", "dist-nodist"} {
		n := &naive{Policy: newPolicy(t, name), t: t, name: name}
		const steps = 80
		crowd(t, n, 5, steps)
		assert.Greater(t, n.started, 40, name)
		assert.Less(t, n.Combined(), 8*steps, name)
	}
}

// eager asks a new policy after each start, which then builds all options again. It returns the jobs that start, in
// this order, and their value.
func eager(t *testing.T, s *sched.Snapshot) (started []string, value float64) {
	t.Helper()
	for s = s.Clone(); ; {
		plan, err := newPolicy(t, "dist").Plan(context.Background(), s)
		require.NoError(t, err)
		first := slices.IndexFunc(plan.Decisions, func(d sched.Decision) bool { return d.Kind == sched.Start })
		if first < 0 {
			return started, value
		}
		d := &plan.Decisions[first]
		at := slices.IndexFunc(s.Pending, func(p sched.Pending) bool { return p.Job.ID == d.Job })
		s.Running = append(s.Running, sched.Running{Job: s.Pending[at].Job, Prediction: s.Pending[at].Prediction,
			Started: s.Now, Nodes: d.Nodes})
		s.Pending = slices.Delete(s.Pending, at, at+1)
		started, value = append(started, d.Job), value+d.Reason.Value
	}
}

// TestLazy: building options again only when their job comes first is nearly as good as after each start.
func TestLazy(t *testing.T) {
	same, worth, best := 0, 0.0, 0.0
	const trials = 25
	for seed := range uint64(trials) {
		s := busy(t, seed, 6, 20, 25)
		got, err := newPolicy(t, "dist").Plan(context.Background(), s)
		require.NoError(t, err)
		want, value := eager(t, s)
		if slices.Equal(schedtest.Started(got), want) {
			same++
		}
		worth, best = worth+got.Stats.Value, best+value
	}
	assert.GreaterOrEqual(t, same, trials*8/10)
	assert.InDelta(t, 1, worth/best, 0.01)
}

// optimum is the most that can be had if usage is known and no machine may be over-allocated (equation 5.4).
func optimum(t *testing.T, s *sched.Snapshot, cores, memory, value []float64) float64 {
	t.Helper()
	m := &milp.Model{Maximize: true}
	cpuRows, memoryRows := make([]milp.Row, len(cores)), make([]milp.Row, len(cores))
	for n := range cores {
		cpuRows[n] = milp.Row{Lower: math.Inf(-1), Upper: cores[n]}
		memoryRows[n] = milp.Row{Lower: math.Inf(-1), Upper: memory[n]}
	}
	for i := range s.Pending {
		p := &s.Pending[i]
		of := func(q predict.Quantity) float64 { f, _ := p.Prediction.Usage.Of(q); return f.Point }
		k := float64(p.Job.Tasks)
		chosen := m.AddVar(milp.Var{Upper: 1, Cost: value[i], Integer: true})
		gang := milp.Row{Index: []int32{int32(chosen)}, Value: []float64{-k}}
		for n := range cores {
			v := int32(m.AddVar(milp.Var{Upper: k, Integer: true}))
			gang.Index, gang.Value = append(gang.Index, v), append(gang.Value, 1)
			cpuRows[n].Index, memoryRows[n].Index = append(cpuRows[n].Index, v), append(memoryRows[n].Index, v)
			cpuRows[n].Value = append(cpuRows[n].Value, of(predict.CPU))
			memoryRows[n].Value = append(memoryRows[n].Value, of(predict.Memory))
		}
		m.AddRow(gang)
	}
	for n := range cores {
		m.AddRow(cpuRows[n])
		m.AddRow(memoryRows[n])
	}
	r, err := milp.Solve(context.Background(), reference.New(), m, milp.Options{Time: time.Minute})
	require.NoError(t, err)
	require.NotNil(t, r.X)
	return r.Objective
}

// TestAgainstTheOptimum: where usage is known, the greedy cycle never has more than the optimum, and mostly nearly as
// much.
func TestAgainstTheOptimum(t *testing.T) {
	cores, memory := []float64{4, 3, 2.5}, []float64{7.6, 6, 9}
	had, best := 0.0, 0.0
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 7))
		nodes := shared(len(cores))
		for i := range nodes {
			nodes[i].Capacity = sched.Resources{usage.CPU: cores[i], usage.Memory: memory[i] / 0.95}
		}
		b := schedtest.Snapshot(nodes).Now(0)
		for i := range 6 {
			cpu, mem := 0.5+1.5*rng.Float64(), 0.5+3*rng.Float64()
			b.Pending(schedtest.Job(fmt.Sprint("j", i), 1+rng.IntN(3)).Demand(sched.Resources{usage.CPU: 1}).
				Deadline(1000).Priority(1).Uses(predict.CPU, samples(t, cpu)).Uses(predict.Memory, samples(t, mem)).
				Uses(predict.CPUTime, samples(t, 100*cpu)))
		}
		s, err := b.Build()
		require.NoError(t, err)
		got, err := newPolicy(t, "actual").Plan(context.Background(), s)
		require.NoError(t, err)
		value := make([]float64, len(s.Pending))
		for i := range value {
			value[i] = 1 // all would be done within 100 s
		}
		most := optimum(t, s, cores, memory, value)
		require.LessOrEqual(t, got.Stats.Value, most+1e-6)
		had, best = had+got.Stats.Value, best+most
	}
	t.Logf("greedy has %.0f of %.0f jobs", had, best)
	assert.Greater(t, had, 0.7*best)
}

// TestRecorded: of what is written of the snapshots the same plans are made, from the first one on.
func TestRecorded(t *testing.T) {
	var written bytes.Buffer
	recorded := newPolicy(t, "dist")
	live := record.NewRecorder(recorded, &written)
	var want []*sched.Plan
	s := busy(t, 11, 20, 25, 30)
	s.Others = make([]usage.Level, s.Nodes.Len())
	s.Pending[0].Attained = 300
	for i := range 4 {
		s = s.Clone()
		s.Now = s.Now.Add(15 * time.Second)
		much := usage.Level{CPU: 5 + float64(i%3), Memory: 5} // more than is predicted of any
		s.Running[0].Use = []usage.Task{{Node: s.Running[0].Nodes[0].Node, Ran: time.Duration(i+4) * 15 * time.Second,
			Now: much, Mean: much, Max: much, Throttled: true}}
		s.Others[3] = usage.Level{CPU: float64(i), Memory: 3}
		plan, err := live.Plan(context.Background(), s)
		require.NoError(t, err)
		want = append(want, plan)
	}
	require.NoError(t, live.Err())
	reader, again := record.NewReader(&written), newPolicy(t, "dist")
	for i := range want {
		read, err := reader.Read()
		require.NoError(t, err)
		got, err := again.Plan(context.Background(), read)
		require.NoError(t, err)
		assert.NotEmpty(t, schedtest.Started(got))
		require.Equal(t, want[i], got, "cycle %d", i)
	}
	assert.Equal(t, recorded.Combined(), again.Combined(), "what is read is known to be the same")
}

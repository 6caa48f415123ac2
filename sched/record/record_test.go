package record_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/ranges"
	"github.com/hedgesched/hedge/sched/record"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/sched/threesigma"
	"github.com/hedgesched/hedge/sched/usage"
	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/utility"
)

// policies make the policies tried, without history.
func policies(t testing.TB) map[string]func() sched.Policy {
	return map[string]func() sched.Policy{
		"fifo": baseline.NewFIFO,
		"prio": baseline.NewPrio,
		"3sigma": func() sched.Policy {
			p, err := threesigma.New(threesigma.Config{
				Slot: 30 * time.Second, Options: solver.Options{Work: 300},
			})
			require.NoError(t, err)
			return p
		},
	}
}

// mixed forecasts by history where there is some, and otherwise by a family for each user.
type mixed struct{ *predict.History }

func (m mixed) Predict(j predict.Job) predict.Prediction {
	p := m.History.Predict(j)
	var n int
	if _, err := fmt.Sscan(strings.TrimPrefix(j.Attributes["user"], "u"), &n); err != nil || n > 3 {
		return p
	}
	l, _ := dist.NewLognormal(4, 0.7)
	e, _ := dist.NewExponential(60)
	mix, _ := dist.NewMixture([]dist.Component{{Weight: 2, Dist: l}, {Weight: 1, Dist: e}})
	gang, _ := dist.MaxOf(l, 4)
	late, _ := dist.Condition(l, 30)
	p.Dist = []dist.Distribution{l, mix, gang, late}[n]
	p.Point = p.Dist.Mean()
	return p
}

// run drives a loop through a workload with gangs, racks, deadlines, priorities, preemptions, failed starts and a
// node that goes, and a policy that is asked in every cycle.
func run(t testing.TB, policy sched.Policy) {
	t.Helper()
	rng := rand.New(rand.NewPCG(8, 8))
	nodes := schedtest.Nodes(10, 3)
	for i := range nodes {
		nodes[i].Capacity = sched.Resources{"cpu": 4.1, "mem": 1 << 33}
	}
	cluster := schedtest.NewCluster(schedtest.At(0), nodes)
	cluster.Refuse = func(string) bool { return rng.IntN(8) == 0 }
	history, err := predict.NewHistory(nil)
	require.NoError(t, err)
	for i := range 400 {
		job := predict.Job{Attributes: map[string]string{"user": fmt.Sprint("u", i%8)}}
		require.NoError(t, history.Observe(predict.Observation{Job: job, Runtime: math.Exp(4 + 0.8*rng.NormFloat64())}))
	}
	loop, err := sched.NewLoop(cluster, policy, mixed{history}, sched.WithFreshPredictions())
	require.NoError(t, err)
	for step := range 60 {
		now := schedtest.At(10.000000001 * float64(step))
		cluster.Advance(now)
		for i := range rng.IntN(5) {
			job := newJob(rng, fmt.Sprintf("j%d-%d", step, i), now).Job()
			job.Attributes = map[string]string{"user": fmt.Sprint("u", rng.IntN(8))}
			cluster.Submit(job, 20+250*rng.Float64())
		}
		if step == 30 {
			cluster.NodeDown("n3")
		}
		_, err := loop.Step(context.Background(), now)
		require.NoError(t, err, "step %d", step)
	}
	assert.Greater(t, len(cluster.Completed), 10)
}

func newJob(rng *rand.Rand, id string, now time.Time) *schedtest.JobBuilder {
	b := schedtest.Job(id, 1+rng.IntN(6)).Demand(sched.Resources{"cpu": 0.1 + rng.Float64(), "mem": 1 << 30})
	b.Submitted(now.Sub(schedtest.At(0)).Seconds())
	switch rng.IntN(4) {
	case 0:
		b.Prefers(sched.NodesWith("rack", "r0", "r2"), 1.5)
	case 1:
		b.Requires(sched.NodesWith("rack"))
	}
	if rng.IntN(2) == 0 {
		b.Priority(1).Deadline(100 + 400*rng.Float64())
		if u, err := utility.DeadlineTail(5*time.Minute, time.Hour, 10*rng.Float64(), 0); err == nil {
			b.Utility(u)
		}
	}
	return b
}

// copier compares, in every cycle, the plans that two policies without history make of the snapshot and of what
// is left of it after it was written and read. A third goes on.
type copier struct {
	sched.Policy
	fresh  func() sched.Policy
	t      testing.TB
	cycles int
}

func (c *copier) Plan(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	data, err := record.Marshal(s)
	require.NoError(c.t, err)
	read, err := record.Unmarshal(data)
	require.NoError(c.t, err)
	again, err := record.Marshal(read)
	require.NoError(c.t, err)
	require.Equal(c.t, string(data), string(again))
	want, err := c.fresh().Plan(ctx, s)
	require.NoError(c.t, err)
	got, err := c.fresh().Plan(ctx, read)
	require.NoError(c.t, err)
	require.Equal(c.t, want, got, "cycle %d", c.cycles)
	c.cycles++
	return c.Policy.Plan(ctx, s)
}

func TestTheSamePlanOfEachSnapshot(t *testing.T) {
	for name, newPolicy := range policies(t) {
		t.Run(name, func(t *testing.T) {
			c := &copier{Policy: newPolicy(), fresh: newPolicy, t: t}
			run(t, c)
			assert.Equal(t, 60, c.cycles)
		})
	}
}

// keeper keeps the plans of a policy.
type keeper struct {
	sched.Policy
	plans []*sched.Plan
}

func (k *keeper) Plan(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	plan, err := k.Policy.Plan(ctx, s)
	k.plans = append(k.plans, plan)
	return plan, err
}

func TestARecordingGivesTheSamePlans(t *testing.T) {
	for name, newPolicy := range policies(t) {
		t.Run(name, func(t *testing.T) {
			var file bytes.Buffer
			kept := &keeper{Policy: newPolicy()}
			rec := record.NewRecorder(kept, &file)
			assert.Equal(t, kept.Name(), rec.Name())
			run(t, rec)
			require.NoError(t, rec.Err())
			starts, preempts := 0, 0
			fresh, reader := newPolicy(), record.NewReader(&file)
			for i, want := range kept.plans {
				s, err := reader.Read()
				require.NoError(t, err)
				got, err := fresh.Plan(context.Background(), s)
				require.NoError(t, err)
				require.Equal(t, want, got, "cycle %d", i)
				starts += len(schedtest.Started(got))
				preempts += len(schedtest.Preempted(got))
			}
			_, err := reader.Read()
			require.ErrorIs(t, err, io.EOF)
			assert.Positive(t, starts)
			if name == "prio" {
				assert.Positive(t, preempts, "the workload is one that preempts")
			}
		})
	}
}

func TestRandomSnapshotsAreReadBack(t *testing.T) {
	for trial := range 100 {
		s, err := schedtest.Random(rand.New(rand.NewPCG(uint64(trial), 4)))
		require.NoError(t, err)
		data, err := record.Marshal(s)
		require.NoError(t, err)
		back, err := record.Unmarshal(data)
		require.NoError(t, err)
		require.Equal(t, s, back)
	}
}

// odd is a snapshot with everything that is easily lost.
func odd(t testing.TB) *sched.Snapshot {
	t.Helper()
	set, err := sched.NewNodeSet([]sched.Node{
		{Name: "a <&> \"b\" \u2028", Labels: map[string]string{"": "", "rack": "ü=*|"},
			Capacity: sched.Resources{"cpu": 0.1, "": 0}},
		{Name: "b"}, {Name: "cordoned", Capacity: sched.Resources{}},
	})
	require.NoError(t, err)
	zone := time.FixedZone("odd", 3600+17)
	l, err := dist.NewLognormal(5, 1)
	require.NoError(t, err)
	shared, err := dist.FromSamples([]float64{1, 2, 4})
	require.NoError(t, err)
	u, err := utility.LinearDecay(1, time.Hour)
	require.NoError(t, err)
	none := sched.NodesWith("rack", "a").And(sched.NodesWith("rack", "b"))
	return &sched.Snapshot{
		Now: time.Date(2024, 2, 29, 23, 59, 59, 999999999, zone), Cycle: 90*time.Second + 1, Nodes: set,
		Free: []float64{math.Copysign(0, -1), -1e-17, 0.30000000000000004, 1, 0, 0, 0, 0, 0},
		Pending: []sched.Pending{
			{Job: &sched.Job{ID: "\U0001F600\x00", Tasks: 1 << 30, Priority: -7, Deadline: 1<<63 - 1, Requested: 1<<62 + 1,
				Checkpoint: true, Required: none, Utility: u,
				Speeds: sched.SpeedsOf(sched.Speed{On: sched.NodesWith("gpu").And(sched.NodesWith("rack", "r2", "r1")),
					Factor: 0.9999999999999999}, sched.Speed{Factor: 1e-6})},
				Prediction: predict.Prediction{Dist: shared, Point: 1e-320,
					Expert: predict.Expert{Feature: "f", Value: "v", Estimator: "e"}, Samples: 3}},
			{Job: &sched.Job{ID: "no utility", Tasks: 1, Attributes: map[string]string{"k": "v"}},
				Prediction: predict.Prediction{Dist: shared}},
			{Job: &sched.Job{ID: "no forecast", Tasks: 1}},
		},
		Running: []sched.Running{{Job: &sched.Job{ID: "r", Tasks: 2, Submitted: time.Unix(0, 1).UTC()},
			Prediction: predict.Prediction{Dist: l},
			Started:    time.Unix(1, 1).UTC(), Nodes: []sched.NodeTasks{{Node: "gone", Tasks: 2}}, Speed: 0.1}},
		Completed: []sched.Completion{{Job: "done", At: time.Unix(2, 3).UTC()}, {Job: "done too", At: time.Unix(1, 0).UTC()}},
	}
}

func TestOddSnapshotIsReadBack(t *testing.T) {
	s := odd(t)
	data, err := record.Marshal(s)
	require.NoError(t, err)
	back, err := record.Unmarshal(data)
	require.NoError(t, err)
	s.Now = s.Now.UTC()
	assert.Equal(t, s, back)
	assert.True(t, math.Signbit(back.Free[0]))
	assert.Same(t, back.Pending[0].Prediction.Dist, back.Pending[1].Prediction.Dist, "what was shared is shared")
	assert.Equal(t, 1, strings.Count(string(data), `"histogram"`))
	twin, err := dist.FromSamples([]float64{1, 2, 4})
	require.NoError(t, err)
	s.Pending[1].Prediction.Dist = twin
	again, err := record.Marshal(s)
	require.NoError(t, err)
	assert.Equal(t, string(data), string(again), "equal snapshots are written alike")
	assert.NotContains(t, string(data), "\n")
}

// TestRangesAreWrittenAsNames: where a gang runs is in a record by name.
func TestRangesAreWrittenAsNames(t *testing.T) {
	s := odd(t)
	s.Running[0].Nodes, s.Running[0].Ranges = nil, ranges.Set{{From: 1, To: 3, Tasks: 1}}
	data, err := record.Marshal(s)
	require.NoError(t, err)
	back, err := record.Unmarshal(data)
	require.NoError(t, err)
	assert.Empty(t, back.Running[0].Ranges)
	assert.Equal(t, s.Nodes.Named(s.Running[0].Ranges), back.Running[0].Nodes)
	assert.Len(t, back.Running[0].Nodes, 2)

	s.Running[0].Ranges[0].To = 4
	_, err = record.Marshal(s)
	require.ErrorIs(t, err, record.ErrSnapshot)
	require.ErrorContains(t, err, "running[0].nodes")
}

// TestVersion1: a snapshot that was written before snapshots told their cycle is read with what policies took for
// granted.
func TestVersion1(t *testing.T) {
	const old = `{"version":1,"now":"2018-04-23T00:16:40Z","nodes":[{"name":"n0","capacity":{"node":1}}],"free":[1],` +
		`"dists":[],"pending":[{"job":{"id":"a","tasks":1,"submitted":"2018-04-23T00:00:00Z"},"prediction":{"point":5}}],"running":[]}`
	s, err := record.Unmarshal([]byte(old))
	require.NoError(t, err)
	assert.Equal(t, 10*time.Second, s.Cycle)
	assert.Equal(t, "a", s.Pending[0].Job.ID)
	_, err = record.Unmarshal([]byte(strings.Replace(old, `"running":[]`, `"running":[],"completed":[]`, 1)))
	require.ErrorContains(t, err, "completed")
	again, err := record.Marshal(s)
	require.NoError(t, err)
	assert.Contains(t, string(again), `{"version":4,"now":"2018-04-23T00:16:40Z","cycle":"10s",`)
	back, err := record.Unmarshal(again)
	require.NoError(t, err)
	assert.Equal(t, s, back)
}

// TestNoCycle: a snapshot of cycles that come when something happens stays one.
func TestNoCycle(t *testing.T) {
	s := odd(t)
	s.Cycle = 0
	data, err := record.Marshal(s)
	require.NoError(t, err)
	assert.NotContains(t, string(data), "cycle")
	back, err := record.Unmarshal(data)
	require.NoError(t, err)
	assert.Zero(t, back.Cycle)
}

func TestMarshalRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(s *sched.Snapshot)
		is    error
		names string
	}{
		"no nodes":       {func(s *sched.Snapshot) { s.Nodes = nil }, record.ErrSnapshot, "nodes"},
		"negative cycle": {func(s *sched.Snapshot) { s.Cycle = -1 }, record.ErrSnapshot, "cycle"},
		"free too short": {func(s *sched.Snapshot) { s.Free = s.Free[1:] }, record.ErrSnapshot, "free"},
		"free NaN":       {func(s *sched.Snapshot) { s.Free[1] = math.NaN() }, record.ErrSnapshot, "free[1]"},
		"no job":         {func(s *sched.Snapshot) { s.Pending[1].Job = nil }, record.ErrSnapshot, "pending[1].job"},
		"job of no task": {func(s *sched.Snapshot) { s.Pending[1].Job.Tasks = 0 }, sched.ErrInvalidJob, "pending[1].job"},
		"id twice": {func(s *sched.Snapshot) { s.Running[0].Job.ID = "no forecast" }, record.ErrSnapshot,
			"running[0].job.id"},
		"point Inf": {func(s *sched.Snapshot) { s.Pending[2].Prediction.Point = math.Inf(1) }, record.ErrSnapshot,
			"point"},
		"no tasks there": {func(s *sched.Snapshot) { s.Running[0].Nodes[0].Tasks = 0 }, record.ErrSnapshot,
			"nodes[0].tasks"},
		"id not UTF-8": {func(s *sched.Snapshot) { s.Pending[1].Job.ID = "\xff" }, record.ErrSnapshot, "pending[1]"},
		"label not UTF-8": {func(s *sched.Snapshot) { s.Pending[1].Job.Attributes["k"] = "\xff" }, record.ErrSnapshot,
			"pending[1]"},
		"demand not UTF-8": {func(s *sched.Snapshot) { s.Pending[1].Job.Demand = sched.Resources{"\xff": 1} },
			record.ErrSnapshot, "pending[1]"},
		"set not UTF-8": {func(s *sched.Snapshot) { s.Pending[1].Job.Required = sched.NodesWith("k", "\xff") },
			record.ErrSnapshot, "required"},
		"node not UTF-8": {func(s *sched.Snapshot) { s.Running[0].Nodes[0].Node = "\xff" }, record.ErrSnapshot,
			"running[0]"},
		"done not UTF-8": {func(s *sched.Snapshot) { s.Completed[1].Job = "\xff" }, record.ErrSnapshot, "completed[1]"},
		"expert not UTF-8": {func(s *sched.Snapshot) { s.Pending[1].Prediction.Expert.Value = "\xff" }, record.ErrSnapshot,
			"pending[1]"},
		"foreign dist": {func(s *sched.Snapshot) { s.Pending[1].Prediction.Dist = strange{} }, dist.ErrForeign,
			"record_test.strange"},
		"foreign utility": {func(s *sched.Snapshot) { s.Pending[1].Job.Utility = strange{} }, dist.ErrForeign,
			"record_test.strange"},
		"nothing histogram": {func(s *sched.Snapshot) { s.Pending[1].Prediction.Dist = (*dist.Histogram)(nil) },
			dist.ErrInvalid, "pending[1]"},
		"year 10000": {func(s *sched.Snapshot) { s.Now = s.Now.AddDate(9000, 0, 0) }, nil, "year"},
	} {
		s := odd(t)
		c.spoil(s)
		data, err := record.Marshal(s)
		require.Error(t, err, name)
		assert.Nil(t, data, name)
		assert.ErrorContains(t, err, c.names, name)
		if c.is != nil {
			assert.ErrorIs(t, err, c.is, name)
		}
	}
	_, err := record.Marshal(nil)
	require.ErrorIs(t, err, record.ErrSnapshot)
}

// strange is a distribution and a utility that hedge does not know.
type strange struct{ dist.Point }

func (strange) At(float64) float64 { return 1 }

func TestUnmarshalRefuses(t *testing.T) {
	data, err := record.Marshal(odd(t))
	require.NoError(t, err)
	for _, c := range []struct{ old, new, field string }{
		{`{"version":4,`, `{`, "version"},
		{`{"version":4,`, `{"version":5,`, "version"},
		{`{"version":4,`, `{"version":-1,`, "version"},
		{`{"version":4,`, `{"version":1,`, "cycle"},
		{`"cycle":"`, `"cycle":"soon`, "cycle"},
		{`"cycle":"`, `"cycle":"-`, "cycle"},
		{`"cycle":"`, `"cycle":7,"later":"`, "cycle"},
		{`{"version":4,`, `{"version":4,"Version":2,`, "Version"},
		{`{"version":4,`, `{"version":4,"version":4,`, "version"},
		{`{"version":4,`, `{"version":4,,`, ""},
		{`"now":"2024-`, `"now":"yesterday-`, "now"},
		{`"now":"2024-`, `"now":7,"then":"2024-`, "now"},
		{`"nodes":[{`, `"nodes":[7,{`, "nodes[0]"},
		{`"name":"b"`, `"name":""`, "nodes"},
		{`"name":"b"`, `"name":null`, "nodes[1].name"},
		{`"name":"b"`, `"name":"b","rack":1`, "nodes[1].rack"},
		{`"cpu":0.1`, `"cpu":-1`, "nodes"},
		{`"cpu":0.1`, `"cpu":"1"`, "nodes[0].capacity.cpu"},
		{`"free":[-0,`, `"free":[`, "free"},
		{`"free":[-0,`, `"free":[1e999,`, "free[0]"},
		{`"dists":[`, `"dists":[{"kind":"point","v":-1},`, "dists[0].v"},
		{`"dists":[`, `"dists":[7,`, "dists[0]"},
		{`"tasks":1073741824`, `"tasks":-1`, "pending[0].job"},
		{`"tasks":1073741824`, `"tasks":1e3`, "pending[0].job.tasks"},
		{`"id":"no forecast"`, `"id":"no utility"`, "pending[2].job.id"},
		{`"deadline":"`, `"deadline":"-`, "pending[0].job"},
		{`"deadline":"`, `"deadline":"soon`, "pending[0].job.deadline"},
		{`"utility":{"kind":"piecewise","points":[{"t":0,`, `"utility":{"kind":"piecewise","points":[{"t":-1,`,
			"pending[0].job.utility.points[0].t"},
		{`"has":true`, `"has":1`, "pending[0].job.speeds[0].on[0].has"},
		{`"key":"gpu","values":[]`, `"key":"gpu","values":["x"]`, "pending[0].job.speeds[0].on[0].has"},
		{`"dist":0`, `"dist":2`, "pending[0].prediction.dist"},
		{`"dist":0`, `"dist":-1`, "pending[0].prediction.dist"},
		{`"samples":3`, `"samples":3.5`, "pending[0].prediction.samples"},
		{`"speed":0.1`, `"speed":null`, "running[0].speed"},
		{`{"version":4,`, `{"version":5,"new":{},`, "version"},
		{`"priority":-7`, `"priority":-7,"priority":1`, "pending[0].job.priority"},
		{`"point":`, `"Point":`, "pending[0].prediction.Point"},
		{`"running":[{`, `"running":null,"later":[{`, "running"},
		{`"required":[`, `"required":[{"values":["a"]},`, "pending[0].job.required[0].key"},
		{`"required":[`, `"required":[{"key":"a"},`, "pending[0].job.required[0].values"},
		{`"required":[`, `"required":[null,`, "pending[0].job.required[0]"},
		{`"utility":{`, `"utility":null,"later":{`, "pending[0].job.later"},
		{`"labels":{`, `"labels":null,"later":{`, "nodes[0].labels"},
		{`"submitted":"0001-01-01T00:00:00Z"`, `"attributes":{}`, "pending[0].job.submitted"},
		{`"started":`, `"begun":`, "running[0].begun"},
		{`"tasks":2}]`, `"tasks":0}]`, "running[0].nodes[0].tasks"},
		{`"tasks":2}]`, `"tasks":2,"rank":1}]`, "running[0].nodes[0].rank"},
	} {
		require.Contains(t, string(data), c.old)
		bad := strings.Replace(string(data), c.old, c.new, 1)
		s, err := record.Unmarshal([]byte(bad))
		var f *dist.FormatError
		require.ErrorAs(t, err, &f, c.new)
		assert.Nil(t, s)
		assert.Equal(t, c.field, f.Field, "%s: %v", c.new, err)
	}
	for n := range data {
		_, err := record.Unmarshal(data[:n])
		require.ErrorIs(t, err, dist.ErrFormat, "cut at %d", n)
	}
}

func TestReaderSharesWhatStays(t *testing.T) {
	var file bytes.Buffer
	rec := record.NewRecorder(baseline.NewFIFO(), &file)
	big, small := schedtest.Snapshot(schedtest.Nodes(3, 1)), schedtest.Snapshot(schedtest.Nodes(2, 1))
	for _, b := range []*schedtest.SnapshotBuilder{big, big, small, big} {
		s, err := b.Build()
		require.NoError(t, err)
		s.Pending = odd(t).Pending
		_, err = rec.Plan(context.Background(), s)
		require.NoError(t, err)
	}
	lines := strings.SplitAfter(file.String(), "\n")
	spoilt := strings.Replace(lines[2], `"version":4`, `"version":9`, 1)
	r := record.NewReader(strings.NewReader(lines[0] + lines[1] + spoilt + lines[2] + lines[3]))
	var sets []*sched.NodeSet
	var first *sched.Snapshot
	for i := range 5 {
		s, err := r.Read()
		if i == 2 {
			require.ErrorIs(t, err, dist.ErrFormat)
			require.ErrorContains(t, err, "line 3: ")
			continue
		}
		require.NoError(t, err)
		sets = append(sets, s.Nodes)
		if first == nil {
			first = s
		}
		assert.Same(t, first.Pending[0].Job, s.Pending[0].Job)
		assert.Same(t, first.Pending[1].Prediction.Dist, s.Pending[0].Prediction.Dist)
	}
	assert.Same(t, sets[0], sets[1])
	assert.Equal(t, []int{3, 3, 2, 3}, []int{sets[0].Len(), sets[1].Len(), sets[2].Len(), sets[3].Len()})
}

// TestReaderFails: a disk that fails in the middle of a line is no line that is wrong.
func TestReaderFails(t *testing.T) {
	line, err := record.Marshal(odd(t))
	require.NoError(t, err)
	broken := errors.New("read /nfs/recording: input/output error")
	for _, cut := range []int{0, 1, len(line) / 2, len(line)} {
		text := string(line) + "\n" + string(line[:cut])
		r := record.NewReader(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)))
		_, err := r.Read()
		require.NoError(t, err)
		for range 2 {
			_, err = r.Read()
			require.ErrorIs(t, err, broken, cut)
			require.NotErrorIs(t, err, dist.ErrFormat, cut)
		}
	}
}

// spy keeps the last snapshot.
type spy struct {
	sched.Policy
	last *sched.Snapshot
}

func (p *spy) Plan(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	p.last = s
	return p.Policy.Plan(ctx, s)
}

func TestRecorderGoesByTheWallClock(t *testing.T) {
	s := odd(t)
	s.Now = time.Now()
	s.Running[0].Started = s.Now.Add(-time.Minute)
	began := s.Running[0].Started
	var file bytes.Buffer
	p := &spy{Policy: baseline.NewFIFO()}
	rec := record.NewRecorder(p, &file)
	_, err := rec.Plan(context.Background(), s)
	require.NoError(t, err)
	read, err := record.NewReader(&file).Read()
	require.NoError(t, err)
	assert.Equal(t, p.last.Now, p.last.Now.Round(0), "no monotonic part")
	assert.Equal(t, p.last.Running[0].Started, p.last.Running[0].Started.Round(0))
	assert.True(t, p.last.Now.Equal(read.Now))
	assert.True(t, p.last.Running[0].Started.Equal(read.Running[0].Started))
	assert.Equal(t, began, s.Running[0].Started, "the loop's snapshot stays as it was")
}

// full is a disk with no room.
type full struct{ after int }

var errFull = errors.New("disk full")

func (f *full) Write(p []byte) (int, error) {
	if f.after--; f.after < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestRecorderFailsAlone(t *testing.T) {
	s, err := schedtest.Snapshot(schedtest.Nodes(2, 1)).Pending(schedtest.Job("a", 1)).Build()
	require.NoError(t, err)
	disk := &full{after: 1}
	rec := record.NewRecorder(baseline.NewFIFO(), disk)
	for range 3 {
		plan, err := rec.Plan(context.Background(), s)
		require.NoError(t, err)
		assert.Equal(t, []string{"a"}, schedtest.Started(plan))
	}
	require.ErrorIs(t, rec.Err(), errFull)
	assert.Equal(t, -1, disk.after, "nothing is written after the first failure")

	s.Pending[0].Prediction.Dist = strange{}
	rec = record.NewRecorder(baseline.NewFIFO(), io.Discard)
	plan, err := rec.Plan(context.Background(), s)
	require.NoError(t, err)
	assert.Equal(t, []string{"a"}, schedtest.Started(plan))
	require.ErrorIs(t, rec.Err(), dist.ErrForeign)
}

func FuzzUnmarshal(f *testing.F) {
	data, err := record.Marshal(odd(f))
	require.NoError(f, err)
	f.Add(data)
	for trial := range 5 {
		s, err := schedtest.Random(rand.New(rand.NewPCG(uint64(trial), 6)))
		require.NoError(f, err)
		data, err := record.Marshal(s)
		require.NoError(f, err)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := record.Unmarshal(data)
		if err != nil {
			var format *dist.FormatError
			require.ErrorAs(t, err, &format)
			return
		}
		written, err := record.Marshal(s)
		require.NoError(t, err)
		back, err := record.Unmarshal(written)
		require.NoError(t, err, "%s", written)
		again, err := record.Marshal(back)
		require.NoError(t, err)
		require.Equal(t, string(written), string(again))
	})
}

// Jobs that are held back, and what jobs wait for, are written and read back. Version 2 did not have them.
func TestStagesAreReadBack(t *testing.T) {
	s, err := schedtest.Snapshot(schedtest.Nodes(2, 1)).Pending(schedtest.Job("a", 1)).Build()
	require.NoError(t, err)
	held := schedtest.Job("b", 1)
	job := held.Job()
	job.After, job.Of = []string{"a", "0"}, "whole"
	s.Held = []sched.Pending{{Job: job, Prediction: held.Prediction()}}
	data, err := record.Marshal(s)
	require.NoError(t, err)
	back, err := record.Unmarshal(data)
	require.NoError(t, err)
	require.Len(t, back.Held, 1)
	assert.Equal(t, job.After, back.Held[0].Job.After)
	assert.Equal(t, job.Of, back.Held[0].Job.Of)
	assert.Equal(t, s.Held[0].Prediction.Point, back.Held[0].Prediction.Point)

	_, err = record.Unmarshal([]byte(strings.Replace(string(data), `"version":4`, `"version":2`, 1)))
	require.ErrorContains(t, err, "held")
	s.Held = append(s.Held, s.Held[0])
	_, err = record.Marshal(s)
	require.ErrorContains(t, err, `held[1].job.id: inconsistent snapshot: "b" comes twice`)
	s.Held = []sched.Pending{{Job: schedtest.Job("a", 1).Job()}}
	require.ErrorIs(t, sched.CheckSnapshot(s), sched.ErrInvalidSnapshot)
	without := strings.Replace(string(data), `,"held":[`, `,"hold":[`, 1)
	_, err = record.Unmarshal([]byte(without))
	require.Error(t, err)
}

// TestUsage: what is forecast and measured of usage is read as it was written, and is of no version before 3.
func TestUsage(t *testing.T) {
	half, one := dist.Distribution(mustPoint(t, 0.5)), dist.Distribution(mustPoint(t, 1))
	forecast := predict.NewUsage(map[predict.Quantity]predict.Prediction{
		predict.CPU: {Dist: half, Point: 0.5, Samples: 3}, predict.CPUTime: {Dist: one, Point: 1}})
	s, err := schedtest.Snapshot(schedtest.Nodes(2, 1)).Running(schedtest.Job("r", 1), 0, "n0").
		Pending(schedtest.Job("p", 2)).Build()
	require.NoError(t, err)
	plain, err := record.Marshal(s)
	require.NoError(t, err)
	s.Pending[0].Job = s.Running[0].Job.Part(1, 1)
	s.Pending[0].Attained, s.Pending[0].Prediction.Usage = 0.1, forecast
	level := usage.Level{CPU: 0.1, Memory: 1 << 30}
	s.Running[0].Use = []usage.Task{{Index: 1, Node: "n0", Ran: 1500 * time.Millisecond, Throttled: true,
		Now: level, Mean: level, Max: level}}
	s.Others = []usage.Level{{}, level}
	data, err := record.Marshal(s)
	require.NoError(t, err)
	back, err := record.Unmarshal(data)
	require.NoError(t, err)
	assert.Equal(t, s.Others, back.Others)
	assert.Equal(t, s.Running[0].Use, back.Running[0].Use)
	assert.Equal(t, s.Pending[0].Prediction, back.Pending[0].Prediction)
	assert.InDelta(t, 0.1, back.Pending[0].Attained, 0)
	assert.Equal(t, "r", back.Pending[0].Job.PartOf)

	older := func(data []byte) []byte { return bytes.Replace(data, []byte(`"version":4`), []byte(`"version":2`), 1) }
	_, err = record.Unmarshal(older(plain))
	require.NoError(t, err)
	_, err = record.Unmarshal(older(data))
	require.ErrorContains(t, err, "others: unknown field of version 2")

	s.Running[0].Use[0].Max.CPU = math.NaN()
	_, err = record.Marshal(s)
	require.ErrorIs(t, err, record.ErrSnapshot)
}

func mustPoint(t *testing.T, x float64) dist.Point {
	t.Helper()
	p, err := dist.NewPoint(x)
	require.NoError(t, err)
	return p
}

// TestNoFieldIsForgotten fails when a type that is written gains a field: write it too.
func TestNoFieldIsForgotten(t *testing.T) {
	for _, c := range []struct {
		of     any
		fields []string
	}{
		{sched.Snapshot{}, []string{"Now", "Cycle", "Nodes", "Free", "Pending", "Held", "Running", "Completed", "Others",
			"Ranges"}}, // Ranges is left out: a record has names
		{sched.Node{}, []string{"Name", "Labels", "Capacity"}},
		{sched.Pending{}, []string{"Job", "Prediction", "Attained"}},
		{sched.Running{}, []string{"Job", "Prediction", "Started", "Nodes", "Ranges", "Speed", "Use"}},
		{usage.Task{}, []string{"Index", "Node", "Ran", "Now", "Mean", "Max", "Throttled"}},
		{usage.Level{}, []string{"CPU", "Memory"}},
		{sched.NodeTasks{}, []string{"Node", "Tasks"}},
		{sched.Job{}, []string{"ID", "PartOf", "Tasks", "Demand", "Attributes", "Utility", "Deadline", "Requested",
			"Priority",
			"Required", "Speeds", "Checkpoint", "After", "Of", "Submitted"}},
		{predict.Prediction{}, []string{"Dist", "Point", "Expert", "Samples", "Usage"}},
		{predict.Expert{}, []string{"Feature", "Value", "Estimator"}},
	} {
		var fields []string
		for i := range reflect.TypeOf(c.of).NumField() {
			if f := reflect.TypeOf(c.of).Field(i); f.IsExported() {
				fields = append(fields, f.Name)
			}
		}
		assert.Equal(t, c.fields, fields, "%T", c.of)
	}
}

// TestSlowdownsOfOld: versions before 4 have full speed on the preferred nodes and a slowdown elsewhere.
func TestSlowdownsOfOld(t *testing.T) {
	const old = `{"version":3,"now":"2018-04-23T00:16:40Z","cycle":"2s",` +
		`"nodes":[{"name":"n0","labels":{"rack":"r1"},"capacity":{"node":1}}],"free":[0],"dists":[],"pending":[],"running":[` +
		`{"job":{"id":"j","tasks":1,"preferred":[{"key":"rack","values":["r0"]}],"slowdown":1.5,` +
		`"submitted":"2018-04-23T00:00:00Z"},"prediction":{"point":9},"started":"2018-04-23T00:10:00Z",` +
		`"nodes":[{"node":"n0","tasks":1}],"slowed":true}]}`
	s, err := record.Unmarshal([]byte(old))
	require.NoError(t, err)
	assert.Equal(t, "rack=r0 1; other 0.6666666666666666", s.Running[0].Job.Speeds.String())
	assert.InDelta(t, 1.5, sched.Stretch(s.Running[0].Speed), 0)
	for _, bad := range []string{`"slowdown":0.5`, `"slowdown":1.5,"speeds":[{"speed":1}]`} {
		_, err := record.Unmarshal([]byte(strings.Replace(old, `"slowdown":1.5`, bad, 1)))
		require.Error(t, err, bad)
	}
}

package sim

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/internal/seconds"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
)

// noPolicy stands in where an engine is driven by hand.
type noPolicy struct{}

func (noPolicy) Name() string { return "none" }

func (noPolicy) Plan(context.Context, *sched.Snapshot) (*sched.Plan, error) {
	return &sched.Plan{}, nil
}

type noPredictor struct{ predict.Predictor }

// BenchmarkEngine is the engine alone, 100,000 jobs on 256 nodes: arrivals, events told,
// starts applied, completions, accounts. A start on rotating nodes stands in for loop and policy.
func BenchmarkEngine(b *testing.B) {
	nodes := Nodes(256, 8, 1)
	jobs := make([]Job, 100_000)
	for i := range jobs {
		jobs[i] = Job{
			Job:    sched.Job{ID: fmt.Sprintf("job-%06d", i), Tasks: 1},
			Arrive: time.Duration(i) * time.Second,
			Work:   Runtime(time.Duration(1+i%200) * time.Second),
		}
	}
	events := 0
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		b.StopTimer()
		e, err := newEngine(&Config{
			Nodes: nodes, Jobs: jobs, Policy: noPolicy{}, Predictor: noPredictor{},
			Stopwatch: func() time.Duration { return 0 },
		})
		require.NoError(b, err)
		plan := &sched.Plan{}
		next := 0
		e.cycle = func(ctx context.Context, _ time.Time) (step, error) {
			told, err := e.life.Events(ctx)
			plan.Decisions = plan.Decisions[:0]
			for i := range told {
				if told[i].Kind == sched.Submitted {
					plan.Decisions = append(plan.Decisions, sched.Decision{
						Job: told[i].ID, Kind: sched.Start, Nodes: []sched.NodeTasks{{Node: nodes[next%256].Name, Tasks: 1}},
					})
					next++
				}
			}
			if err == nil {
				err = e.life.Apply(ctx, plan)
			}
			return step{plan: plan}, err
		}
		b.StartTimer()
		result, err := e.run(context.Background())
		require.NoError(b, err)
		require.Equal(b, len(jobs), result.Metrics.BE.Completed)
		events += result.Events
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
}

func TestTaskTimeIsExactBeyondInt64(t *testing.T) {
	var sum TaskTime
	for range 1000 {
		sum = sum.plus(taskTime(12583, 30*24*time.Hour+time.Nanosecond))
	}
	require.Equal(t, TaskTime{seconds: 1000 * 12583 * 30 * 86400, nanos: 12583 * 1000}, sum)
	whole := TaskTime{1, 5e8}.plus(TaskTime{0, 5e8 + 1})
	require.Equal(t, TaskTime{seconds: 2, nanos: 1}, whole)
	require.Equal(t, TaskTime{seconds: 1, nanos: 5e8}, whole.minus(TaskTime{0, 5e8 + 1}))
	require.Equal(t, 2.000000001, whole.Seconds())
}

func TestSecondsAreWrittenExactly(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0", 1: "0.000000001", time.Second: "1", 1500 * time.Millisecond: "1.5",
		1<<63 - 1: "9223372036.854775807", -time.Millisecond: "-0.001",
	} {
		require.Equal(t, want, string(seconds.Append(nil, d)))
	}
}

func TestNearestRank(t *testing.T) {
	values := []float64{1, 2, 3, 4}
	for p, want := range map[float64]float64{0: 1, 25: 1, 26: 2, 50: 2, 75: 3, 90: 4, 100: 4} {
		require.Equal(t, want, nearestRank(values, p), p)
	}
	require.Zero(t, nearestRank(nil, 50))
}

func TestIndexFindsWhatWasAdded(t *testing.T) {
	for _, n := range []int{0, 1, 8, 1000} {
		jobs := make([]job, n)
		x := newIndex(n)
		for i := range jobs {
			jobs[i].Job = &sched.Job{ID: fmt.Sprint("job", i*7)}
			require.True(t, x.add(jobs, i, jobs[i].ID))
			require.False(t, x.add(jobs, i, jobs[i].ID), "twice")
		}
		for i := range jobs {
			for _, at := range []int{i, n - 1 - i, i * i % n} { // next in line, from behind, anywhere
				got, ok := x.find(jobs, jobs[at].ID)
				require.True(t, ok)
				require.Equal(t, int32(at), got)
			}
			_, ok := x.find(jobs, fmt.Sprint("nobody", i))
			require.False(t, ok)
		}
		_, ok := x.find(jobs, "")
		require.False(t, ok)
	}
}

// Plans that cannot be carried out leave the world as it was and are told.
func TestImpossibleStartsFailWhole(t *testing.T) {
	cfg := &Config{
		Nodes: Nodes(2, 2, 1), Policy: noPolicy{}, Predictor: noPredictor{},
		Jobs: []Job{{Job: sched.Job{ID: "j", Tasks: 2}, Work: Runtime(time.Second)}},
	}
	e, err := newEngine(cfg)
	require.NoError(t, err)
	l := e.life
	l.advance(0)
	ctx := context.Background()
	for _, nodes := range [][]sched.NodeTasks{
		nil,
		{{Node: "n0000", Tasks: 1}},
		{{Node: "n0000", Tasks: 2}},
		{{Node: "n0000", Tasks: 1}, {Node: "n0000", Tasks: 1}},
		{{Node: "n0000", Tasks: 1}, {Node: "nobody", Tasks: 1}},
		{{Node: "n0000", Tasks: 1}, {Node: "n0001", Tasks: 0}},
	} {
		_, err := l.Events(ctx)
		require.NoError(t, err)
		require.NoError(t, l.Apply(ctx, &sched.Plan{Decisions: []sched.Decision{
			{Job: "j", Kind: sched.Preempt}, {Job: "j", Kind: sched.Start, Nodes: nodes},
		}}))
		told, err := l.Events(ctx)
		require.NoError(t, err)
		require.Len(t, told, 1)
		require.Equal(t, sched.StartFailed, told[0].Kind)
		require.ErrorIs(t, told[0].Err, errNoRoom)
		require.Equal(t, []float64{1, 1}, l.physics.(*exclusive).ledger.Free())
		require.Equal(t, level{pending: 1}, l.level)
	}
	require.Equal(t, 12, l.tally.refused)
}

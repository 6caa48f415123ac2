package sim_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/sim/decisionlog"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
)

// forgetful shows its policy copies, of which nobody knows what is new in them, and a copy names nodes.
type forgetful struct{ sched.Policy }

func (f forgetful) Plan(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	return f.Policy.Plan(ctx, s.Clone())
}

// witness compares the plans of a policy with those of another on the same snapshots.
type witness struct {
	sched.Policy
	t     *testing.T
	other sched.Policy
}

func (s witness) TakesRanges() {}

func (s witness) Plan(ctx context.Context, snapshot *sched.Snapshot) (*sched.Plan, error) {
	plan, err := s.Policy.Plan(ctx, snapshot)
	require.NoError(s.t, err)
	want, err := s.other.Plan(ctx, snapshot.Clone())
	require.NoError(s.t, err)
	named := *plan
	named.Decisions = slices.Clone(plan.Decisions)
	for i := range named.Decisions {
		if d := &named.Decisions[i]; len(d.Ranges) > 0 {
			require.Empty(s.t, d.Nodes)
			d.Nodes, d.Ranges = snapshot.Nodes.Named(d.Ranges), nil
		}
	}
	require.Equal(s.t, want, &named)
	return plan, nil
}

var queues = map[string]func() sched.Policy{
	"fifo": baseline.NewFIFO, "edf": baseline.NewEDF, "sjf": baseline.NewSJF, "prio": baseline.NewPrio,
}

// Ranges, and news of what has changed, change no decision, no reason and no line of the log.
func TestRangesChangeNoResult(t *testing.T) {
	for name, fresh := range queues {
		for seed := range uint64(4) {
			t.Run(fmt.Sprint(name, " ", seed), func(t *testing.T) {
				jobs := workload(seed, 80, 9)
				if seed >= 2 {
					preferRacks(seed, jobs)
				}
				run := func(policy sched.Policy, byRanges bool) (string, *sim.Result) {
					var log bytes.Buffer
					cfg := sim.Config{Nodes: sim.Nodes(12, 4, 1+int(seed%2)), Jobs: jobs, Policy: policy, Predictor: fixed(t),
						Cycle: time.Duration(seed%3) * 10 * time.Second, Log: &log, Ranges: byRanges}
					result, err := sim.Run(t.Context(), cfg)
					require.NoError(t, err)
					require.Zero(t, result.Rejections)
					return log.String(), result
				}
				want, names := run(forgetful{fresh()}, false)
				for _, byRanges := range []bool{false, true} {
					got, result := run(fresh(), byRanges)
					require.Equal(t, want, got, "ranges: %t", byRanges)
					for i := range result.Jobs {
						want, got := &names.Jobs[i], &result.Jobs[i]
						if byRanges {
							require.Empty(t, got.Nodes)
							require.Equal(t, want.Tasks, int(got.Ranges.Tasks()))
							require.Equal(t, len(want.Nodes), got.Ranges.Len())
						} else {
							require.Equal(t, want, got)
						}
					}
				}
				got, _ := run(witness{Policy: fresh(), t: t, other: fresh()}, true)
				require.Equal(t, want, got)
			})
		}
	}
}

// A log of ranges says the same as one of names.
func TestLogOfRangesReplays(t *testing.T) {
	for name, fresh := range queues {
		jobs := workload(3, 100, 9)
		preferRacks(3, jobs)
		check := func(byRanges bool) *decisionlog.Report {
			var log bytes.Buffer
			_, err := sim.Run(t.Context(), sim.Config{Nodes: sim.Nodes(10, 4, 2), Jobs: jobs, Policy: fresh(),
				Predictor: fixed(t), Log: &log, LogRanges: byRanges, Ranges: byRanges})
			require.NoError(t, err)
			report, err := decisionlog.Check(&log, nil)
			require.NoError(t, err)
			return report
		}
		names, byRanges := check(false), check(true)
		assert.Equal(t, [2]int{1, 2}, [2]int{names.Header.Schema, byRanges.Header.Schema}, name)
		assert.Equal(t, names.Metrics, byRanges.Metrics, name)
		for i := range names.Jobs {
			a, b := names.Jobs[i], byRanges.Jobs[i]
			at := 0
			for _, r := range b.Ranges {
				for n := r.From; n < r.To; n, at = n+1, at+1 {
					assert.Equal(t, decisionlog.Node{Node: fmt.Sprintf("n%04d", n), Tasks: r.Tasks}, a.Nodes[at], name)
				}
			}
			require.Len(t, a.Nodes, at)
			a.Nodes, b.Ranges = nil, nil
			assert.Equal(t, a, b, name)
		}
	}
}

// wide draws jobs as those of CEA's Curie: half of them of up to 32 nodes, the mean 600 to 750, the widest 99 % of
// 80,640 nodes; lognormal runtimes; bursts. The load is relative to those nodes.
func wide(seed uint64, n int, load float64) []sim.Job {
	const nodes, widest = 80_640, 79_808
	rng := rand.New(rand.NewPCG(seed, 80))
	span := 254 * 24 * 3600 * float64(n) / 295_540 // seconds
	jobs := make([]sim.Job, n)
	work := 0.0
	runtimes := make([]float64, n)
	at := make([]float64, n)
	for i := range jobs {
		width := 1 << rng.IntN(6)
		if rng.IntN(2) == 0 {
			width = int(math.Ceil(32 * math.Exp(math.Abs(2.6*rng.NormFloat64()))))
		}
		jobs[i].Job = sched.Job{ID: fmt.Sprint(i + 1), Tasks: min(width, widest)}
		runtimes[i] = math.Ceil(math.Exp(5.5 + 2.3*rng.NormFloat64()))
		work += runtimes[i] * float64(jobs[i].Tasks)
		if at[i] = at[max(0, i-1)]; rng.IntN(5) < 2 {
			at[i] += rng.ExpFloat64()
		}
	}
	jobs[n/2].Tasks = widest
	scale := load * nodes * span / work
	for i := range jobs {
		jobs[i].Arrive = time.Duration(at[i]/max(at[n-1], 1)*span) * time.Second
		jobs[i].Work = sim.Runtime(time.Duration(min(max(1, math.Round(runtimes[i]*scale)), 3*24*3600)) * time.Second)
	}
	return jobs
}

// BenchmarkWideLog is the whole of such a log, 295,540 jobs, without a decision log. It takes minutes.
func BenchmarkWideLog(b *testing.B) {
	if testing.Short() {
		b.Skip("it takes minutes")
	}
	jobs := wide(1, 295_540, 0.6)
	for _, name := range []string{"fifo", "edf", "sjf"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				result, err := sim.Run(context.Background(), sim.Config{Nodes: sim.Nodes(80_640, 8, 1), Jobs: jobs,
					Policy: queues[name](), Predictor: fixed(b), Cycle: 10 * time.Second, Ranges: true})
				require.NoError(b, err)
				require.Equal(b, len(jobs), result.Metrics.BE.Completed)
				b.ReportMetric(float64(result.Metrics.Cycles), "cycles/op")
			}
		})
	}
}

// BenchmarkWide is 20,000 jobs like those of CEA's Curie on its 80,640 nodes, with the log written.
func BenchmarkWide(b *testing.B) {
	jobs := wide(1, 20_000, 0.6)
	for _, name := range []string{"fifo", "edf", "sjf"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				result, err := sim.Run(context.Background(), sim.Config{Nodes: sim.Nodes(80_640, 8, 1), Jobs: jobs,
					Policy: queues[name](), Predictor: fixed(b), Cycle: 10 * time.Second, Log: io.Discard, LogRanges: true,
					Ranges: true})
				require.NoError(b, err)
				require.Equal(b, len(jobs), result.Metrics.BE.Completed)
			}
		})
	}
}

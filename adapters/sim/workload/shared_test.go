package workload_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/adapters/sim/trace/sample"
	"github.com/hedgesched/hedge/adapters/sim/workload"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched/distsched"
)

// sampleFill is what the built-in samples say of use.
func sampleFill(t testing.TB) *workload.Fill {
	t.Helper()
	logs, err := sample.Usage()
	require.NoError(t, err)
	fill := &workload.Fill{}
	for _, log := range logs {
		fill.AddUsage(log)
	}
	groups, rows, shapes := fill.Groups()
	require.Equal(t, []int{33, 520, 984}, []int{groups, rows, shapes})
	return fill
}

// builtIn are the jobs of the built-in log.
func builtIn(t testing.TB) []trace.Job {
	t.Helper()
	r, err := sample.Open()
	require.NoError(t, err)
	log, err := trace.Collect(r)
	require.NoError(t, err)
	return log.Jobs
}

// A workload of ten shared machines for an hour, under DistSched.
func ExampleBuildShared() {
	t := &testing.T{}
	spec := workload.DefaultShared()
	spec.Nodes, spec.Hours = 10, 1
	w, err := workload.BuildShared(context.Background(), builtIn(t), sampleFill(t), &spec)
	if err != nil {
		fmt.Println(err)
		return
	}
	history, err := predict.NewHistory(&predict.HistoryOptions{Quantities: []predict.Quantity{predict.CPU, predict.Memory,
		predict.CPUTime}})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := w.TrainPredictor(history); err != nil {
		fmt.Println(err)
		return
	}
	dist, err := distsched.Variant("dist")
	if err != nil {
		fmt.Println(err)
		return
	}
	policy, err := distsched.New(dist)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := sim.Run(context.Background(), sim.Config{Nodes: spec.Machines(10), Jobs: w.Jobs, Policy: policy,
		Predictor: history, Cycle: 15 * time.Second, Span: w.Span, Until: 3 * w.Span})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(w.Jobs), "jobs at load", w.Load > 0.79, "refused:", result.Rejections)
	// Output:
	// 237 jobs at load true refused: 0
}

func TestSharedMeetsItsSpec(t *testing.T) {
	jobs, fill := builtIn(t), sampleFill(t)
	build := func(change func(*workload.SharedSpec)) *workload.Shared {
		spec := workload.DefaultShared()
		spec.Nodes = 60
		change(&spec)
		w, err := workload.BuildShared(context.Background(), jobs, fill, &spec)
		require.NoError(t, err)
		return w
	}
	w := build(func(*workload.SharedSpec) {})
	require.InDelta(t, 0.8, w.Load, 0.08, "one job may be a tenth of it")
	require.Equal(t, 2*time.Hour, w.Span)
	require.Equal(t, (len(w.Jobs)+1)/2, w.SLOJobs)
	work, slacks := 0.0, map[int]int{}
	for i := range w.Jobs {
		j := &w.Jobs[i]
		require.Less(t, j.Arrive, w.Span)
		require.Len(t, j.Work.Use(), j.Tasks)
		require.Positive(t, j.Demand["cpu"])
		require.Positive(t, j.Demand["memory"])
		for _, use := range j.Work.Use() {
			require.NoError(t, use.Validate())
			cpu, memory := use.Max()
			require.LessOrEqual(t, cpu, 0.5)
			require.LessOrEqual(t, memory, 0.95*0.25)
		}
		work += j.Work.CPUTime()
		if j.Deadline > 0 {
			slacks[int(100*float64(j.Deadline)/float64(j.Work.Runtime())+0.5)]++
		}
	}
	require.InDelta(t, w.Load, work/(60*0.5*7200), 1e-9)
	require.Len(t, slacks, 4)
	for _, percent := range []int{120, 140, 160, 180} {
		require.Positive(t, slacks[percent])
	}
	require.NotEmpty(t, w.Train)
	for i := range w.Train {
		require.Len(t, w.Train[i].Used, 5)
		require.LessOrEqual(t, w.Train[i].Done, time.Duration(0))
	}

	t.Run("alike from the same spec", func(t *testing.T) {
		require.Equal(t, w, build(func(*workload.SharedSpec) {}))
	})
	t.Run("an assignment changes the deadlines alone", func(t *testing.T) {
		other := build(func(s *workload.SharedSpec) { s.Assignment = 7 })
		require.Len(t, other.Jobs, len(w.Jobs))
		moved := 0
		for i := range w.Jobs {
			require.Equal(t, w.Jobs[i].ID, other.Jobs[i].ID)
			require.Equal(t, w.Jobs[i].Work, other.Jobs[i].Work)
			if w.Jobs[i].Deadline != other.Jobs[i].Deadline {
				moved++
			}
		}
		require.Greater(t, moved, len(w.Jobs)/4)
	})
	t.Run("segments are apart", func(t *testing.T) {
		last := w.Start
		for segment := 1; segment < 5; segment++ {
			other := build(func(s *workload.SharedSpec) { s.Segment = segment })
			require.Greater(t, other.Start, last+time.Hour)
			require.Greater(t, len(other.Train), len(w.Train))
			last = other.Start
		}
	})
}

// Recurring jobs of one group are alike in how much of their requests they use. In the control they are not, but what
// is drawn in all is the same.
func TestSharedGroups(t *testing.T) {
	jobs, fill := builtIn(t), sampleFill(t)
	within := func(control bool) (spread, mean float64) {
		spec := workload.DefaultShared()
		spec.Nodes, spec.NoGroups = 10, control
		spec.Light = 0 // whether a job is light depends on its row, so leaving such jobs out makes groups alike
		w, err := workload.BuildShared(context.Background(), jobs, fill, &spec)
		require.NoError(t, err)
		type sums struct{ n, sum, squares float64 }
		groups, all := map[string]*sums{}, sums{}
		for i := range w.Train {
			s := &w.Train[i]
			key := s.Job.Attributes["user"] + " " + s.Job.Attributes["logical_name"]
			if groups[key] == nil {
				groups[key] = &sums{}
			}
			ratio := min(2, s.Used[0].Value/cpuOf(t, s.Job.Attributes["cpu"])) // so that no outlier decides
			for _, g := range []*sums{groups[key], &all} {
				g.n, g.sum, g.squares = g.n+1, g.sum+ratio, g.squares+ratio*ratio
			}
		}
		inside := 0.0
		for _, g := range groups {
			inside += g.squares - g.sum*g.sum/g.n
		}
		inside /= all.n - float64(len(groups))
		return inside / (all.squares/all.n - all.sum*all.sum/all.n/all.n), all.sum / all.n
	}
	grouped, mean := within(false)
	control, controlMean := within(true)
	require.InDelta(t, 1, control, 0.1)
	require.Less(t, grouped, 0.8)
	require.InDelta(t, mean, controlMean, 0.1*mean)
}

// The history has jobs of the same kind as the workload: none that is lighter, longer or wider.
func TestSharedHistoryIsOfItsKind(t *testing.T) {
	jobs, fill := builtIn(t), sampleFill(t)
	spec := workload.DefaultShared()
	spec.Nodes = 60
	w, err := workload.BuildShared(context.Background(), jobs, fill, &spec)
	require.NoError(t, err)
	require.Greater(t, w.Copies, 1, "so that all that may be in the first copy is in it")
	least := math.Inf(1)
	for i := range w.Jobs {
		if !strings.Contains(w.Jobs[i].ID, ".") {
			least = min(least, w.Jobs[i].Work.CPUTime())
		}
	}
	tasks := map[string]float64{}
	for i := range jobs {
		tasks[jobs[i].ID] = float64(jobs[i].Tasks)
	}
	require.Greater(t, len(w.Train), 20*w.Copies)
	for i := range w.Train {
		s := &w.Train[i]
		require.Equal(t, predict.CPUTime, s.Used[4].Quantity)
		require.GreaterOrEqual(t, s.Used[4].Value*tasks[strings.Split(s.Job.ID, ".")[0]], least*(1-1e-9), s.Job.ID)
		require.LessOrEqual(t, s.Runtime, spec.Hours*3600)
	}
}

func TestSharedEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	spec := workload.DefaultShared()
	_, err := workload.BuildShared(ctx, builtIn(t), sampleFill(t), &spec)
	require.ErrorIs(t, err, context.Canceled)
}

func cpuOf(t *testing.T, text string) float64 {
	var v float64
	_, err := fmt.Sscan(text, &v)
	require.NoError(t, err)
	return v
}

func TestSharedRefuses(t *testing.T) {
	jobs, fill := builtIn(t), sampleFill(t)
	for field, change := range map[string]func(*workload.SharedSpec){
		"Nodes":       func(s *workload.SharedSpec) { s.Nodes = 0 },
		"Machine.CPU": func(s *workload.SharedSpec) { s.Machine.CPU = 0 },
		"Load":        func(s *workload.SharedSpec) { s.Load = 0 },
		"Hours":       func(s *workload.SharedSpec) { s.Hours = -1 },
		"Slack":       func(s *workload.SharedSpec) { s.Slack = nil },
		"Light":       func(s *workload.SharedSpec) { s.Light = 1 },
		"Segment":     func(s *workload.SharedSpec) { s.Segment = 5 },
	} {
		spec := workload.DefaultShared()
		change(&spec)
		var wrong *workload.SpecError
		_, err := workload.BuildShared(context.Background(), jobs, fill, &spec)
		require.ErrorAs(t, err, &wrong, field)
		require.Equal(t, field, wrong.Field)
	}
	spec := workload.DefaultShared()
	_, err := workload.BuildShared(context.Background(), jobs, &workload.Fill{}, &spec)
	require.ErrorIs(t, err, workload.ErrEmpty)
	_, err = workload.BuildShared(context.Background(), nil, fill, &spec)
	require.ErrorIs(t, err, workload.ErrEmpty)
}

package adapters_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/usage"
)

// metered is a script that measures.
type metered struct {
	script
	samples []adapters.Sample
	err     error
	asked   int
}

func (m *metered) Measure(context.Context) ([]adapters.Sample, error) {
	m.asked++
	out := m.samples
	m.samples = nil
	return out, m.err
}

// meter is a cluster with one node and job j of some running tasks, which is measured every ten seconds.
func (m *metered) meter(t testing.TB, tasks int) *adapters.Cluster {
	m.now = time.Unix(1000, 0)
	c, err := adapters.New(m, adapters.Options{Now: func() time.Time { return m.now }, Measure: 10 * time.Second})
	require.NoError(t, err)
	v := all(1, nil, job("j", tasks, 1, repeat(on("n", adapters.Running), tasks)...))
	v.Nodes = []adapters.Node{{Node: sched.Node{Name: "n", Capacity: sched.Resources{"cpu": 4, "memory": 100}}}}
	m.views = append(m.views, v)
	return c
}

func repeat(task adapters.Task, n int) (out []adapters.Task) {
	for range n {
		out = append(out, task)
	}
	return out
}

// used is a sample of a task of job j, the given number of seconds after its start.
func used(task string, after, cpu, memory float64) adapters.Sample {
	started := time.Unix(950, 0)
	return adapters.Sample{Job: "j", UID: "uid-j", Task: task, Node: "n", Started: started,
		At: started.Add(time.Duration(after * float64(time.Second))), Use: usage.Level{CPU: cpu, Memory: memory}}
}

// batch is what the loop is told of job j next, nil if nothing.
func (m *metered) batch(t *testing.T, c *adapters.Cluster, samples ...adapters.Sample) []usage.Task {
	t.Helper()
	m.now = m.now.Add(10 * time.Second)
	m.samples = samples
	if len(m.views) == 0 {
		m.views = append(m.views, some(1))
	}
	events, err := c.Events(background)
	require.NoError(t, err)
	for i := range events {
		if events[i].Kind == sched.Measured {
			assert.Equal(t, len(events)-1, i, "the last event")
			require.Len(t, events[i].Usage.Jobs, 1)
			assert.Equal(t, "j", events[i].Usage.Jobs[0].ID)
			return events[i].Usage.Jobs[0].Tasks
		}
	}
	return nil
}

// TestMeasure: means are weighted by time, tasks keep their numbers, and those without news keep what was measured.
func TestMeasure(t *testing.T) {
	m := &metered{}
	c := m.meter(t, 2)
	first := usage.Task{Index: 0, Node: "n", Ran: 10 * time.Second, Now: usage.Level{CPU: 1, Memory: 10},
		Mean: usage.Level{CPU: 1, Memory: 10}, Max: usage.Level{CPU: 1, Memory: 10}}
	assert.Equal(t, []usage.Task{first}, m.batch(t, c, used("b", 10, 1, 10)))
	got := m.batch(t, c, used("a", 12, 2, 20), used("b", 40, 3, 4))
	require.Len(t, got, 2)
	assert.Equal(t, usage.Task{Index: 0, Node: "n", Ran: 40 * time.Second, Now: usage.Level{CPU: 3, Memory: 4},
		Mean: usage.Level{CPU: 2.5, Memory: 5.5}, Max: usage.Level{CPU: 3, Memory: 10}}, got[0])
	assert.Equal(t, 1, got[1].Index)
	throttled := used("a", 13, 2, 20)
	throttled.Throttled = true
	got = m.batch(t, c, throttled)
	assert.Equal(t, []bool{false, true}, []bool{got[0].Throttled, got[1].Throttled})
	assert.Equal(t, adapters.Measured{Taken: 4}, c.Measured())
}

// TestMeasureInterval: the driver is asked once per interval.
func TestMeasureInterval(t *testing.T) {
	m := &metered{}
	c := m.meter(t, 1)
	m.batch(t, c)
	m.now = m.now.Add(-time.Second)
	m.batch(t, c)
	assert.Equal(t, 1, m.asked)
	m.batch(t, c)
	assert.Equal(t, 2, m.asked)
}

// TestBadSamples: what makes no sense is counted and named, and hurts nothing else.
func TestBadSamples(t *testing.T) {
	late := used("a", 20, 1, 10)
	late.Started = late.At.Add(time.Second)
	timeless := used("a", 20, 1, 10)
	timeless.At = time.Time{}
	for name, s := range map[string]adapters.Sample{
		"NaN": used("a", 20, math.NaN(), 10), "negative": used("a", 20, 1, -10), "infinite": used("a", 20, math.Inf(1), 10),
		"before its start": late, "no time": timeless, "a task too many": used("b", 20, 1, 10),
	} {
		t.Run(name, func(t *testing.T) {
			m := &metered{}
			c := m.meter(t, 1)
			before := m.batch(t, c, used("a", 10, 1, 10))
			require.Len(t, before, 1)
			assert.Nil(t, m.batch(t, c, s))
			got := c.Measured()
			assert.EqualValues(t, 1, got.Wrong)
			require.ErrorIs(t, got.Err, adapters.ErrSample)
			require.ErrorContains(t, got.Err, `job "j"`)
			after := m.batch(t, c, s, used("a", 20, 1, 10))
			require.Len(t, after, 1)
			assert.Equal(t, before[0].Mean, after[0].Mean)
			assert.Equal(t, before[0].Max, after[0].Max)
		})
	}
}

// TestSamplesOfOthers: samples that come twice, late, or are about tasks that do not run say nothing.
func TestSamplesOfOthers(t *testing.T) {
	m := &metered{}
	c := m.meter(t, 1)
	m.batch(t, c, used("a", 10, 1, 10))
	earlier, other := used("a", 9, 4, 40), used("a", 20, 4, 40)
	other.UID = "another"
	attempt, unknown := used("a", 20, 4, 40), used("a", 20, 4, 40)
	attempt.Attempt, unknown.Job = 7, "unknown"
	assert.Nil(t, m.batch(t, c, used("a", 10, 4, 40), earlier, other, attempt, unknown))
	assert.Equal(t, adapters.Measured{Taken: 1}, c.Measured())
}

// TestSampleAboveTheNode: a counter that was reset makes an amount that the node does not have.
func TestSampleAboveTheNode(t *testing.T) {
	m := &metered{}
	c := m.meter(t, 1)
	got := m.batch(t, c, used("a", 10, 1e18, 1e18))
	require.Len(t, got, 1)
	assert.Equal(t, usage.Level{CPU: 4, Memory: 100}, got[0].Max)
}

// TestMeasureFails: the cycle goes on, and what was told beside the error counts.
func TestMeasureFails(t *testing.T) {
	m := &metered{err: errors.New("no agent")}
	c := m.meter(t, 1)
	assert.Len(t, m.batch(t, c, used("a", 10, 1, 10)), 1)
	assert.Equal(t, adapters.Measured{Taken: 1, Failed: 1, Err: m.err}, c.Measured())
}

// TestGapsBetweenSamples: a sample stands for three intervals at most, and not for the hours before the first.
func TestGapsBetweenSamples(t *testing.T) {
	m := &metered{}
	c := m.meter(t, 1)
	m.batch(t, c, used("a", 30, 1, 10))
	got := m.batch(t, c, used("a", 10_000, 4, 40))
	require.Len(t, got, 1)
	assert.Equal(t, usage.Level{CPU: 2.5, Memory: 25}, got[0].Mean)
	assert.Equal(t, 10_000*time.Second, got[0].Ran)
}

// TestUsedIsLearnt: what a job used is told with its end if at least half of its time was measured.
func TestUsedIsLearnt(t *testing.T) {
	finish := func(samples ...adapters.Sample) []predict.Used {
		m := &metered{}
		c := m.meter(t, 2)
		m.batch(t, c, samples...)
		m.views = append(m.views, some(2, job("j", 2, 2, repeat(on("n", adapters.Finished), 2)...))) // after ten seconds
		m.now = m.now.Add(time.Second)
		events, err := c.Events(background)
		require.NoError(t, err)
		require.Equal(t, []string{"finished j"}, outline(events))
		return events[0].Used
	}
	assert.Equal(t, []predict.Used{
		{Quantity: predict.CPU, Value: 1.5}, {Quantity: predict.CPUMax, Value: 2},
		{Quantity: predict.Memory, Value: 20}, {Quantity: predict.MemoryMax, Value: 30},
		{Quantity: predict.CPUTime, Value: 15},
	}, finish(used("a", 8, 1, 10), used("b", 8, 2, 30)))
	assert.Nil(t, finish(used("a", 8, 1, 10)), "8 of 20 s")
	assert.Nil(t, finish())
	throttled := used("a", 10, 1, 10)
	throttled.Throttled = true
	got := finish(throttled)
	require.Len(t, got, 5)
	assert.Equal(t, []bool{true, true, false, false, false},
		[]bool{got[0].AtLeast, got[1].AtLeast, got[2].AtLeast, got[3].AtLeast, got[4].AtLeast})
}

// TestNewRefusesToMeasure: not every driver can.
func TestNewRefusesToMeasure(t *testing.T) {
	for says, o := range map[string]adapters.Options{
		"Measure of -1s":         {Measure: -time.Second},
		"a driver that cannot":   {Measure: time.Second},
		"without a Predictor":    {Resize: &adapters.Resizing{}},
		"Resize.Reserve of NaN":  {Resize: &adapters.Resizing{Predictor: fixed{}, Reserve: math.NaN()}},
		"Resize.Limit of 1":      {Resize: &adapters.Resizing{Predictor: fixed{}, Limit: 1}},
		"Resize.Margin of 0.5":   {Resize: &adapters.Resizing{Predictor: fixed{}, Margin: 0.5}},
		"Resize.Samples of -1":   {Resize: &adapters.Resizing{Predictor: fixed{}, Samples: -1}},
		"Resize.Reserve of -0.5": {Resize: &adapters.Resizing{Predictor: fixed{}, Reserve: -0.5}},
		"Resize.Margin of +Inf":  {Resize: &adapters.Resizing{Predictor: fixed{}, Margin: math.Inf(1)}},
	} {
		_, err := adapters.New(&script{}, o)
		require.ErrorIs(t, err, adapters.ErrOptions)
		require.ErrorContains(t, err, says)
	}
}

// BenchmarkMeasure measures all tasks of a gang, in an order of no use.
func BenchmarkMeasure(b *testing.B) {
	for _, tasks := range []int{100, 1000} {
		b.Run(fmt.Sprint(tasks), func(b *testing.B) {
			m := &metered{}
			c := m.meter(b, tasks)
			samples := make([]adapters.Sample, tasks)
			after := 0.0
			for b.Loop() {
				after++
				for i := range samples {
					samples[i] = used(fmt.Sprint("task ", i*7919%tasks), after, 1, 1)
				}
				m.samples, m.now, m.views = samples, m.now.Add(10*time.Second), append(m.views, some(1))
				if _, err := c.Events(background); err != nil {
					b.Fatal(err)
				}
			}
			if got := c.Measured(); got.Taken != uint64(b.N*tasks) {
				b.Fatal(got)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(tasks), "ns/sample")
		})
	}
}

package otelhedge_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/hedgesched/hedge/otelhedge"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/schedtest"
)

// record is the spans of some cycles, in the order in which they ended.
func record(cycles ...*sched.Cycle) tracetest.SpanStubs {
	exporter := tracetest.NewInMemoryExporter()
	observe := otelhedge.Observer(sdk.NewTracerProvider(sdk.WithSyncer(exporter)))
	for _, c := range cycles {
		observe(c)
	}
	return exporter.GetSpans()
}

// shape is a span as the tests compare it: times in milliseconds since the cycle's Now.
type shape struct {
	name, parent string
	begin, end   int64
	failed       bool
}

func shapes(spans tracetest.SpanStubs) []shape {
	names := map[string]string{}
	for _, s := range spans {
		names[s.SpanContext.SpanID().String()] = s.Name
	}
	since := func(t time.Time) int64 { return t.Sub(schedtest.At(0)).Milliseconds() }
	var all []shape
	for _, s := range spans {
		all = append(all, shape{s.Name, names[s.Parent.SpanID().String()], since(s.StartTime), since(s.EndTime),
			s.Status.Code == codes.Error})
	}
	return all
}

func cycle(stage sched.Stage) *sched.Cycle {
	const ms = time.Millisecond
	c := &sched.Cycle{Now: schedtest.At(0), Stage: stage}
	if stage < sched.StageDone {
		c.Err = errors.New("gone")
	}
	if stage >= sched.StagePlan {
		c.SnapshotTime, c.PredictTime, c.PlanTime = 30*ms, 20*ms, 100*ms
		c.Pending, c.Running, c.Held, c.Delayed, c.Events = 5, 4, 3, 2, 9
	}
	if stage >= sched.StageApply {
		c.ApplyTime = 50 * ms
		c.Plan = &sched.Plan{Stats: sched.Stats{Options: 40, Value: 7.5, Engine: "native", Stop: "gap", Gap: 0.01,
			ValueTime: 0.03, SolveTime: 0.06}}
	}
	return c
}

func TestSpans(t *testing.T) {
	for _, tt := range []struct {
		stage sched.Stage
		want  []shape
	}{
		{sched.StageDone, []shape{
			{"hedge.predict", "hedge.snapshot", 10, 30, false},
			{"hedge.snapshot", "hedge.cycle", 0, 30, false},
			{"hedge.options", "hedge.plan", 30, 60, false},
			{"hedge.solve", "hedge.plan", 60, 120, false},
			{"hedge.plan", "hedge.cycle", 30, 130, false},
			{"hedge.apply", "hedge.cycle", 130, 180, false},
			{"hedge.cycle", "", 0, 180, false},
		}},
		{sched.StageApply, []shape{
			{"hedge.predict", "hedge.snapshot", 10, 30, false},
			{"hedge.snapshot", "hedge.cycle", 0, 30, false},
			{"hedge.options", "hedge.plan", 30, 60, false},
			{"hedge.solve", "hedge.plan", 60, 120, false},
			{"hedge.plan", "hedge.cycle", 30, 130, false},
			{"hedge.apply", "hedge.cycle", 130, 180, true},
			{"hedge.cycle", "", 0, 180, true},
		}},
		{sched.StagePlan, []shape{
			{"hedge.predict", "hedge.snapshot", 10, 30, false},
			{"hedge.snapshot", "hedge.cycle", 0, 30, false},
			{"hedge.plan", "hedge.cycle", 30, 130, true},
			{"hedge.cycle", "", 0, 130, true},
		}},
		{sched.StageEvents, []shape{
			{"hedge.snapshot", "hedge.cycle", 0, 0, true},
			{"hedge.cycle", "", 0, 0, true},
		}},
	} {
		t.Run(tt.stage.String(), func(t *testing.T) {
			spans := record(cycle(tt.stage))
			assert.Equal(t, tt.want, shapes(spans))
			for _, s := range spans {
				assert.Equal(t, spans[0].SpanContext.TraceID(), s.SpanContext.TraceID(), "one trace")
				assert.Equal(t, otelhedge.Scope, s.InstrumentationScope.Name)
			}
		})
	}
	two := record(cycle(sched.StageDone), cycle(sched.StageDone))
	assert.NotEqual(t, two[0].SpanContext.TraceID(), two[len(two)-1].SpanContext.TraceID(), "one for each cycle")
}

func TestAttributes(t *testing.T) {
	of := func(c *sched.Cycle, span string) map[attribute.Key]any {
		all := map[attribute.Key]any{}
		for _, s := range record(c) {
			for _, a := range s.Attributes {
				if s.Name == span {
					all[a.Key] = a.Value.AsInterface()
				}
			}
		}
		return all
	}
	c := cycle(sched.StageDone)
	c.Started, c.Preempted, c.Rejected = 2, 1, make([]sched.Rejection, 6)
	assert.Equal(t, map[attribute.Key]any{"hedge.stage": "done", "hedge.events": int64(9), "hedge.pending": int64(5),
		"hedge.running": int64(4), "hedge.held": int64(3), "hedge.delayed": int64(2), "hedge.rejected": int64(6),
		"hedge.started": int64(2), "hedge.preempted": int64(1)}, of(c, "hedge.cycle"))
	assert.Equal(t, map[attribute.Key]any{"hedge.options": int64(40), "hedge.value": 7.5, "hedge.engine": "native",
		"hedge.stop": "gap", "hedge.gap": 0.01}, of(c, "hedge.plan"))
	c.Plan.Stats.Gap, c.Plan.Stats.Fault = math.NaN(), "no memory"
	assert.Equal(t, map[attribute.Key]any{"hedge.options": int64(40), "hedge.value": 7.5, "hedge.engine": "native",
		"hedge.stop": "gap", "hedge.fault": "no memory"}, of(c, "hedge.plan"), "no bound")
	c.Plan.Stats = sched.Stats{}
	assert.Equal(t, map[attribute.Key]any{"hedge.options": int64(0), "hedge.value": 0.0}, of(c, "hedge.plan"),
		"no solver")
	assert.Len(t, record(c), 5, "without options and solve")
}

// TestOddTimes: what no policy should tell does no harm.
func TestOddTimes(t *testing.T) {
	for _, odd := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, math.MaxFloat64} {
		c := cycle(sched.StageDone)
		c.Plan.Stats.ValueTime, c.Plan.Stats.SolveTime = odd, odd
		assert.Len(t, record(c), 5, odd)
	}
}

func TestErrorIsRecorded(t *testing.T) {
	spans := record(cycle(sched.StageApply))
	root := spans[len(spans)-1]
	assert.Equal(t, "gone", root.Status.Description)
	require.Len(t, root.Events, 1)
	assert.Equal(t, "exception", root.Events[0].Name)
}

// TestSampledOut: a cycle that a sampler does without costs one span, and no provider none.
func TestSampledOut(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	otelhedge.Observer(sdk.NewTracerProvider(sdk.WithSyncer(exporter), sdk.WithSampler(sdk.NeverSample())))(
		cycle(sched.StageDone))
	assert.Empty(t, exporter.GetSpans())
	assert.NotPanics(t, func() { otelhedge.Observer(nil)(cycle(sched.StageDone)) })
}

func ExampleObserver() {
	exporter := tracetest.NewInMemoryExporter() // in a program: otlptracehttp.New, with sdk.WithBatcher
	provider := sdk.NewTracerProvider(sdk.WithSyncer(exporter))
	cluster := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(1, 1))
	cluster.Submit(schedtest.Job("a", 1).Job(), 50)
	loop, err := sched.NewLoop(cluster, baseline.NewFIFO(), schedtest.Forecasts(),
		sched.WithObserver(otelhedge.Observer(provider)))
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := loop.Step(context.Background(), schedtest.At(0)); err != nil {
		fmt.Println(err)
	}
	for _, s := range exporter.GetSpans() {
		fmt.Println(s.Name)
	}
	// Output:
	// hedge.predict
	// hedge.snapshot
	// hedge.plan
	// hedge.apply
	// hedge.cycle
}

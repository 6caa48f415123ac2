// Package otelhedge makes OpenTelemetry spans of the cycles of a [sched.Loop]. A program gives it a tracer provider and
// has the loop call what it gets, with [sched.WithObserver]. Metrics are those of package adapters/metrics, which
// OpenTelemetry's bridge for Prometheus hands on; docs/operate.md shows both.
//
// Each cycle is a trace of its own:
//
//	hedge.cycle            from the cycle's Now on
//	├─ hedge.snapshot      takes in events and makes the snapshot
//	│  └─ hedge.predict    forecasts jobs
//	├─ hedge.plan          asks the policy and checks its plan
//	│  ├─ hedge.options    values placement options
//	│  └─ hedge.solve      solves the placement problem
//	└─ hedge.apply         has the cluster carry the plan out
//
// A cycle that fails ends with the span of the stage that has failed. Spans are made when the cycle is over, from the
// times that the loop has measured. Their durations are exact. Within hedge.snapshot and hedge.plan the loop knows how
// long a part took but not when: hedge.predict is put last in its parent, and hedge.options and hedge.solve one after
// the other, first in theirs. Since no span is open while the cycle runs, what a cluster traces itself, such as its
// HTTP requests, is not below these spans.
//
// The package exports nothing itself, starts no goroutine, never logs and reads no clock.
package otelhedge

import (
	"context"
	"math"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/hedgesched/hedge/sched"
)

// Scope is the name of the instrumentation scope of all spans.
const Scope = "github.com/hedgesched/hedge/otelhedge"

// Observer returns what makes the spans of a cycle: it is for [sched.WithObserver]. It is safe for concurrent use if
// the provider is, as OpenTelemetry's specification asks of it. A nil provider makes no spans.
//
// The attributes of hedge.cycle are counts as [sched.Cycle] has them: hedge.events, hedge.pending, hedge.running,
// hedge.held, hedge.delayed, hedge.rejected, hedge.started and hedge.preempted; hedge.stage is how far it came. Those
// of hedge.plan are of [sched.Stats]: hedge.options, hedge.value, and, where a solver was used, hedge.engine,
// hedge.stop and hedge.gap. hedge.gap is left out where no bound was proved, and hedge.fault where there was none.
// An error is recorded with hedge.cycle and with the stage that has failed, and is their status.
func Observer(p trace.TracerProvider) func(*sched.Cycle) {
	if p == nil {
		p = noop.NewTracerProvider()
	}
	t := tracer{p.Tracer(Scope)}
	return t.observe
}

type tracer struct{ trace.Tracer }

func (t tracer) observe(c *sched.Cycle) {
	begin := c.Now
	shown := begin.Add(c.SnapshotTime)
	planned := shown.Add(c.PlanTime)
	end := planned.Add(c.ApplyTime)
	ctx, root := t.Start(context.Background(), "hedge.cycle", trace.WithNewRoot(), trace.WithTimestamp(begin))
	if !root.IsRecording() {
		root.End(trace.WithTimestamp(end)) // a sampler does without it
		return
	}
	root.SetAttributes(ofCycle(c)...)
	t.snapshot(ctx, c, begin, shown)
	if c.Stage >= sched.StagePlan {
		t.plan(ctx, c, shown, planned)
	}
	if c.Stage >= sched.StageApply {
		_, s := t.Start(ctx, "hedge.apply", trace.WithTimestamp(planned))
		finish(s, failedAt(c, sched.StageApply), end)
	}
	finish(root, c.Err, end)
}

// snapshot makes the span of the first stage. The loop does not time it where it fails.
func (t tracer) snapshot(ctx context.Context, c *sched.Cycle, begin, end time.Time) {
	ctx, s := t.Start(ctx, "hedge.snapshot", trace.WithTimestamp(begin))
	if c.Stage >= sched.StagePlan {
		t.part(ctx, "hedge.predict", end.Add(-c.PredictTime), c.PredictTime)
	}
	finish(s, failedAt(c, sched.StageEvents), end)
}

func (t tracer) plan(ctx context.Context, c *sched.Cycle, begin, end time.Time) {
	ctx, s := t.Start(ctx, "hedge.plan", trace.WithTimestamp(begin))
	if c.Plan != nil {
		stats := &c.Plan.Stats
		s.SetAttributes(ofPlan(stats)...)
		value, solve := seconds(stats.ValueTime), seconds(stats.SolveTime)
		t.part(ctx, "hedge.options", begin, value)
		t.part(ctx, "hedge.solve", begin.Add(value), solve)
	}
	finish(s, failedAt(c, sched.StagePlan), end)
}

// part makes a span of what took some time; nothing where it took none, as with policies that use no solver.
func (t tracer) part(ctx context.Context, name string, begin time.Time, took time.Duration) {
	if took <= 0 {
		return
	}
	_, s := t.Start(ctx, name, trace.WithTimestamp(begin))
	s.End(trace.WithTimestamp(begin.Add(took)))
}

// failedAt is the error of a cycle that failed at a stage.
func failedAt(c *sched.Cycle, at sched.Stage) error {
	if c.Stage == at {
		return c.Err
	}
	return nil
}

func finish(s trace.Span, err error, end time.Time) {
	if err != nil {
		s.RecordError(err, trace.WithTimestamp(end))
		s.SetStatus(codes.Error, err.Error())
	}
	s.End(trace.WithTimestamp(end))
}

// seconds are s as a duration; none of what is no time.
func seconds(s float64) time.Duration {
	if !(s > 0) || s > math.MaxInt64/float64(time.Second)/2 {
		return 0
	}
	return time.Duration(s * float64(time.Second))
}

func ofCycle(c *sched.Cycle) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("hedge.stage", c.Stage.String()),
		attribute.Int("hedge.events", c.Events),
		attribute.Int("hedge.pending", c.Pending),
		attribute.Int("hedge.running", c.Running),
		attribute.Int("hedge.held", c.Held),
		attribute.Int("hedge.delayed", c.Delayed),
		attribute.Int("hedge.rejected", len(c.Rejected)),
		attribute.Int("hedge.started", c.Started),
		attribute.Int("hedge.preempted", c.Preempted),
	}
}

func ofPlan(s *sched.Stats) []attribute.KeyValue {
	all := []attribute.KeyValue{attribute.Int("hedge.options", s.Options), attribute.Float64("hedge.value", s.Value)}
	if s.Engine != "" {
		all = append(all, attribute.String("hedge.engine", s.Engine), attribute.String("hedge.stop", s.Stop))
		if !math.IsNaN(s.Gap) && !math.IsInf(s.Gap, 0) {
			all = append(all, attribute.Float64("hedge.gap", s.Gap))
		}
	}
	if s.Fault != "" {
		all = append(all, attribute.String("hedge.fault", s.Fault))
	}
	return all
}

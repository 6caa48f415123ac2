package otelhedge_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/metric"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/hedgesched/hedge/adapters/metrics"
	"github.com/hedgesched/hedge/otelhedge"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/sched/threesigma"
	"github.com/hedgesched/hedge/solver/engines"
)

// TestCollector: spans, and Prometheus's metrics by OpenTelemetry's bridge, arrive at a real collector. It is made
// of the collector's own components and runs as a process.
func TestCollector(t *testing.T) {
	file, endpoint := startCollector(t)
	ctx := t.Context()
	traces, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpoint(endpoint), otlptracehttp.WithInsecure())
	require.NoError(t, err)
	provider := sdk.NewTracerProvider(sdk.WithBatcher(traces))

	registry := prometheus.NewRegistry()
	m, err := metrics.New(registry)
	require.NoError(t, err)
	sent, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpoint(endpoint), otlpmetrichttp.WithInsecure())
	require.NoError(t, err)
	meters := metric.NewMeterProvider(metric.WithReader(metric.NewPeriodicReader(sent,
		metric.WithProducer(bridge.NewMetricProducer(bridge.WithGatherer(registry))))))

	schedule(t, m.Observe, otelhedge.Observer(provider))
	require.NoError(t, provider.Shutdown(ctx))
	require.NoError(t, meters.Shutdown(ctx))
	want := []string{"hedge.cycle", "hedge.snapshot", "hedge.predict", "hedge.plan", "hedge.options", "hedge.solve",
		"hedge.apply", "hedge.pending", "hedge.gap", "hedge_jobs_pending", "hedge_decisions_total", "hedge_runtime_quantile",
		"hedge_cycle_seconds", otelhedge.Scope}
	missing := func() (left []string) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, w := range want {
			if !bytes.Contains(text, []byte(`"`+w+`"`)) {
				left = append(left, w)
			}
		}
		return left
	}
	for range 300 {
		if len(missing()) == 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	assert.Empty(t, missing())
}

// schedule runs 3Sigma for some cycles.
func schedule(t *testing.T, observers ...func(*sched.Cycle)) {
	t.Helper()
	engine, err := engines.Open("native")
	require.NoError(t, err)
	began := time.Now()
	policy, err := threesigma.New(threesigma.Config{Solver: engine,
		Stopwatch: func() time.Duration { return time.Since(began) }})
	require.NoError(t, err)
	cluster := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(2, 1))
	var jobs []*schedtest.JobBuilder
	for i := range 5 {
		b := schedtest.Job(fmt.Sprint("j", i), 1).Deadline(100).Runs(20)
		jobs = append(jobs, b)
		cluster.Submit(b.Job(), 20)
	}
	loop, err := sched.NewLoop(cluster, policy, schedtest.Forecasts(jobs...), sched.WithObserver(func(c *sched.Cycle) {
		for _, o := range observers {
			o(c)
		}
	}))
	require.NoError(t, err)
	for at := 0.0; at < 100; at += 10 {
		cluster.Advance(schedtest.At(at))
		_, err := loop.Step(t.Context(), schedtest.At(at))
		require.NoError(t, err)
	}
}

// startCollector builds a collector and starts it: it listens for OTLP at an address and writes what comes to a file.
// Without the collector's modules the test is skipped, or fails where servers are required.
func startCollector(t *testing.T) (file, address string) {
	t.Helper()
	if testing.Short() && os.Getenv("HEDGE_REQUIRE_SERVERS") == "" {
		t.Skip("a collector takes minutes to build the first time")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "otelcol")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	build.Dir = filepath.Join("testdata", "otelcol")
	build.Env = append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		why := fmt.Sprintf("the collector cannot be built: %v\n%s", err, out)
		if os.Getenv("HEDGE_REQUIRE_SERVERS") != "" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address = l.Addr().String()
	require.NoError(t, l.Close())
	file = filepath.Join(dir, "arrived.json")
	conf := fmt.Sprintf(`yaml:{receivers: {otlp: {protocols: {http: {endpoint: %q}}}}, `+
		`exporters: {file: {path: %q, flush_interval: 100ms}}, service: {pipelines: {`+
		`traces: {receivers: [otlp], exporters: [file]}, metrics: {receivers: [otlp], exporters: [file]}}}}`, address, file)
	log, err := os.Create(filepath.Join(dir, "log"))
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	command := exec.CommandContext(ctx, program, "--config", conf)
	command.Stdout, command.Stderr = log, log
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		stop()
		_ = command.Wait() // it was killed
		log.Close()
	})
	for range 600 {
		if c, err := net.Dial("tcp", address); err == nil {
			_ = c.Close()
			return file, address
		}
		time.Sleep(100 * time.Millisecond)
	}
	text, _ := os.ReadFile(log.Name())
	t.Fatalf("the collector has not started: %s", text)
	return "", ""
}

package metrics_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	grafana "github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/metrics"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/outlook"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/sched/threesigma"
	"github.com/hedgesched/hedge/solver/engines"
)

// classic is the form of dashboards that files are imported in.
type classic = dashboard.Dashboard //nolint:staticcheck // the newer form is for Grafana's own resources

// query is a panel's question.
type query struct{ panel, expr string }

// board reads the dashboard by Grafana's own types, and its queries.
func board(t *testing.T) (classic, []query) {
	t.Helper()
	var d classic
	require.NoError(t, json.Unmarshal(metrics.Dashboard(), &d))
	var all []query
	for _, p := range d.Panels {
		if p.Panel == nil {
			continue
		}
		var raw struct {
			Targets []struct{ Expr string }
		}
		text, err := json.Marshal(p.Panel)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &raw))
		for _, target := range raw.Targets {
			all = append(all, query{*p.Panel.Title, target.Expr})
		}
	}
	return d, all
}

// TestDashboard: Grafana's types take the dashboard whole, with no field that they do not know.
func TestDashboard(t *testing.T) {
	types := cog.NewRuntime()
	types.RegisterDataqueryVariant(grafana.VariantConfig())
	types.RegisterPanelcfgVariant(timeseries.VariantConfig())
	types.RegisterPanelcfgVariant(stat.VariantConfig())
	var strict classic
	require.NoError(t, fault(strict.UnmarshalJSONStrict(metrics.Dashboard())))
	require.NoError(t, fault(strict.Validate()))
	for _, field := range []string{"schemaVersion", "gridPos", "expr", "showLegend"} {
		spoilt := bytes.Replace(metrics.Dashboard(), []byte(`"`+field+`"`), []byte(`"misspelt"`), 1)
		require.Error(t, fault(new(classic).UnmarshalJSONStrict(spoilt)), "%s: the test can fail", field)
	}
	d, queries := board(t)
	assert.GreaterOrEqual(t, len(queries), 30)

	ids := map[uint32]bool{}
	for _, p := range d.Panels {
		switch {
		case p.Panel != nil:
			assert.False(t, ids[*p.Panel.Id], "panel %d is there twice", *p.Panel.Id)
			ids[*p.Panel.Id] = true
			assert.NotEmpty(t, p.Panel.Description, *p.Panel.Title)
		case p.RowPanel != nil:
			assert.False(t, ids[p.RowPanel.Id], "panel %d is there twice", p.RowPanel.Id)
			ids[p.RowPanel.Id] = true
		}
	}
	asked := ""
	for _, q := range queries {
		asked += q.expr + "\n"
	}
	for _, name := range names(t) {
		assert.Contains(t, asked, name, "no panel shows it")
	}
}

// fault is the error of Grafana's types, which return an empty list of errors where there is none.
func fault(err error) error {
	if list, ok := err.(cog.BuildErrors); ok && len(list) == 0 { //nolint:errorlint // it is never wrapped
		return nil
	}
	return err
}

// names are those of all metrics.
func names(t *testing.T) []string {
	m, r := newMetrics(t)
	m.Observe(&sched.Cycle{Pending: 1, Stage: sched.StageDone,
		Plan: &sched.Plan{Rest: sched.Reason{Code: sched.ReasonWaiting}, Stats: sched.Stats{Engine: "native"}}})
	m.Refused(adapters.Refused{})
	all, err := r.Gather()
	require.NoError(t, err)
	var out []string
	for _, f := range all {
		out = append(out, f.GetName())
	}
	return out
}

// TestQueriesHaveData: Debian's Prometheus has data for every query of the dashboard and every rule of docs/operate.md,
// once it has watched a scheduler.
func TestQueriesHaveData(t *testing.T) {
	program := prometheusProgram(t)
	m, r := newMetrics(t)
	at := startPrometheus(t, program, r)
	s := newScheduler(t, m)
	_, queries := board(t)
	left := slices.Clone(queries)
	for range 600 { // up to a minute on a quiet machine
		for range 5 {
			s.step(t)
		}
		left = slices.DeleteFunc(left, func(q query) bool { return hasData(t, at, q.expr) })
		if len(left) == 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	for _, q := range left {
		assert.Fail(t, "no data", "%s: %s", q.panel, q.expr)
	}
	for _, expr := range rules(t) {
		_, err := ask(at, expr)
		assert.NoError(t, err, expr)
	}
	_, err := ask(at, "sum(hedge_no_such_metric")
	assert.Error(t, err, "the test can fail")
	assert.False(t, hasData(t, at, "hedge_no_such_metric"), "the test can fail")
}

// rules are the expressions of the alerts in docs/operate.md.
func rules(t *testing.T) []string {
	page, err := os.ReadFile("../../docs/operate.md")
	require.NoError(t, err)
	_, text, ok := strings.Cut(string(page), "```yaml\n")
	require.True(t, ok)
	text, _, ok = strings.Cut(text, "```")
	require.True(t, ok)
	file := filepath.Join(t.TempDir(), "rules.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	if tool, err := exec.LookPath("promtool"); err == nil {
		out, err := exec.Command(tool, "check", "rules", file).CombinedOutput()
		require.NoError(t, err, string(out))
	}
	var all []string
	rule := regexp.MustCompile(`(?s)expr: (?:>-\s+)?(.*?)(?:\n +(?:for|- alert): |\n*$)`)
	for _, m := range rule.FindAllStringSubmatch(text, -1) {
		all = append(all, strings.Join(strings.Fields(m[1]), " "))
	}
	require.Len(t, all, strings.Count(text, "- alert:"))
	return all
}

// prometheusProgram is where Prometheus is. Without it the test is skipped, or fails where servers are required.
func prometheusProgram(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("prometheus")
	if err == nil {
		return program
	}
	const why = "Prometheus is not installed; on Debian: apt-get install prometheus"
	if os.Getenv("HEDGE_REQUIRE_SERVERS") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
	return ""
}

// startPrometheus has Prometheus scrape a registry five times a second, and returns its address.
func startPrometheus(t *testing.T, program string, r *prometheus.Registry) string {
	t.Helper()
	served := httptest.NewServer(promhttp.HandlerFor(r, promhttp.HandlerOpts{}))
	t.Cleanup(served.Close)
	dir := t.TempDir()
	conf := fmt.Sprintf("scrape_configs:\n- job_name: hedge\n  scrape_interval: 200ms\n  scrape_timeout: 200ms\n"+
		"  static_configs:\n  - targets: [%q]\n", strings.TrimPrefix(served.URL, "http://"))
	file := filepath.Join(dir, "prometheus.yml")
	require.NoError(t, os.WriteFile(file, []byte(conf), 0o600))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	log, err := os.Create(filepath.Join(dir, "log"))
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	command := exec.CommandContext(ctx, program, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+address)
	command.Stdout, command.Stderr = log, log
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		stop()
		_ = command.Wait() // it was killed
		log.Close()
	})
	ready := func() bool {
		answer, err := http.Get("http://" + address + "/-/ready")
		if err != nil {
			return false
		}
		answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	}
	for range 600 {
		if ready() {
			return address
		}
		time.Sleep(100 * time.Millisecond)
	}
	text, _ := os.ReadFile(log.Name())
	t.Fatalf("Prometheus has not started: %s", text)
	return ""
}

// ask is the answer of Prometheus to a query: the values of its series. Grafana's variables are a minute.
func ask(address, expr string) ([]float64, error) {
	expr = strings.NewReplacer("$__rate_interval", "1m", "$window", "1m").Replace(expr)
	answer, err := http.Get("http://" + address + "/api/v1/query?query=" + url.QueryEscape(expr))
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	var got struct {
		Status, Error string
		Data          struct{ Result []struct{ Value [2]any } }
	}
	if err := json.NewDecoder(answer.Body).Decode(&got); err != nil {
		return nil, err
	}
	if got.Status != "success" {
		return nil, fmt.Errorf("%s: %s", expr, got.Error)
	}
	var all []float64
	for _, r := range got.Data.Result {
		v, err := strconv.ParseFloat(fmt.Sprint(r.Value[1]), 64)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// hasData tells whether a query has a series with a number.
func hasData(t *testing.T, address, expr string) bool {
	t.Helper()
	values, err := ask(address, expr)
	require.NoError(t, err, expr)
	return slices.ContainsFunc(values, func(v float64) bool { return !math.IsNaN(v) })
}

// scheduler is 3Sigma on a cluster whose time passes with every step; jobs keep coming.
type scheduler struct {
	cluster *schedtest.Cluster
	loop    *sched.Loop
	next    int
}

// jobsOf is the number of jobs that a scheduler has a forecast of, over and over again.
const jobsOf = 3000

func newScheduler(t *testing.T, m *metrics.Metrics) *scheduler {
	t.Helper()
	engine, err := engines.Open("native")
	require.NoError(t, err)
	policy, err := threesigma.New(threesigma.Config{Solver: engine})
	require.NoError(t, err)
	estimator, err := outlook.New(outlook.Config{Seed: 1})
	require.NoError(t, err)
	s := &scheduler{cluster: schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(4, 2))}
	var known []*schedtest.JobBuilder
	for i := range jobsOf {
		known = append(known, s.job(i))
	}
	s.loop, err = sched.NewLoop(s.cluster, policy, schedtest.Forecasts(known...), sched.WithCycle(10*time.Second),
		sched.WithObserver(func(c *sched.Cycle) {
			m.Observe(c)
			m.Refused(adapters.Refused{Invalid: 1})
			if told, err := estimator.Look(c.Snapshot, c.Plan); assert.NoError(t, err) {
				m.Estimated(c, told)
			}
		}))
	require.NoError(t, err)
	m.Lead(1)
	return s
}

func (s *scheduler) job(i int) *schedtest.JobBuilder {
	return schedtest.Job(fmt.Sprint("j", i), 1+i%2).Submitted(float64(10 * i)).Deadline(300).Runs(25)
}

// step lets ten seconds pass, in which one job comes: more than there is room for.
func (s *scheduler) step(t *testing.T) {
	t.Helper()
	now := float64(10 * s.next)
	s.cluster.Advance(schedtest.At(now))
	s.cluster.Submit(s.job(s.next).Job(), 20+float64(s.next%3)*10)
	_, err := s.loop.Step(t.Context(), schedtest.At(now))
	require.NoError(t, err)
	s.next++
}

package published_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/agents"
	"github.com/hedgesched/hedge/adapters/sim/decisionlog"
	"github.com/hedgesched/hedge/adapters/sim/published"
	"github.com/hedgesched/hedge/adapters/sim/tasklog"
	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/sched/eagle"
)

func workload(t testing.TB, path string) *agents.Workload {
	r, err := trace.Open(path, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	w, err := agents.Read(r)
	require.NoError(t, err)
	return w
}

func config(t testing.TB, name string, nodes int) published.Config {
	v, err := eagle.Named(name)
	require.NoError(t, err)
	return published.Config{Variant: v, Nodes: nodes, ShortShare: 2, Cutoff: 90.5811, MinProbes: 20, Heartbeat: 7,
		Seed: 123456798}
}

func digest(r *published.Result) string {
	h := sha256.New()
	for i, j := range r.Jobs {
		class := 0
		if j.Long {
			class = 1
		}
		fmt.Fprintf(h, "%d %.4f %d\n", i+1, j.End, class)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// The digests of the public simulator's results on the whole log.
func TestEqualsThePublicSimulatorJobByJob(t *testing.T) {
	path := os.Getenv("HEDGE_EAGLE_TRACE")
	if path == "" {
		t.Skip("HEDGE_EAGLE_TRACE is not set: expected the path of YH1_sub.tr, its arrivals less 128248")
	}
	w := workload(t, path)
	for name, want := range map[string]string{
		"clwl":        "a6fd4896a548d742dd264a3cc5b924491f30dd350ceb0ea65473459f7ce276c6",
		"eagle":       "b4a19769174b2fb88d88956ed9b0e29feb306e7526811a3952ebf62817784def",
		"hawk":        "6e99f504d4a78e55c66f92fd4f020b5d3a475ba4d39bdf0bfe8cc8cd03fa0649",
		"sparrow":     "8681d2c4214bb42d5bf14cf999cbccd03c4b955b24732b9ccbf2bc6911158ba0",
		"dlwl":        "5eb82af69212943e2159f68acc2d085c84cef111ec2d46aaabef823e963746bc",
		"ideal-eagle": "47c096499c47df5262481cfde841885c4e84f90a3e1c1144df52e5881bdd657c",
	} {
		t.Run(name, func(t *testing.T) {
			r, err := published.Run(w, config(t, name, 4000))
			require.NoError(t, err)
			assert.Equal(t, want, digest(r))
			t.Logf("%d events, busy %.4f", r.Events, r.Busy)
		})
	}
}

// testdata/yahoo.tr is the jobs of at most 120 tasks among the first 250 of meghanat/megha_simulator's
// traces/input/YH1_sub.tr (commit f4fdaf4), arrivals less 128248. The digests were computed here, after those of the
// whole log had been met.
func TestSliceStaysAsItWas(t *testing.T) {
	w := workload(t, "testdata/yahoo.tr")
	for name, want := range slice() {
		t.Run(name, func(t *testing.T) {
			r, err := published.Run(w, config(t, name, 100))
			require.NoError(t, err)
			assert.Equal(t, want, digest(r))
			again, err := published.Run(w, config(t, name, 100))
			require.NoError(t, err)
			assert.Equal(t, r, again, "the same seed, the same run")
		})
	}
}

// The digests of the public simulator's results on the last quarter of Google's log.
func TestEqualsThePublicSimulatorOnGoogle(t *testing.T) {
	path := os.Getenv("HEDGE_EAGLE_GOOGLE_TRACE")
	if path == "" {
		t.Skip("HEDGE_EAGLE_GOOGLE_TRACE is not set: expected the path of GOOG_subtrace_first6000.tr from 1471894.25 s on, " +
			"its arrivals less 1471899, as whole numbers")
	}
	w := workload(t, path)
	for name, want := range map[string]string{
		"eagle":   "7d266b2b2f50f6e1f09e0e8ac6e58de5567352fdcff3c6b0f00a9607f518905e",
		"hawk":    "43ffd95ed3c62271bd6986e13773d96375e55e8283c884b4904d994f7bb83634",
		"sparrow": "76860bfcc006da82412e16389bea27bdb06e3e590f852bda0e143081c940bd09",
	} {
		t.Run(name, func(t *testing.T) {
			c := config(t, name, 15000)
			c.ShortShare, c.Cutoff, c.Heartbeat = 17, 1129.532, 3
			r, err := published.Run(w, c)
			require.NoError(t, err)
			assert.Equal(t, want, digest(r))
			t.Logf("%d events, busy %.4f", r.Events, r.Busy)
		})
	}
}

func TestBadParametersAreRefused(t *testing.T) {
	w := workload(t, "testdata/yahoo.tr")
	for _, c := range []struct {
		what, variant string
		change        func(*published.Config)
	}{
		{"Nodes", "eagle", func(c *published.Config) { c.Nodes = 0 }},
		{"Nodes", "eagle", func(c *published.Config) { c.Nodes = 10_000_001 }},
		{"ShortShare", "eagle", func(c *published.Config) { c.ShortShare = 100 }},
		{"ShortShare", "hawk", func(c *published.Config) { c.ShortShare = 100 }},
		{"ShortShare", "hawk", func(c *published.Config) { c.ShortShare = -1 }},
		{"ShortShare", "hawk", func(c *published.Config) { c.ShortShare = math.NaN() }},
		{"ShortShare", "eagle", func(c *published.Config) { c.ShortShare = 0.5 }},
		{"Nodes", "eagle", func(c *published.Config) { c.Nodes = 1 }},
		{"ShortShare", "ideal-eagle", func(c *published.Config) { c.ShortShare = 0 }},
		{"Nodes", "ideal-eagle", func(c *published.Config) { c.Nodes = 1 }},
		{"ShortShare", "eagle", func(c *published.Config) { c.Variant.Partition = false }},
		{"Cutoff", "eagle", func(c *published.Config) { c.Cutoff = -1 }},
		{"Cutoff", "eagle", func(c *published.Config) { c.Cutoff = math.NaN() }},
		{"Cutoff", "eagle", func(c *published.Config) { c.Cutoff = math.Inf(1) }},
		{"MinProbes", "eagle", func(c *published.Config) { c.MinProbes = -1 }},
		{"MinProbes", "eagle", func(c *published.Config) { c.MinProbes = 101 }},
		{"Heartbeat", "dlwl", func(c *published.Config) { c.Heartbeat = 0 }},
		{"Heartbeat", "dlwl", func(c *published.Config) { c.Heartbeat = 1_000_000_001 }},
		{"Low", "eagle", func(c *published.Config) { c.Low, c.High = 2, 1 }},
		{"Low", "eagle", func(c *published.Config) { c.Low, c.High = 0, 1 }},
		{"Low", "eagle", func(c *published.Config) { c.Low, c.High = math.NaN(), 1 }},
		{"Low", "eagle", func(c *published.Config) { c.Low, c.High = 1, math.Inf(1) }},
	} {
		p := config(t, c.variant, 100)
		c.change(&p)
		_, err := published.Run(w, p)
		assert.ErrorIs(t, err, published.ErrConfig, "%+v", p)
		var config *published.ConfigError
		require.ErrorAs(t, err, &config)
		assert.Equal(t, c.what, config.Field)
		assert.NotEmpty(t, config.Want)
		assert.EqualError(t, p.Check(), err.Error(), "refused before a log is read")
	}
	_, err := published.Run(new(agents.Workload), config(t, "eagle", 100))
	assert.ErrorIs(t, err, agents.ErrWorkload)
}

// Parameters at the edge of what is possible run every variant to its end, or are refused.
func TestEdgesRunOrAreRefused(t *testing.T) {
	w := &agents.Workload{}
	for i := range 30 {
		mean := time.Duration(1+i%2*100) * time.Second
		require.NoError(t, w.Add(&trace.Job{Submit: time.Duration(i) * time.Second, Runtime: mean, Tasks: 1 + i%5}))
	}
	for _, name := range eagle.Names() {
		for edge, change := range map[string]func(*published.Config){
			"one node":         func(c *published.Config) { c.Nodes = 1 },
			"two nodes":        func(c *published.Config) { c.Nodes, c.ShortShare = 2, 50 },
			"no partition":     func(c *published.Config) { c.ShortShare = 0 },
			"one general node": func(c *published.Config) { c.Nodes, c.ShortShare = 10, 99 },
			"no probes":        func(c *published.Config) { c.MinProbes = 0 },
			"all long":         func(c *published.Config) { c.Cutoff = 0 },
			"a second's beat":  func(c *published.Config) { c.Heartbeat = 1 },
			"same estimate":    func(c *published.Config) { c.Low, c.High = 1, 1 },
		} {
			c := config(t, name, 10)
			c.ShortShare = 20
			change(&c)
			r, err := published.Run(w, c)
			if c.ShortShare*float64(c.Nodes) < 100 && (c.Variant.Share || c.Variant.Ideal) {
				assert.ErrorIs(t, err, published.ErrConfig, "%s, %s", name, edge)
				continue
			}
			require.NoError(t, err, "%s, %s", name, edge)
			assert.Len(t, r.Jobs, 30)
		}
	}
}

func BenchmarkEvents(b *testing.B) {
	w := workload(b, "testdata/yahoo.tr")
	for _, name := range eagle.Names() {
		b.Run(name, func(b *testing.B) {
			events := int64(0)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			b.ReportAllocs()
			for b.Loop() {
				r, err := published.Run(w, config(b, name, 100))
				require.NoError(b, err)
				events += r.Events
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(events), "allocs/event")
		})
	}
}

func ExampleRun() {
	v, err := eagle.Named("clwl")
	if err != nil {
		fmt.Println(err)
		return
	}
	w := &agents.Workload{Jobs: []agents.Job{{Mean: 10 * time.Second, Tasks: 2}}, Runtimes: []time.Duration{8e9, 12e9}}
	r, err := published.Run(w, published.Config{Variant: v, Nodes: 10, ShortShare: 10, Cutoff: 90, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4f s\n", r.Jobs[0].End)
	// Output: 12.0015 s
}

// The log of a run passes the check, with times in whole nanoseconds; and it changes nothing.
func TestLogsPassTheCheck(t *testing.T) {
	w := workload(t, "testdata/yahoo.tr")
	for name, want := range slice() {
		var b bytes.Buffer
		log := tasklog.NewWriter(&b, &tasklog.Header{Workers: 100, Slots: 1, Overhead: published.Overhead,
			Tolerance: time.Microsecond})
		c := config(t, name, 100)
		c.Observer = log
		r, err := published.Run(w, c)
		require.NoError(t, err)
		assert.Equal(t, want, digest(r))
		require.NoError(t, log.Close(new(tasklog.Figures)))
		_, err = tasklog.Check(bytes.NewReader(b.Bytes()), nil)
		require.ErrorIs(t, err, decisionlog.ErrMismatch, "there are no figures")
		const figures = 2 + 3*(1+4*8) + 8 // bytes
		report, err := tasklog.Check(bytes.NewReader(b.Bytes()[:b.Len()-figures]), &decisionlog.Options{Partial: true})
		require.NoError(t, err, name)
		assert.Equal(t, len(w.Runtimes), report.Starts)
		assert.Equal(t, len(w.Jobs), report.Figures.All.Jobs)
		assert.InDelta(t, r.Makespan, report.Figures.Makespan, 1e-6)
		sum := 0.0
		for _, j := range r.Jobs {
			sum += j.End - j.Submit
		}
		assert.InDelta(t, sum/float64(len(r.Jobs)), report.Figures.All.Mean, 1e-6)
	}
}

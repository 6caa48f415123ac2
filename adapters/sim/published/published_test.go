package published_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/agents"
	"github.com/hedgesched/hedge/adapters/sim/published"
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
	return published.Config{Variant: v, Nodes: nodes, ShortShare: 2, Cutoff: 90.5811, MinProbes: 20, Heartbeat: 7, Seed: 123456798}
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

func TestBadParametersAreRefused(t *testing.T) {
	w := workload(t, "testdata/yahoo.tr")
	for name, change := range map[string]func(*published.Config){
		"no nodes":           func(c *published.Config) { c.Nodes = 0 },
		"all nodes short":    func(c *published.Config) { c.ShortShare = 100 },
		"no short partition": func(c *published.Config) { c.ShortShare = 0.5 },
		"negative cutoff":    func(c *published.Config) { c.Cutoff = -1 },
		"no order":           func(c *published.Config) { c.Low, c.High = 2, 1 },
	} {
		t.Run(name, func(t *testing.T) {
			c := config(t, "eagle", 100)
			change(&c)
			_, err := published.Run(w, c)
			assert.ErrorIs(t, err, published.ErrConfig)
		})
	}
	_, err := published.Run(new(agents.Workload), config(t, "eagle", 100))
	assert.ErrorIs(t, err, agents.ErrWorkload)
}

func BenchmarkEvents(b *testing.B) {
	w := workload(b, "testdata/yahoo.tr")
	for _, name := range eagle.Names() {
		b.Run(name, func(b *testing.B) {
			events := int64(0)
			for b.Loop() {
				r, err := published.Run(w, config(b, name, 100))
				require.NoError(b, err)
				events += r.Events
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
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

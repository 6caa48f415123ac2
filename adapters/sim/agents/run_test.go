package agents_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/agents"
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

func TestQuick(t *testing.T) {
	w := workload(t, os.Getenv("HEDGE_EAGLE_TRACE"))
	for _, name := range eagle.Names() {
		t.Run(name, func(t *testing.T) {
			v, _ := eagle.Named(name)
			began := time.Now()
			s, err := eagle.New(eagle.Config{Switches: v, Workers: 4000, ShortShare: 2, MinProbes: 20, Heartbeat: 7 * time.Second, Seed: 1})
			require.NoError(t, err)
			r, err := agents.Run(w, s, agents.Config{Delay: 500 * time.Microsecond, Cutoff: 90581100 * time.Microsecond, Seed: 1})
			require.NoError(t, err)
			took := time.Since(began)
			var c [2][]float64
			for _, j := range r.Jobs {
				k := 0
				if j.Long {
					k = 1
				}
				c[k] = append(c[k], (j.End - j.Submit).Seconds())
			}
			q := func(c []float64, p float64) float64 { slices.Sort(c); return c[int(p*float64(len(c)-1))] }
			t.Logf("%s short %.2f %.2f %.2f long %.1f %.1f %.1f busy %.4f events %d messages %d in %v", name, q(c[0], .5), q(c[0], .9), q(c[0], .99),
				q(c[1], .5), q(c[1], .9), q(c[1], .99), r.Busy, r.Events, r.Messages, took)
		})
	}
}

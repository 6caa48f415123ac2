package threesigma_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/threesigma"
)

// forecasts are distributions of every family and what the dist package derives from them.
func forecasts(t testing.TB) map[string]dist.Distribution {
	t.Helper()
	hist, err := dist.FromSamples([]float64{100, 150, 200, 900})
	require.NoError(t, err)
	normal, err := dist.NewNormal(300, 50)
	require.NoError(t, err)
	lognormal, err := dist.NewLognormal(5, 0.8)
	require.NoError(t, err)
	exponential, err := dist.NewExponential(300)
	require.NoError(t, err)
	mixture, err := dist.NewMixture([]dist.Component{{Weight: 1, Dist: normal}, {Weight: 2, Dist: lognormal}})
	require.NoError(t, err)
	all := map[string]dist.Distribution{}
	for name, d := range map[string]dist.Distribution{
		"point": point(t, 300), "uniform": uniform(t, 100, 500), "normal": normal, "lognormal": lognormal,
		"exponential": exponential, "histogram": hist, "mixture": mixture,
	} {
		all[name] = d
		for how, derive := range map[string]func(dist.Distribution) (dist.Distribution, error){
			"scaled":      func(d dist.Distribution) (dist.Distribution, error) { return dist.Scale(d, 2) },
			"shifted":     func(d dist.Distribution) (dist.Distribution, error) { return dist.Shift(d, 30) },
			"conditioned": func(d dist.Distribution) (dist.Distribution, error) { return dist.Condition(d, 150) },
			"maximum":     func(d dist.Distribution) (dist.Distribution, error) { return dist.MaxOf(d, 3) },
			"conditioned maximum, scaled": func(d dist.Distribution) (dist.Distribution, error) {
				d, err := dist.MaxOf(d, 3)
				require.NoError(t, err)
				d, err = dist.Condition(d, 150)
				require.NoError(t, err)
				return dist.Scale(d, 2)
			},
		} {
			derived, err := derive(d)
			require.NoError(t, err)
			all[name+" "+how] = derived
		}
	}
	return all
}

// TestAnyForecastEveryCycle: a forecast of whatever type may be shown again, of pending and of running jobs.
func TestAnyForecastEveryCycle(t *testing.T) {
	for name, d := range forecasts(t) {
		t.Run(name, func(t *testing.T) {
			p := policy(t, threesigma.Config{Slot: time.Minute})
			waits, runs := be(t, "waits", 2), be(t, "runs", 1)
			waits.Speeds = sched.SpeedsOf(sched.Speed{On: sched.NodesWith("rack", "r0"), Factor: 1}, sched.Speed{Factor: 0.5})
			var first map[string]sched.Decision
			for i := range 3 {
				s := cluster(t, 2, epoch.Add(time.Minute), sched.Running{Job: runs, Prediction: forecast(d),
					Started: epoch, Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}}})
				s.Pending = []sched.Pending{{Job: waits, Prediction: forecast(d)}}
				got := plan(t, p, s)
				if i == 0 {
					first = got
				}
				assert.Equal(t, first, got, "cycle %d", i)
			}
		})
	}
}

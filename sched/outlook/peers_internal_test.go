package outlook

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
)

// ten is a forecast with a quantile of k at k tenths.
func ten(t *testing.T) (d dist.Distribution, knots [steps - 1]float64) {
	d, err := dist.NewUniform(0, steps)
	require.NoError(t, err)
	for k := range knots {
		knots[k] = d.Quantile(float64(k+1) / steps)
	}
	return d, knots
}

// TestOutlived holds the correction against survival curves worked out by hand: products of the shares that survive
// each step, of the runs and of as many imagined ones as the forecast counts for.
func TestOutlived(t *testing.T) {
	d, knots := ten(t)
	n := float64(trust)
	for name, c := range map[string]struct {
		ended, cut []float64
		want       float64 // probability of more than 5
	}{
		"nothing known":          {nil, nil, 0.5},
		"just begun":             {nil, []float64{0, 0.9, 0.99}, 0.5},
		"one that runs for long": {nil, []float64{8}, (n*0.5 + 1) / (n + 1)},
		"as foretold":            {[]float64{0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5}, nil, 0.5},
		"short ones":             {[]float64{0.1, 0.2, 0.3, 0.4}, nil, n * 0.5 / (n + 4)},
		"seen for one step":      {nil, []float64{1, 1}, (n*9/10 + 2) / (n + 2) * 5 / 9},
		"longer than foretold":   {[]float64{50, 60}, nil, (n*0.5 + 2) / (n + 2)},
	} {
		t.Run(name, func(t *testing.T) {
			o := (&group{ended: c.ended, cut: c.cut}).compare(&knots)
			assert.InDelta(t, c.want, 1-o.tell(d.CDF(5)), 1e-12)
			assert.Zero(t, o.tell(0))
			assert.InDelta(t, 1, o.tell(1), 1e-12)
			for p := 0.01; p < 1; p += 0.07 {
				assert.InDelta(t, p, o.tell(d.CDF(o.quantile(d, p))), 1e-9, p)
			}
		})
	}
}

// TestRunningTellNoMoreThanAll: most jobs that run at one time are long ones, though few are. The correction does not
// take that for news.
func TestRunningTellNoMoreThanAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	d, knots := ten(t)
	sum, alone, snapshots := 0.0, 0.0, 0
	for range 400 {
		g := group{}
		const now = 100.0
		for at := now - 5; at < now; at += 5.0 / latest { // the latest starts
			if ran := d.Quantile(rng.Float64()); at+ran > now {
				g.cut = append(g.cut, now-at)
			} else {
				g.ended = append(g.ended, ran)
			}
		}
		o := sorted(&g).compare(&knots)
		sum += o.tell(0.3)
		o = (&group{cut: g.cut}).compare(&knots)
		alone += o.tell(0.3)
		snapshots++
	}
	assert.InDelta(t, 0.3, sum/float64(snapshots), 0.04) // steps that a run is in are not counted
	assert.Less(t, alone/float64(snapshots), 0.2)
}

func sorted(g *group) *group {
	for _, x := range g.ended {
		g.ring = append(g.ring, &run{ran: x, over: true})
	}
	for _, x := range g.cut {
		g.ring = append(g.ring, &run{ran: x})
	}
	g.sort(1)
	return g
}

// TestPeersAreSeen: runs are kept from their start until none of the group runs.
func TestPeersAreSeen(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(0, 0).UTC().Add(time.Duration(s) * time.Second) }
	of := predict.Prediction{Expert: predict.Expert{Feature: "user", Value: "u", Estimator: "median"}}
	runs := func(now int, jobs ...int) *sched.Snapshot {
		s := &sched.Snapshot{Now: at(now)}
		for _, j := range jobs {
			s.Running = append(s.Running, sched.Running{Job: &sched.Job{ID: fmt.Sprint(j)}, Prediction: of, Started: at(j),
				Speed: 0.5})
		}
		return s
	}
	p := peers{groups: map[value]*group{}, runs: map[string]*run{}}
	see := func(round int, s *sched.Snapshot) (ended, cut []float64) {
		p.see(s, round)
		g := p.groups[value{"user", "u"}]
		if g == nil {
			return nil, nil
		}
		g.sort(round)
		return g.ended, g.cut
	}
	ended, cut := see(1, runs(10, 0, 4))
	assert.Empty(t, ended)
	assert.Equal(t, []float64{3, 5}, cut)

	s := runs(20, 4)
	s.Completed = []sched.Completion{{Job: "0", At: at(16)}, {Job: "unknown", At: at(16)}}
	ended, cut = see(2, s)
	assert.Equal(t, []float64{8}, ended)
	assert.Equal(t, []float64{8}, cut)

	ended, cut = see(3, runs(30, 26)) // job 4 was stopped
	assert.Equal(t, []float64{8}, ended)
	assert.Equal(t, []float64{2, 8}, cut)

	ended, cut = see(4, runs(40))
	assert.Empty(t, append(ended, cut...))
	assert.Empty(t, p.groups)
	assert.Empty(t, p.runs)

	for i := range 2 * latest {
		see(5+i, runs(100+i, 50, 60+i))
	}
	assert.Len(t, p.groups[value{"user", "u"}].ring, latest)
}

// TestLongPeersAreHeeded: a job like those that already run for long is not told that it will be short.
func TestLongPeersAreHeeded(t *testing.T) {
	d, _ := ten(t)
	of := predict.Prediction{Dist: d, Expert: predict.Expert{Feature: "user", Value: "u"}}
	e, err := New(Config{})
	require.NoError(t, err)
	e.round++
	s := &sched.Snapshot{Now: time.Unix(1000, 0)}
	for i := range 100 {
		s.Running = append(s.Running, sched.Running{Job: &sched.Job{ID: fmt.Sprint(i)}, Prediction: of,
			Started: time.Unix(993, 0)})
	}
	e.peers.see(s, e.round)
	w, other := &waiting{}, &waiting{}
	e.foresee(w, &sched.Pending{Prediction: of})
	e.foresee(other, &sched.Pending{Prediction: predict.Prediction{Dist: d}})
	assert.InDelta(t, 0.5, other.met(5), 1e-12)
	assert.Less(t, w.met(5), 0.2)
	assert.Greater(t, w.runtimes[0], other.runtimes[1])
}

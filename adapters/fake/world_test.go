package fake_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/adaptertest"
	"github.com/hedgesched/hedge/adapters/fake"
	"github.com/hedgesched/hedge/sched"
)

// world is a fake cluster for the suite.
type world struct {
	*fake.Cluster
	shape  adaptertest.Shape
	traits adaptertest.Traits
	labels map[string]map[string]string
	faults fake.Faults
	// lag, if not nil, draws how late a look is, as on a machine that is loaded.
	lag *rand.Rand
}

const slot = "slot"

// newWorld is a Maker's: a cluster that behaves as its options say.
func newWorld(t testing.TB, s adaptertest.Shape, o fake.Options) *world {
	o.Seed = s.Seed
	w := &world{Cluster: fake.New(o), shape: s, labels: map[string]map[string]string{}, faults: o.Faults}
	w.traits = adaptertest.Traits{
		Slot: sched.Resources{slot: 1}, Unit: 10 * time.Second, Patience: 4 * time.Hour, Wide: min(1000, s.Nodes*s.Slots),
		Spare: []string{"spare0", "spare1"},
	}
	for i := range s.Nodes {
		name := fmt.Sprint("n", i)
		w.traits.Nodes = append(w.traits.Nodes, name)
		w.add(t, name)
	}
	return w
}

func (w *world) add(t testing.TB, name string) {
	w.labels[name] = map[string]string{"name": name}
	require.NoError(t, w.AddNode(sched.Node{Name: name, Labels: maps.Clone(w.labels[name]),
		Capacity: sched.Resources{slot: float64(w.shape.Slots)}}))
}

func (w *world) Traits() adaptertest.Traits { return w.traits }

func (w *world) Open(t testing.TB, s adaptertest.Session) adaptertest.Instance {
	w.Elect(s.Epoch)
	d := w.Connect(s.Gate)
	c, err := adapters.New(d,
		adapters.Options{Epoch: s.Epoch, Now: w.Cluster.Now, StartTimeout: s.StartTimeout, LearntUntil: s.LearntUntil})
	require.NoError(t, err)
	return adaptertest.Instance{Cluster: c, Driver: w.Connect(s.Gate), Close: d.Close}
}

func (w *world) Submit(t testing.TB, j adaptertest.Job) string {
	n := fake.Job{Spec: j.Spec, Runtime: j.Runtime, BadStarts: j.FailStarts, BadRuns: j.FailRuns, Hangs: j.Hang}
	if j.SlowStop {
		n.SlowStop = 30 * time.Second
	}
	if j.Malformed {
		n.Problem = errors.New(`deadline: "tomorrow", expected a duration`)
	}
	require.NoError(t, w.Cluster.Submit(n))
	return j.Spec.ID
}

func (w *world) Do(t testing.TB, d adaptertest.Deed) {
	var err error
	switch d.Do {
	case adaptertest.Withdraw:
		err = w.Cluster.Withdraw(d.Job)
	case adaptertest.AddNode:
		w.add(t, d.Node)
	case adaptertest.Cordon, adaptertest.Uncordon:
		err = w.Cluster.Cordon(d.Node, d.Do == adaptertest.Cordon)
	case adaptertest.Drain:
		err = w.Cluster.Drain(d.Node)
	case adaptertest.Kill:
		err = w.Cluster.Kill(d.Node)
	case adaptertest.Revive:
		err = w.Cluster.Revive(d.Node)
	case adaptertest.Relabel:
		w.labels[d.Node][d.Key] = d.Value
		err = w.Cluster.Relabel(d.Node, w.labels[d.Node])
	case adaptertest.Occupy:
		err = w.Cluster.Occupy(d.Node, sched.Resources{slot: float64(d.Slots)})
	case adaptertest.BreakWatch:
		w.BreakWatches()
	case adaptertest.Garble:
		f := w.faults
		f.Lose, f.Double, f.Delay = 0.2, 0.2, 0.3
		w.SetFaults(f)
	case adaptertest.Clear:
		w.SetFaults(fake.Faults{})
	case adaptertest.StopServer, adaptertest.StartServer:
		w.SetDown(d.Do == adaptertest.StopServer)
	default:
		err = fmt.Errorf("unknown deed %q", d.Do)
	}
	require.NoError(t, err)
}

func (w *world) Records(testing.TB) []adaptertest.Record {
	from := w.Cluster.Records()
	out := make([]adaptertest.Record, len(from))
	for i, r := range from {
		out[i] = adaptertest.Record{
			Job: r.Job, UID: r.UID, Attempt: r.Attempt, Task: strconv.Itoa(r.Task), Node: r.Node,
			Placed: r.Placed, Started: r.Started, Ended: r.Ended, State: r.State,
		}
	}
	return out
}

func (w *world) Notes(_ testing.TB, job string) []string { return w.Cluster.Notes(job) }

func (w *world) Pass(testing.TB) {
	late := time.Duration(0)
	if w.lag != nil && w.lag.IntN(2) == 0 {
		late = time.Duration(w.lag.Int64N(int64(3 * w.traits.Unit)))
	}
	w.Advance(time.Second + late)
}

// TestConformanceOnALoadedMachine has looks come late, by up to three times the runtime of a short job: the suite must
// not take it for the adapter's fault.
func TestConformanceOnALoadedMachine(t *testing.T) {
	n := uint64(20)
	if testing.Short() {
		n = 3
	}
	for seed := range n {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			adaptertest.Run(t, func(t testing.TB, s adaptertest.Shape) adaptertest.World {
				w := newWorld(t, s, fake.Options{StartDelay: 5 * time.Second, StopDelay: 5 * time.Second, Expiry: 20 * time.Second})
				w.lag = rand.New(rand.NewPCG(seed, 5))
				return w
			})
		})
	}
}

func TestConformance(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    fake.Options
	}{
		{"at once", fake.Options{}},
		{"slow", fake.Options{StartDelay: 3 * time.Second, StopDelay: 3 * time.Second, Expiry: 20 * time.Second}},
		{"with fractions",
			fake.Options{StartDelay: 333 * time.Millisecond, StopDelay: 777 * time.Millisecond, Expiry: 5 * time.Second}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			adaptertest.Run(t, func(t testing.TB, s adaptertest.Shape) adaptertest.World { return newWorld(t, s, tt.o) })
		})
	}
}

package sim

import (
	"bytes"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/adaptertest"
	"github.com/hedgesched/hedge/adapters/sim/decisionlog"
	"github.com/hedgesched/hedge/sched"
)

// suiteJobs bounds the jobs of one case.
const suiteJobs = 64

// suite is a simulated world for the conformance suite. Its records are its decision log, read by the package that
// shares no code with the simulator.
type suite struct {
	*life
	traits adaptertest.Traits
	text   *bytes.Buffer
}

func newSuite(t testing.TB, s adaptertest.Shape) adaptertest.World {
	cfg := &Config{Nodes: Nodes(s.Nodes, 1, s.Slots), Policy: noPolicy{}, Predictor: noPredictor{}}
	l, err := newLife(cfg)
	require.NoError(t, err)
	// The jobs come one by one, so there must be room for those to come: others point at them.
	l.jobs, l.index = make([]job, 0, suiteJobs), newIndex(suiteJobs)
	u := &suite{life: l, text: &bytes.Buffer{}}
	l.log = newLogger(u.text, l.nodes)
	l.log.cluster(cfg, s.Slots, 0, false)
	none := "the simulated cluster never changes, nor does anything go wrong there"
	u.traits = adaptertest.Traits{
		Slot: sched.Resources{sched.WholeNode: 1}, Unit: 10 * time.Second, Patience: time.Hour,
		Wide: min(1000, s.Nodes*s.Slots),
		Missing: map[adaptertest.Ability]string{
			adaptertest.Restart: "its scheduler is part of the simulation",
			adaptertest.Crash:   "its scheduler is part of the simulation",
			adaptertest.Drive:   "it has no driver", adaptertest.Fence: "it has one scheduler",
			adaptertest.Explain:  "it has no users",
			adaptertest.Withdraw: "simulated users are patient", adaptertest.SlowStop: "simulated tasks stop at once",
			adaptertest.Stages:      "stages are known before the simulation begins",
			adaptertest.Malformed:   "a configuration with such a job is refused",
			adaptertest.Unplaceable: "a configuration with such a job is refused",
		},
	}
	for _, a := range []adaptertest.Ability{
		adaptertest.AddNode, adaptertest.Cordon, adaptertest.Uncordon, adaptertest.Drain,
		adaptertest.Kill, adaptertest.Revive, adaptertest.Relabel,
		adaptertest.Occupy, adaptertest.BreakWatch, adaptertest.Garble, adaptertest.Clear,
		adaptertest.StopServer, adaptertest.StartServer,
		adaptertest.FailStarts, adaptertest.FailRuns, adaptertest.Hang,
	} {
		u.traits.Missing[a] = none
	}
	for i := range cfg.Nodes {
		u.traits.Nodes = append(u.traits.Nodes, cfg.Nodes[i].Name)
	}
	return u
}

func (u *suite) Traits() adaptertest.Traits { return u.traits }

func (u *suite) Open(testing.TB, adaptertest.Session) adaptertest.Instance {
	return adaptertest.Instance{Cluster: u.life}
}

func (u *suite) Submit(t testing.TB, j adaptertest.Job) string {
	l, at := u.life, len(u.jobs)
	require.Less(t, at, suiteJobs)
	from := &Job{Job: j.Spec, Arrive: l.now, Work: Runtime(j.Runtime)}
	require.NoError(t, checkJob(from))
	demand, err := l.nodes.Demand(from.Demand)
	require.NoError(t, err)
	l.jobs = append(l.jobs, job{})
	require.True(t, l.index.add(l.jobs, at, from.ID))
	l.fill(at, from, demand)
	l.advance(l.now)
	return from.ID
}

func (u *suite) Do(t testing.TB, d adaptertest.Deed) {
	require.Fail(t, "the simulator cannot do that", "%v", d)
}

func (u *suite) Notes(testing.TB, string) []string { return nil }

func (u *suite) Now() time.Time { return epoch.Add(u.now) }

func (u *suite) Pass(testing.TB) { u.advance(u.now + time.Second) }

func (u *suite) Records(t testing.TB) []adaptertest.Record {
	require.NoError(t, u.log.close())
	var out []adaptertest.Record
	attempts, live := map[string]int{}, map[string][]int{}
	for e, err := range decisionlog.Read(bytes.NewReader(u.text.Bytes())) {
		require.NoError(t, err)
		switch at := epoch.Add(e.Time); e.Kind {
		case decisionlog.Start:
			attempts[e.Job]++
			for _, n := range e.Nodes {
				for range n.Tasks {
					live[e.Job] = append(live[e.Job], len(out))
					out = append(out, adaptertest.Record{Job: e.Job, Attempt: attempts[e.Job], Task: strconv.Itoa(len(live[e.Job])),
						Node: n.Node, Placed: at, Started: at, State: adapters.Running})
				}
			}
		case decisionlog.Finish, decisionlog.Preempt:
			for _, i := range live[e.Job] {
				out[i].Ended = at
				if out[i].State = adapters.Stopping; e.Kind == decisionlog.Finish {
					out[i].State = adapters.Finished
				}
			}
			live[e.Job] = nil
		}
	}
	return out
}

// TestConformance runs the suite that clusters run, as far as a simulation goes.
func TestConformance(t *testing.T) { adaptertest.Run(t, newSuite) }

// TestConformanceStorms runs random schedules, of which here only the jobs are random.
func TestConformanceStorms(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { adaptertest.Storm(t, newSuite, seed) })
	}
}

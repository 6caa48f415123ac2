package nomad_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/adaptertest"
)

var (
	storms    = flag.Int("storms", 0, "how many random schedules TestStorm runs on the real cluster")
	firstSeed = flag.Uint64("first", 1, "the seed of the first of them")
)

// TestStorm is run by hand, since each schedule takes a minute or so. Schedulers die at any call, agents and the server are killed with -9, nodes lose
// their power, and more (see [adaptertest.Storm]).
func TestStorm(t *testing.T) {
	if *storms == 0 {
		t.Skip("-storms is 0")
	}
	for i := range *storms {
		seed := *firstSeed + uint64(i)
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { adaptertest.Storm(t, newRough, seed) })
	}
}

// rough is a world whose agents crash now and then, and are started again at once, as by systemd.
type rough struct {
	*world
	t   testing.TB
	rng *rand.Rand
}

func newRough(t testing.TB, s adaptertest.Shape) adaptertest.World {
	return &rough{newWorld(t, s).(*world), t, rand.New(rand.NewPCG(s.Seed, 0x6e6f6d6164))}
}

// Pass lets an agent crash by chance, if nothing is just being started: what an agent has not written down yet it starts a second time.
func (r *rough) Pass(t testing.TB) {
	r.world.Pass(t)
	name := r.traits.Nodes[r.rng.IntN(len(r.traits.Nodes))]
	if r.rng.Float64() > 0.1 || r.down[name] || r.away {
		return
	}
	left, _, err := r.client.Evaluations().List(&api.QueryOptions{Filter: `Status == "pending"`})
	if err != nil || len(left) > 0 || slices.ContainsFunc(r.Records(t), func(k adaptertest.Record) bool { return k.Started.IsZero() && k.Ended.IsZero() }) {
		return
	}
	r.crashed[name] = true
	r.Kill(name)
	require.NoError(r.t, r.Start(context.Background(), name))
	r.t.Logf("%s: the agent of %s has crashed", time.Now().Format(time.TimeOnly), name)
}

// gang and attempt are what records are of.
type gang struct{ job, uid string }

type attempt struct {
	gang
	number int
}

func attemptOf(r *adaptertest.Record) attempt { return attempt{gang{r.Job, r.UID}, r.Attempt} }

// power sets right what a record says of a task on a node that lost its power. Nothing of it held room from then on, though the server learns of it later.
// Until the server has noticed, it even puts tasks on such a node; when it has, it takes them for lost and may put others in their place as soon as the
// node is back, before the agent has said that the first never ran.
func (w *world) power(r *adaptertest.Record, wanted bool) {
	for _, c := range w.cuts {
		if c.node != r.Node || r.State == adapters.Finished || !r.Ended.IsZero() && !r.Ended.After(c.at) {
			continue // an agent that is back at once may run a task again, and finish it
		}
		switch {
		case r.Placed.Before(c.at):
			r.Ended, r.State = c.at, adapters.Lost
		case r.Started.IsZero() && !wanted && (c.back.IsZero() || r.Placed.Before(c.back)):
			r.Ended, r.State = r.Placed, adapters.Lost
		}
	}
}

// replaced sets right the records of lost tasks in whose place Nomad put others on the same node, which it does in the very moment in which the node is back, before
// the agent has told what became of the first. From then on that does not count.
func replaced(records []adaptertest.Record, lost []bool) {
	type task struct {
		attempt
		name string
	}
	newest := map[task]time.Time{}
	for i := range records {
		k := task{attemptOf(&records[i]), records[i].Task}
		if at := records[i].Placed; at.After(newest[k]) {
			newest[k] = at
		}
	}
	for i := range records {
		r := &records[i]
		if at := newest[task{attemptOf(r), r.Task}]; at.After(r.Placed) && (lost[i] || !r.Ended.IsZero() && r.Ended.Before(at)) {
			r.State = adapters.Lost
			if r.Ended.IsZero() || r.Ended.After(at) {
				r.Ended = at
			}
		}
	}
}

// settle sets right what records say of gangs that were cut as they ended. Where power was cut, a task failed or the job was stopped in that very moment, some
// processes have done their work and others have not: the gang as a whole has not finished, and must run again. And where an agent lost its power before it told that
// a task had ended, the server took the task for lost, and tells of its end when the node is back: if the gang was started again by then, this did not count.
func settle(records []adaptertest.Record, lost []bool) {
	running, cut, again, last := map[attempt]bool{}, map[attempt]bool{}, map[attempt]bool{}, map[gang]int{}
	for i := range records {
		r, a := &records[i], attemptOf(&records[i])
		running[a] = running[a] || r.Started.IsZero() || r.Ended.IsZero()
		cut[a] = cut[a] || r.State != adapters.Finished
		last[a.gang] = max(last[a.gang], a.number)
	}
	for i := range records {
		a := attemptOf(&records[i])
		again[a] = again[a] || lost[i] && a.number < last[a.gang]
	}
	for i := range records {
		if r, a := &records[i], attemptOf(&records[i]); r.State == adapters.Finished && (cut[a] && !running[a] || again[a]) {
			r.State = adapters.Stopping
		}
	}
}

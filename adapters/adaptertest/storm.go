package adaptertest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/utility"
)

// Storm runs one random schedule by its seed: jobs of all kinds come and are withdrawn, nodes are cordoned, drained,
// filled by others, killed and revived, watches break, events are garbled, servers go away, schedulers die at any call,
// and those that were replaced go on for a while. Then all is mended, and every job that was not withdrawn must finish,
// with the loop knowing it. A World does the deeds it is able to.
func Storm(t testing.TB, make Maker, seed uint64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0x73746f726d))
	s := Shape{Nodes: 2 + rng.IntN(3), Slots: 1 + rng.IntN(3), Seed: seed}
	w := make(t, s)
	h := &host{TB: t, World: w, traits: w.Traits(), shape: s, jobs: map[string]*handed{}}
	st := &storm{host: h, rng: rng, occupied: map[string]bool{}, down: map[string]bool{}, closed: map[string]bool{}}
	st.replace()
	st.blow()
	st.mend()
	h.allFinish()
	h.until("the loop knows that all is over", func() bool {
		return h.first.shown != nil && len(h.first.shown.Running) == 0 && len(h.first.shown.Pending) == 0 &&
			full(h.first.shown)
	})
	h.judge()
}

// full tells whether all of the nodes is free.
func full(s *sched.Snapshot) bool { return slices.Equal(s.Free, s.Nodes.Capacity()) }

// storm is a random schedule.
type storm struct {
	*host
	rng                    *rand.Rand
	zombies                []*scheduler
	occupied, down, closed map[string]bool // nodes
	away                   bool            // the servers
	doom                   int             // calls until the scheduler dies, 0 for never
	doomAfter              bool
	handedIn               int
}

func (st *storm) able(a Ability) bool {
	_, lacks := st.traits.Missing[a]
	return !lacks
}

func (st *storm) chance(p float64) bool { return st.rng.Float64() < p }

// replace opens an instance, which leads.
func (st *storm) replace() {
	var x *scheduler
	s := Session{}
	if st.able(Crash) {
		s.Gate = func(_ string, done bool) error {
			if x.dead {
				return errDead
			}
			if x != st.first || st.doom == 0 || done != st.doomAfter {
				return nil
			}
			if st.doom--; st.doom == 0 {
				x.dead = true
				return errDead
			}
			return nil
		}
	}
	x = st.open(s)
	if st.traits.Policy != nil {
		x.policy = st.traits.Policy()
	}
	st.first = x
	st.doom = 0
}

// blow lets things happen.
func (st *storm) blow() {
	rounds := 20 + st.rng.IntN(30)
	st.arrive()
	for range rounds {
		if st.chance(0.2) {
			st.arrive()
		}
		if st.chance(0.3) {
			st.mishap()
		}
		st.turn()
		st.Pass(st)
	}
}

// turn has the instances do a cycle each.
func (st *storm) turn() {
	if st.first.dead || st.first.fenced {
		st.first.close()
		st.replace()
	}
	st.first.step()
	st.zombies = slices.DeleteFunc(st.zombies, func(z *scheduler) bool {
		z.step()
		if z.fenced || z.dead || st.chance(0.2) {
			z.close()
			return true
		}
		return false
	})
}

// arrive hands in a job.
func (st *storm) arrive() {
	if st.handedIn >= 10 {
		return
	}
	st.handedIn++
	slots := st.shape.Nodes * st.shape.Slots
	tasks := 1 + st.rng.IntN(min(4, slots))
	st.submit(fmt.Sprint("j", st.handedIn), tasks, 0.1+float64(3*st.rng.Float64()), func(j *Job) {
		j.Spec.Priority = st.rng.IntN(3)
		worth, err := utility.LinearDecay(1+float64(9*st.rng.Float64()), 1000*time.Hour)
		require.NoError(st, err)
		j.Spec.Utility = worth
		if st.able(FailStarts) && st.chance(0.1) {
			j.FailStarts = 1 + st.rng.IntN(2)
		}
		if st.able(FailRuns) && st.chance(0.1) {
			j.FailRuns = 1
		}
		j.Spec.Checkpoint = st.able(Keep) && st.chance(0.2)
		j.SlowStop = st.able(SlowStop) && st.chance(0.1)
	})
}

// mishap does one thing to the cluster or its schedulers.
func (st *storm) mishap() {
	node := st.traits.Nodes[st.rng.IntN(len(st.traits.Nodes))]
	deeds := []func(){
		func() { st.cancel() },
		func() { st.shut(Cordon, node) },
		func() { st.shut(Drain, node) },
		func() { st.power(node) },
		func() { st.fill(node) },
		func() { st.try(Deed{Do: BreakWatch}) },
		func() { st.try(Deed{Do: Garble}) },
		func() { st.try(Deed{Do: Clear}) },
		func() { st.serve() },
		func() { st.doom, st.doomAfter = 1+st.rng.IntN(4), st.chance(0.5) },
		func() { st.succeed() },
	}
	deeds[st.rng.IntN(len(deeds))]()
}

func (st *storm) try(d Deed) bool {
	if !st.able(Ability(d.Do)) {
		return false
	}
	st.do(d)
	return true
}

func (st *storm) cancel() {
	ids := slices.DeleteFunc(st.ids(), func(id string) bool { return st.jobs[id].withdrawn || st.finished(id) })
	if len(ids) > 0 && st.able(Withdraw) && st.chance(0.5) {
		st.withdraw(ids[st.rng.IntN(len(ids))])
	}
}

// shut cordons or drains a node, or opens it again.
func (st *storm) shut(how Act, node string) {
	switch {
	case st.down[node]:
	case st.closed[node]:
		st.closed[node] = !st.try(Deed{Do: Uncordon, Node: node})
	case st.able(Uncordon):
		st.closed[node] = st.try(Deed{Do: how, Node: node})
	}
}

// power kills or revives a node.
func (st *storm) power(node string) {
	switch {
	case st.down[node]:
		st.down[node] = !st.try(Deed{Do: Revive, Node: node})
	case st.able(Revive):
		st.down[node] = st.try(Deed{Do: Kill, Node: node})
	}
}

// fill has others take room of a node, or give it back.
func (st *storm) fill(node string) {
	if st.down[node] {
		return
	}
	slots := 0
	if !st.occupied[node] {
		slots = 1 + st.rng.IntN(st.shape.Slots)
	}
	if st.try(Deed{Do: Occupy, Node: node, Slots: slots}) {
		st.occupied[node] = slots > 0
	}
}

// serve takes the servers away, or brings them back.
func (st *storm) serve() {
	if st.away {
		st.away = !st.try(Deed{Do: StartServer})
	} else if st.able(StartServer) {
		st.away = st.try(Deed{Do: StopServer})
	}
}

// succeed opens a new leader while the old one goes on, or in place of it where the cluster does not know epochs.
func (st *storm) succeed() {
	if !st.able(Restart) {
		return
	}
	old := st.first
	if st.able(Fence) && !old.dead {
		st.zombies = append(st.zombies, old)
	} else {
		old.close()
	}
	st.replace()
}

// mend makes all good again.
func (st *storm) mend() {
	if st.away {
		st.do(Deed{Do: StartServer})
	}
	st.try(Deed{Do: Clear})
	for _, node := range st.traits.Nodes {
		if st.down[node] {
			st.do(Deed{Do: Revive, Node: node})
		}
		if st.occupied[node] {
			st.do(Deed{Do: Occupy, Node: node})
		}
		if st.closed[node] {
			st.do(Deed{Do: Uncordon, Node: node})
		}
	}
	for _, z := range st.zombies {
		z.close()
	}
	st.doom = 0
	if st.first.dead || st.first.fenced {
		st.first.close()
		st.replace()
	}
}

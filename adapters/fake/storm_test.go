package fake_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/adaptertest"
	"github.com/hedgesched/hedge/adapters/fake"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/threesigma"
	"github.com/hedgesched/hedge/solver"
)

// weather is a fake cluster's behaviour by seed: from one without faults to one in which most goes wrong.
func weather(seed uint64) fake.Options {
	rng := rand.New(rand.NewPCG(seed, 7))
	p := func(most float64) float64 {
		if rng.IntN(3) == 0 {
			return 0
		}
		return most * rng.Float64()
	}
	d := func(most time.Duration) time.Duration { return time.Duration(rng.Int64N(int64(most))) }
	return fake.Options{
		StartDelay: d(5 * time.Second), StopDelay: d(5 * time.Second), Expiry: d(30 * time.Second),
		Faults: fake.Faults{
			Lose: p(0.1), Double: p(0.2), Delay: p(0.3), Break: p(0.05),
			Fail: p(0.2), Mute: p(0.2), Late: p(0.2), Slow: p(0.2), BadStart: p(0.1),
		},
	}
}

// TestStorms runs random schedules. A failing seed fails again by itself: -run 'TestStorms/seed_17$'.
func TestStorms(t *testing.T) {
	n := uint64(10_000)
	if testing.Short() {
		n = 200
	}
	for seed := range n {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			adaptertest.Storm(t, func(t testing.TB, s adaptertest.Shape) adaptertest.World {
				return newWorld(t, s, weather(seed))
			}, seed)
		})
	}
}

// TestStormsUnder3Sigma has another policy plan: one that looks ahead, over nodes that come, go and are filled by others.
func TestStormsUnder3Sigma(t *testing.T) {
	n := uint64(60)
	if testing.Short() {
		n = 10
	}
	for seed := range n {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			adaptertest.Storm(t, func(t testing.TB, s adaptertest.Shape) adaptertest.World {
				w := newWorld(t, s, weather(seed))
				w.traits.Policy = func() sched.Policy {
					p, err := threesigma.New(threesigma.Config{Slot: 10 * time.Second, Options: solver.Options{Work: 2000}})
					require.NoError(t, err)
					return p
				}
				return w
			}, seed)
		})
	}
}

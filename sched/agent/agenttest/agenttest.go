// Package agenttest is the conformance suite of systems that are made of messages; see package agent. It runs a system
// in a small world that it controls, and holds it to this, whatever is delayed, overtaken, lost, doubled or crashed:
//
//   - Every task of every job runs once and whole. One whose worker crashes may run again, and only then.
//   - Every job is said to be done, once and when it is. Then nothing is kept, and everything comes to rest, within
//     a bound after the last fault.
//   - The same seed makes the same run.
//   - A part reads its own state only: beside the one value that steps all parts, each part is stepped by a value of
//     its own, whose answers must be equal.
//   - Messages survive their binary form, and cut ones are refused.
//
// Messages are lost and doubled below the links of package agent, as on a network, so the suite tests these too.
package agenttest

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched/agent"
)

// Harness is a system under test.
type Harness[M any] struct {
	// New makes the system at its beginning, the same for the same seed.
	New   func(seed uint64) (agent.System[M], error)
	Codec agent.Codec[M]
	// Slots is how many tasks a worker runs at once; 0 means 1.
	Slots int
	// Schedules is how many random runs there are of each kind of trouble; 0 means 20. The environment variable
	// HEDGE_AGENT_SCHEDULES asks for another number, as for long runs by hand.
	Schedules int
	// Jobs is how many jobs a run has; 0 means 25.
	Jobs int
}

// Run is the suite.
func Run[M any](t *testing.T, h Harness[M]) {
	for _, trouble := range []struct {
		name string
		of   faults
	}{
		{"Calm", faults{}},
		{"Delayed", faults{jitter: 2 * time.Second}},
		{"LostAndDoubled", faults{jitter: 20 * time.Millisecond, lose: 0.3, double: 0.3}},
		{"Crashes", faults{crashes: 12}},
		{"Everything", faults{jitter: time.Second, lose: 0.2, double: 0.2, crashes: 12}},
	} {
		t.Run(trouble.name, func(t *testing.T) {
			for seed := range uint64(h.schedules(t)) {
				w, err := h.run(seed, trouble.of)
				require.NoError(t, err, "seed %d", seed)
				if trouble.of.crashes == 0 {
					require.Equal(t, w.tasks(), w.launches, "seed %d: each task once", seed)
				}
				if seed == 0 {
					again, err := h.run(seed, trouble.of)
					require.NoError(t, err)
					require.Equal(t, w.digest.Sum64(), again.digest.Sum64(), "the same seed, the same run")
				}
			}
		})
	}
}

func (h *Harness[M]) schedules(t *testing.T) int {
	if asked := os.Getenv("HEDGE_AGENT_SCHEDULES"); asked != "" {
		n, err := strconv.Atoi(asked)
		require.NoError(t, err, "HEDGE_AGENT_SCHEDULES")
		return max(n, 1)
	}
	return cmp.Or(max(h.Schedules, 0), 20)
}

// run simulates one schedule to its end.
func (h *Harness[M]) run(seed uint64, f faults) (*world[M], error) {
	whole, err := h.New(seed)
	if err != nil {
		return nil, err
	}
	w := newWorld(h, whole, seed, f)
	for range whole.Parts() {
		alone, err := h.New(seed)
		if err != nil {
			return nil, err
		}
		w.alone = append(w.alone, alone)
	}
	w.workload()
	for steps := 0; len(w.events) > 0; steps++ {
		if w.next(); w.err != nil {
			return nil, w.err
		}
		if w.now > w.deadline {
			return nil, fmt.Errorf("at %v things still happen; the last fault was long before", w.now)
		}
	}
	return w, w.rest()
}

// rest checks that nothing is left.
func (w *world[M]) rest() error {
	for i := range w.jobs {
		if !w.jobs[i].done {
			return fmt.Errorf("job %d is not done and nothing is on its way", i)
		}
	}
	for at := range w.whole.Parts() {
		if n := w.whole.Held(agent.Addr(at)); n != 0 {
			return fmt.Errorf("part %d keeps %d things after all jobs are done", at, n)
		}
	}
	return nil
}

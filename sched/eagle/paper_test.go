package eagle_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched/agent"
	"github.com/hedgesched/hedge/sched/eagle"
	"github.com/hedgesched/hedge/sched/eagle/longset"
)

// bench is a system whose parts are driven by hand.
type bench struct {
	t   *testing.T
	s   *eagle.System
	now time.Duration
}

func newBench(t *testing.T, name string, workers int, share float64) *bench {
	s, err := eagle.New(eagle.Config{Switches: named(t, name), Workers: workers, Schedulers: 1, ShortShare: share,
		MinProbes: 4, Heartbeat: time.Second, Seed: 1})
	require.NoError(t, err)
	return &bench{t: t, s: s}
}

func (b *bench) central() agent.Addr   { return agent.Addr(b.s.Workers()) }
func (b *bench) scheduler() agent.Addr { return b.central() + 1 }

func (b *bench) step(at agent.Addr, in agent.Input[eagle.Message]) []agent.Action[eagle.Message] {
	var out agent.Output[eagle.Message]
	b.s.Step(at, b.now, &in, &out)
	return out.Actions
}

func (b *bench) receive(at, from agent.Addr, m eagle.Message) []agent.Action[eagle.Message] {
	return b.step(at, agent.Input[eagle.Message]{Kind: agent.Received, From: from, Msg: m})
}

// probe is one that a worker gets. Its job has a number of tasks, of a number of seconds each.
func (b *bench) probe(at agent.Addr, job, tasks int32, seconds int) []agent.Action[eagle.Message] {
	return b.receive(at, b.scheduler(), eagle.Message{Kind: eagle.Probe, Round: 1, Job: job, Ref: job,
		Owner: b.scheduler(), Left: tasks, Estimate: time.Duration(seconds) * time.Second})
}

// place puts a long task into a worker's queue.
func (b *bench) place(at agent.Addr, job int32) {
	b.receive(at, b.central(), eagle.Message{Kind: eagle.Place, Long: true, Job: job, Owner: b.central(),
		Estimate: time.Hour})
}

// asked is the job that a worker asks a task of, -1 for none.
func asked(did []agent.Action[eagle.Message]) int32 {
	for _, a := range did {
		if a.Do == agent.Send && a.Msg.Kind == eagle.Ask {
			return a.Msg.Job
		}
	}
	return -1
}

// give answers worker 3 with a task, which ends; it returns the job that is asked next.
func (b *bench) give(job, task int32, seconds int) int32 {
	const at = agent.Addr(3)
	b.receive(at, b.scheduler(), eagle.Message{Kind: eagle.Give, Job: job, Ref: job, Owner: b.scheduler(), Task: task,
		Estimate: time.Duration(seconds) * time.Second})
	return asked(b.step(at, agent.Input[eagle.Message]{Kind: agent.Ended, Task: agent.Task{Job: job, Index: task}}))
}

// Section 3.3: "N rejects the probe and responds to the distributed scheduler with its bitvector", which is re-sent to
// a node without long tasks and, rejected again, to the short partition.
func TestRejectedProbesGoToFreeNodesThenToTheShortPartition(t *testing.T) {
	b := newBench(t, "eagle", 10, 20)
	set := longset.New(10)
	for n := range 9 {
		set.Put(n, n >= 2)
	}
	place := eagle.Message{Kind: eagle.Place, Long: true, Job: 5, Owner: b.central(), Version: 1, Seen: set.Snapshot()}
	b.receive(3, b.central(), place)
	did := b.probe(3, 0, 1, 10)
	require.Len(t, did, 1)
	assert.Equal(t, eagle.Reject, did[0].Msg.Kind)
	assert.Same(t, place.Seen, did[0].Msg.Seen)

	probes := b.step(b.scheduler(), agent.Input[eagle.Message]{Kind: agent.Submitted, Job: &agent.Job{Tasks: 1}})
	require.Len(t, probes, 4, "max(K, 2t)")
	for round := range uint8(2) {
		for k := range int32(4) {
			reject := eagle.Message{Kind: eagle.Reject, Task: k, Round: round + 1, Version: 1, Seen: place.Seen}
			b.receive(b.scheduler(), 3, reject)
		}
		again := b.step(b.scheduler(), agent.Input[eagle.Message]{Kind: agent.Fired})
		require.Len(t, again, 4)
		for _, a := range again {
			assert.Equal(t, eagle.Probe, a.Msg.Kind)
			assert.Equal(t, round+2, a.Msg.Round)
			if round == 0 {
				assert.Contains(t, []agent.Addr{0, 1, 9}, a.To, "free of long tasks by the vector")
			} else {
				assert.Contains(t, []agent.Addr{0, 1}, a.To, "the short partition")
			}
		}
	}
}

// Section 4.3: "N does not remove the selected probe from the queue. Once T terminates its execution, N requests
// another task of J, until all tasks of J are executed."
func TestAProbeSticksUntilItsJobHasNothingLeft(t *testing.T) {
	b := newBench(t, "eagle-nosrpt", 10, 20)
	assert.EqualValues(t, 0, asked(b.probe(3, 0, 2, 10)))
	assert.EqualValues(t, -1, asked(b.probe(3, 1, 1, 1)), "the slot is taken while it asks")
	assert.EqualValues(t, 0, b.give(0, 0, 10))
	assert.EqualValues(t, 0, b.give(0, 1, 10))
	assert.EqualValues(t, 1, asked(b.receive(3, b.scheduler(), eagle.Message{Kind: eagle.None, Job: 0})))
}

// Algorithm 1: the probe of the job with the least remaining runtime goes first, by what it was told last.
func TestTheJobWithTheLeastWorkLeftGoesFirst(t *testing.T) {
	b := newBench(t, "eagle", 10, 20)
	assert.EqualValues(t, 0, asked(b.probe(3, 0, 1, 100)))
	b.probe(3, 1, 5, 10)
	b.probe(3, 2, 3, 10)
	assert.EqualValues(t, 2, b.give(0, 0, 100), "30 s before 50 s, and before what is left of job 0, 100 s")
	b.receive(3, b.scheduler(), eagle.Message{Kind: eagle.Left, Job: 1, Left: 1, Version: 1})
	assert.EqualValues(t, 1, b.give(2, 0, 10), "10 s before 30 s")
	b.receive(3, b.scheduler(), eagle.Message{Kind: eagle.Left, Job: 1, Left: 4, Version: 0})
	assert.EqualValues(t, 1, b.give(1, 0, 10), "older news are none")
}

// Section 4.3: "Eagle does not allow T to bypass P if the estimated execution time of T would make the bypass counter
// of P exceed a threshold", five times P's estimate; then the queue is served in order.
func TestNoProbeIsBypassedTooOften(t *testing.T) {
	b := newBench(t, "eagle", 10, 20)
	b.probe(3, 9, 1, 1)
	b.probe(3, 0, 10, 4) // may be passed by 20 s of tasks
	b.probe(3, 1, 1, 8)
	b.receive(3, b.scheduler(), eagle.Message{Kind: eagle.Left, Job: 9, Left: 0, Version: 1})
	assert.EqualValues(t, 1, b.give(9, 0, 1))
	assert.EqualValues(t, 1, b.give(1, 0, 8), "16 s")
	assert.EqualValues(t, 0, b.give(1, 1, 8), "24 s would be too much")
}

// Algorithm 1, line 18: short probes do not pass a long task that they stand behind.
func TestALongTaskAtTheHeadIsNotBypassed(t *testing.T) {
	b := newBench(t, "eagle-nosss", 10, 20)
	b.probe(3, 0, 1, 10)
	b.place(3, 5)
	b.probe(3, 1, 1, 1)
	b.receive(3, b.scheduler(), eagle.Message{Kind: eagle.Left, Job: 0, Left: 0, Version: 1})
	b.receive(3, b.scheduler(), eagle.Message{Kind: eagle.Give, Job: 0, Owner: b.scheduler()})
	did := b.step(3, agent.Input[eagle.Message]{Kind: agent.Ended, Task: agent.Task{}})
	assert.EqualValues(t, -1, asked(did))
	assert.True(t, launches(did, 5), "%+v", did)
}

func launches(did []agent.Action[eagle.Message], job int32) bool {
	for _, a := range did {
		if a.Do == agent.Launch && a.Task.Job == job {
			return true
		}
	}
	return false
}

// Section 3.3: least work left, on the general partition, with a vector that knows of all the job's tasks.
func TestTheCentralSchedulerPlacesWhereTheLeastWorkIsLeft(t *testing.T) {
	b := newBench(t, "eagle", 5, 40)
	submit := func(id, tasks int32, seconds int) (to []agent.Addr) {
		did := b.step(b.central(), agent.Input[eagle.Message]{Kind: agent.Submitted, Job: &agent.Job{ID: id, Tasks: tasks,
			Long: true, Estimate: time.Duration(seconds) * time.Second}})
		for _, a := range did {
			to = append(to, a.To)
			for _, other := range did {
				assert.True(t, a.Msg.Seen.Has(int(other.To)))
			}
		}
		return to
	}
	assert.Equal(t, []agent.Addr{2, 3}, submit(0, 2, 100))
	assert.Equal(t, []agent.Addr{4, 4, 2}, submit(1, 3, 60), "an idle one, then 60, 100, 100")
	for _, w := range []agent.Addr{2, 3, 4} {
		job := map[agent.Addr]int32{2: 0, 3: 0, 4: 1}[w]
		b.receive(b.central(), w, eagle.Message{Kind: eagle.Began, Job: job, Task: int32(w-2) % 2})
	}
	b.now = 90 * time.Second
	assert.Equal(t, []agent.Addr{3}, submit(2, 1, 10), "10 s are left there, 70 on 2, and 60 on 4, whose first is late")
	b.receive(b.central(), 4, eagle.Message{Kind: eagle.Finished, Job: 1, Ref: 1, Task: 0})
	b.receive(b.central(), 4, eagle.Message{Kind: eagle.Finished, Job: 1, Ref: 1, Task: 1})
	assert.Equal(t, []agent.Addr{4}, submit(3, 1, 10), "free")
}

// A worker of the short partition may steal from every worker of the general one, also where there is only one.
func TestAShortWorkerStealsFromTheOnlyGeneralOne(t *testing.T) {
	b := newBench(t, "hawk", 10, 90)
	asked(b.probe(0, 7, 1, 1))
	did := b.receive(0, b.scheduler(), eagle.Message{Kind: eagle.None, Job: 7})
	require.Len(t, did, 1)
	assert.Equal(t, eagle.Steal, did[0].Msg.Kind)
	assert.EqualValues(t, 9, did[0].To)
}

// Section 6.1, of Hawk: an idle node steals the first batch of short tasks that wait behind a long one.
func TestAnIdleNodeStealsFromBehindALongTask(t *testing.T) {
	b := newBench(t, "hawk", 10, 20)
	b.place(4, 5)
	for job := range int32(3) {
		b.probe(4, job, 1, 1)
	}
	b.place(4, 6)
	b.probe(4, 3, 1, 1)

	assert.EqualValues(t, 7, asked(b.probe(0, 7, 1, 1)))
	did := b.receive(0, b.scheduler(), eagle.Message{Kind: eagle.None, Job: 7})
	for attempt := range 10 {
		require.Len(t, did, 1, "attempt %d", attempt)
		require.Equal(t, eagle.Steal, did[0].Msg.Kind)
		require.GreaterOrEqual(t, did[0].To, agent.Addr(2), "of the general partition")
		did = b.receive(0, did[0].To, eagle.Message{Kind: eagle.Empty, Version: did[0].Msg.Version})
	}
	assert.Empty(t, did, "ten attempts")

	var got []string
	for _, a := range b.receive(4, 0, eagle.Message{Kind: eagle.Steal, Version: 1}) {
		got = append(got, fmt.Sprint(a.Msg.Kind == eagle.Loot, a.Msg.Job))
	}
	assert.Equal(t, []string{"true 0", "true 1", "true 2"}, got)
}

package kairos_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched/agent"
	"github.com/hedgesched/hedge/sched/agent/agenttest"
	"github.com/hedgesched/hedge/sched/kairos"
)

func TestConforms(t *testing.T) {
	for name, c := range map[string]kairos.Config{
		"Kairos": {Workers: 8, Slots: 2, Queue: 4, Guard: 3, GuardQuanta: 2},
		"Sum":    {Workers: 20, Queue: 2, Choice: kairos.Sum},
		"Random": {Workers: 20, Queue: 2, Guard: 1, GuardQuanta: 1, Choice: kairos.Random},
		"Waits":  {Workers: 8, Slots: 2, Queue: 4, Guard: 3, GuardQuanta: 2, GuardWaits: true},
		"FIFO":   {Workers: 8, Slots: 3},
	} {
		t.Run(name, func(t *testing.T) {
			c.Quantum, c.Interval = 5*time.Second, time.Second
			agenttest.Run(t, agenttest.Harness[kairos.Message]{
				New: func(seed uint64) (agent.System[kairos.Message], error) {
					c.Seed = seed
					return kairos.New(c)
				},
				Codec: kairos.Codec{}, Slots: c.Slots, Schedules: 5,
			})
		})
	}
}

func TestBadParametersAreRefused(t *testing.T) {
	good := kairos.Config{Workers: 1, Quantum: time.Second, Interval: time.Second}
	for what, change := range map[string]func(*kairos.Config){
		"workers":  func(c *kairos.Config) { c.Workers = 0 },
		"slots":    func(c *kairos.Config) { c.Slots = -1 },
		"queue":    func(c *kairos.Config) { c.Queue = -1 },
		"quantum":  func(c *kairos.Config) { c.Quantum = 0 },
		"interval": func(c *kairos.Config) { c.Interval = 0 },
		"guard":    func(c *kairos.Config) { c.Guard = -1 },
		"choice":   func(c *kairos.Config) { c.Choice = 3 },
	} {
		c := good
		change(&c)
		_, err := kairos.New(c)
		assert.ErrorIs(t, err, kairos.ErrConfig, what)
		assert.ErrorContains(t, err, what)
	}
}

// node is a worker that is driven by hand.
type node struct {
	t     *testing.T
	s     *kairos.System
	now   time.Duration
	wakes map[uint32]time.Duration
}

func newNode(t *testing.T, c kairos.Config) *node {
	c.Workers, c.Quantum, c.Interval = 1, 10*time.Second, time.Hour
	s, err := kairos.New(c)
	require.NoError(t, err)
	return &node{t: t, s: s, wakes: map[uint32]time.Duration{}}
}

// at moves the clock, with the quanta that end on the way, and has something happen; it returns what the worker does.
func (n *node) at(seconds int, in agent.Input[kairos.Message]) (did []string) {
	to := time.Duration(seconds) * time.Second
	for {
		timer, when := uint32(0), to+1
		for id, at := range n.wakes {
			if at < when || at == when && id < timer {
				timer, when = id, at
			}
		}
		if when > to {
			break
		}
		n.now = when
		delete(n.wakes, timer)
		did = append(did, n.step(agent.Input[kairos.Message]{Kind: agent.Fired, Timer: timer})...)
	}
	n.now = to
	if in.Kind != agent.Submitted {
		did = append(did, n.step(in)...)
	}
	return did
}

func (n *node) step(in agent.Input[kairos.Message]) (did []string) {
	var out agent.Output[kairos.Message]
	n.s.Step(0, n.now, &in, &out)
	for _, a := range out.Actions {
		switch a.Do {
		case agent.Wake:
			if a.Timer != 0 {
				n.wakes[a.Timer] = n.now + a.After
			}
		case agent.Launch, agent.Pause, agent.Resume:
			did = append(did, fmt.Sprintf("%d %s %d", n.now/time.Second,
				map[agent.ActionKind]string{agent.Launch: "launch", agent.Pause: "pause", agent.Resume: "resume"}[a.Do],
				a.Task.Job))
		}
	}
	return did
}

func arrives(job int32) agent.Input[kairos.Message] {
	return agent.Input[kairos.Message]{Kind: agent.Received, Msg: kairos.Message{Kind: kairos.Assign, Job: job}}
}

func ends(job int32) agent.Input[kairos.Message] {
	return agent.Input[kairos.Message]{Kind: agent.Ended, Task: agent.Task{Job: job}}
}

// Algorithm 1 on two cores with a quantum of 10 s.
func TestANodeServesTheLeastAttained(t *testing.T) {
	n := newNode(t, kairos.Config{Slots: 2, Queue: 4})
	assert.Equal(t, []string{"0 launch 0"}, n.at(0, arrives(0)))
	assert.Equal(t, []string{"1 launch 1"}, n.at(1, arrives(1)))
	assert.Equal(t, []string{"4 pause 0", "4 launch 2"}, n.at(4, arrives(2)), "line 11: the most attained gives way")
	assert.Equal(t, []string{"11 pause 1", "11 resume 0"}, n.at(12, agent.Input[kairos.Message]{}),
		"line 34: at the end of its quantum task 1 has attained 10 s, task 0 only 4")
	assert.Equal(t, []string{"13 resume 1"}, n.at(13, ends(2)), "line 22: the least attained that is suspended")
	assert.Empty(t, n.at(40, agent.Input[kairos.Message]{}), "line 43: with nothing suspended all go on")
}

// A task that was preempted three times runs for two quanta, whatever comes; what comes then waits.
func TestATaskIsGuardedAfterSoManyPreemptions(t *testing.T) {
	n := newNode(t, kairos.Config{Queue: 4, Guard: 3, GuardQuanta: 2})
	n.at(0, arrives(0))
	for i := range int32(3) {
		at := int(i)*2 + 1
		assert.Equal(t, []string{fmt.Sprint(at, " pause 0"), fmt.Sprint(at, " launch ", i+1)}, n.at(at, arrives(i+1)))
		assert.Equal(t, []string{fmt.Sprint(at+1, " resume 0")}, n.at(at+1, ends(i+1)))
	}
	assert.Empty(t, n.at(7, arrives(4)), "guarded from 6 s to 26 s")
	assert.Equal(t, []string{"26 pause 0", "26 launch 4"}, n.at(30, agent.Input[kairos.Message]{}))
}

// Each task keeps the core for 9 s, until the next comes. Task 0 waits from 4 s on: with a guard that counts quanta it
// has waited three by 41 s, when a quantum ends, and then runs for two, though it was preempted only once.
func TestATaskIsGuardedAfterSoManyQuantaOfWaiting(t *testing.T) {
	for _, waits := range []bool{true, false} {
		n := newNode(t, kairos.Config{Queue: 8, Guard: 3, GuardQuanta: 2, GuardWaits: waits})
		for i, at := range []int{0, 4, 13, 22, 31} {
			did := n.at(at, arrives(int32(i)))
			assert.Equal(t, fmt.Sprint(at, " launch ", i), did[len(did)-1])
		}
		assert.Equal(t, []string{"41 pause 4", "41 resume 0"}, n.at(41, agent.Input[kairos.Message]{}))
		if waits {
			assert.Empty(t, n.at(42, arrives(5)), "guarded from 41 s to 61 s")
			assert.Equal(t, []string{"61 pause 0", "61 resume 1"}, n.at(62, agent.Input[kairos.Message]{}),
				"before task 5, which is newer and has waited for less")
		} else {
			assert.Equal(t, []string{"42 pause 0", "42 launch 5"}, n.at(42, arrives(5)))
		}
	}
}

// Two tasks on one worker and one on the other: the next goes where there are fewer; then where service varies least.
func TestTheCentralSchedulerBalancesNumbersThenAges(t *testing.T) {
	s, err := kairos.New(kairos.Config{Workers: 2, Queue: 2, Quantum: time.Second, Interval: time.Second})
	require.NoError(t, err)
	to := func(at time.Duration, in agent.Input[kairos.Message]) (nodes []agent.Addr) {
		var out agent.Output[kairos.Message]
		s.Step(2, at, &in, &out)
		for _, a := range out.Actions {
			if a.Do == agent.Send {
				nodes = append(nodes, a.To)
			}
		}
		return nodes
	}
	submit := func(id int32, tasks int32) {
		to(0, agent.Input[kairos.Message]{Kind: agent.Submitted, Job: &agent.Job{ID: id, Tasks: tasks}})
	}
	tick := agent.Input[kairos.Message]{Kind: agent.Fired}
	beat := func(from agent.Addr, number, got int32, l kairos.Load) {
		to(0, agent.Input[kairos.Message]{Kind: agent.Received, From: from, Msg: kairos.Message{Kind: kairos.Beat,
			Number: number, Got: got, Load: l}})
	}
	submit(0, 4)
	assert.Equal(t, []agent.Addr{0, 1, 0, 1}, to(0, tick))
	beat(0, 1, 2, kairos.Load{Tasks: 2, Sum: 30, Squares: 500})
	beat(1, 1, 1, kairos.Load{Tasks: 1, Sum: 10, Squares: 100})
	submit(1, 1)
	assert.Equal(t, []agent.Addr{1}, to(0, tick), "two each, since one is on its way: the one of the least variance")
	beat(0, 2, 2, kairos.Load{Tasks: 1, Sum: 10, Squares: 100})
	submit(2, 9)
	assert.Equal(t, []agent.Addr{0, 0}, to(0, tick), "never more than they may hold")
}

func FuzzCodec(f *testing.F) {
	f.Add(kairos.Codec{}.Append(nil, &kairos.Message{Kind: kairos.Beat, Number: 1, Got: 2,
		Load: kairos.Load{Tasks: 2, Sum: 0.5}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := kairos.Codec{}.Read(b)
		if err != nil {
			require.ErrorIs(t, err, agent.ErrMessage)
			return
		}
		again, err := kairos.Codec{}.Read(kairos.Codec{}.Append(nil, &m))
		require.NoError(t, err)
		require.Equal(t, m, again)
	})
}

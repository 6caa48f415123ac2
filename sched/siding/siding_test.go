package siding_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched/agent"
	"github.com/hedgesched/hedge/sched/agent/agenttest"
	"github.com/hedgesched/hedge/sched/siding"
)

func TestConforms(t *testing.T) {
	for name, c := range map[string]siding.Config{
		"Usual":    {Workers: 30, Group: 8, Bound: 1, Patience: 0.2, Bypass: 5, Lean: 1, Distributors: 3},
		"Slots":    {Workers: 10, Slots: 3, Group: 4, Reserved: 1, Bound: 0.5, Weight: 3, Lean: 1, Distributors: 2},
		"NoPause":  {Workers: 12, Group: 5, Reserved: 2, Distributors: 1},
		"OneGroup": {Workers: 5, Group: 5, Bound: 1000, Distributors: 1},
		"Local":    {Workers: 12, Group: 4, Bound: 1, Local: true, Distributors: 2},
	} {
		t.Run(name, func(t *testing.T) {
			agenttest.Run(t, agenttest.Harness[siding.Message]{
				New: func(seed uint64) (agent.System[siding.Message], error) {
					c.Seed = seed
					return siding.New(c)
				},
				Codec: siding.Codec{}, Slots: c.Slots, Schedules: 5,
			})
		})
	}
}

func TestBadParametersAreRefused(t *testing.T) {
	for what, c := range map[string]siding.Config{
		"workers":      {Workers: 0},
		"slots":        {Workers: 1, Slots: -1},
		"group":        {Workers: 1, Group: -1},
		"reserved":     {Workers: 10, Group: 5, Reserved: 5},
		"bound":        {Workers: 1, Bound: -1},
		"patience":     {Workers: 1, Patience: 1001},
		"bypass":       {Workers: 1, Bypass: -5},
		"lean":         {Workers: 1, Lean: -0.1},
		"weight":       {Workers: 1, Weight: -1},
		"distributors": {Workers: 1, Distributors: -1},
	} {
		_, err := siding.New(c)
		assert.ErrorIs(t, err, siding.ErrConfig, what)
		assert.ErrorContains(t, err, what)
	}
}

func TestVariants(t *testing.T) {
	seen := make(map[siding.Config]string)
	for _, name := range siding.Names() {
		c, err := siding.Named(name)
		require.NoError(t, err, name)
		assert.Empty(t, seen[c], name)
		seen[c] = name
		c.Workers = 10
		_, err = siding.New(c)
		assert.NoError(t, err, name)
	}
	_, err := siding.Named("sidings")
	assert.ErrorIs(t, err, siding.ErrVariant)
	assert.ErrorContains(t, err, "siding-nopause")
}

// told steps the parts, names what they do, and keeps the messages for a test to hand on.
type told struct {
	s    *siding.System
	now  time.Duration
	sent map[string]agent.Action[siding.Message]
}

func driven(t *testing.T, c siding.Config) *told {
	s, err := siding.New(c)
	require.NoError(t, err)
	return &told{s: s, sent: make(map[string]agent.Action[siding.Message])}
}

// step hands a part an input and returns what it does.
func (d *told) step(at agent.Addr, in agent.Input[siding.Message]) (did []string) {
	var out agent.Output[siding.Message]
	d.s.Step(at, d.now, &in, &out)
	names := []string{"share", "overflow", "grant", "run", "resume", "finished", "over", "tell"}
	for _, a := range out.Actions {
		name := fmt.Sprint("do", a.Do)
		switch {
		case a.Do == agent.Wake:
			name = fmt.Sprint("wake ", a.After)
		case a.Do == agent.Send && a.Msg.Kind == siding.Tell:
			r := a.Msg.Room
			name = fmt.Sprintf("tell %d+%d/%d", r.Free, r.Reserved, r.Pausable)
		case a.Do == agent.Send:
			name = fmt.Sprintf("%s %d.%d", names[a.Msg.Kind], a.Msg.Job, a.Msg.Task)
			if a.Msg.Count > 1 {
				name += fmt.Sprint("x", a.Msg.Count)
			}
			if a.Msg.Kind == siding.Run && a.Msg.Victim.Job >= 0 {
				name += fmt.Sprintf(" for %d.%d", a.Msg.Victim.Job, a.Msg.Victim.Index)
			}
			name += fmt.Sprint(" @", a.To)
		}
		did = append(did, name)
		d.sent[name] = a
	}
	return did
}

func (d *told) submit(job agent.Job) []string {
	return d.step(d.s.Entry(&job), agent.Input[siding.Message]{Kind: agent.Submitted, Job: &job})
}

// deliver delivers a message that a part has sent before.
func (d *told) deliver(from agent.Addr, name string) []string {
	a := d.sent[name]
	return d.step(a.To, agent.Input[siding.Message]{Kind: agent.Received, From: from, Msg: a.Msg})
}

// end has a worker's task end, and delivers the news to its master.
func (d *told) end(worker agent.Addr, job, task int32) []string {
	did := d.step(worker, agent.Input[siding.Message]{Kind: agent.Ended, Task: agent.Task{Job: job, Index: task}})
	return d.deliver(worker, did[0])
}

// Workers 0 and 1 are one group with master 2, yard 3, distributor 4. Long job 0 fills both. Short job 1 waits in the
// yard for a fifth of its estimate; then the task of job 0 with the most left, which began last, is paused for it.
func TestAShortTaskPausesALongOneWhenItHasWaited(t *testing.T) {
	d := driven(t, siding.Config{Workers: 2, Group: 2, Bound: 1, Patience: 0.2, Distributors: 1})
	long := agent.Job{ID: 0, Tasks: 1, Estimate: 100 * time.Second, Long: true}
	require.Equal(t, []string{"grant 0.0 @2"}, d.submit(long))
	require.Equal(t, []string{"run 0.0 @1"}, d.deliver(3, "grant 0.0 @2"), "the yard can tell what is left")
	d.deliver(2, "run 0.0 @1")
	d.now = 10 * time.Second
	long.ID = 1
	require.Equal(t, []string{"grant 1.0 @2"}, d.submit(long))
	require.Equal(t, []string{"run 1.0 @0"}, d.deliver(3, "grant 1.0 @2"))
	d.deliver(2, "run 1.0 @0")

	d.now = 20 * time.Second
	require.Equal(t, []string{"share 2.0 @2"}, d.submit(agent.Job{ID: 2, Tasks: 1, Estimate: 5 * time.Second}))
	require.Equal(t, []string{"overflow 2.0 @3"}, d.deliver(4, "share 2.0 @2"))
	require.Equal(t, []string{"wake 1s"}, d.deliver(2, "overflow 2.0 @3"))
	d.now = 21 * time.Second
	require.Equal(t, []string{"grant 2.0 @2"}, d.step(3, agent.Input[siding.Message]{Kind: agent.Fired}))
	require.Equal(t, []string{"run 2.0 for 1.0 @0"}, d.deliver(3, "grant 2.0 @2"))
	require.Equal(t, []string{"do3", "do2"}, d.deliver(2, "run 2.0 for 1.0 @0"), "pause, launch")
	d.now = 26 * time.Second
	require.Equal(t, []string{"resume 1.0 @0", "over 2.0 @4"}, d.end(0, 2, 0))
	require.Equal(t, []string{"do4"}, d.deliver(2, "resume 1.0 @0"), "resume")
	require.Equal(t, []string{"do6"}, d.deliver(2, "over 2.0 @4"), "done")
}

// A long task is not paused any more when it was kept for its bound; the short task then waits for a slot.
func TestPausesAreBounded(t *testing.T) {
	d := driven(t, siding.Config{Workers: 1, Bound: 0.1, Distributors: 1})
	d.submit(agent.Job{ID: 0, Tasks: 1, Estimate: 100 * time.Second, Long: true})
	d.deliver(2, "grant 0.0 @1")
	d.deliver(1, "run 0.0 @0")
	short := agent.Job{ID: 1, Tasks: 1, Estimate: 10 * time.Second}
	d.submit(short)
	d.deliver(3, "share 1.0 @1")
	require.Equal(t, []string{"grant 1.0 @1"}, d.deliver(1, "overflow 1.0 @2"))
	require.Equal(t, []string{"run 1.0 for 0.0 @0"}, d.deliver(2, "grant 1.0 @1"))
	d.deliver(1, "run 1.0 for 0.0 @0")
	require.Equal(t, []string{"resume 0.0 @0", "over 1.0 @3"}, d.end(0, 1, 0))
	d.deliver(1, "resume 0.0 @0")
	short.ID = 2
	d.submit(short)
	d.deliver(3, "share 2.0 @1")
	require.Empty(t, d.deliver(1, "overflow 2.0 @2"))
	require.Equal(t, []string{"over 0.0 @2", "tell 1+0/0"}, d.end(0, 0, 0))
	require.Equal(t, []string{"grant 2.0 @1"}, d.deliver(1, "tell 1+0/0"))
}

// Worker 0 of 0 to 2 is reserved. Long tasks take the others, and the job with less work goes first; a short one takes
// the reserved worker, and goes before what waits.
func TestWithoutPausesSomeWorkersAreReserved(t *testing.T) {
	d := driven(t, siding.Config{Workers: 3, Group: 3, Reserved: 1, Lean: 1, Distributors: 1})
	long := agent.Job{ID: 0, Tasks: 4, Estimate: 100 * time.Second, Long: true}
	require.Equal(t, []string{"grant 0.0x2 @3"}, d.submit(long))
	require.Equal(t, []string{"run 0.0 @2", "run 0.1 @1"}, d.deliver(4, "grant 0.0x2 @3"))
	d.deliver(3, "run 0.0 @2")
	d.deliver(3, "run 0.1 @1")
	require.Empty(t, d.submit(agent.Job{ID: 1, Tasks: 1, Estimate: 100 * time.Second, Long: true}))
	d.submit(agent.Job{ID: 2, Tasks: 2, Estimate: time.Second})
	require.Equal(t, []string{"run 2.0 @0", "overflow 2.1 @4", "tell 0+0/0"}, d.deliver(5, "share 2.0x2 @3"))
	d.deliver(3, "run 2.0 @0")
	d.deliver(3, "tell 0+0/0")
	require.Empty(t, d.deliver(3, "overflow 2.1 @4"))
	require.Equal(t, []string{"tell 1+0/0"}, d.end(2, 0, 0))
	require.Equal(t, []string{"grant 2.1 @3"}, d.deliver(3, "tell 1+0/0"), "short before long")
	require.Equal(t, []string{"tell 2+0/0"}, d.end(1, 0, 1)[1:], "the yard's short task is not there yet")
	require.Equal(t, []string{"grant 1.0 @3"}, d.deliver(3, "tell 2+0/0"), "less work first, into what is left")
}

// Of orders that overtake each other a worker carries out the first first.
func TestAWorkerKeepsTheOrder(t *testing.T) {
	d := driven(t, siding.Config{Workers: 1, Distributors: 1})
	order := func(number int32, m siding.Message) []string {
		m.Number = number
		return d.step(0, agent.Input[siding.Message]{Kind: agent.Received, From: 1, Msg: m})
	}
	first := agent.Task{Job: 0}
	assert.Empty(t, order(3, siding.Message{Kind: siding.Resume}))
	assert.Empty(t, order(2, siding.Message{Kind: siding.Run, Job: 1, Victim: first}))
	assert.Equal(t, 2, d.s.Held(0))
	all := order(1, siding.Message{Kind: siding.Run, Victim: agent.Task{Job: -1}})
	assert.Equal(t, []string{"do2", "do3", "do2", "do4"}, all, "launch, pause and launch, resume")
}

func FuzzCodec(f *testing.F) {
	f.Add(siding.Codec{}.Append(nil, &siding.Message{Kind: siding.Tell, Long: true, Job: 1, Ref: 2, Task: 3, Step: 4,
		Count: 5, Owner: 6, Estimate: 7, Number: 8, Victim: agent.Task{Job: 9, Index: 10},
		Room: siding.Room{Free: 11, Reserved: 12, Pausable: 13, Long: 14, Short: 15}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := siding.Codec{}.Read(b)
		if err != nil {
			require.ErrorIs(t, err, agent.ErrMessage)
			return
		}
		again, err := siding.Codec{}.Read(siding.Codec{}.Append(nil, &m))
		require.NoError(t, err)
		require.Equal(t, m, again)
	})
}

// A short job is spread over the groups: the master of the first group is part 40, that of the second part 41.
func Example() {
	c, err := siding.Named("siding")
	if err != nil {
		fmt.Println(err)
		return
	}
	c.Workers, c.Group, c.Seed = 40, 20, 1
	system, err := siding.New(c)
	if err != nil {
		fmt.Println(err)
		return
	}
	job := agent.Job{ID: 0, Tasks: 3, Estimate: 10 * time.Second}
	var out agent.Output[siding.Message]
	system.Step(system.Entry(&job), 0, &agent.Input[siding.Message]{Kind: agent.Submitted, Job: &job}, &out)
	tasks := int32(0)
	for _, a := range out.Actions {
		tasks += a.Msg.Count
	}
	fmt.Println(len(out.Actions), "messages with", tasks, "tasks")
	// Output: 2 messages with 3 tasks
}

package slearn_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched/agent"
	"github.com/hedgesched/hedge/sched/slearn"
)

// desk drives the central scheduler by hand: each worker runs one task, which takes what the test says.
type desk struct {
	t       *testing.T
	system  *slearn.System
	now     time.Duration
	running map[agent.Addr]slearn.Message
	woken   time.Duration
	done    []int32
}

func newDesk(t *testing.T, c slearn.Config) *desk {
	t.Helper()
	s, err := slearn.New(c)
	require.NoError(t, err)
	return &desk{t: t, system: s, running: map[agent.Addr]slearn.Message{}}
}

func (d *desk) step(in agent.Input[slearn.Message]) {
	var out agent.Output[slearn.Message]
	d.system.Step(agent.Addr(d.system.Workers()), d.now, &in, &out)
	for _, a := range out.Actions {
		switch a.Do {
		case agent.Send:
			_, busy := d.running[a.To]
			require.False(d.t, busy, "a worker has one slot")
			d.running[a.To] = a.Msg
		case agent.Wake:
			d.woken = d.now + a.After
		case agent.Done:
			d.done = append(d.done, a.Task.Job)
		}
	}
}

func (d *desk) submit(id, tasks int32) {
	d.step(agent.Input[slearn.Message]{Kind: agent.Submitted, Job: &agent.Job{ID: id, Of: id, Tasks: tasks}})
}

// end has the task of a job end that runs on the first worker.
func (d *desk) end(job int32, ran time.Duration) {
	for at := range agent.Addr(d.system.Workers()) {
		if m, ok := d.running[at]; ok && m.Task.Job == job {
			delete(d.running, at)
			m.Kind, m.Ran = slearn.Finished, ran
			d.step(agent.Input[slearn.Message]{Kind: agent.Received, From: at, Msg: m})
			return
		}
	}
	d.t.Fatalf("job %d has no task that runs", job)
}

// jobs counts the tasks that run, by job.
func (d *desk) jobs() map[int32]int {
	n := map[int32]int{}
	for _, m := range d.running {
		n[m.Task.Job]++
	}
	return n
}

// sampler is SLearn with a fixed ratio.
func sampler(percent int) slearn.Predictor {
	return slearn.Thin{Limit: 3, Of: slearn.NewSampling(&slearn.Ratio{Fixed: percent})}
}

// A wide job runs its pilots; its other tasks run only where a slot is idle. A thin job goes in front of them.
func TestPilotsThenFillers(t *testing.T) {
	d := newDesk(t, slearn.Config{Workers: 4, Predictor: sampler(50)})
	d.submit(0, 8)
	assert.Equal(t, map[int32]int{0: 4}, d.jobs(), "four pilots")
	d.submit(1, 2)
	d.submit(2, 6)
	d.end(0, time.Second)
	d.end(0, time.Second)
	assert.Equal(t, map[int32]int{0: 2, 1: 2}, d.jobs(), "the thin job before pilots and fillers")
	d.end(1, time.Second)
	d.end(1, time.Second)
	assert.Equal(t, []int32{1}, d.done)
	assert.Equal(t, map[int32]int{0: 2, 2: 2}, d.jobs(), "the pilots of job 2 before the fillers of job 0")
	d.end(2, 10*time.Second)
	assert.Equal(t, map[int32]int{0: 2, 2: 2}, d.jobs(), "the third pilot")
	d.end(2, 10*time.Second)
	assert.Equal(t, map[int32]int{0: 3, 2: 1}, d.jobs(), "a filler of job 0, which came first")
	d.end(0, time.Second)
	d.end(0, time.Second)
	assert.Equal(t, map[int32]int{0: 3, 2: 1}, d.jobs(), "job 0 is small: its last tasks")
	d.end(2, 10*time.Second)
	assert.Equal(t, map[int32]int{0: 3, 2: 1}, d.jobs(), "job 2 is small as well, and goes on")
}

// A job of long pilots comes behind a later one of short pilots.
func TestPilotsTellTheQueue(t *testing.T) {
	d := newDesk(t, slearn.Config{Workers: 2, Predictor: sampler(1)})
	d.submit(0, 200)
	d.submit(1, 9)
	assert.Equal(t, map[int32]int{0: 2}, d.jobs(), "two pilots")
	d.end(0, 100*time.Second)
	assert.Equal(t, map[int32]int{0: 1, 1: 1}, d.jobs(), "the pilot of job 1")
	d.end(0, 100*time.Second)
	assert.Equal(t, map[int32]int{0: 1, 1: 1}, d.jobs(), "job 0, of 20,000 s, before the fillers of job 1")
	d.end(1, time.Second)
	d.end(0, 100*time.Second)
	assert.Equal(t, map[int32]int{1: 2}, d.jobs(), "job 1, of 9 s")
}

// Pilots that are urgent go before those that are not.
func TestUrgentPilots(t *testing.T) {
	d := newDesk(t, slearn.Config{Workers: 1, Predictor: urgent{}})
	d.submit(0, 1)
	d.submit(1, 5)
	d.submit(2, 5)
	d.end(0, time.Second)
	assert.Equal(t, map[int32]int{2: 1}, d.jobs())
}

// urgent has a pilot of every job, and hurries with those of even numbers.
type urgent struct{}

func (urgent) Estimate(s *slearn.Sample) slearn.Answer {
	return slearn.Answer{Pilots: 1, First: s.Job.ID%2 == 0}
}

// Jobs of equal queues are served in order of arrival, one after the other.
func TestFIFOInsideAQueue(t *testing.T) {
	d := newDesk(t, slearn.Config{Workers: 1})
	for id := range int32(3) {
		d.submit(id, 2)
	}
	for range 6 {
		for job := range d.jobs() {
			d.end(job, time.Second)
		}
	}
	assert.Equal(t, []int32{0, 1, 2}, d.done)
	assert.Zero(t, d.system.Held(1))
}

// A job goes down by what its tasks have run together, also those that run: two tasks for 600 s are more than 1000 s.
func TestAttainedServiceDemotes(t *testing.T) {
	d := newDesk(t, slearn.Config{Workers: 2, Attained: true})
	d.submit(0, 9)
	d.now = 600 * time.Second
	d.submit(1, 9)
	d.end(0, 600*time.Second)
	assert.Equal(t, map[int32]int{0: 1, 1: 1}, d.jobs(), "job 0 is in the second queue")
	d.end(0, 600*time.Second)
	assert.Equal(t, map[int32]int{1: 2}, d.jobs())
	d.end(1, 0)
	assert.Equal(t, map[int32]int{1: 2}, d.jobs())
}

// Pilots that do not end make the rest start when they are late. The job counts as at least as large as they say.
func TestLatePilots(t *testing.T) {
	var late []slearn.Sample
	watched := spy{sampler(40), func(s *slearn.Sample) {
		if s.Late > 0 {
			late = append(late, *s)
		}
	}}
	d := newDesk(t, slearn.Config{Workers: 3, Predictor: watched, PilotTimeout: time.Minute})
	d.submit(0, 1) // thin, on a worker for ever
	d.now = 5 * time.Second
	d.submit(1, 5) // two pilots
	require.Equal(t, 65*time.Second, d.woken)
	d.now = 50 * time.Second
	d.end(1, 45*time.Second)
	assert.Equal(t, map[int32]int{0: 1, 1: 2}, d.jobs(), "a filler")
	d.now = d.woken
	d.step(agent.Input[slearn.Message]{Kind: agent.Fired})
	require.Len(t, late, 1)
	assert.Equal(t, time.Minute, late[0].Late)
	assert.Equal(t, []int{1, 1}, []int{late[0].Out, late[0].Pilots.Count})
	d.submit(2, 3)
	d.end(1, time.Second)
	assert.Equal(t, map[int32]int{0: 1, 1: 2}, d.jobs(), "job 1 is in the first queue, before the pilot of job 2")
}

// spy looks at what a predictor is asked.
type spy struct {
	slearn.Predictor
	see func(*slearn.Sample)
}

func (s spy) Estimate(sample *slearn.Sample) slearn.Answer {
	s.see(sample)
	return s.Predictor.Estimate(sample)
}

// A message about a task that was never sent is passed over.
func TestForeignMessages(t *testing.T) {
	d := newDesk(t, slearn.Config{Workers: 1})
	d.submit(0, 1)
	d.step(agent.Input[slearn.Message]{Kind: agent.Received, Msg: slearn.Message{Kind: slearn.Finished, Ref: 7}})
	assert.Empty(t, d.done)
	d.end(0, 0)
	assert.Equal(t, []int32{0}, d.done)
}

func FuzzCodec(f *testing.F) {
	f.Add(slearn.Codec{}.Append(nil, &slearn.Message{Kind: slearn.Finished, Ref: 1, Task: agent.Task{Job: 2, Index: 3}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := slearn.Codec{}.Read(b)
		if err != nil {
			require.ErrorIs(t, err, agent.ErrMessage)
			return
		}
		again, err := slearn.Codec{}.Read(slearn.Codec{}.Append(nil, &m))
		require.NoError(t, err)
		require.Equal(t, m, again)
	})
}

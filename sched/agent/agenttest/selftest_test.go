package agenttest

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched/agent"
)

// order is a message of [queue]: run this task, or it has ended.
type order struct{ task agent.Task }

// codec is its binary form; whole refuses what is too short or too long.
type codec struct{ whole bool }

func (codec) Append(b []byte, m *order) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(m.task.Job))
	return binary.LittleEndian.AppendUint32(b, uint32(m.task.Index))
}

func (c codec) Read(b []byte) (order, error) {
	if c.whole && len(b) != 8 || len(b) < 8 {
		return order{}, agent.ErrMessage
	}
	job, index := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	return order{agent.Task{Job: int32(job), Index: int32(index)}}, nil
}

// wrong names a fault of [queue].
type wrong int

const (
	nothing wrong = iota
	forgetsCrashes
	launchesTwice
	overfills
	peeks
	saysDoneEarly
	neverSaysDone
	keepsJobs
	neverRests
)

// queue is the least scheduler there can be: a central queue, and a task at a time for each worker.
type queue struct {
	wrong
	workers int
	waiting []agent.Task
	free    []agent.Addr
	runs    map[agent.Addr]agent.Task
	left    map[int32]int32
	steps   int
}

func newQueue(w wrong) *queue {
	q := &queue{wrong: w, workers: 4, runs: map[agent.Addr]agent.Task{}, left: map[int32]int32{}}
	for i := range q.workers {
		q.free = append(q.free, agent.Addr(i))
	}
	return q
}

func (q *queue) Workers() int                { return q.workers }
func (q *queue) Parts() int                  { return q.workers + 1 }
func (q *queue) Entry(*agent.Job) agent.Addr { return agent.Addr(q.workers) }

func (q *queue) Held(at agent.Addr) int {
	if int(at) < q.workers {
		return 0
	}
	return len(q.left) + len(q.waiting)
}

func (q *queue) Step(at agent.Addr, now time.Duration, in *agent.Input[order], out *agent.Output[order]) {
	q.steps++
	if int(at) < q.workers {
		q.worker(in, out)
		return
	}
	switch in.Kind {
	case agent.Submitted:
		q.left[in.Job.ID] = in.Job.Tasks
		for i := range in.Job.Tasks {
			q.waiting = append(q.waiting, agent.Task{Job: in.Job.ID, Index: i})
		}
		if q.wrong == neverRests {
			out.Wake(time.Second, 0)
		}
	case agent.Fired:
		out.Wake(time.Second, 0)
	case agent.Received:
		q.ended(in.From, in.Msg.task, out)
	case agent.Lost:
		if t, ok := q.runs[in.From]; ok && q.wrong != forgetsCrashes {
			delete(q.runs, in.From)
			q.waiting = append(q.waiting, t)
			q.free = append(q.free, in.From)
		}
	}
	for len(q.waiting) > 0 && len(q.free) > 0 {
		q.start(out)
	}
}

func (q *queue) start(out *agent.Output[order]) {
	t, w := q.waiting[0], q.free[0]
	q.waiting, q.free = q.waiting[1:], q.free[1:]
	q.runs[w] = t
	out.Send(w, &order{t})
	switch {
	case q.wrong == launchesTwice && t.Index == 1:
		out.Send((w+1)%agent.Addr(q.workers), &order{t})
	case q.wrong == overfills:
		q.free = append(q.free, w)
	}
}

func (q *queue) ended(from agent.Addr, t agent.Task, out *agent.Output[order]) {
	delete(q.runs, from)
	q.free = append(q.free, from)
	q.left[t.Job]--
	switch left := q.left[t.Job]; {
	case q.wrong == saysDoneEarly && left == 1:
		out.Done(t.Job)
	case left == 0:
		if q.wrong != neverSaysDone {
			out.Done(t.Job)
		}
		if q.wrong != keepsJobs {
			delete(q.left, t.Job)
		}
	}
}

func (q *queue) worker(in *agent.Input[order], out *agent.Output[order]) {
	switch in.Kind {
	case agent.Received:
		out.Launch(in.Msg.task)
		if q.wrong == peeks && q.steps%50 == 0 {
			out.Wake(time.Second, 1)
		}
	case agent.Ended:
		out.Send(agent.Addr(q.workers), &order{in.Task})
	}
}

func harness(w wrong) Harness[order] {
	return Harness[order]{Codec: codec{true}, New: func(uint64) (agent.System[order], error) { return newQueue(w), nil }}
}

func TestAGoodSystemConforms(t *testing.T) {
	h := harness(nothing)
	h.Schedules = 5
	Run(t, h)
}

func TestFaultsOfSystemsAreFound(t *testing.T) {
	for w, want := range map[wrong]string{
		forgetsCrashes: "is not done",
		launchesTwice:  "which runs or has run",
		overfills:      "more tasks than it has slots",
		peeks:          "when it is alone",
		saysDoneEarly:  "is done before its task",
		neverSaysDone:  "is not done",
		keepsJobs:      "after all jobs are done",
		neverRests:     "the last fault was long before",
	} {
		h := harness(w)
		var err error
		for seed := uint64(0); seed < 20 && err == nil; seed++ {
			_, err = h.run(seed, faults{jitter: time.Second, crashes: 3})
		}
		assert.ErrorContains(t, err, want, "fault %d", w)
	}
}

func TestACodecThatTakesTooMuchIsFound(t *testing.T) {
	h := harness(nothing)
	h.Codec = codec{false}
	_, err := h.run(0, faults{})
	require.ErrorContains(t, err, "a byte too many")
}

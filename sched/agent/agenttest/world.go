package agenttest

import (
	"bytes"
	"container/heap"
	"encoding/binary"
	"fmt"
	"hash"
	"hash/fnv"
	"time"

	"github.com/hedgesched/hedge/sched/agent"
)

// faults are what a run suffers.
type faults struct {
	// jitter is the most that a message or a timer is late.
	jitter time.Duration
	// lose and double are the shares of envelopes, and of acknowledgements, that are.
	lose, double float64
	crashes      int
}

const (
	delay    = time.Millisecond
	resend   = 50 * time.Millisecond
	troubled = 100 * time.Second // when jobs come and workers crash
	patience = 3 * time.Hour     // beside the time of all tasks, one after the other
)

// pair is two parts, the one whose view it is first.
type pair struct{ of, peer agent.Addr }

// world is a run.
type world[M any] struct {
	*Harness[M]
	faults
	whole   agent.System[M]
	alone   []agent.System[M]
	workers int

	now, deadline time.Duration
	order         uint64
	events        events[M]
	random        agent.Random
	digest        hash.Hash64
	scratch       []byte
	out, other    agent.Output[M]
	err           error

	jobs     []job
	nodes    []node
	links    map[pair]*agent.Link[[]byte]
	views    map[pair]uint32 // how many crashes of a worker a part knows of
	launches int
}

// job is a job and how far its tasks are.
type job struct {
	agent.Job
	submitted, done bool
	tasks           []task
}

type task struct {
	takes, left, since time.Duration
	state              state
	at                 agent.Addr
	life               uint32
	run                uint64 // the number of the end that is to come
}

type state uint8

const (
	waiting state = iota
	running
	paused
	over
)

// node is a worker.
type node struct {
	used int
	life uint32
	down bool
}

func newWorld[M any](h *Harness[M], whole agent.System[M], seed uint64, f faults) *world[M] {
	w := &world[M]{Harness: h, faults: f, whole: whole, workers: whole.Workers(), random: agent.NewRandom(seed, -1),
		digest: fnv.New64a(), links: make(map[pair]*agent.Link[[]byte]), views: make(map[pair]uint32)}
	w.nodes = make([]node, w.workers)
	return w
}

// event is one thing to come.
type event[M any] struct {
	at    time.Duration
	class uint8
	order uint64
	do    func()
}

type events[M any] []event[M]

func (e events[M]) Len() int      { return len(e) }
func (e events[M]) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e events[M]) Less(i, j int) bool {
	a, b := &e[i], &e[j]
	if a.at != b.at {
		return a.at < b.at
	}
	if a.class != b.class {
		return a.class < b.class
	}
	return a.order < b.order
}
func (e *events[M]) Push(x any) { *e = append(*e, x.(event[M])) }
func (e *events[M]) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	*e = (*e)[:last]
	return x
}

// after has something happen. Where messages are late, the order of one moment is random.
func (w *world[M]) after(d time.Duration, class uint8, do func()) {
	w.order++
	order := w.order
	if w.jitter > 0 {
		order = uint64(w.random.Below(1 << 30))
	}
	heap.Push(&w.events, event[M]{at: w.now + d, class: class, order: order, do: do})
}

func (w *world[M]) next() {
	e := heap.Pop(&w.events).(event[M])
	w.now = e.at
	e.do()
}

// late is a random delay on top.
func (w *world[M]) late() time.Duration {
	if w.jitter == 0 {
		return 0
	}
	return time.Duration(w.random.Below(int(w.jitter)))
}

func (w *world[M]) chance(share float64) bool { return share > 0 && w.random.Unit() < share }

func (w *world[M]) tasks() int {
	n := 0
	for i := range w.jobs {
		n += len(w.jobs[i].tasks)
	}
	return n
}

// workload draws jobs, short and long, narrow and wide, also of tasks that take no time, and crashes.
func (w *world[M]) workload() {
	n := w.Jobs
	if n == 0 {
		n = 25
	}
	total := time.Duration(0)
	for id := range n {
		// Every other job is a later phase of the one before.
		j := job{Job: agent.Job{ID: int32(id), Of: int32(id &^ 1), Tasks: int32(1 + w.random.Below(6)),
			Long: w.random.Below(4) == 0}}
		if w.random.Below(8) == 0 {
			j.Tasks += 30
		}
		mean := []int{0, 1, 5, 5, 20}[w.random.Below(5)]
		if j.Long {
			mean = 100
		}
		j.Estimate = time.Duration(mean) * time.Second
		for range j.Tasks {
			d := time.Duration(w.random.Below(1+2*mean*1000)) * time.Millisecond
			total += d
			j.tasks = append(j.tasks, task{takes: d})
		}
		w.jobs = append(w.jobs, j)
	}
	for id := range w.jobs {
		w.after(time.Duration(id)*troubled/time.Duration(n), 0, func() { w.submit(id) })
	}
	for range w.crashes {
		w.after(time.Duration(w.random.Below(int(troubled/time.Microsecond)))*time.Microsecond, 4, w.crash)
	}
	w.deadline = 2*troubled + total*time.Duration(2+w.crashes) + patience
}

func (w *world[M]) submit(id int) {
	j := &w.jobs[id]
	j.submitted = true
	given := j.Job
	in := agent.Input[M]{Kind: agent.Submitted, Job: &given}
	at := w.whole.Entry(&given)
	for i := range w.alone {
		if other := w.alone[i].Entry(&given); other != at {
			w.fail("job %d goes to part %d or to part %d", id, at, other)
		}
	}
	w.step(at, &in)
	given = agent.Job{ID: -1} // which nobody may have kept
}

// step lets a part act, in the value that has all parts and in one that has only stepped this part.
func (w *world[M]) step(at agent.Addr, in *agent.Input[M]) {
	if w.err != nil {
		return
	}
	if at < 0 || int(at) >= w.whole.Parts() {
		w.fail("there is no part %d", at)
		return
	}
	w.out.Reset()
	w.other.Reset()
	w.whole.Step(at, w.now, in, &w.out)
	w.alone[at].Step(at, w.now, in, &w.other)
	whole, alone := w.encode(&w.out), w.encode(&w.other)
	if !bytes.Equal(whole, alone) {
		w.fail("part %d acts otherwise when it is alone: it reads what is not its own, or draws from what it shares", at)
		return
	}
	w.scratch = binary.AppendVarint(w.scratch[:0], int64(w.now))
	w.scratch = append(binary.AppendVarint(w.scratch, int64(at)), byte(in.Kind))
	w.digest.Write(w.scratch)
	w.digest.Write(whole)
	actions := append([]agent.Action[M](nil), w.out.Actions...)
	for i := range actions {
		w.act(at, &actions[i])
	}
}

// encode is the binary form of what a part asks for.
func (w *world[M]) encode(out *agent.Output[M]) []byte {
	var b []byte
	for i := range out.Actions {
		a := &out.Actions[i]
		b = append(b, byte(a.Do), byte(a.Delay))
		for _, n := range []int64{int64(a.To), int64(a.Timer), int64(a.Task.Job), int64(a.Task.Index), int64(a.After)} {
			b = binary.AppendVarint(b, n)
		}
		if a.Do == agent.Send {
			b = w.Codec.Append(b, &a.Msg)
		}
	}
	return b
}

func (w *world[M]) act(at agent.Addr, a *agent.Action[M]) {
	switch a.Do {
	case agent.Send:
		w.send(at, a)
	case agent.Wake:
		life := w.lifeOf(at)
		w.after(max(a.After, 0)+w.late(), 3, func() {
			if w.lifeOf(at) == life && !w.isDown(at) {
				w.step(at, &agent.Input[M]{Kind: agent.Fired, Timer: a.Timer})
			}
		})
	case agent.Done:
		w.done(a.Task.Job)
	default:
		w.slots(at, a)
	}
}

func (w *world[M]) done(id int32) {
	if id < 0 || int(id) >= len(w.jobs) || w.jobs[id].done {
		w.fail("job %d is done, and it was before or never was", id)
		return
	}
	j := &w.jobs[id]
	j.done = true
	for i := range j.tasks {
		if j.tasks[i].state != over {
			w.fail("job %d is done before its task %d", id, i)
		}
	}
}

func (w *world[M]) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("at %v, "+format, append([]any{w.now}, args...)...)
	}
}

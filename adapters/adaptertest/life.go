package adaptertest

import (
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

func lifeCases() []Case {
	return []Case{
		{Name: "a job starts where it was planned and its end is observed", run: plannedStart},
		{Name: "jobs wait for room", run: queueing},
		{Name: "a preempted job is stopped and runs again", Needs: []Ability{Preemption}, run: preemption},
		{Name: "room is not free before its job has stopped", Needs: []Ability{Preemption, SlowStop}, run: slowStop},
		{Name: "work that is kept is not done again", Needs: []Ability{Preemption, Keep}, run: keptWork},
		{Name: "a wide gang", run: wideGang, Shape: Shape{Nodes: 4, Slots: 250}},
	}
}

// placedOn are the nodes of an attempt, as the records have them.
func placedOn(records []Record, attempt int) map[string]int {
	on := map[string]int{}
	for _, r := range records {
		if r.Attempt == attempt {
			on[r.Node]++
		}
	}
	return on
}

func planned(nodes []sched.NodeTasks) map[string]int {
	on := map[string]int{}
	for _, nt := range nodes {
		on[nt.Node] += nt.Tasks
	}
	return on
}

func plannedStart(h *host) {
	id := h.submit("a", 3, 2)
	h.allFinish()
	records := h.of(id)
	require.Len(h, h.first.starts[id], 1, "planned once")
	require.Len(h, records, 3)
	assert.Equal(h, planned(h.first.starts[id][0]), placedOn(records, records[0].Attempt))
	h.allLearn()
}

func queueing(h *host) {
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		h.submit(name, 2, 1)
	}
	h.allFinish()
	h.allLearn()
}

func preemption(h *host) {
	low := h.submit("low", 4, forever)
	h.until("low runs", func() bool { return h.up(low) })
	high := h.submit("high", 3, 1, priority(1))
	h.until("high has a place", func() bool { return len(h.of(high)) > 0 })
	assert.Less(h, h.live(low), 4, "low has made room")
	h.until("high finishes", func() bool { return h.finished(high) })
	h.until("low runs again", func() bool { return len(h.of(low)) == 8 && h.runs(low) })
	h.end(low)
	h.allLearn()
	assert.Len(h, h.of(high), 3, "high ran once")
}

func slowStop(h *host) {
	low := h.submit("low", 4, forever, func(j *Job) { j.SlowStop = true })
	h.until("low runs", func() bool { return h.up(low) })
	high := h.submit("high", 4, 1, priority(1))
	h.until("low is told to stop", func() bool { return count(h.of(low), adapters.Stopping) > 0 || h.live(low) == 0 })
	h.until("high finishes", func() bool { return h.finished(high) })
	h.until("low runs again", func() bool { return len(h.of(low)) == 8 && h.runs(low) })
	h.end(low) // and the judge looks at who held what when
	h.allLearn()
	assert.Len(h, h.of(high), 4)
}

func keptWork(h *host) {
	low := h.submit("low", 4, 20, func(j *Job) { j.Spec.Checkpoint = true })
	h.until("low runs", func() bool { return h.up(low) })
	h.cycles(3)
	h.submit("high", 3, 1, priority(1))
	h.allFinish()
	h.allLearn()
	spans := map[int]time.Duration{} // by attempt: from when all ran
	last := 0
	for _, r := range h.of(low) {
		if _, seen := spans[r.Attempt]; !seen && !r.Started.IsZero() {
			spans[r.Attempt] = span(h.of(low), r.Attempt)
			last = max(last, r.Attempt)
		}
	}
	if len(spans) < 2 {
		h.Skipf("low had finished before it could be preempted: nothing is known of work that is kept")
	}
	total := 2 * h.traits.Exact
	for _, d := range spans {
		total += d + 2*h.traits.Exact
	}
	learnt := time.Duration(h.first.learnt[low][0] * float64(time.Second))
	assert.Greater(h, learnt, spans[last], "the work of earlier attempts is learnt of")
	assert.LessOrEqual(h, learnt, total, "and no more than there was")
}

// span is how long the whole gang ran in an attempt.
func span(records []Record, attempt int) time.Duration {
	var from, to time.Time
	for _, r := range records {
		if r.Attempt != attempt {
			continue
		}
		if r.Started.After(from) {
			from = r.Started
		}
		if r.Ended.After(to) {
			to = r.Ended
		}
	}
	return to.Sub(from)
}

func wideGang(h *host) {
	if h.traits.Wide < 1 {
		h.Skip("it has no room for wide gangs")
	}
	if h.traits.Wide < 1000 {
		h.Logf("a gang of %d, since the world has no room for 1000", h.traits.Wide)
	}
	id := h.submit("wide", h.traits.Wide, 1)
	h.allFinish()
	h.allLearn()
	assert.Len(h, h.of(id), h.traits.Wide)
}

func cancelCases() []Case {
	return []Case{
		{Name: "cancelled while pending", Needs: []Ability{Withdraw}, run: func(h *host) {
			long := h.submit("long", 4, forever)
			h.until("long runs", func() bool { return h.up(long) })
			id := h.submit("a", 2, 1)
			h.until("the loop knows that it waits", func() bool { return h.first.waits(id) })
			h.withdraw(id)
			h.cycles(2)
			h.end(long)
			assert.Empty(h, h.of(id), "it never had a place")
		}},
		{Name: "cancelled as it is handed in", Needs: []Ability{Withdraw}, run: func(h *host) {
			id := h.submit("a", 2, 1)
			h.withdraw(id)
			h.submit("b", 4, 1)
			h.allFinish()
			assert.Empty(h, h.of(id), "it never had a place")
		}},
		{Name: "cancelled while starting", Needs: []Ability{Withdraw}, run: func(h *host) {
			id := h.submit("a", 4, forever)
			h.until("it is placed", func() bool { return h.live(id) > 0 })
			h.withdraw(id)
			h.submit("b", 4, 1)
			h.allFinish()
		}},
		{Name: "cancelled while running", Needs: []Ability{Withdraw}, run: func(h *host) {
			id := h.submit("a", 4, forever)
			h.until("it runs", func() bool { return h.up(id) })
			h.withdraw(id)
			h.submit("b", 4, 1)
			h.allFinish()
			assert.Empty(h, h.first.learnt[id], "nothing is learnt of it")
		}},
		{Name: "cancelled while it stops", Needs: []Ability{Withdraw, Preemption, SlowStop}, run: func(h *host) {
			id := h.submit("a", 4, forever, func(j *Job) { j.SlowStop = true })
			h.until("it runs", func() bool { return h.up(id) })
			h.submit("b", 4, 1, priority(1))
			h.until("it is told to stop", func() bool { return count(h.of(id), adapters.Stopping) > 0 || h.live(id) == 0 })
			h.withdraw(id)
			h.allFinish()
		}},
		{Name: "withdrawn, then handed in again unchanged", Needs: []Ability{Withdraw}, run: again},
		{Name: "handed in again after its end", Needs: []Ability{Withdraw}, run: afterItsEnd},
	}
}

func again(h *host) {
	id := h.submit("a", 2, forever)
	for n := 2; n <= 6; n += 2 {
		h.until("it runs", func() bool { return len(h.of(id)) == n && h.runs(id) })
		h.withdraw(id)
		h.until("nothing of it is left", func() bool { return h.live(id) == 0 })
		h.cycles(1)
		assert.Equal(h, id, h.hand(h.jobs[id].Job), "one name is one id")
	}
	h.withdraw(id) // before the scheduler has seen it
	h.hand(h.jobs[id].Job)
	h.until("it runs", func() bool { return len(h.of(id)) == 8 && h.runs(id) })
	h.end(id)
	assert.Empty(h, h.first.learnt[id])
}

// afterItsEnd hands in again what has finished.
func afterItsEnd(h *host) {
	id := h.submit("a", 2, 1)
	h.allFinish()
	h.allLearn()
	h.withdraw(id)
	h.hand(h.jobs[id].Job)
	h.until("it finishes a second time", func() bool { return count(h.of(id), adapters.Finished) == 4 })
	h.until("the loop learns of it", func() bool { return len(h.first.learnt[id]) == 2 })
	h.allFinish()
}

func nodeCases() []Case {
	return []Case{
		{Name: "a node is added", Needs: []Ability{AddNode}, Shape: Shape{Nodes: 1, Slots: 2}, run: func(h *host) {
			id := h.submit("a", 4, 1)
			h.until("the loop knows that it waits", func() bool { return h.first.waits(id) })
			h.do(Deed{Do: AddNode, Node: h.traits.Spare[0]})
			h.allFinish()
			assert.Equal(h, map[string]int{h.traits.Nodes[0]: 2, h.traits.Spare[0]: 2}, placedOn(h.of(id), h.of(id)[0].Attempt))
		}},
		{Name: "a node is cordoned", Needs: []Ability{Cordon, Uncordon}, run: cordon},
		{Name: "a node is drained", Needs: []Ability{Drain, Uncordon}, run: func(h *host) { outage(h, Drain, Uncordon) }},
		{Name: "a node is lost and comes back", Needs: []Ability{Kill, Revive}, run: func(h *host) {
			outage(h, Kill, Revive)
		}},
		{Name: "a node is lost and its job runs elsewhere", Needs: []Ability{Kill}, run: elsewhere},
		{Name: "a node's labels change", Needs: []Ability{Relabel, Unplaceable}, run: labels},
		{Name: "work of others takes room", Needs: []Ability{Occupy}, run: foreign},
	}
}

// outage takes a node away and gives it back.
func outage(h *host, away, back Act) {
	id := h.submit("a", 3, forever)
	h.until("it runs", func() bool { return h.up(id) })
	h.do(Deed{Do: away, Node: h.traits.Nodes[0]})
	h.until("nothing of it runs, since gangs are whole", func() bool { return h.live(id) == 0 })
	h.cycles(3)
	assert.Len(h, h.of(id), 3, "there is no room for another attempt")
	h.do(Deed{Do: back, Node: h.traits.Nodes[0]})
	h.until("it runs again", func() bool { return len(h.of(id)) == 6 && h.runs(id) })
	h.end(id)
}

func elsewhere(h *host) {
	id := h.submit("a", 2, forever)
	h.until("it runs", func() bool { return h.up(id) })
	lost := h.of(id)[0].Node
	h.do(Deed{Do: Kill, Node: lost})
	h.until("it runs again", func() bool { return len(h.of(id)) == 4 && h.runs(id) })
	for _, r := range h.of(id)[2:] {
		assert.NotEqual(h, lost, r.Node)
	}
	h.end(id)
}

func labels(h *host) {
	id := h.submit("a", 2, 1, func(j *Job) { j.Spec.Required = sched.NodesWith("tier", "gold") })
	h.until("the loop knows that it waits", func() bool { return h.first.waits(id) })
	h.submit("b", 4, 1)
	h.cycles(2)
	assert.Empty(h, h.of(id), "no node is gold")
	h.do(Deed{Do: Relabel, Node: h.traits.Nodes[1], Key: "tier", Value: "gold"})
	h.allFinish()
	assert.Equal(h, map[string]int{h.traits.Nodes[1]: 2}, placedOn(h.of(id), h.of(id)[0].Attempt))
}

func foreign(h *host) {
	h.do(Deed{Do: Occupy, Node: h.traits.Nodes[0], Slots: 2})
	h.until("the loop knows", func() bool { return h.first.closed(h.traits.Nodes[0]) })
	id := h.submit("a", 2, 1)
	wide := h.submit("wide", 3, 1)
	h.until("a finishes", func() bool { return h.finished(id) })
	h.cycles(3)
	assert.Empty(h, h.of(wide), "its room is taken")
	for _, r := range h.of(id) {
		assert.Equal(h, h.traits.Nodes[1], r.Node)
	}
	h.do(Deed{Do: Occupy, Node: h.traits.Nodes[0], Slots: 0})
	h.allFinish()
}

func cordon(h *host) {
	id := h.submit("a", 4, 3)
	h.until("it runs", func() bool { return h.up(id) })
	h.do(Deed{Do: Cordon, Node: h.traits.Nodes[0]})
	h.until("it finishes where it is", func() bool { return h.finished(id) })
	assert.Len(h, h.of(id), 4, "it ran once")
	h.until("the loop knows that the node takes nothing", func() bool { return h.first.closed(h.traits.Nodes[0]) })
	wide, narrow := h.submit("wide", 3, 1), h.submit("narrow", 2, 1)
	h.until("narrow finishes", func() bool { return h.finished(narrow) })
	for _, r := range h.of(narrow) {
		assert.Equal(h, h.traits.Nodes[1], r.Node)
	}
	assert.Empty(h, h.of(wide))
	h.do(Deed{Do: Uncordon, Node: h.traits.Nodes[0]})
	h.allFinish()
	h.allLearn()
}

package adaptertest

import (
	"slices"
	"time"

	"github.com/stretchr/testify/assert"
)

func stageCases() []Case {
	return []Case{
		{Name: "a stage waits for those before it", Needs: []Ability{Stages}, run: stagesWait},
		{Name: "a stage waits for one that is handed in later", Needs: []Ability{Stages}, run: lateParent},
		{Name: "a stage goes when what it waits for has been done before", Needs: []Ability{Stages}, run: doneParent},
		{Name: "a stage does not run when what it waits for is withdrawn", Needs: []Ability{Stages, Withdraw},
			run: withdrawnParent},
		{Name: "a preempted stage runs again, and those before it do not", Needs: []Ability{Stages, Preemption},
			run: preemptedStage},
	}
}

// after has a job wait for others.
func after(names ...string) func(*Job) { return func(j *Job) { j.Spec.After = names } }

// inTurn checks that no task of a job was placed before all of another had ended.
func (h *host) inTurn(first, then string) {
	h.Helper()
	var end time.Time
	for _, r := range h.of(first) {
		if r.Ended.After(end) {
			end = r.Ended
		}
	}
	for _, r := range h.of(then) {
		assert.False(h, r.Placed.Add(h.traits.Exact).Before(end), "%s at %v, before %s ended at %v", then, r.Placed, first,
			end)
	}
}

func stagesWait(h *host) {
	a, b := h.submit("a", 2, 1), h.submit("b", 1, 2)
	c := h.submit("c", 2, 1, after("a", "b"))
	d := h.submit("d", 1, 1, after("c"))
	h.allFinish()
	h.inTurn(a, c)
	h.inTurn(b, c)
	h.inTurn(c, d)
	h.allLearn()
}

func lateParent(h *host) {
	b := h.submit("b", 1, 1, after("a"))
	h.cycles(3)
	assert.Empty(h, h.of(b), "it waits for a job that is not there")
	a := h.submit("a", 1, 1)
	h.allFinish()
	h.inTurn(a, b)
}

func doneParent(h *host) {
	a := h.submit("a", 1, 1)
	h.until("a has finished", func() bool { return h.finished(a) })
	b := h.submit("b", 1, 1, after("a"))
	h.allFinish()
	h.inTurn(a, b)
}

func withdrawnParent(h *host) {
	a := h.submit("a", 1, forever)
	b := h.submit("b", 1, 1, after("a"))
	h.until("a runs", func() bool { return h.up(a) })
	h.withdraw(a)
	h.cycles(5)
	assert.Empty(h, h.of(b), "what it waits for has not finished")
	h.withdraw(b)
	h.allFinish()
}

func preemptedStage(h *host) {
	a := h.submit("a", 1, 1)
	b := h.submit("b", 4, forever, after("a"))
	h.until("b runs", func() bool { return h.up(b) })
	high := h.submit("high", 4, 1, priority(1))
	h.until("high has finished", func() bool { return h.finished(high) })
	h.until("b runs again", func() bool { return h.runs(b) })
	h.end(b)
	assert.Len(h, h.of(a), 1, "a is done once")
	assert.True(h, slices.ContainsFunc(h.of(b), func(r Record) bool { return r.Attempt > 1 }))
}

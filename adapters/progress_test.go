package adapters_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

// Computed by hand, for two tasks that both run from second 10 on.
func TestProgress(t *testing.T) {
	at := func(s int) time.Time {
		if s == 0 {
			return time.Time{}
		}
		return time.Date(2024, 3, 1, 0, 0, s, 0, time.UTC)
	}
	on := func(node string, from, to int, s adapters.TaskState) adapters.Task {
		return adapters.Task{Node: node, State: s, Started: at(from), Ended: at(to)}
	}
	labels := func(node string) map[string]string {
		return map[string]map[string]string{"fast": {"gpu": "a"}, "slow": {"gpu": "b"}}[node]
	}
	pair := func(a, b adapters.Task) []adapters.Task { return []adapters.Task{a, b} }
	fast := func(from, to int, s adapters.TaskState) adapters.Task { return on("fast", from, to, s) }
	for _, c := range []struct {
		name  string
		tasks []adapters.Task
		until int
		want  time.Duration
	}{
		{"all run", pair(fast(5, 0, adapters.Running), fast(10, 0, adapters.Running)), 40, 30 * time.Second},
		{"on a slower node", pair(fast(5, 0, adapters.Running), on("slow", 10, 0, adapters.Running)), 40, 20 * time.Second},
		{"on a node that nobody knows", pair(fast(5, 0, adapters.Running), on("gone", 10, 0, adapters.Running)), 40,
			20 * time.Second},
		{"until the first has failed", pair(fast(5, 25, adapters.Failed), fast(10, 0, adapters.Stopping)), 40,
			15 * time.Second},
		{"what has ended, whatever the time is", pair(fast(5, 25, adapters.Failed), fast(10, 30, adapters.Failed)), 0,
			15 * time.Second},
		{"one has done its part", pair(fast(5, 25, adapters.Finished), fast(10, 0, adapters.Running)), 40, 30 * time.Second},
		{"both have", pair(fast(5, 25, adapters.Finished), fast(10, 30, adapters.Finished)), 0, 20 * time.Second},
		{"one has not ended, and no time is given", pair(fast(5, 25, adapters.Finished), fast(10, 0, adapters.Stopping)), 0,
			15 * time.Second},
		{"none has ended, and no time is given", pair(fast(5, 0, adapters.Stopping), fast(10, 0, adapters.Stopping)), 0, 0},
		{"one never ran", pair(fast(5, 0, adapters.Running), fast(0, 0, adapters.Requested)), 40, 0},
		{"one is missing", pair(fast(5, 0, adapters.Running), fast(5, 0, adapters.Running))[:1], 40, 0},
		{"the clock was set back", pair(fast(5, 0, adapters.Running), fast(10, 0, adapters.Running)), 7, 0},
		{"no tasks", nil, 40, 0},
	} {
		job := &sched.Job{ID: "a", Tasks: 2, Speeds: sched.SpeedsOf(sched.Speed{On: sched.NodesWith("gpu", "a"), Factor: 1},
			sched.Speed{Factor: 1 / 1.5})}
		assert.Equal(t, c.want, adapters.Progress(job, c.tasks, at(c.until), labels), c.name)
		assert.Equal(t, c.want, adapters.Progress(job, c.tasks, at(c.until), labels), "again: "+c.name)
		plain := &sched.Job{ID: "a", Tasks: 2}
		assert.LessOrEqual(t, c.want, adapters.Progress(plain, c.tasks, at(c.until), labels), "without a preference: "+c.name)
	}
}

package adaptertest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
)

func at(seconds float64) time.Time {
	return time.Unix(0, 0).Add(time.Duration(seconds * float64(time.Second)))
}

// ran is the record of a task.
func ran(job string, attempt int, task, node string, from, to float64, state adapters.TaskState) Record {
	return Record{Job: job, Attempt: attempt, Task: task, Node: node, Placed: at(from), Started: at(from), Ended: at(to),
		State: state}
}

func TestJudge(t *testing.T) {
	law := Law{Slots: 2, Tasks: map[string]int{"a": 2, "b": 1}}
	whole := []Record{
		ran("a", 1, "0", "n0", 0, 10, adapters.Stopping), ran("a", 1, "1", "n1", 0, 11, adapters.Stopping),
		ran("a", 2, "0", "n0", 11, 20, adapters.Finished), ran("a", 2, "1", "n0", 11, 20, adapters.Finished),
		ran("b", 1, "0", "n0", 20, 30, adapters.Finished),
	}
	assert.Empty(t, Judge(whole, law))
	for _, tt := range []struct {
		name   string
		change func([]Record) []Record
		want   string
	}{
		{"a node holds too much", func(r []Record) []Record { r[4].Placed = at(19.9); return r }, "node n0 holds 3 tasks"},
		{"something never ended", func(r []Record) []Record { r[0].Ended = time.Time{}; return r }, "node n0 holds 3 tasks"},
		{"twice at once", func(r []Record) []Record { r[1].Ended = at(12); return r }, "job a of 2 tasks has 3"},
		{"one task twice at once", func(r []Record) []Record { r[1].Task = "0"; return r }, "task 0 of job a runs 2 times"},
		{"half a gang", func(r []Record) []Record {
			r[3].State = adapters.Failed
			return r
		}, "attempt 2 of job a finished with 1 of its 2 tasks"},
		{"one after the other", func(r []Record) []Record {
			r[3].Started = at(20.5)
			return r
		}, "job a: task 1 started after task 0 had ended"},
		{"finished twice", func(r []Record) []Record {
			return append(r, ran("b", 2, "0", "n1", 40, 50, adapters.Finished))
		}, "job b () finished 2 times"},
		{"not handed in", func(r []Record) []Record {
			r[4].Job = "c"
			return r
		}, "job c was placed, which was never handed in"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			records := tt.change(append([]Record(nil), whole...))
			faults := Judge(records, law)
			if assert.NotEmpty(t, faults) {
				assert.Contains(t, faults[0], tt.want)
			}
		})
	}
	inexact := law
	inexact.Exact = time.Second
	whole[4].Placed = at(19.5)
	assert.Empty(t, Judge(whole, inexact), "as far as the records' times can be told apart")
}

// TestJudgeWithdrawn: tasks that finish as their user takes the job back are no fault, once for each time, and all else
// is.
func TestJudgeWithdrawn(t *testing.T) {
	half := func(attempt int, from float64) []Record {
		return []Record{
			ran("a", attempt, "0", "n0", from, from+10, adapters.Finished),
			ran("a", attempt, "1", "n1", from, from+10, adapters.Stopping),
		}
	}
	law := Law{Slots: 2, Tasks: map[string]int{"a": 2, "b": 2}}
	require.Len(t, Judge(half(1, 0), law), 1)
	law.Withdrawn = map[string]int{"b": 1}
	require.Len(t, Judge(half(1, 0), law), 1, "another job was withdrawn")
	law.Withdrawn = map[string]int{"a": 1}
	require.Empty(t, Judge(half(1, 0), law))
	again := half(1, 20)
	for i := range again {
		again[i].UID = "again"
	}
	assert.Equal(t, []string{"attempt 1 of job a finished with 1 of its 2 tasks"},
		Judge(append(half(1, 0), again...), law), "it was withdrawn once")
	law.Withdrawn["a"] = 2
	assert.Empty(t, Judge(append(half(1, 0), again...), law))

	late := half(1, 0)
	late[1].Started, late[1].State = at(11), adapters.Finished
	late[1].Ended = at(12)
	assert.Equal(t, []string{"job a: task 1 started after task 0 had ended"}, Judge(late, law))
	more := append(half(1, 0), ran("a", 1, "1", "n1", 20, 30, adapters.Finished),
		ran("a", 1, "2", "n1", 20, 30, adapters.Finished))
	assert.Contains(t, Judge(more, law), "attempt 1 of job a finished with 3 of its 2 tasks",
		"more than there are is none of the user's doing")
}

// TestJudgeStoppedAtItsEnd: a gang that is stopped as its tasks end is done again, whole or what is left of it, and
// that is no fault.
func TestJudgeStoppedAtItsEnd(t *testing.T) {
	law := Law{Slots: 2, Tasks: map[string]int{"a": 2}}
	first := func() []Record {
		return []Record{ran("a", 1, "0", "n0", 0, 9, adapters.Stopping), ran("a", 1, "1", "n1", 0, 9, adapters.Finished)}
	}
	again := []Record{ran("a", 2, "0", "n0", 10, 20, adapters.Finished), ran("a", 2, "1", "n0", 10, 20, adapters.Finished)}
	assert.Empty(t, Judge(append(first(), again...), law), "all of it again")
	assert.Empty(t, Judge(append(first(), again[0]), law), "what was left")
	assert.True(t, finishedWhole(append(first(), again[0]), 2))
	assert.False(t, finishedWhole(append(first(), again[1]), 2), "one task twice is not the whole")
	assert.NotEmpty(t, Judge(first(), law), "never again")
	assert.NotEmpty(t, Judge(append(first(), again[1]), law), "one task twice")
	never := first()
	never[0].Started = time.Time{}
	assert.NotEmpty(t, Judge(append(never, again...), law), "one of its tasks never ran")
	assert.NotEmpty(t, Judge(append(append(first(), again...), ran("a", 3, "0", "n0", 30, 40, adapters.Finished)), law),
		"and one of them once more")
	late := []Record{ran("a", 3, "0", "n0", 30, 39, adapters.Stopping), ran("a", 3, "1", "n1", 30, 39, adapters.Finished)}
	assert.NotEmpty(t, Judge(append(append(first(), again...), late...), law), "once more after it was whole")
	assert.NotEmpty(t, Judge(append(append(first(), again[0]), ran("a", 3, "0", "n0", 30, 40, adapters.Finished),
		ran("a", 3, "1", "n0", 30, 40, adapters.Finished)), law), "twice")
}

// TestJudgeLost: what goes on where the cluster has given it up may have another in its place, but not in its slot.
func TestJudgeLost(t *testing.T) {
	law := Law{Slots: 1, Tasks: map[string]int{"a": 1}}
	both := []Record{ran("a", 1, "0", "n0", 0, 20, adapters.Stopping), ran("a", 2, "0", "n1", 12, 20, adapters.Finished)}
	require.NotEmpty(t, Judge(both, law))
	both[0].Lost = at(10)
	assert.Empty(t, Judge(both, law))
	both[0].Lost = at(13)
	assert.NotEmpty(t, Judge(both, law), "it was started before")
	both[0].Lost, both[1].Node = at(10), "n0"
	assert.NotEmpty(t, Judge(both, law), "its node was not free")
}

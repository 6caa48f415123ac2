package experiment

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/sim/tasklog"
	"github.com/hedgesched/hedge/sched"
)

// fork is a job of stages: b and c wait for a, d for both.
func fork() []sim.Job {
	var out []sim.Job
	for _, s := range []struct {
		id    string
		tasks int
		after []string
	}{{"a", 2, nil}, {"b", 1, []string{"a"}}, {"c", 3, []string{"a", "unknown"}}, {"d", 1, []string{"b", "c"}}} {
		out = append(out, sim.Job{Job: sched.Job{ID: s.id, Of: "w", Tasks: s.tasks, After: s.after}, Arrive: time.Minute})
	}
	return out
}

func TestGanttOfGangs(t *testing.T) {
	at := func(s int) time.Duration { return time.Minute + time.Duration(s)*time.Second }
	record := func(id string, start, end int) sim.JobRecord {
		return sim.JobRecord{ID: id, Of: "w", Submit: at(0), Start: at(start), Stop: at(end), Finish: at(end)}
	}
	records := []sim.JobRecord{record("x", 1, 2), record("a", 5, 10), record("b", 30, 40), record("c", 12, 50),
		record("d", 60, 70)}
	records[2].Preemptions = 3
	g := gangs(fork(), records)
	assert.Equal(t, "w", g.Job)
	assert.Equal(t, 7, g.Tasks)
	assert.InDelta(t, 70, g.End, 1e-9)
	for i, want := range []struct {
		id         string
		ready, end float64
		deciding   bool
	}{{"a", 0, 10, true}, {"c", 10, 50, true}, {"b", 10, 40, false}, {"d", 50, 70, true}} {
		s := g.Stages[i]
		assert.Equal(t, want.id, s.ID, "by first start")
		assert.InDelta(t, want.ready, s.Ready, 1e-9, s.ID)
		assert.InDelta(t, want.end, s.End, 1e-9, s.ID)
		assert.Equal(t, want.deciding, s.Deciding, s.ID)
	}
	assert.Equal(t, []Level{{12, 3}, {50, 0}}, g.Stages[1].Levels)
	assert.Equal(t, 3, g.Stages[2].Preemptions)

	records[4].Start, records[4].Stop, records[4].Finish = -1, -1, -1
	g = gangs(fork(), records)
	assert.Negative(t, g.End)
	assert.Equal(t, "d", g.Stages[3].ID)
	assert.Empty(t, g.Stages[3].Levels)
	for i := range g.Stages {
		assert.False(t, g.Stages[i].Deciding)
	}
}

func TestGanttOfTasks(t *testing.T) {
	w := &stageWatch{Gantt: newGantt(fork()), part: part{10, 14}, arrive: time.Minute, open: []int{2, 1, 3, 1}}
	tell := func(kind tasklog.Kind, seconds int, job int32) {
		w.Observe(&tasklog.Record{Kind: kind, At: time.Minute + time.Duration(seconds)*time.Second, Job: job})
	}
	tell(tasklog.Submit, 0, 10)
	tell(tasklog.Start, 1, 9)
	tell(tasklog.Start, 2, 10)
	tell(tasklog.Start, 4, 10)
	tell(tasklog.Stop, 5, 10)
	tell(tasklog.Start, 6, 10)
	tell(tasklog.Start, 6, 14)
	tell(tasklog.Finish, 8, 10)
	tell(tasklog.Finish, 8, 10)
	a := w.Stages[0]
	assert.Equal(t, []Level{{2, 1}, {4, 2}, {5, 1}, {6, 2}, {8, 0}}, a.Levels)
	assert.InDelta(t, 8, a.End, 1e-9)
	assert.Empty(t, w.Stages[1].Levels)
}

func TestPickTakesTheMiddleOfThoseWithMostStages(t *testing.T) {
	var jobs []sim.Job
	for _, of := range []string{"p", "q", "q", "r", "r", "s", "t", "t", "u"} {
		jobs = append(jobs, sim.Job{Job: sched.Job{ID: of + string(rune('0'+len(jobs))), Of: of}})
	}
	found, err := pick(jobs, "")
	require.NoError(t, err)
	assert.Equal(t, part{3, 5}, found)
	found, err = pick(jobs, "s")
	require.NoError(t, err)
	assert.Equal(t, part{5, 6}, found)
	_, err = pick(jobs, "z")
	assert.ErrorContains(t, err, `--gantt: found "z", expected a job of the first seed's workload, such as "r"`)
}

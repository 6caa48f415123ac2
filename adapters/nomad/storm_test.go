package nomad_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/adaptertest"
)

var (
	storms    = flag.Int("storms", 0, "how many random schedules TestStorm runs on the real cluster")
	firstSeed = flag.Uint64("first", 1, "the seed of the first of them")
)

// TestStorm is run by hand, since each schedule takes about a minute. Schedulers die at any call, agents and the server
// are killed with -9, nodes lose power, and more; see [adaptertest.Storm].
func TestStorm(t *testing.T) {
	if *storms == 0 {
		t.Skip("-storms is 0")
	}
	for i := range *storms {
		seed := *firstSeed + uint64(i)
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { adaptertest.Storm(t, newRough, seed) })
	}
}

// rough is a world whose agents crash from time to time and are restarted at once, as by systemd.
type rough struct {
	*world
	t       testing.TB
	rng     *rand.Rand
	crashes int                  // the maximum number of crashes still to come
	back    map[string]time.Time // when agents were restarted, by node
}

// mostCrashes is the number of crashes in one schedule. With a crash every few seconds for ever, an agent would never
// finish anything.
const mostCrashes = 12

// rest is the time after a restart in which an agent does not crash again. Until the agent has reported to the server,
// nobody knows that it starts tasks again.
const rest = 10 * time.Second

func newRough(t testing.TB, s adaptertest.Shape) adaptertest.World {
	return &rough{newWorld(t, s).(*world), t, rand.New(rand.NewPCG(s.Seed, 0x6e6f6d6164)), mostCrashes,
		map[string]time.Time{}}
}

// Pass makes an agent crash at random, but not in three situations.
//
// While a task is being started, a crash would make the agent start it a second time, since it has not recorded the
// first.
//
// While a task is being stopped, a crash between the end of the task's processes and the agent's record of it costs six
// minutes: the agent takes the missing cgroup for a failure, five times (Nomad 1.6.1). Another crash starts these
// minutes anew.
//
// Soon after a crash, the agent may have found that a task is gone whose end it had not recorded, and be starting it
// again. The task's first start does not show that. In one schedule agents crashed twice within two seconds at that
// moment, and three times more soon after. The server then said for eight minutes that a task of an ended gang was
// pending, until its job was withdrawn.
func (r *rough) Pass(t testing.TB) {
	r.world.Pass(t)
	name := r.traits.Nodes[r.rng.IntN(len(r.traits.Nodes))]
	if r.rng.Float64() > 0.1 || r.crashes == 0 || r.down[name] || r.away || time.Since(r.back[name]) < rest {
		return
	}
	left, _, err := r.client.Evaluations().List(&api.QueryOptions{Filter: `Status == "pending"`})
	if err != nil || len(left) > 0 || slices.ContainsFunc(r.Records(t), changing) {
		return
	}
	begin, _, err := r.client.Allocations().List(
		&api.QueryOptions{Filter: `ClientStatus == "pending" and DesiredStatus == "run"`})
	if err != nil || len(begin) > 0 {
		return
	}
	r.crashes--
	r.crashed[name] = true
	r.Kill(name)
	require.NoError(r.t, r.Start(context.Background(), name))
	r.back[name] = time.Now()
	r.t.Logf("%s: the agent of %s has crashed", time.Now().Format(time.TimeOnly), name)
}

// changing reports whether a task is being started or stopped.
func changing(r adaptertest.Record) bool {
	return r.Ended.IsZero() && (r.Started.IsZero() || r.State == adapters.Stopping)
}

// gang and attempt are what records are of.
type gang struct{ job, uid string }

type attempt struct {
	gang
	number int
}

func attemptOf(r *adaptertest.Record) attempt { return attempt{gang{r.Job, r.UID}, r.Attempt} }

// power corrects a record of a task on a node that lost power. From that moment the task held no room, although the
// server learns of it later. Until then the server even puts tasks on such a node. Once it knows, it counts them as
// lost, and may replace them as soon as the node is back, before the agent has reported that the first ones never ran.
func (w *world) power(r *adaptertest.Record, wanted bool) {
	for _, c := range w.cuts {
		if c.node != r.Node || r.State == adapters.Finished || !r.Ended.IsZero() && !r.Ended.After(c.at) {
			continue // an agent that is back at once may run a task again, and finish it
		}
		switch {
		case r.Placed.Before(c.at):
			r.Ended, r.State = c.at, adapters.Lost
		case r.Started.IsZero() && !wanted && (c.back.IsZero() || r.Placed.Before(c.back)):
			r.Ended, r.State = r.Placed, adapters.Lost
		}
	}
}

// replaced corrects the records of tasks by which Nomad replaced tasks that were lost with their node. Nomad does so as
// soon as the node is back, before the agent has reported what became of the lost task. From then on the lost task does
// not count, unless it had done its work. The replacement runs without its gang, and its end is not the gang's, unless
// it is the whole gang. Records are in the order in which they were placed; own marks those of the gang.
func replaced(records []adaptertest.Record, lost, alone []bool) (own []bool) {
	type task struct {
		attempt
		name string
	}
	own = make([]bool, len(records))
	newer := map[task]int{}
	mine := map[task]int{}
	for i := range records {
		k := task{attemptOf(&records[i]), records[i].Task}
		if have, ok := mine[k]; !ok ||
			alone[i] && records[have].State != adapters.Finished && records[i].State == adapters.Finished {
			mine[k] = i
		}
	}
	for i := len(records) - 1; i >= 0; i-- {
		r := &records[i]
		k := task{attemptOf(r), r.Task}
		if own[i] = mine[k] == i; !own[i] && r.State == adapters.Finished {
			r.State = adapters.Stopping
		}
		if next, ok := newer[k]; ok {
			succeed(r, &records[next], lost[i])
		}
		newer[k] = i
	}
	return own
}

// succeed corrects the record of a task and that of its replacement. Nomad also places a replacement at once if the
// node of the first is drained and takes tasks again before the first has ended. The agent starts the replacement only
// then. Until it does, the replacement holds nothing beside the first.
func succeed(r, next *adaptertest.Record, lost bool) {
	at := next.Placed
	// if power was cut after the task had ended, the agent records the end when it is back
	if (!lost || r.State == adapters.Finished) && r.Node == next.Node && r.Ended.After(at) {
		next.Placed = r.Ended
		switch {
		case next.Started.IsZero() || !next.Started.Before(r.Ended):
		case lost:
			// The server had given up the first task, which ran to its end on a node that was merely silent. For its agent, the
			// task is over as soon as the server says so, and the replacement may begin beside it (Nomad 1.6.1:
			// localPrevAlloc.Wait asks for the allocation as the server has it). hedge cannot prevent that. The replacement
			// counts from the end of the first.
			next.Started = r.Ended
			if !next.Ended.IsZero() && next.Ended.Before(r.Ended) {
				next.Ended = r.Ended
			}
		default:
			next.Placed = next.Started
		}
		return
	}
	if r.State != adapters.Finished && (lost || !r.Ended.IsZero() && r.Ended.Before(at)) {
		r.State = adapters.Lost
		if r.Ended.IsZero() || r.Ended.After(at) {
			r.Ended = at
		}
	}
}

// settle corrects the records of gangs that were cut while they ended.
//
// If power was cut, a task failed or the job was stopped at that moment, some processes have done their work and others
// have not. Then the gang has not finished and must run again.
//
// If an agent lost power, or was silent for long, before it reported that a task had ended, the server counted the task
// as lost, and reports its end when the node is back. If the gang was started again by then, that end did not count.
//
// A gang of which a task never began was not cut: that is a fault. But a replacement by Nomad that was stopped before
// it began is no task of the gang.
func settle(records []adaptertest.Record, lost, own []bool) {
	running, cut, again, last := map[attempt]bool{}, map[attempt]bool{}, map[attempt]bool{}, map[gang]int{}
	for i := range records {
		r, a := &records[i], attemptOf(&records[i])
		running[a] = running[a] || r.Ended.IsZero() || own[i] && r.Started.IsZero()
		cut[a] = cut[a] || own[i] && r.State != adapters.Finished
		last[a.gang] = max(last[a.gang], a.number)
	}
	for i := range records {
		a := attemptOf(&records[i])
		again[a] = again[a] || lost[i] && a.number < last[a.gang]
	}
	for i := range records {
		if r, a := &records[i], attemptOf(&records[i]); r.State == adapters.Finished && (cut[a] && !running[a] || again[a]) {
			r.State = adapters.Stopping
		}
	}
}

// begun corrects the times at which tasks began, if their agents recorded them only after other tasks of their gangs
// had ended, as happens on a very busy machine. The marks, which are files that processes make when they begin, have
// the true times.
func begun(records []adaptertest.Record, marks []string) {
	first := map[attempt]time.Time{} // ends
	for i := range records {
		r, a := &records[i], attemptOf(&records[i])
		if r.State == adapters.Finished && (first[a].IsZero() || r.Ended.Before(first[a])) {
			first[a] = r.Ended
		}
	}
	for i := range records {
		r, a := &records[i], attemptOf(&records[i])
		if r.State != adapters.Finished || !r.Started.After(first[a]) {
			continue
		}
		if mark, err := os.Stat(marks[i]); err == nil && mark.ModTime().Before(r.Started) {
			r.Unsure = r.Started.Sub(mark.ModTime())
			r.Started = mark.ModTime()
		}
	}
}

// TestBegun: a process's own mark counts more than a start that its agent recorded impossibly late. Nothing else is
// changed.
func TestBegun(t *testing.T) {
	dir := t.TempDir()
	ends := time.Now().Add(-time.Hour)
	var records []adaptertest.Record
	var marks []string
	for i, late := range []time.Duration{-time.Minute, time.Second, time.Second, time.Second} {
		records = append(records, adaptertest.Record{Job: "a", UID: "1", Attempt: 1, Task: fmt.Sprint(i),
			Started: ends.Add(late), Ended: ends.Add(time.Duration(i) * time.Minute),
			State: adapters.Finished})
		marks = append(marks, filepath.Join(dir, fmt.Sprint(i)))
		if i < 3 {
			require.NoError(t, os.WriteFile(marks[i], nil, 0o600))
		}
	}
	for i, at := range []time.Time{ends.Add(-2 * time.Minute), ends.Add(-time.Minute), ends.Add(time.Minute)} {
		require.NoError(t, os.Chtimes(marks[i], at, at))
	}
	begun(records, marks)
	var started []float64
	for i := range records {
		started = append(started, records[i].Started.Sub(ends).Round(time.Millisecond).Seconds())
	}
	assert.Equal(t, []float64{-60, -60, 1, 1}, started)
	assert.InDelta(t, 61, records[1].Unsure.Seconds(), 0.001)
}

// TestReplaced: a replacement by Nomad is its gang's run only if it is the whole gang and the first did not finish.
func TestReplaced(t *testing.T) {
	at := func(seconds int) time.Time { return time.Unix(int64(seconds), 0) }
	record := func(task string, placed, ended int, state adapters.TaskState) adaptertest.Record {
		return adaptertest.Record{Job: "a", UID: "1", Attempt: 1, Task: task, Placed: at(placed), Started: at(placed),
			Ended: at(ended), State: state}
	}
	never := func(r adaptertest.Record) adaptertest.Record {
		r.Started = time.Time{}
		return r
	}
	const finished, lost, stopping = adapters.Finished, adapters.Lost, adapters.Stopping
	for _, tt := range []struct {
		name    string
		records []adaptertest.Record
		alone   bool
		want    []adapters.TaskState
	}{
		{"the first had finished", []adaptertest.Record{record("0", 0, 9, finished), record("1", 0, 9, finished),
			record("1", 20, 29, finished)}, false,
			[]adapters.TaskState{finished, finished, stopping}},
		{"the first had not",
			[]adaptertest.Record{record("0", 0, 9, finished), record("1", 0, 8, lost), record("1", 20, 29, finished)}, false,
			[]adapters.TaskState{stopping, lost, stopping}},
		{"the first had not, and the other never began",
			[]adaptertest.Record{record("0", 0, 9, finished), record("1", 0, 8, lost), never(record("1", 20, 21, stopping))},
			false,
			[]adapters.TaskState{stopping, lost, stopping}},
		{"one of the gang never began", []adaptertest.Record{record("0", 0, 9, finished), never(record("1", 0, 8, stopping))},
			false, []adapters.TaskState{finished, stopping}},
		{"all of the gang", []adaptertest.Record{record("0", 0, 8, lost), record("0", 20, 29, finished)}, true,
			[]adapters.TaskState{lost, finished}},
		{"all of the gang, and it had finished",
			[]adaptertest.Record{record("0", 0, 9, finished), record("0", 20, 29, finished)}, true,
			[]adapters.TaskState{finished, stopping}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			was, alone := make([]bool, len(tt.records)), make([]bool, len(tt.records))
			for i := range alone {
				was[i], alone[i] = tt.records[i].Ended.Before(at(9)), tt.alone
			}
			settle(tt.records, was, replaced(tt.records, was, alone))
			var got []adapters.TaskState
			for i := range tt.records {
				got = append(got, tt.records[i].State)
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

// TestGivenUpAndFinished: Nomad itself runs a task twice on a node that was silent for too long, if the first run comes
// to its end. That is not hedge's fault. Another task there is, and so is a second run if the server had not given up
// the first, or in another attempt.
func TestGivenUpAndFinished(t *testing.T) {
	at := func(tenths int) time.Time { return time.Unix(0, int64(tenths)*1e8) }
	records := func() []adaptertest.Record {
		first := adaptertest.Record{Job: "a", UID: "1", Attempt: 1, Task: "0", Node: "n", Placed: at(0), Started: at(10),
			Ended: at(494), State: adapters.Finished}
		second := first
		second.Placed, second.Started, second.Ended, second.State = at(488), at(489), at(495), adapters.Stopping
		return []adaptertest.Record{first, second}
	}
	judged := func(lost bool, change func(second *adaptertest.Record)) []string {
		r := records()
		change(&r[1])
		was := []bool{lost, false}
		settle(r, was, replaced(r, was, []bool{true, true}))
		return adaptertest.Judge(r, adaptertest.Law{Slots: 1, Tasks: map[string]int{"a": 1, "b": 1}})
	}
	assert.Empty(t, judged(true, func(*adaptertest.Record) {}))
	assert.Empty(t, judged(true, func(r *adaptertest.Record) {
		r.Ended = at(491)
	}), "it was stopped before the first had ended")
	assert.NotEmpty(t, judged(false, func(r *adaptertest.Record) {}))
	assert.NotEmpty(t, judged(true, func(r *adaptertest.Record) { r.Attempt = 2 }))
	assert.NotEmpty(t, judged(true, func(r *adaptertest.Record) { r.Job = "b" }))
}

// TestDrainedAndBack: a task that waits on the agent for the end of the one before it holds nothing yet, unless it has
// begun.
func TestDrainedAndBack(t *testing.T) {
	at := func(seconds int) time.Time { return time.Unix(int64(seconds), 0) }
	law := adaptertest.Law{Slots: 1, Tasks: map[string]int{"a": 1}}
	records := func() []adaptertest.Record {
		first := adaptertest.Record{Job: "a", UID: "1", Attempt: 1, Task: "0", Node: "n", Placed: at(0), Started: at(1),
			Ended: at(12), State: adapters.Stopping}
		second := first
		second.Placed, second.Started, second.Ended = at(10), time.Time{}, at(11)
		return []adaptertest.Record{first, second}
	}
	judged := func(r []adaptertest.Record) []string {
		lost := []bool{r[0].State == adapters.Finished, false}
		settle(r, lost, replaced(r, lost, []bool{true, true}))
		return adaptertest.Judge(r, law)
	}
	ended := records()
	ended[0].State = adapters.Finished
	assert.Empty(t, judged(ended))
	assert.NotEmpty(t, adaptertest.Judge(records(), law))
	assert.Empty(t, judged(records()))
	begun := records()
	begun[1].Started, begun[1].Ended = at(11), at(14)
	assert.NotEmpty(t, judged(begun))
}

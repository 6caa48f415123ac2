package agents_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/agents"
	"github.com/hedgesched/hedge/adapters/sim/published"
	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/sched/agent"
	"github.com/hedgesched/hedge/sched/bigc"
	"github.com/hedgesched/hedge/sched/eagle"
	"github.com/hedgesched/hedge/sched/kairos"
	"github.com/hedgesched/hedge/sched/pigeon"
	"github.com/hedgesched/hedge/sched/siding"
	"github.com/hedgesched/hedge/sched/slearn"
)

// script is a system of one worker and one other part, which do what a test says.
type script struct {
	held int
	step func(at agent.Addr, now time.Duration, in *agent.Input[int], out *agent.Output[int])
}

func (s *script) Workers() int                { return 1 }
func (s *script) Parts() int                  { return 2 }
func (s *script) Entry(*agent.Job) agent.Addr { return 0 }
func (s *script) Held(agent.Addr) int         { return s.held }
func (s *script) Step(at agent.Addr, now time.Duration, in *agent.Input[int], out *agent.Output[int]) {
	s.step(at, now, in, out)
}

func jobs(runtimes ...time.Duration) *agents.Workload {
	w := new(agents.Workload)
	for i, r := range runtimes {
		w.Jobs = append(w.Jobs, agents.Job{Mean: r, First: int32(i), Tasks: 1})
		w.Runtimes = append(w.Runtimes, r)
	}
	return w
}

// A task of 10 s runs from 0 to 4, waits to 7, and is killed at 9; it starts anew at once, and ends at 19.
func TestPhysicsOfSlots(t *testing.T) {
	task := agent.Task{}
	var times []string
	s := &script{step: func(_ agent.Addr, now time.Duration, in *agent.Input[int], out *agent.Output[int]) {
		times = append(times, fmt.Sprint(now))
		switch {
		case in.Kind == agent.Submitted:
			out.Launch(task)
			out.Wake(4*time.Second, 4)
			out.Wake(7*time.Second, 7)
			out.Wake(9*time.Second, 9)
		case in.Kind == agent.Ended:
			out.Done(0)
		case in.Timer == 4:
			out.Pause(task)
		case in.Timer == 7:
			out.Resume(task)
		case in.Timer == 9:
			out.Kill(task)
			out.Launch(task)
		}
	}}
	w := jobs(10 * time.Second)
	w.Jobs = append(w.Jobs, agents.Job{Submit: 20 * time.Second, First: 1, Tasks: 1})
	w.Runtimes = append(w.Runtimes, 0)
	second := s.step
	s.step = func(at agent.Addr, now time.Duration, in *agent.Input[int], out *agent.Output[int]) {
		if now < 20*time.Second {
			second(at, now, in, out)
			return
		}
		if in.Kind == agent.Submitted {
			out.Launch(agent.Task{Job: 1})
		} else {
			out.Done(1)
		}
	}
	r, err := agents.Run(w, s, agents.Config{})
	require.NoError(t, err)
	assert.Equal(t, []string{"0s", "4s", "7s", "9s", "19s"}, times)
	assert.Equal(t, 19*time.Second, r.Jobs[0].End)
	assert.Equal(t, 20*time.Second, r.Makespan)
	assert.InDelta(t, 16.0/20, r.Busy, 1e-12, "4 + 2 + 10 of 20 s")
	assert.EqualValues(t, 3, r.Launches)
	assert.InDelta(t, 9, r.Jobs[0].Wait, 1e-12, "launched at 0 and at 9")
	assert.Zero(t, r.Jobs[1].Wait)
}

// Job 0 of 10 s is paused at 4 for job 1 of 2 s, which so ends at 9, and goes on until 18. Job 2 pays for no pause.
func TestPausesAreCharged(t *testing.T) {
	s := &script{step: func(_ agent.Addr, _ time.Duration, in *agent.Input[int], out *agent.Output[int]) {
		first := agent.Task{Job: 0}
		switch {
		case in.Kind == agent.Submitted && in.Job.ID == 1:
			out.Pause(first)
			out.Launch(agent.Task{Job: 1})
		case in.Kind == agent.Submitted:
			out.Launch(agent.Task{Job: in.Job.ID})
		case in.Kind == agent.Ended:
			if in.Task.Job == 1 {
				out.Resume(first)
			}
			out.Done(in.Task.Job)
		}
	}}
	w := jobs(10*time.Second, 2*time.Second, time.Second)
	w.Jobs[1].Submit, w.Jobs[2].Submit = 4*time.Second, 30*time.Second
	r, err := agents.Run(w, s, agents.Config{PauseCost: 3 * time.Second, ResumeCost: 3 * time.Second})
	require.NoError(t, err)
	assert.Equal(t, 9*time.Second, r.Jobs[1].End)
	assert.Equal(t, 18*time.Second, r.Jobs[0].End)
	assert.Equal(t, 31*time.Second, r.Jobs[2].End)
	assert.EqualValues(t, 1, r.Pauses)
	for _, c := range []agents.Config{{PauseCost: -1}, {ResumeCost: -1}, {PauseCost: 2 * time.Hour}} {
		_, err := agents.Run(w, s, c)
		assert.ErrorIs(t, err, agents.ErrConfig)
	}
}

// A later phase is submitted when the phase before it is done, and counts for the first; others come at their times.
func TestPhasesFollowEachOther(t *testing.T) {
	var seen []string
	s := &script{step: func(_ agent.Addr, now time.Duration, in *agent.Input[int], out *agent.Output[int]) {
		switch in.Kind {
		case agent.Submitted:
			seen = append(seen, fmt.Sprintf("%v: %d of %d", now, in.Job.ID, in.Job.Of))
			out.Launch(agent.Task{Job: in.Job.ID})
		case agent.Ended:
			out.Done(in.Task.Job)
		}
	}}
	w := jobs(5*time.Second, 7*time.Second, time.Second, 2*time.Second)
	w.Jobs[1].Phase, w.Jobs[2].Phase = 1, 2
	w.Jobs[3].Submit = 6 * time.Second
	r, err := agents.Run(w, s, agents.Config{Slots: 2})
	require.NoError(t, err)
	assert.Equal(t, []string{"0s: 0 of 0", "5s: 1 of 0", "6s: 3 of 3", "12s: 2 of 0"}, seen)
	assert.Equal(t, agents.JobResult{Submit: 12 * time.Second, End: 13 * time.Second, Long: true}, r.Jobs[2])
	assert.Equal(t, 13*time.Second, r.Makespan)
	assert.InDelta(t, 0.5, r.Busy, 1e-12, "one of two slots until the last submission from outside")

	// A task of a phase that is not submitted is not there.
	s.step = func(_ agent.Addr, _ time.Duration, _ *agent.Input[int], out *agent.Output[int]) {
		out.Launch(agent.Task{Job: 1})
	}
	_, err = agents.Run(w, s, agents.Config{Slots: 2})
	require.ErrorIs(t, err, agents.ErrSystem)

	w.Jobs[1].Phase = 0
	_, err = agents.Run(w, s, agents.Config{})
	require.ErrorIs(t, err, agents.ErrWorkload)
	w = jobs(time.Second)
	w.Jobs[0].Phase = 1
	_, err = agents.Run(w, s, agents.Config{})
	require.ErrorIs(t, err, agents.ErrWorkload)
	_, err = published.Run(w, published.Config{Nodes: 1, Cutoff: 1, MinProbes: 1, Heartbeat: 1})
	require.ErrorIs(t, err, agents.ErrWorkload)
}

func TestMessagesTakeTheirDelay(t *testing.T) {
	var told []string
	s := &script{step: func(at agent.Addr, now time.Duration, in *agent.Input[int], out *agent.Output[int]) {
		one, two, three := 1, 2, 3
		switch {
		case in.Kind == agent.Submitted:
			out.Send(1, &one)
			out.Wake(0, 0)
			out.SendInstant(1, &two)
		case in.Kind == agent.Fired:
			told = append(told, fmt.Sprint(now, " timer"))
		case in.Kind == agent.Ended:
			out.Done(0)
		case at == 1:
			told = append(told, fmt.Sprint(now, " ", in.Msg, " from ", in.From))
			if in.Msg == one {
				out.Send(0, &three)
			}
		default:
			told = append(told, fmt.Sprint(now, " ", in.Msg, " from ", in.From))
			out.Launch(agent.Task{})
		}
	}}
	r, err := agents.Run(jobs(time.Second), s, agents.Config{Delay: time.Millisecond})
	require.NoError(t, err)
	assert.Equal(t, []string{"0s 2 from 0", "0s timer", "1ms 1 from 0", "2ms 3 from 1"}, told)
	assert.EqualValues(t, 2, r.Messages, "what takes no time is on no network")
	assert.Equal(t, time.Second+2*time.Millisecond, r.Jobs[0].End)
}

func TestSystemsThatBreakTheRulesAreFound(t *testing.T) {
	first := agent.Task{}
	for want, do := range map[string]func(out *agent.Output[int]){
		"are not done":                 func(*agent.Output[int]) {},
		"which is not there":           func(out *agent.Output[int]) { n := 1; out.Send(2, &n) },
		"more tasks than its 1 slots":  func(out *agent.Output[int]) { out.Launch(first); out.Launch(agent.Task{Job: 1}) },
		"runs or has run":              func(out *agent.Output[int]) { out.Launch(first); out.Launch(first) },
		"task 1 of job 0, which is":    func(out *agent.Output[int]) { out.Launch(agent.Task{Index: 1}) },
		"task 0 of job -1":             func(out *agent.Output[int]) { out.Kill(agent.Task{Job: -1}) },
		"cannot pause, resume or kill": func(out *agent.Output[int]) { out.Launch(first); out.Resume(first) },
		"done before its task":         func(out *agent.Output[int]) { out.Done(0) },
		"was never there":              func(out *agent.Output[int]) { out.Done(7) },
	} {
		s := &script{step: func(_ agent.Addr, _ time.Duration, in *agent.Input[int], out *agent.Output[int]) {
			if in.Kind == agent.Submitted && in.Job.ID == 1 {
				do(out)
			}
		}}
		_, err := agents.Run(jobs(time.Second, time.Second), s, agents.Config{})
		require.ErrorIs(t, err, agents.ErrSystem, want)
		assert.ErrorContains(t, err, want)
	}
	s := &script{step: func(_ agent.Addr, _ time.Duration, in *agent.Input[int], out *agent.Output[int]) {
		if in.Kind == agent.Submitted {
			out.Launch(first)
		} else {
			out.Done(0)
		}
	}, held: 1}
	_, err := agents.Run(jobs(time.Second), s, agents.Config{})
	require.ErrorContains(t, err, "keeps 1 things")
	s.step = func(at agent.Addr, _ time.Duration, in *agent.Input[int], out *agent.Output[int]) {
		n := 0
		if out.Send(1, &n); at == 1 {
			out.Launch(first)
		}
	}
	_, err = agents.Run(jobs(time.Second), s, agents.Config{})
	require.ErrorContains(t, err, "is no worker")
}

// A system that never ends is ended by Interrupted.
func TestRunIsInterrupted(t *testing.T) {
	s := &script{step: func(_ agent.Addr, _ time.Duration, _ *agent.Input[int], out *agent.Output[int]) {
		out.Wake(time.Second, 1)
	}}
	asked, ended := 0, errors.New("enough")
	_, err := agents.Run(jobs(time.Second), s, agents.Config{Interrupted: func() error {
		if asked++; asked == 3 {
			return ended
		}
		return nil
	}})
	assert.ErrorIs(t, err, ended)
	assert.Equal(t, 3, asked)
}

func TestBadParametersAreRefused(t *testing.T) {
	s := &script{}
	for what, c := range map[string]agents.Config{
		"slots":     {Slots: -1},
		"delay":     {Delay: -1},
		"cutoff":    {Cutoff: -1},
		"estimates": {Low: 2, High: 1},
		"0 to 1":    {High: 1},
		"NaN":       {Low: math.NaN(), High: 1},
		"crashes":   {Crashes: -1},
		"repair":    {Crashes: 1, Delay: time.Second, Repair: time.Second},
	} {
		_, err := agents.Run(jobs(1), s, c)
		assert.ErrorIs(t, err, agents.ErrConfig, what)
		assert.ErrorContains(t, err, what)
	}
	_, err := agents.Run(new(agents.Workload), s, agents.Config{})
	assert.ErrorIs(t, err, agents.ErrWorkload)
	_, err = agents.Run(jobs(-1), s, agents.Config{})
	assert.ErrorIs(t, err, agents.ErrWorkload)
	long := jobs(math.MaxInt64, 1)
	long.Jobs = []agents.Job{{Tasks: 2}}
	_, err = agents.Run(long, s, agents.Config{})
	assert.ErrorIs(t, err, agents.ErrWorkload)
	long = jobs(math.MaxInt64)
	long.Jobs[0].Submit = 1
	_, err = agents.Run(long, bigCOf(t, 1), agents.Config{})
	require.ErrorIs(t, err, agents.ErrWorkload)
	assert.ErrorContains(t, err, "would end after")
}

// The slice that package published is tested with.
const slice = "../published/testdata/yahoo.tr"

func workload(t testing.TB) *agents.Workload {
	r, err := trace.Open(slice, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	w, err := agents.Read(r)
	require.NoError(t, err)
	return w
}

func eagleOf(t testing.TB, name string) *eagle.System {
	v, err := eagle.Named(name)
	require.NoError(t, err)
	s, err := eagle.New(eagle.Config{Switches: v, Workers: 100, ShortShare: 10, MinProbes: 20,
		Heartbeat: 7 * time.Second, Seed: 1})
	require.NoError(t, err)
	return s
}

func pigeonOf(t testing.TB) *pigeon.System {
	s, err := pigeon.New(pigeon.Config{Workers: 100, Group: 50, Reserved: 1, Seed: 1})
	require.NoError(t, err)
	return s
}

func sidingOf(t testing.TB, name string) *siding.System {
	c, err := siding.Named(name)
	require.NoError(t, err)
	c.Workers, c.Group, c.Seed = 100, 20, 1
	s, err := siding.New(c)
	require.NoError(t, err)
	return s
}

func kairosOf(t testing.TB) *kairos.System {
	s, err := kairos.New(kairos.Config{Workers: 100, Queue: 2, Quantum: 100 * time.Second, Interval: time.Second,
		Guard: 3, GuardQuanta: 2, Seed: 1})
	require.NoError(t, err)
	return s
}

func gsOf(t testing.TB, scheme slearn.Scheme, workers int) *slearn.System {
	t.Helper()
	c := slearn.Config{Workers: workers, Seed: 1}
	require.NoError(t, scheme.Configure(&c, &slearn.Knowledge{ThinLimit: 3}))
	s, err := slearn.New(c)
	require.NoError(t, err)
	return s
}

func bigCOf(t testing.TB, workers int) *bigc.System {
	s, err := bigc.New(bigc.Config{Workers: workers, ShortShare: 95})
	require.NoError(t, err)
	return s
}

func rules() agents.Config {
	return agents.Config{Delay: 500 * time.Microsecond, Cutoff: 90581100 * time.Microsecond, Seed: 1}
}

// ends is when jobs end, which no two systems agree on.
func ends(r *agents.Result) (sum time.Duration) {
	for i, j := range r.Jobs {
		sum += j.End * time.Duration(i%7+1)
	}
	return sum
}

func runs(t *testing.T, w *agents.Workload, c agents.Config) map[string]*agents.Result {
	found := make(map[string]*agents.Result)
	for _, name := range eagle.Names() {
		r, err := agents.Run(w, eagleOf(t, name), c)
		require.NoError(t, err, name)
		found[name] = r
	}
	r, err := agents.Run(w, pigeonOf(t), c)
	require.NoError(t, err)
	found["pigeon"] = r
	for _, name := range []string{"siding", "siding-nopause"} {
		r, err = agents.Run(w, sidingOf(t, name), c)
		require.NoError(t, err)
		found[name] = r
	}
	r, err = agents.Run(w, kairosOf(t), c)
	require.NoError(t, err)
	found["kairos"] = r
	r, err = agents.Run(w, bigCOf(t, 100), c)
	require.NoError(t, err)
	found["big-c"] = r
	for name, scheme := range map[string]slearn.Scheme{"gs-slearn": slearn.SLearn, "gs-las": slearn.LAS} {
		r, err = agents.Run(w, gsOf(t, scheme, 100), c)
		require.NoError(t, err)
		found[name] = r
	}
	return found
}

// Each task runs once, the same seed makes the same run, the busy share is that of the work, and no two systems do the
// same.
func TestSystemsRunASlice(t *testing.T) {
	w := workload(t)
	first, again := runs(t, w, rules()), runs(t, w, rules())
	seen := make(map[time.Duration]string)
	for name, r := range first {
		assert.Equal(t, r, again[name], name)
		assert.EqualValues(t, len(w.Runtimes), r.Launches, name)
		assert.True(t, r.Busy > 0.1 && r.Busy <= 1, name)
		assert.Empty(t, seen[ends(r)], name)
		seen[ends(r)] = name
		for i, j := range r.Jobs {
			longest := time.Duration(0)
			for _, d := range w.Tasks(&w.Jobs[i]) {
				longest = max(longest, d)
			}
			require.GreaterOrEqual(t, j.End-j.Submit, longest, "%s, job %d", name, i)
		}
	}
}

// With crashes everything still ends, with more launches than tasks; wrong estimates change only what uses them.
func TestCrashesAndWrongEstimates(t *testing.T) {
	w := workload(t)
	calm := runs(t, w, rules())
	c := rules()
	c.Crashes, c.Repair = 200, time.Minute
	for name, r := range runs(t, w, c) {
		assert.Positive(t, r.Crashed, name)
		assert.Greater(t, r.Launches, int64(len(w.Runtimes)), name)
	}
	c = rules()
	c.Low, c.High = 0.1, 1
	for name, r := range runs(t, w, c) {
		blind := strings.HasPrefix(name, "gs-") || slices.Contains([]string{"sparrow", "pigeon", "kairos", "big-c"}, name)
		assert.Equal(t, blind, ends(r) == ends(calm[name]), name)
	}
}

// told keeps what a system is told of jobs.
type told struct {
	agent.System[pigeon.Message]
	estimates []time.Duration
}

func (s *told) Entry(j *agent.Job) agent.Addr {
	s.estimates = append(s.estimates, j.Estimate)
	return s.System.Entry(j)
}

// Factors are those by which a system is told wrong estimates.
func TestFactors(t *testing.T) {
	w := workload(t)
	c := rules()
	for i, one := range c.Factors(len(w.Jobs)) {
		require.InDelta(t, 1, one, 0, i)
	}
	c.Low, c.High, c.Seed = 0.5, 3, 7
	s := &told{System: pigeonOf(t)}
	_, err := agents.Run(w, s, c)
	require.NoError(t, err)
	require.Len(t, s.estimates, len(w.Jobs))
	for i, factor := range c.Factors(len(w.Jobs)) {
		assert.Equal(t, time.Duration(w.Jobs[i].Mean.Seconds()*factor*1e9).Round(time.Microsecond),
			s.estimates[i].Round(time.Microsecond), i)
	}
}

// Twice the slice, the second after the first has ended, costs no allocations more but for what long jobs bring along.
func TestNothingIsAllocatedForEvents(t *testing.T) {
	once := workload(t)
	twice := doubled(once)
	for _, name := range []string{"eagle", "hawk", "sparrow", "dlwl", "clwl"} {
		check(t, name, once, twice, func() agent.System[eagle.Message] { return eagleOf(t, name) })
	}
	check(t, "pigeon", once, twice, func() agent.System[pigeon.Message] { return pigeonOf(t) })
	check(t, "siding", once, twice, func() agent.System[siding.Message] { return sidingOf(t, "siding") })
	check(t, "big-c", once, twice, func() agent.System[bigc.Message] { return bigCOf(t, 100) })
	check(t, "kairos", once, twice, func() agent.System[kairos.Message] { return kairosOf(t) })
}

// doubled is a workload, and the same again long after the first has ended.
func doubled(once *agents.Workload) *agents.Workload {
	twice := &agents.Workload{Jobs: slices.Clone(once.Jobs), Runtimes: slices.Concat(once.Runtimes, once.Runtimes)}
	for _, j := range once.Jobs {
		j.Submit += 1000 * time.Hour
		j.First += int32(len(once.Runtimes))
		twice.Jobs = append(twice.Jobs, j)
	}
	return twice
}

func check[M any](t *testing.T, name string, once, twice *agents.Workload, made func() agent.System[M]) {
	assert.Less(t, steady(t, once, twice, made), 0.02, "%s: allocations for an event", name)
}

// steady is the allocations for an event once everything has grown to its size.
func steady[M any](t testing.TB, once, twice *agents.Workload, made func() agent.System[M]) float64 {
	measure := func(w *agents.Workload) (allocations float64, events int64) {
		allocations = testing.AllocsPerRun(1, func() {
			r, err := agents.Run(w, made(), rules())
			require.NoError(t, err)
			events = r.Events
		})
		return allocations, events
	}
	a1, e1 := measure(once)
	a2, e2 := measure(twice)
	require.Greater(t, e2, e1)
	return (a2 - a1) / float64(e2-e1)
}

func BenchmarkSystems(b *testing.B) {
	w := workload(b)
	for _, name := range eagle.Names() {
		b.Run(name, func(b *testing.B) { bench(b, w, func() agent.System[eagle.Message] { return eagleOf(b, name) }) })
	}
	b.Run("pigeon", func(b *testing.B) { bench(b, w, func() agent.System[pigeon.Message] { return pigeonOf(b) }) })
	b.Run("siding", func(b *testing.B) {
		bench(b, w, func() agent.System[siding.Message] { return sidingOf(b, "siding") })
	})
	b.Run("big-c", func(b *testing.B) { bench(b, w, func() agent.System[bigc.Message] { return bigCOf(b, 100) }) })
	b.Run("kairos", func(b *testing.B) { bench(b, w, func() agent.System[kairos.Message] { return kairosOf(b) }) })
	for name, scheme := range map[string]slearn.Scheme{"gs-slearn": slearn.SLearn, "gs-las": slearn.LAS} {
		b.Run(name, func(b *testing.B) { bench(b, w, func() agent.System[slearn.Message] { return gsOf(b, scheme, 100) }) })
	}
}

// bench reports what a message and a placement cost, and what is allocated for an event in the steady state; allocs/op
// is of whole runs, whose queues grow to their size.
func bench[M any](b *testing.B, w *agents.Workload, made func() agent.System[M]) {
	messages, launches := int64(0), int64(0)
	allocations := steady(b, w, doubled(w), made)
	for b.Loop() {
		r, err := agents.Run(w, made(), rules())
		require.NoError(b, err)
		messages += r.Messages
		launches += r.Launches
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(messages), "ns/message")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(launches), "ns/placement")
	b.ReportMetric(allocations, "allocs/event")
}

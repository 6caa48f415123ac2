package timeshare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/taskuse"
)

const second = time.Second

// one is a series of one segment.
func one(d time.Duration, cpu, memory float64) taskuse.Series {
	return taskuse.Series{{Duration: d, CPU: cpu, Memory: memory}}
}

// ends runs machines until nothing more happens, and says at which time what ended.
func ends(m *Machines) []string {
	var out []string
	for at, ok := m.Next(); ok; at, ok = m.Next() {
		completed, evicted := m.Happen(at, nil, nil)
		for _, e := range evicted {
			out = append(out, fmt.Sprintf("%v evicted %d", at, e.Owner))
		}
		for _, e := range completed {
			out = append(out, fmt.Sprintf("%v done %d", at, e.Owner))
		}
		m.Settle(at)
	}
	return out
}

// Cases worked by hand. The machine has 4 CPU and 100 memory; tasks all start at 0.
func TestContentionByHand(t *testing.T) {
	for name, c := range map[string]struct {
		tasks     []Task
		want      []string
		throttles int
		over      float64
	}{
		"no contention": {
			tasks: []Task{{CPU: 1, Use: one(10*second, 2, 1)}, {CPU: 1, Use: one(20*second, 2, 1)}},
			want:  []string{"10s done 0", "20s done 1"},
		},
		// The thesis's example: a segment of 15 s at 4 CPU, throttled to 2, takes 30 s.
		"the thesis's tuple": {
			tasks: []Task{{CPU: 1, Use: one(15*second, 4, 1)}, {CPU: 1, Use: one(15*second, 4, 1)}},
			want:  []string{"30s done 0", "30s done 1"}, throttles: 2, over: 30,
		},
		// Shares 3 and 1 of 4 CPU. The first has 3, done after 40 CPU-seconds at 13⅓ s. By then the second has had
		// 13⅓ of its 40; the other 26⅔ take it 6⅔ s at 4.
		"by requests": {
			tasks: []Task{{CPU: 3, Use: one(10*second, 4, 1)}, {CPU: 1, Use: one(10*second, 4, 1)}},
			want:  []string{"13.333333333s done 0", "20s done 1"}, throttles: 2, over: 13.333333333,
		},
		// The first wants 1 of its share of 2; what it leaves goes to the others, 1.5 each of the 2 they want.
		"idle CPU is given on": {
			tasks: []Task{{CPU: 2, Use: one(8*second, 1, 1)}, {CPU: 1, Use: one(6*second, 2, 1)},
				{CPU: 1, Use: one(6*second, 2, 1)}},
			want: []string{"8s done 0", "8s done 1", "8s done 2"}, throttles: 2, over: 8,
		},
		// Shares 1, 1, 2 of 4: level 1. The first leaves 0.5; the level rises to 3.5/3, so the second, which wants 1.1, is
		// fed too, and the third has 2.4 of 3: 10 s take 12.5.
		"in two rounds": {
			tasks: []Task{{CPU: 1, Use: one(20*second, 0.5, 1)}, {CPU: 1, Use: one(20*second, 1.1, 1)},
				{CPU: 2, Use: one(10*second, 3, 1)}},
			want: []string{"12.5s done 2", "20s done 0", "20s done 1"}, throttles: 1, over: 12.5,
		},
		// A segment without demand takes its wall time, whatever the others do.
		"waiting for something else": {
			tasks: []Task{{CPU: 1, Use: append(one(5*second, 0, 1), one(5*second, 4, 1)...)},
				{CPU: 1, Use: one(10*second, 4, 1)}},
			want: []string{"15s done 0", "15s done 1"}, throttles: 2, over: 10,
		},
		// Without requests both have the smallest share.
		"no requests": {
			tasks: []Task{{Use: one(10*second, 4, 1)}, {Use: one(10*second, 4, 1)}},
			want:  []string{"20s done 0", "20s done 1"}, throttles: 2, over: 20,
		},
		// One without a request gets 2/262144 of the machine beside one that requests all of it: 1/131073 of 4 CPU. The
		// first takes 10·131073/131072 s, the second all the CPU-time in 20 s.
		"one without a request": {
			tasks: []Task{{CPU: 4, Use: one(10*second, 4, 1)}, {Use: one(10*second, 4, 1)}},
			want:  []string{"10.000076294s done 0", "20s done 1"}, throttles: 2, over: 10.000076294,
		},
		"just enough memory": {
			tasks: []Task{{Memory: 50, Use: one(second, 1, 50)}, {Memory: 45, Use: one(second, 1, 45)}},
			want:  []string{"1s done 0", "1s done 1"},
		},
		"least priority first": {
			tasks: []Task{{Priority: 1, Use: one(second, 1, 60)}, {Priority: 0, Memory: 40, Use: one(second, 1, 40)}},
			want:  []string{"0s evicted 1", "1s done 0"},
		},
		"then above its request": {
			tasks: []Task{{Memory: 20, Use: one(second, 1, 40)}, {Memory: 55, Use: one(second, 1, 60)}},
			want:  []string{"0s evicted 0", "1s done 1"},
		},
		"then the larger": {
			tasks: []Task{{Memory: 40, Use: one(second, 1, 40)}, {Memory: 60, Use: one(second, 1, 60)}},
			want:  []string{"0s evicted 1", "1s done 0"},
		},
		"then the latest": {
			tasks: []Task{{Memory: 50, Use: one(second, 1, 50)}, {Memory: 50, Use: one(second, 1, 50)}},
			want:  []string{"0s evicted 1", "1s done 0"},
		},
		"as many as must": {
			tasks: []Task{{Use: one(second, 1, 40)}, {Use: one(second, 1, 0)}, {Use: one(second, 1, 30)},
				{Use: one(second, 1, 40)}, {Use: one(second, 1, 60)}},
			want: []string{"0s evicted 3", "0s evicted 4", "1s done 0", "1s done 1", "1s done 2"},
		},
		// The second grows at 4 s; the memory of the first, evicted then, is free, and its CPU too.
		"later": {
			tasks: []Task{{CPU: 1, Use: one(10*second, 4, 50)},
				{Priority: 1, CPU: 1, Use: append(one(2*second, 4, 20), one(8*second, 4, 50)...)}},
			want: []string{"4s evicted 0", "12s done 1"}, throttles: 2, over: 4,
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := New([]Capacity{{CPU: 4, Memory: 100}}, 0)
			for i := range c.tasks {
				c.tasks[i].Owner = int32(i)
				m.Start(0, 0, c.tasks[i])
			}
			m.Settle(0)
			require.Equal(t, c.want, ends(m))
			totals := m.Totals(time.Hour)
			require.Equal(t, c.throttles, totals.Throttles)
			require.InDelta(t, c.over, totals.Over, 1e-8)
		})
	}
}

// A machine without CPU gives none, not even to tasks without a request, whose share is 0 then. Others take their time.
func TestWithoutCPU(t *testing.T) {
	m := New([]Capacity{{Memory: 100}}, 0)
	a := m.Start(0, 0, Task{Use: one(second, 1, 1)})
	b := m.Start(0, 0, Task{CPU: 2, Use: one(second, 1, 1)})
	m.Start(0, 0, Task{Owner: 2, Use: one(second, 0, 1)})
	m.Settle(0)
	require.Equal(t, []string{"1s done 2"}, ends(m))
	for _, id := range []int32{a, b} {
		require.Equal(t, Used{Ran: 5 * second, MemoryTime: 5, MaxMemory: 1, Throttled: true}, m.Used(5*second, id))
	}
}

func TestStopTellsWhatWasUsed(t *testing.T) {
	m := New([]Capacity{{CPU: 4, Memory: 100}}, 10*second)
	a := m.Start(0, 0, Task{CPU: 1, Use: append(one(4*second, 3, 10), one(second, 1, 30)...)})
	m.Settle(0)
	b := m.Start(2*second, 0, Task{CPU: 3, Use: one(20*second, 4, 1)})
	m.Settle(2 * second)
	cpu, memory, throttled := m.Look(a)
	require.Equal(t, []any{1.0, 10.0, true}, []any{cpu, memory, throttled})
	// The first does 2 s of its segment at once and the other 2 s in 6.
	require.Equal(t, Used{Ran: 5 * second, CPUTime: 9, MemoryTime: 50, MaxCPU: 3, MaxMemory: 10, Throttled: true},
		m.Used(5*second, a))
	completed, _ := m.Happen(8*second, nil, nil)
	require.Empty(t, completed)
	m.Settle(8 * second)
	used := m.Stop(8*second+second/2, a)
	require.Equal(t, Used{Ran: 8*second + second/2, CPUTime: 12.5, MemoryTime: 95, MaxCPU: 3, MaxMemory: 30,
		Throttled: true}, used)
	m.Settle(8*second + second/2)
	require.Equal(t, Used{Ran: 8 * second, CPUTime: 6.5*3 + 1.5*4, MemoryTime: 8, MaxCPU: 4, MaxMemory: 1,
		Throttled: true}, m.Used(10*second, b))
	totals := m.Totals(20 * second)
	require.Equal(t, 2*3+6.5*4+1.5*4, totals.CPUTime, "of the window alone")
	require.Equal(t, 6.5, totals.Over)
}

// scene is random work on one machine.
type scene struct {
	capacity Capacity
	at       []time.Duration
	tasks    []Task
}

func draw(rng *rand.Rand, tick time.Duration, memory float64) scene {
	s := scene{capacity: Capacity{CPU: 4, Memory: 100}}
	for i := range 2 + rng.IntN(10) {
		task := Task{Owner: int32(i), Priority: rng.IntN(2), CPU: float64(rng.IntN(5)) / 2, Memory: float64(rng.IntN(40))}
		for range 1 + rng.IntN(4) {
			task.Use = append(task.Use, taskuse.Segment{Duration: time.Duration(1+rng.IntN(200)) * tick,
				CPU: float64(rng.IntN(9)) / 4, Memory: math.Round(memory * rng.Float64())})
		}
		s.tasks, s.at = append(s.tasks, task), append(s.at, time.Duration(rng.IntN(300))*tick)
	}
	slices.Sort(s.at)
	return s
}

// outcome is when each task ended, negative if it was evicted.
func (s *scene) exact() []time.Duration {
	m := New([]Capacity{s.capacity}, 0)
	out := make([]time.Duration, len(s.tasks))
	started := 0
	for {
		at, ok := m.Next()
		if started < len(s.at) && (!ok || s.at[started] < at) {
			at, ok = s.at[started], true
		}
		if !ok {
			return out
		}
		completed, evicted := m.Happen(at, nil, nil)
		for _, e := range completed {
			out[e.Owner] = at
		}
		for _, e := range evicted {
			out[e.Owner] = -1 - at
		}
		for ; started < len(s.at) && s.at[started] <= at; started++ {
			m.Start(at, 0, s.tasks[started])
		}
		m.Settle(at)
	}
}

// ticks does the same slowly: in small steps, in each of which every task gets CPU by going round until nobody's turn
// changes anything.
func (s *scene) ticks(tick time.Duration) []time.Duration {
	type live struct {
		Task
		segment int
		left    float64
	}
	var on []*live
	out := make([]time.Duration, len(s.tasks))
	started := 0
	for now := time.Duration(0); started < len(s.tasks) || len(on) > 0; now += tick {
		on = slices.DeleteFunc(on, func(l *live) bool {
			for l.left <= 1e-9 {
				if l.segment++; l.segment == len(l.Use) {
					out[l.Owner] = now
					return true
				}
				l.left += l.Use[l.segment].Duration.Seconds()
			}
			return false
		})
		for ; started < len(s.tasks) && s.at[started] <= now; started++ {
			on = append(on, &live{Task: s.tasks[started], left: s.tasks[started].Use[0].Duration.Seconds()})
		}
		memory := func() (sum float64) {
			for _, l := range on {
				sum += l.Use[l.segment].Memory
			}
			return sum
		}
		for memory() > 0.95*s.capacity.Memory {
			order := slices.Clone(on)
			slices.Reverse(order) // the latest first among equals
			slices.SortStableFunc(order, func(a, b *live) int {
				x, y := a.Use[a.segment].Memory, b.Use[b.segment].Memory
				switch {
				case (x == 0) != (y == 0):
					return map[bool]int{true: 1, false: -1}[x == 0]
				case a.Priority != b.Priority:
					return a.Priority - b.Priority
				case max(0, x-a.Memory) != max(0, y-b.Memory):
					return map[bool]int{true: -1, false: 1}[max(0, x-a.Memory) > max(0, y-b.Memory)]
				case x != y:
					return map[bool]int{true: -1, false: 1}[x > y]
				}
				return 0
			})
			out[order[0].Owner] = -1 - now
			on = slices.DeleteFunc(on, func(l *live) bool { return l == order[0] })
		}
		got := make([]float64, len(on))
		idle := s.capacity.CPU
		for range 100 {
			weight := 0.0
			for i, l := range on {
				if got[i] < l.Use[l.segment].CPU {
					weight += max(l.CPU, s.capacity.CPU*2/262144)
				}
			}
			if weight == 0 || idle < 1e-12 {
				break
			}
			give := idle
			for i, l := range on {
				if want := l.Use[l.segment].CPU; got[i] < want {
					more := min(want-got[i], give*max(l.CPU, s.capacity.CPU*2/262144)/weight)
					got[i] += more
					idle -= more
				}
			}
		}
		for i, l := range on {
			rate := 1.0
			if want := l.Use[l.segment].CPU; want > 0 {
				rate = got[i] / want
			}
			l.left -= rate * tick.Seconds()
		}
	}
	return out
}

// Where nobody is evicted, the exact ends are those of the tick simulator but for its ticks.
func TestSharesAsTheTickSimulator(t *testing.T) {
	const step = 100 * time.Millisecond
	for seed := range uint64(60) {
		s := draw(rand.New(rand.NewPCG(seed, 1)), step, 9)
		exact, ticks := s.exact(), s.ticks(step/50)
		for i := range exact {
			require.Positive(t, exact[i])
			require.InDelta(t, ticks[i].Seconds(), exact[i].Seconds(), 0.04, "seed %d, task %d", seed, i)
		}
	}
}

// Where there is CPU for all, every change falls on a tick, and the evictions are the same to the instant.
func TestEvictsAsTheTickSimulator(t *testing.T) {
	evictions := 0
	for seed := range uint64(200) {
		s := draw(rand.New(rand.NewPCG(seed, 2)), second, 60)
		s.capacity.CPU = 1000
		exact := s.exact()
		require.Equal(t, s.ticks(second), exact, "seed %d", seed)
		for _, at := range exact {
			if at < 0 {
				evictions++
			}
		}
	}
	require.Greater(t, evictions, 500)
}

// Whatever happens: work is neither lost nor made, nobody gets more than he wants or a machine has, nobody gets less
// than his share while he wants it, and no CPU idles while somebody wants more.
func TestConserves(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 3))
		capacity := []Capacity{{4, 100}, {2, 50}, {8, 400}}
		m := New(capacity, 0)
		running, work := map[int32]Task{}, 0.0
		used := 0.0
		var now time.Duration
		for step := range 400 {
			if at, ok := m.Next(); ok && rng.IntN(3) > 0 {
				now = max(now, at)
			} else {
				now += time.Duration(rng.IntN(1000)) * time.Millisecond
				for at, ok := m.Next(); ok && at < now; at, ok = m.Next() {
					used += drain(t, m, at, running, &work)
				}
			}
			used += drain(t, m, now, running, &work)
			s := draw(rng, 50*time.Millisecond, 30)
			task := s.tasks[0]
			task.Owner = int32(step)
			id := m.Start(now, int32(rng.IntN(3)), task)
			running[id] = task
			if rng.IntN(4) == 0 {
				u := m.Stop(now, id)
				require.Zero(t, u.CPUTime)
				delete(running, id)
			}
			m.Settle(now)
			used += drain(t, m, now, running, &work)
			checkShares(t, m)
		}
		for id := range running {
			used += m.Used(now, id).CPUTime
		}
		require.InDelta(t, used, m.Totals(now).CPUTime, 1e-6*used)
		require.Positive(t, work)
	}
}

// drain takes what happens at a time, and returns the CPU-time of the tasks that ended.
func drain(t *testing.T, m *Machines, at time.Duration, running map[int32]Task, work *float64) (used float64) {
	for due, ok := m.Next(); ok && due <= at; due, ok = m.Next() {
		completed, evicted := m.Happen(due, nil, nil)
		for _, e := range completed {
			task := running[e.Task]
			require.InDelta(t, task.Use.CPUTime(), e.Used.CPUTime, 1e-9*task.Use.CPUTime())
			if !e.Used.Throttled {
				require.Equal(t, task.Use.Runtime(), e.Used.Ran)
			}
			require.Greater(t, e.Used.Ran, task.Use.Runtime()-time.Microsecond) // each rounding is half a nanosecond
			*work += task.Use.CPUTime()
			used += e.Used.CPUTime
			delete(running, e.Task)
		}
		for _, e := range evicted {
			used += e.Used.CPUTime
			delete(running, e.Task)
		}
		m.Settle(due)
	}
	return used
}

func checkShares(t *testing.T, m *Machines) {
	for i := range m.machines {
		x := &m.machines[i]
		got, shares := 0.0, 0.0
		for k := range x.slots {
			got += x.loads[k].want * x.paces[k].rate
			shares += x.paces[k].share
		}
		require.LessOrEqual(t, got, x.CPU*(1+2e-9))
		require.LessOrEqual(t, x.survey().memory, EvictAt*x.Memory*(1+2e-9))
		for k := range x.slots {
			s := &x.paces[k]
			require.LessOrEqual(t, s.rate, 1.0)
			if s.rate < 1 {
				require.GreaterOrEqual(t, x.loads[k].want*s.rate, s.share/shares*x.CPU*(1-1e-9), "less than its share")
				require.InDelta(t, x.CPU, got, 1e-6, "CPU idles")
			}
		}
	}
}

package testbed_test

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/agents"
	"github.com/hedgesched/hedge/adapters/sim/agents/testbed"
	"github.com/hedgesched/hedge/sched/agent"
	"github.com/hedgesched/hedge/sched/bigc"
	"github.com/hedgesched/hedge/sched/kairos"
)

// system is a scheduler of the experiment.
type system struct {
	name string
	run  func(t *testing.T, w *testbed.Workload, m *testbed.Mix) []testbed.Job
}

// simulated runs a system that is made of its configuration.
func simulated[C, M any, S agent.System[M]](name string, c C, made func(C) (S, error)) system {
	return system{name, func(t *testing.T, w *testbed.Workload, m *testbed.Mix) []testbed.Job {
		s, err := made(c)
		require.NoError(t, err)
		r, err := agents.Run[M](&w.Workload, s, agents.Config{Slots: testbed.Cores, Delay: 500 * time.Microsecond,
			Cutoff: m.Cutoff})
		require.NoError(t, err)
		jobs, err := w.Outcome(r)
		require.NoError(t, err)
		return jobs
	}}
}

// paper is Kairos as on the paper's testbed; the guard and the interval are ours.
func paper() kairos.Config {
	return kairos.Config{Workers: testbed.Nodes, Slots: testbed.Cores, Queue: 4, Quantum: 50 * time.Second,
		Interval: time.Second, Guard: 3, GuardQuanta: 2, Seed: 1}
}

func plain() system {
	return simulated("yarn-fifo", kairos.Config{Workers: testbed.Nodes, Slots: testbed.Cores, Quantum: time.Hour,
		Interval: time.Second}, kairos.New)
}

func bigC(m *testbed.Mix) system {
	return simulated("big-c", bigc.Config{Workers: testbed.Nodes, Slots: testbed.Cores, ShortShare: m.ShortShare}, bigc.New)
}

func changed(name string, change func(*kairos.Config)) system {
	c := paper()
	change(&c)
	return simulated(name, c, kairos.New)
}

func experiment(m *testbed.Mix) []system {
	list := []system{plain(), bigC(m), changed("kairos", func(*kairos.Config) {}),
		changed("kairos-random", func(c *kairos.Config) { c.Choice = kairos.Random }),
		changed("kairos-sum", func(c *kairos.Config) { c.Choice = kairos.Sum })}
	for _, w := range []time.Duration{10, 100} {
		list = append(list, changed(fmt.Sprintf("kairos, W = %d s", w), func(c *kairos.Config) { c.Quantum = w * time.Second }))
	}
	for _, q := range []int{2, 8} {
		list = append(list, changed(fmt.Sprintf("kairos, Q = %d", q), func(c *kairos.Config) { c.Queue = q }))
	}
	return append(list, changed("kairos, no guard", func(c *kairos.Config) { c.Guard = 0 }))
}

// figures are of one run, or the means over runs, or half the widths of their intervals: completion at the 50th, 90th
// and 99th percentile and the last, slowdown in the mean and at most, mean completion.
type figures [7]float64

func figuresOf(jobs []testbed.Job) figures {
	var took, slow []float64
	for _, j := range jobs {
		took, slow = append(took, j.Completion.Seconds()), append(slow, j.Slowdown)
	}
	slices.Sort(took)
	at := func(p float64) float64 { // between the closest ranks
		x := p * float64(len(took)-1)
		i := min(int(x), len(took)-2)
		return took[i] + (x-float64(i))*(took[i+1]-took[i])
	}
	return figures{at(0.5), at(0.9), at(0.99), at(1), mean(slow), slices.Max(slow), mean(took)}
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// interval is the mean of figures over runs, and half the width of its 95 % interval (Student's t, 20 runs).
func interval(runs []figures) (middle, half figures) {
	const t19 = 2.093
	for k := range middle {
		var x, squares []float64
		for _, f := range runs {
			x = append(x, f[k])
		}
		middle[k] = mean(x)
		for _, v := range x {
			squares = append(squares, (v-middle[k])*(v-middle[k]))
		}
		n := float64(len(x))
		half[k] = t19 * math.Sqrt(mean(squares)/(n-1))
	}
	return middle, half
}

// measure runs every system on every draw; HEDGE_TESTBED=1 takes the 20 seeds of the docs, and prints their tables.
func measure(t *testing.T, m *testbed.Mix) (names []string, found map[string][]figures) {
	seeds := 4
	if os.Getenv("HEDGE_TESTBED") != "" {
		seeds = 20
	}
	found = make(map[string][]figures)
	for seed := 1; seed <= seeds; seed++ {
		w, err := m.Draw(uint64(seed))
		require.NoError(t, err)
		for _, s := range experiment(m) {
			if seed == 1 {
				names = append(names, s.name)
			}
			found[s.name] = append(found[s.name], figuresOf(s.run(t, w, m)))
		}
	}
	if seeds == 20 {
		t.Log("\n" + tables(names, found))
	}
	return names, found
}

// tables are those of docs/kairos.md: figures with intervals, and differences to Kairos in pairs of equal draws.
func tables(names []string, found map[string][]figures) string {
	var b strings.Builder
	for _, pairs := range []bool{false, true} {
		b.WriteString("| system | p50 | p90 | p99 | last | mean slowdown | most slowdown | mean |\n")
		b.WriteString("| --- | --- | --- | --- | --- | --- | --- | --- |\n")
		for _, name := range names {
			if pairs && name == "kairos" {
				continue
			}
			runs := slices.Clone(found[name])
			for i := range runs {
				for k := range runs[i] {
					if pairs {
						runs[i][k] -= found["kairos"][i][k]
					}
				}
			}
			b.WriteString("| " + name)
			middle, half := interval(runs)
			for k := range middle {
				digits := 0
				if k == 4 || k == 5 {
					digits = 2
				}
				sign := ""
				if pairs && middle[k] > 0 {
					sign = "+"
				}
				number := func(x float64) string { return strconv.FormatFloat(x, 'f', digits, 64) }
				b.WriteString(" | " + sign + number(middle[k]) + " ± " + number(half[k]))
			}
			b.WriteString(" |\n")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestPaperSigns(t *testing.T) {
	m := testbed.HeavyTailed()
	names, found := measure(t, &m)
	assert.Len(t, found, len(names), "every system has a name of its own")
}

func TestUniform(t *testing.T) {
	m := testbed.Uniform()
	measure(t, &m)
}

package testbed_test

import (
	"fmt"
	"math"
	"os"
	"slices"
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
	return simulated("big-c", bigc.Config{Workers: testbed.Nodes, Slots: testbed.Cores, ShortShare: m.ShortShare},
		bigc.New)
}

func changed(name string, change func(*kairos.Config)) system {
	c := paper()
	change(&c)
	return simulated(name, c, kairos.New)
}

// experiment is the systems of the paper, and the ablations and parameters of Kairos.
func experiment(m *testbed.Mix) (systems, more []system) {
	systems = []system{plain(), bigC(m), changed("kairos", func(*kairos.Config) {}),
		changed("kairos, guard by waiting", func(c *kairos.Config) { c.GuardWaits = true })}
	more = []system{changed("kairos-random", func(c *kairos.Config) { c.Choice = kairos.Random }),
		changed("kairos-sum", func(c *kairos.Config) { c.Choice = kairos.Sum })}
	for _, s := range []int{10, 100} {
		w := time.Duration(s) * time.Second
		more = append(more, changed(fmt.Sprintf("kairos, W = %d s", s), func(c *kairos.Config) { c.Quantum = w }))
	}
	for _, q := range []int{2, 8, 56} {
		more = append(more, changed(fmt.Sprintf("kairos, Q = %d", q), func(c *kairos.Config) { c.Queue = q }))
	}
	return systems, append(more, changed("kairos, no guard", func(c *kairos.Config) { c.Guard = 0 }))
}

// The figures of one run, of the means over runs, or of half the widths of their intervals: completion at a percentile,
// the longest and the mean, slowdown in the mean, at most, and the mean of each category.
const (
	p50 = iota
	p90
	p99
	last
	meanSlowdown
	mostSlowdown
	meanTook
	slowdownOf1
	count = slowdownOf1 + 5
)

type figures [count]float64

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
	f := figures{at(0.5), at(0.9), at(0.99), at(1), mean(slow), slices.Max(slow), mean(took)}
	var n [5]float64
	for _, j := range jobs {
		n[j.Category]++
	}
	for _, j := range jobs {
		f[slowdownOf1+j.Category] += j.Slowdown / n[j.Category]
	}
	return f
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

// measure runs every system on every draw; HEDGE_TESTBED=1 takes all systems and the 20 seeds of the docs, and prints
// their tables.
func measure(t *testing.T, m testbed.Mix) map[string][]figures {
	full := os.Getenv("HEDGE_TESTBED") != ""
	list, more := experiment(&m)
	seeds := uint64(3)
	if full {
		list, seeds = append(list, more...), 20
	}
	found := make(map[string][]figures)
	for seed := range seeds {
		w, err := m.Draw(seed + 1)
		require.NoError(t, err)
		for _, s := range list {
			found[s.name] = append(found[s.name], figuresOf(s.run(t, w, &m)))
		}
	}
	if full {
		t.Log("\n" + table(list, found, ""))
		for _, base := range []string{"kairos", "kairos, guard by waiting"} {
			t.Log("less those of " + base + " on the same draws:\n" + table(list, found, base))
		}
	}
	return found
}

// table is one of docs/kairos.md; with a base, of the differences to that system.
func table(list []system, found map[string][]figures, base string) string {
	var b strings.Builder
	b.WriteString("| | p50 | p90 | p99 | last | mean slowdown | largest | mean | by category: 1 | 2 | 3 | 4 | 5 |\n|")
	b.WriteString(strings.Repeat(" --- |", count+1) + "\n")
	for _, s := range list {
		if s.name == base {
			continue
		}
		runs := slices.Clone(found[s.name])
		for i := range runs {
			for k := range runs[i] {
				if base != "" {
					runs[i][k] -= found[base][i][k]
				}
			}
		}
		b.WriteString("| " + s.name)
		middle, half := interval(runs)
		for k := range middle {
			format := " | %.0f ± %.0f"
			switch {
			case k >= slowdownOf1 && middle[k] == 0:
				b.WriteString(" | –") // no job of the category
				continue
			case k >= meanSlowdown && k != meanTook:
				format = " | %.2f ± %.2f"
			}
			fmt.Fprintf(&b, format, middle[k], half[k])
		}
		b.WriteString(" |\n")
	}
	return b.String()
}

// less tells whether a system has less of a figure than another, in the mean over the draws.
func less(found map[string][]figures, one, other string, k int) bool {
	a, _ := interval(found[one])
	b, _ := interval(found[other])
	return a[k] < b[k]
}

// What docs/kairos.md says of the signs: Kairos helps the small jobs of heavy-tailed workloads and, unlike the paper's,
// harms the long ones.
func TestSignsOfThePaper(t *testing.T) {
	for _, m := range []testbed.Mix{testbed.HeavyTailed(), testbed.Fewer()} {
		found, name := measure(t, m), fmt.Sprint(m.Categories[4].Maps, " maps")
		for _, k := range []int{meanSlowdown, mostSlowdown, slowdownOf1} {
			assert.True(t, less(found, "kairos", "yarn-fifo", k), "%s: figure %d", name, k)
		}
		assert.True(t, less(found, "yarn-fifo", "big-c", p99), "%s: long jobs suffer in Big-C", name)
		assert.True(t, less(found, "yarn-fifo", "kairos", p99), "%s: unlike the paper", name)
		assert.True(t, less(found, "big-c", "kairos", p50), "%s: unlike the paper", name)
	}
	found := measure(t, testbed.Uniform())
	assert.True(t, less(found, "kairos", "big-c", p90), "category 3 waits for the others in Big-C")
	assert.True(t, less(found, "kairos, guard by waiting", "kairos", p99), "the oldest wait for less")
	assert.True(t, less(found, "yarn-fifo", "kairos", p99), "nothing is gained where jobs are alike")
}

// Package generate makes workloads of tasks of any size from classes of jobs, which were fitted on slices of the logs
// of Yahoo and Google that the papers on Hawk and Eagle use. It is for runs larger than any log at hand. It never
// reads a log, and what it makes is no log: jobs of a class differ by chance alone, arrive at a constant rate, and
// have nothing to do with each other.
package generate

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/agents"
	"github.com/hedgesched/hedge/sched/agent"
)

// ErrSpec is wrapped by errors about a [Spec] or a mix that cannot be.
var ErrSpec = errors.New("bad workload to generate")

// Class is jobs that are alike.
type Class struct {
	// Share is that of all jobs; those of a mix add up to 1.
	Share float64
	// Tasks is the mean number of a job's tasks, at least 1. The number less 1 is exponential.
	Tasks float64
	// Seconds is the mean runtime of a job's tasks, above 0. That of a job is uniform within a quarter of it.
	Seconds float64
	// Variation is the coefficient of variation of the runtimes inside a job, from 0 to 0.5. They are uniform.
	Variation float64
}

// Mix is classes, and what the papers run them with.
type Mix struct {
	// Name is the mix's, for those of [Named].
	Name    string
	Classes []Class
	// Cutoff is the seconds of the mean task above which a job is long, ShortShare the percentage of nodes for short
	// tasks only, and Heartbeat how old DLWL's knowledge may be.
	Cutoff, ShortShare float64
	Heartbeat          time.Duration
}

// Names are those of the mixes.
func Names() []string { return []string{"yahoo", "google"} }

// Named is the mix of a name. Its classes are the means of clusters (k-means on the logarithms of tasks and seconds,
// four clusters of short and three of long jobs) of a slice of Yahoo's log and of one of Google's: the files YH1_sub.tr
// and, from three quarters of its span on, GOOG_subtrace.tr (first 6,000 jobs) of meghanat/megha_simulator.
func Named(name string) (Mix, error) {
	switch name {
	case "yahoo":
		return Mix{Name: name, Cutoff: 90.5811, ShortShare: 2, Heartbeat: 7 * time.Second, Classes: []Class{
			{0.1234, 6.5, 3.2, 0.5}, {0.2186, 36.3, 5.3, 0.5}, {0.2172, 4.3, 24.7, 0.21}, {0.3460, 32.1, 32.9, 0.27},
			{0.0268, 28.7, 564.2, 0.07}, {0.0347, 587.7, 1331.8, 0.06}, {0.0333, 7.9, 2227.4, 0.03}}}, nil
	case "google":
		return Mix{Name: name, Cutoff: 1129.532, ShortShare: 17, Heartbeat: 3 * time.Second, Classes: []Class{
			{0.1943, 1, 27.1, 0}, {0.3330, 1.8, 84.6, 0}, {0.1657, 189.7, 378.1, 0.08}, {0.1988, 1.3, 444.2, 0},
			{0.0747, 1.8, 1591.4, 0}, {0.0184, 338.1, 5824.5, 0.03}, {0.0151, 1.1, 14617.3, 0}}}, nil
	}
	return Mix{}, fmt.Errorf("%w: found mix %q, expected yahoo or google", ErrSpec, name)
}

// Spec says how much is made.
type Spec struct {
	// Jobs is their number, from 1 to 100,000,000. They have at most 1,000,000,000 tasks.
	Jobs int
	// Slots is how many tasks the cluster runs at once, at least 1.
	Slots int
	// Load is the tasks' time over that of the slots between the first and the last arrival; above 0, at most 1000.
	Load float64
	// Seed is of the random draws.
	Seed uint64
}

const (
	// maxTasks is the most that a workload is made of.
	maxTasks = 1_000_000_000
	// longest is how many seconds a time.Duration counts, and a little less.
	longest = 9e9
)

// New makes a workload: arrivals are a Poisson process, stretched to the load, in whole microseconds; so are runtimes.
// The same mix and spec make the same one. Errors wrap [ErrSpec].
func New(m *Mix, s Spec) (*agents.Workload, error) {
	if err := check(m, &s); err != nil {
		return nil, err
	}
	random := agent.NewRandom(s.Seed, address)
	w := &agents.Workload{Jobs: make([]agents.Job, s.Jobs)}
	kinds := make([]*Class, s.Jobs)
	at, arrivals, tasks := 0.0, make([]float64, s.Jobs), 0
	for i := range kinds {
		if kinds[i] = pick(m, random.Unit()); i > 0 {
			at += exponential(&random)
		}
		n := 1 + int(min(math.Floor(float64((kinds[i].Tasks-1)*exponential(&random))), maxTasks))
		if tasks += n; tasks > maxTasks {
			return nil, fmt.Errorf("%w: more than %d tasks", ErrSpec, maxTasks)
		}
		if work := 3 * float64(n) * kinds[i].Seconds; work > longest { // no task takes three times the mean
			return nil, fmt.Errorf("%w: a job of up to %g seconds, at most %g can be counted", ErrSpec, work, longest)
		}
		arrivals[i] = at
		w.Jobs[i].First, w.Jobs[i].Tasks = int32(tasks-n), int32(n)
	}
	w.Runtimes = make([]time.Duration, tasks)
	seconds := 0.0
	for i, c := range kinds {
		seconds += fill(w, &w.Jobs[i], c, &random)
	}
	stretch := 0.0
	if at > 0 {
		stretch = seconds / (at * float64(s.Slots) * s.Load)
	}
	if last := float64(at * stretch); last > longest {
		return nil, fmt.Errorf("%w: arrivals go on for %g seconds, at most %g can be counted", ErrSpec, last, longest)
	}
	for i, arrival := range arrivals {
		w.Jobs[i].Submit = micros(float64(arrival * stretch))
	}
	return w, nil
}

// address is that of the draws: no part has it.
const address = -3

func check(m *Mix, s *Spec) error {
	wrong := func(what string, found any) error { return fmt.Errorf("%w: %s is %v", ErrSpec, what, found) }
	switch {
	case s.Jobs < 1 || s.Jobs > 100_000_000:
		return wrong("the number of jobs", s.Jobs)
	case s.Slots < 1:
		return wrong("the number of slots", s.Slots)
	case !(s.Load > 0 && s.Load <= 1000):
		return wrong("the load", s.Load)
	case len(m.Classes) == 0:
		return wrong("the number of classes", 0)
	}
	sum := 0.0
	for i := range m.Classes {
		c := &m.Classes[i]
		if !(c.Share >= 0 && c.Tasks >= 1 && c.Tasks <= maxTasks && c.Seconds > 0 && c.Seconds <= 1e6 &&
			c.Variation >= 0 && c.Variation <= 0.5) {
			return wrong("a class", *c)
		}
		sum += c.Share
	}
	if math.Abs(sum-1) > 1e-6 {
		return wrong("the sum of shares", sum)
	}
	return nil
}

// pick is the class of a number from 0 to below 1.
func pick(m *Mix, u float64) *Class {
	for i := range m.Classes {
		if u -= m.Classes[i].Share; u < 0 {
			return &m.Classes[i]
		}
	}
	return &m.Classes[len(m.Classes)-1]
}

// exponential draws with mean 1.
func exponential(r *agent.Random) float64 { return -math.Log(1 - r.Unit()) }

// fill draws the runtimes of a job, and is their sum in seconds.
func fill(w *agents.Workload, j *agents.Job, c *Class, r *agent.Random) float64 {
	mean := c.Seconds * (0.75 + float64(0.5*r.Unit()))
	reach := c.Variation * math.Sqrt(3) // of a uniform distribution
	var sum time.Duration
	for t := j.First; t < j.First+j.Tasks; t++ {
		d := micros(mean)
		if reach > 0 {
			d = micros(mean * (1 + float64(reach*(float64(2*r.Unit())-1))))
		}
		w.Runtimes[t] = d
		sum += d
	}
	j.Mean = sum / time.Duration(j.Tasks)
	return sum.Seconds()
}

func micros(seconds float64) time.Duration {
	return time.Duration(math.Round(seconds*1e6)) * time.Microsecond
}

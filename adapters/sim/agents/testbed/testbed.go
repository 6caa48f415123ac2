// Package testbed makes the workloads of Kairos's testbed (Delgado et al., SoCC 2018, §5.2 and Table 1): jobs of maps
// and reduces on 30 nodes of four cores.
package testbed

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/agents"
	"github.com/hedgesched/hedge/sched/agent"
)

// ErrMix is wrapped by errors about a mix of jobs that cannot be drawn, and about results of another workload.
var ErrMix = errors.New("bad mix of jobs")

// The testbed: 120 cores.
const (
	Nodes = 30
	Cores = 4
)

// maxTasks bounds the jobs of a mix by their tasks.
const maxTasks = 10_000_000

// Category is a kind of job: the reduces start when all maps have ended.
type Category struct {
	Maps, Reduces int32
	// Alone is what the job takes on the idle testbed.
	Alone time.Duration
}

// Categories are those of Table 1, from small to long.
func Categories() [5]Category {
	return [5]Category{
		{15, 15, 85 * time.Second},
		{15, 15, 201 * time.Second},
		{30, 30, 239 * time.Second},
		{112, 60, 308 * time.Second},
		{224, 60, 1175 * time.Second},
	}
}

// Task is what each task of the category takes: the paper states the whole job's time only, which is divided equally
// over the waves of maps and of reduces that 120 cores make.
func (c *Category) Task() time.Duration {
	waves := func(tasks int32) int32 { return (tasks + Nodes*Cores - 1) / (Nodes * Cores) }
	return c.Alone / time.Duration(waves(c.Maps)+waves(c.Reduces))
}

// Mix is how many jobs of each category there are, and how they come.
type Mix struct {
	// Categories are Table 1's as a rule. A job has at least one map and one reduce, and takes no time below 0.
	Categories [5]Category
	// Counts are by category, each at least 0; their tasks are at most 10,000,000 together.
	Counts [5]int
	// Gap is the mean time between two jobs, from 0 to an hour; arrivals are a Poisson process.
	Gap time.Duration
	// Cutoff divides the categories that Big-C takes as short from the long ones, by the time of a task.
	Cutoff time.Duration
	// ShortShare is the percentage of the cluster that Big-C gives to the short ones.
	ShortShare float64
}

// HeavyTailed is the paper's first workload; categories 1 to 3 are short.
func HeavyTailed() Mix {
	return Mix{Categories: Categories(), Counts: [5]int{32, 31, 31, 4, 2}, ShortShare: 95, Gap: time.Minute,
		Cutoff: 130 * time.Second}
}

// Fewer is the first workload with 60 maps in category 5. The paper's text has blocks of 1 GB there, of which 60 GB are
// 60; Table 1 has 224, which is what blocks of 256 MB would make.
func Fewer() Mix {
	m := HeavyTailed()
	m.Categories[4].Maps = 60
	return m
}

// Uniform is the paper's second workload; categories 1 and 2 are short.
func Uniform() Mix {
	return Mix{Categories: Categories(), Counts: [5]int{35, 35, 30}, ShortShare: 70, Gap: 30 * time.Second,
		Cutoff: 110 * time.Second}
}

// Workload is a mix that was drawn. Each job is two of the simulator's, its maps and its reduces.
type Workload struct {
	agents.Workload
	// Categories are the jobs', from 0 to 4, in order of submission.
	Categories []int
	mix        Mix
}

// Draw draws the order of the jobs and the times between them; the first comes at 0. Equal seeds make equal workloads.
// A mix outside its bounds is an [ErrMix].
func (m *Mix) Draw(seed uint64) (*Workload, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	w := Workload{mix: *m}
	for category, n := range m.Counts {
		for range n {
			w.Categories = append(w.Categories, category)
		}
	}
	random := agent.NewRandom(seed, -1)
	at := time.Duration(0)
	for i := range w.Categories {
		j := i + random.Below(len(w.Categories)-i)
		w.Categories[i], w.Categories[j] = w.Categories[j], w.Categories[i]
		c := m.Categories[w.Categories[i]]
		w.add(agents.Job{Submit: at, Tasks: c.Maps}, c.Task())
		w.add(agents.Job{Submit: at, Tasks: c.Reduces, Phase: 1}, c.Task())
		// Whole milliseconds, so that a machine with another logarithm draws the same.
		gap := -math.Log(1-random.Unit()) * float64(m.Gap/time.Millisecond)
		at += time.Duration(math.Round(gap)) * time.Millisecond
	}
	return &w, nil
}

func (m *Mix) check() error {
	total := 0
	for i, c := range m.Categories {
		n := m.Counts[i]
		if n < 0 || n > maxTasks {
			return fmt.Errorf("%w: found %d jobs of category %d, expected 0 to %d", ErrMix, n, i+1, maxTasks)
		}
		fits := c.Maps >= 1 && c.Reduces >= 1 && c.Alone >= 0 && c.Maps <= maxTasks && c.Reduces <= maxTasks
		if n > 0 && !fits {
			return fmt.Errorf("%w: found %d maps, %d reduces and %v in category %d, expected 1 to %d, and no time below 0",
				ErrMix, c.Maps, c.Reduces, c.Alone, i+1, maxTasks)
		}
		total += n * (int(c.Maps) + int(c.Reduces))
	}
	if total < 1 || total > maxTasks {
		return fmt.Errorf("%w: found %d tasks, expected 1 to %d", ErrMix, total, maxTasks)
	}
	if m.Gap < 0 || m.Gap > time.Hour {
		return fmt.Errorf("%w: found a job every %v, expected 0 to an hour", ErrMix, m.Gap)
	}
	return nil
}

func (w *Workload) add(j agents.Job, task time.Duration) {
	j.Mean, j.First = task, int32(len(w.Runtimes))
	w.Jobs = append(w.Jobs, j)
	for range j.Tasks {
		w.Runtimes = append(w.Runtimes, task)
	}
}

// Job is what became of a job.
type Job struct {
	// Category is from 0 to 4.
	Category int
	// Completion is from the submission of the maps to the end of the last reduce.
	Completion time.Duration
	// Slowdown is Completion over what the job takes alone.
	Slowdown float64
}

// Outcome is what became of each job in a run of the workload, in order of submission.
func (w *Workload) Outcome(r *agents.Result) ([]Job, error) {
	if len(r.Jobs) != 2*len(w.Categories) {
		return nil, fmt.Errorf("%w: found results of %d phases, expected %d", ErrMix, len(r.Jobs), 2*len(w.Categories))
	}
	jobs := make([]Job, len(w.Categories))
	for i, category := range w.Categories {
		took := r.Jobs[2*i+1].End - r.Jobs[2*i].Submit
		jobs[i] = Job{category, took, took.Seconds() / w.mix.Categories[category].Alone.Seconds()}
	}
	return jobs, nil
}

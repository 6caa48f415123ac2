package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/agents"
	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/adapters/sim/trace/sample"
	"github.com/hedgesched/hedge/predict"
)

// draw is jobs of two stages, each stage a job of the workload, and what is known when the first one comes.
type draw struct {
	agents.Workload
	past []predict.Observation
}

// history is a history of its own that has learnt from the past.
func (d *draw) history() (predict.Predictor, error) {
	var features []predict.Feature
	for _, name := range []string{"logical_name", "name", "user", "cpu", "memory"} {
		f, err := predict.ParseFeature(name)
		if err != nil {
			return nil, err
		}
		features = append(features, f)
	}
	h, err := predict.NewHistory(&predict.HistoryOptions{Features: features, Blend: 1})
	if err != nil {
		return nil, err
	}
	for _, o := range d.past {
		if err := h.Observe(o); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// widest is the most tasks that a stage has here.
const widest = 100

// draw draws jobs of the log's second half.
func (o *options) draw() (*draw, error) {
	log, err := o.read()
	if err != nil {
		return nil, err
	}
	d := new(draw)
	half := len(log.Jobs) / 2
	for i := range log.Jobs[:half] {
		j := &log.Jobs[i]
		d.past = append(d.past, predict.Observation{Job: predict.Job{Attributes: j.Attributes},
			Runtime: j.Runtime.Seconds() / o.speed})
	}
	random := rand.New(rand.NewPCG(o.seed, 0))
	wide, thin := pairs(log.Jobs[half:])
	chosen := slices.Concat(some(random, wide, o.jobs/2), some(random, thin, o.jobs-o.jobs/2))
	if len(chosen) < o.jobs {
		return nil, fmt.Errorf("the log has %d such jobs, of %d", len(chosen), o.jobs)
	}
	random.Shuffle(len(chosen), func(i, k int) { chosen[i], chosen[k] = chosen[k], chosen[i] })
	for _, stages := range chosen {
		for phase, j := range stages {
			d.add(j, int32(phase), o.speed, random)
		}
	}
	work := time.Duration(0)
	for _, r := range d.Runtimes {
		work += r
	}
	now, gap := time.Duration(0), float64(work)/(workers*slots*o.load*float64(len(chosen)))
	for i := 0; i < len(d.Jobs); i += 2 {
		d.Jobs[i].Submit = now
		now += time.Duration(random.ExpFloat64() * gap)
	}
	return d, nil
}

// read reads the log.
func (o *options) read() (*trace.Log, error) {
	if o.log != "" {
		return trace.ReadAll(o.log, &trace.Options{})
	}
	r, err := sample.Open()
	if err != nil {
		return nil, err
	}
	return trace.Collect(r)
}

// pairs are jobs of equal user and name that follow each other, those with a wide job apart.
func pairs(jobs []trace.Job) (wide, thin [][]*trace.Job) {
	first := map[[2]string]*trace.Job{}
	for i := range jobs {
		j := &jobs[i]
		of := [2]string{j.Attributes["user"], j.Attributes["name"]}
		before := first[of]
		switch {
		case j.Tasks > widest:
		case before == nil:
			first[of] = j
		default:
			delete(first, of)
			pair := []*trace.Job{before, j}
			if before.Tasks >= 3 || j.Tasks >= 3 {
				wide = append(wide, pair)
			} else {
				thin = append(thin, pair)
			}
		}
	}
	return wide, thin
}

// some draws n of the list.
func some(random *rand.Rand, list [][]*trace.Job, n int) [][]*trace.Job {
	var drawn [][]*trace.Job
	for _, i := range random.Perm(len(list))[:min(n, len(list))] {
		drawn = append(drawn, list[i])
	}
	return drawn
}

// add appends a stage. Where the log has no durations of tasks, as the built-in one has none, they are drawn: up to
// 30 % more or less than the job's runtime.
func (d *draw) add(j *trace.Job, phase int32, speed float64, random *rand.Rand) {
	d.Attributes = append(d.Attributes, j.Attributes)
	d.Jobs = append(d.Jobs, agents.Job{Mean: time.Duration(float64(j.Runtime) / speed), First: int32(len(d.Runtimes)),
		Tasks: int32(j.Tasks), Phase: phase})
	for i := range j.Tasks {
		runtime := float64(j.Runtime) * (0.7 + float64(0.6*random.Float64()))
		if len(j.TaskRuntimes) == j.Tasks {
			runtime = float64(j.TaskRuntimes[i])
		}
		d.Runtimes = append(d.Runtimes, time.Duration(runtime/speed))
	}
}

// Command orchestrator is a toy that really runs processes: hedge decides which start, which
// wait and which are killed to make room, and are started again later. It ends by itself after seven seconds.
//
// Three slots of this machine are the nodes. Three batch jobs take them; then a report arrives that needs
// two and has a deadline the batch jobs would make it miss, and an archive that needs all three but has time.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/threesigma"
	"github.com/hedgesched/hedge/utility"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	err := run(ctx, os.Stdout)
	cancel()
	if err != nil {
		log.Fatal(err)
	}
}

// request is a job to submit at a time. Its tasks sleep for a number of seconds.
type request struct {
	at       time.Duration
	id       string
	tasks    int
	deadline time.Duration
	seconds  string
}

// requests are in order of time.
func requests() []request {
	return []request{
		{0, "batch-1", 1, 0, "4"}, {0, "batch-2", 1, 0, "4"}, {0, "batch-3", 1, 0, "4"},
		{time.Second, "report", 2, 3 * time.Second, "0.5"},
		{1200 * time.Millisecond, "archive", 3, 15 * time.Second, "1"},
	}
}

// run submits the jobs, lets hedge schedule them, and returns when all have finished.
func run(ctx context.Context, out io.Writer) error {
	history, err := trained()
	if err != nil {
		return err
	}
	policy, err := threesigma.New(threesigma.Config{Slot: 500 * time.Millisecond, Window: 10 * time.Second})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	story := newStory(out, history)
	machine := newMachine(ctx, story, 3)
	defer machine.wait()
	defer cancel()
	loop, err := sched.NewLoop(machine, policy, history, sched.WithCycle(250*time.Millisecond))
	if err != nil {
		return err
	}
	machine.changed = loop.Wake
	done := make(chan error, 1)
	go func() {
		done <- drive(ctx, machine, requests())
		cancel()
	}()
	if err := loop.Run(ctx); err != nil {
		return err
	}
	if err := <-done; err != nil {
		return err
	}
	machine.wait()
	story.picture(machine.slots)
	return nil
}

// drive submits the requests at their times and waits until all have finished.
func drive(ctx context.Context, m *machine, requests []request) error {
	for _, r := range requests {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Until(m.story.began.Add(r.at))):
		}
		job, err := r.job()
		if err != nil {
			return err
		}
		m.submit(job, r.seconds)
	}
	if n := m.finished(len(requests)); n < len(requests) {
		return fmt.Errorf("stopped when %d of %d jobs had finished", n, len(requests))
	}
	return nil
}

// job says what a request is worth: a step at the deadline, or a slow decay for jobs without one.
func (r *request) job() (*sched.Job, error) {
	job := &sched.Job{ID: r.id, Tasks: r.tasks, Attributes: attributes(r.id), Deadline: r.deadline, Submitted: time.Now()}
	var err error
	if r.deadline > 0 {
		job.Priority = 1
		job.Utility, err = utility.Deadline(r.deadline, 100)
	} else {
		job.Utility, err = utility.BestEffort(5, time.Minute)
	}
	return job, err
}

// trained is a history of what these jobs took before, in seconds.
func trained() (*predict.History, error) {
	h, err := predict.NewHistory(nil)
	if err != nil {
		return nil, err
	}
	for _, past := range []struct {
		name    string
		seconds []float64
	}{
		{"batch", []float64{3.8, 4.0, 4.3}}, {"report", []float64{0.4, 0.5, 0.7}}, {"archive", []float64{0.9, 1.0, 1.1}},
	} {
		for _, t := range past.seconds {
			if err := h.Observe(
				predict.Observation{Job: predict.Job{Attributes: attributes(past.name)}, Runtime: t}); err != nil {
				return nil, err
			}
		}
	}
	return h, nil
}

// attributes are what the predictor knows a job by: "batch-1" is a run of "batch".
func attributes(id string) map[string]string {
	name, _, _ := strings.Cut(id, "-")
	return map[string]string{"name": name}
}

package sched_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/backfill"
	"github.com/hedgesched/hedge/sched/schedtest"
)

// shift is a scheduler from its start to its end, on a cluster of two nodes.
type shift struct {
	cluster *schedtest.Cluster
	history *predict.History
	loop    *sched.Loop
}

func begin(now float64) (*shift, error) {
	s := &shift{cluster: schedtest.NewCluster(schedtest.At(now), schedtest.Nodes(2, 1))}
	var err error
	if s.history, err = predict.NewHistory(nil); err == nil {
		s.loop, err = sched.NewLoop(s.cluster, backfill.NewConservative(backfill.Forecast()), s.history)
	}
	return s, err
}

// cycle plans, and prints what is decided.
func (s *shift) cycle(now float64) {
	s.cluster.Advance(schedtest.At(now))
	cycle, err := s.loop.Step(context.Background(), schedtest.At(now))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range cycle.Plan.Decisions {
		if d.Kind == sched.Start {
			fmt.Printf("%s starts\n", d.Job)
			continue
		}
		fmt.Printf("%s will start at %v\n", d.Job, d.Start.Sub(schedtest.At(0)))
	}
}

// training is a job of a user whose jobs take 15 minutes.
func training(id string) *sched.Job {
	j := schedtest.Job(id, 2).Job()
	j.Attributes = map[string]string{"user": "ann"}
	return j
}

// A loop keeps nothing on disk. After a restart the cluster tells a new one about nodes, about jobs that wait and about
// jobs that run, with the time of their start; the host loads the history. So forecasts and plans are as before. What
// was decided is kept by the cluster: what runs goes on. A planned start is no promise that is kept anywhere. It is
// worked out again from the same facts, so it stays the same, unless the policy remembers earlier cycles, as 3Sigma
// does where plans are equally good. What an outlook.Estimator has learnt is lost, and so is what 3Sigma has learnt
// about the probabilities that it tells.
func Example_restart() {
	before, err := begin(0)
	if err != nil {
		fmt.Println(err)
		return
	}
	before.cluster.Submit(training("first"), 900)
	before.cycle(0)
	before.cluster.Submit(training("second"), 900)
	before.cycle(900) // the first has ended, and the history has learnt from it
	before.cluster.Submit(training("third"), 900)
	before.cycle(960)
	var saved bytes.Buffer
	if err := before.history.Save(&saved); err != nil {
		fmt.Println(err)
		return
	}

	fmt.Println("a new process")
	after, err := begin(1000)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := after.history.Load(&saved); err != nil {
		fmt.Println(err)
		return
	}
	second, third := training("second"), training("third")
	for _, e := range []sched.Event{
		{Kind: sched.Submitted, ID: second.ID, Job: second},
		{Kind: sched.Started, ID: second.ID, Time: schedtest.At(900),
			Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}, {Node: "n1", Tasks: 1}}},
		{Kind: sched.Submitted, ID: third.ID, Job: third},
	} {
		after.cluster.Tell(e)
	}
	after.cycle(1020)
	// Output:
	// first starts
	// second starts
	// third will start at 30m0s
	// a new process
	// third will start at 30m0s
}

// TestRestartWithoutHistory: without its history a new loop does not know when what runs will end.
func TestRestartWithoutHistory(t *testing.T) {
	after, err := begin(1000)
	assert.NoError(t, err)
	job := training("second")
	after.cluster.Tell(sched.Event{Kind: sched.Submitted, ID: job.ID, Job: job})
	after.cluster.Tell(sched.Event{Kind: sched.Started, ID: job.ID, Time: schedtest.At(900),
		Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}, {Node: "n1", Tasks: 1}}})
	third := training("third")
	after.cluster.Tell(sched.Event{Kind: sched.Submitted, ID: third.ID, Job: third})
	cycle, err := after.loop.Step(context.Background(), schedtest.At(1020))
	assert.NoError(t, err)
	assert.Len(t, cycle.Plan.Decisions, 1)
	assert.NotEqual(t, 30*time.Minute, cycle.Plan.Decisions[0].Start.Sub(schedtest.At(0)))
}

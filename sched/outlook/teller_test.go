package outlook_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/outlook"
	"github.com/hedgesched/hedge/sched/schedtest"
)

// queue is one node that is held for a while, a job that waits for it, and one that no node can hold.
func queue(held, now float64) (*sched.Snapshot, error) {
	s, err := schedtest.Snapshot(schedtest.Nodes(1, 1)).Now(now).Running(schedtest.Job("run", 1).Runs(held), 0, "n0").
		Pending(schedtest.Job("a", 1).Submitted(1).Runs(30), schedtest.Job("wide", 2).Submitted(2).Runs(30)).Build()
	if err != nil {
		return nil, err
	}
	s.Cycle = 10 * time.Second
	return s, nil
}

// ExampleTeller shows a job's estimate in words.
func ExampleTeller() {
	teller, err := outlook.NewTeller(baseline.NewSJF(), outlook.Config{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	s, err := queue(3600, 600)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := teller.Plan(context.Background(), s); err != nil { // sched.Loop does this
		log.Fatal(err)
	}
	fmt.Println(teller.Tell("a"))
	// Output:
	// expected to start about 01:00 UTC (80% sure: 00:45 to 01:20)
}

// TestTellerSaysTheSame until what it has said is wrong.
func TestTellerSaysTheSame(t *testing.T) {
	teller, err := outlook.NewTeller(baseline.NewSJF(), outlook.Config{Seed: 1})
	require.NoError(t, err)
	tell := func(held, now float64) string {
		s, err := queue(held, now)
		require.NoError(t, err)
		_, err = teller.Plan(t.Context(), s)
		require.NoError(t, err)
		require.Len(t, teller.Told(), 2)
		return teller.Tell("a")
	}
	assert.Empty(t, teller.Tell("a"), "nothing was planned yet")
	first := tell(3600, 600)
	require.Contains(t, first, "about 01:00 UTC")
	assert.Empty(t, teller.Tell("wide"), "it never starts")
	assert.Empty(t, teller.Tell("run"), "it does not wait")
	for now := 610.0; now < 3000; now += 300 {
		assert.Equal(t, first, tell(3600, now), "nothing has changed")
	}
	assert.Equal(t, first, tell(3700, 3010), "the start is still within the interval")
	later := tell(9000, 3020)
	assert.Contains(t, later, "about 02:30 UTC")
	s, err := queue(9000, 9010)
	require.NoError(t, err)
	s.Running, s.Free = nil, s.Nodes.Capacity()
	_, err = teller.Plan(t.Context(), s)
	require.NoError(t, err)
	assert.Empty(t, teller.Tell("a"), "it starts")
}

// failing is a policy that has no plan.
type failing struct{ sched.Policy }

func (failing) Plan(context.Context, *sched.Snapshot) (*sched.Plan, error) { return nil, errFails }

var errFails = errors.New("it fails")

// TestTellerPlansAsThePolicyDoes: its name, its plans and its errors are the policy's.
func TestTellerPlansAsThePolicyDoes(t *testing.T) {
	schedtest.RunPolicy(t, func() sched.Policy {
		teller, err := outlook.NewTeller(baseline.NewEDF(), outlook.Config{})
		require.NoError(t, err)
		return teller
	})
	_, err := outlook.NewTeller(baseline.NewEDF(), outlook.Config{Worlds: 1})
	require.ErrorIs(t, err, outlook.ErrConfig)
	teller, err := outlook.NewTeller(failing{baseline.NewEDF()}, outlook.Config{})
	require.NoError(t, err)
	assert.Equal(t, baseline.NewEDF().Name(), teller.Name())
	s, err := queue(100, 10)
	require.NoError(t, err)
	_, err = teller.Plan(t.Context(), s)
	require.ErrorIs(t, err, errFails)
	assert.Nil(t, teller.Told())
}

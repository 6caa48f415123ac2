package main

import (
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
	"github.com/stretchr/testify/assert"

	"github.com/hedgesched/hedge/examples/internal/demo"
)

func at(seconds int64) time.Time { return time.Unix(seconds, 0) }

// alloc is an allocation of a version that was placed at one time, ran from another, and ended by itself at a third; 0
// where it did not come to that.
func alloc(version uint64, placed, started, ended int64) *api.AllocationListStub {
	s := &api.TaskState{State: "running"}
	if started > 0 {
		s.StartedAt = at(started)
		s.Events = append(s.Events, &api.TaskEvent{Type: api.TaskStarted})
	}
	a := &api.AllocationListStub{JobID: "a", JobVersion: version, CreateTime: at(placed).UnixNano(),
		DesiredStatus: api.AllocDesiredStatusRun,
		ClientStatus:  api.AllocClientStatusRunning, TaskStates: map[string]*api.TaskState{"main": s}}
	if ended > 0 {
		s.State, s.FinishedAt, a.ClientStatus = "dead", at(ended), api.AllocClientStatusComplete
		s.Events = append(s.Events, &api.TaskEvent{Type: api.TaskTerminated})
	}
	return a
}

// killed is one that was told to stop, and has.
func killed(version uint64, placed, started, ended int64) *api.AllocationListStub {
	a := alloc(version, placed, started, ended)
	a.DesiredStatus = api.AllocDesiredStatusEvict
	s := a.TaskStates["main"]
	s.Events = []*api.TaskEvent{{Type: api.TaskStarted}, {Type: api.TaskKilling}, {Type: api.TaskTerminated}}
	return a
}

func TestOutcome(t *testing.T) {
	for _, tt := range []struct {
		name  string
		tasks int
		list  []*api.AllocationListStub
		want  demo.Outcome
	}{
		{"placed", 1, []*api.AllocationListStub{alloc(0, 5, 0, 0)}, demo.Outcome{Placed: at(5)}},
		{"one of two has no place", 2, []*api.AllocationListStub{alloc(0, 5, 6, 9)}, demo.Outcome{}},
		{"one of two has ended", 2, []*api.AllocationListStub{alloc(0, 5, 6, 9), alloc(0, 6, 8, 0)},
			demo.Outcome{Placed: at(6), Started: at(8)}},
		{"both have ended", 2, []*api.AllocationListStub{alloc(0, 5, 6, 9), alloc(0, 6, 8, 7)},
			demo.Outcome{Placed: at(6), Started: at(8), Finished: at(9)}},
		{"stopped and started again", 2,
			[]*api.AllocationListStub{killed(1, 1, 2, 3), killed(1, 1, 2, 3), alloc(3, 5, 6, 9), alloc(3, 5, 7, 8)},
			demo.Outcome{Placed: at(5), Started: at(7), Finished: at(9), Stops: 1}},
		{"preempted by Nomad", 1, []*api.AllocationListStub{killed(0, 1, 2, 3), alloc(0, 5, 6, 9)},
			demo.Outcome{Placed: at(5), Started: at(6), Finished: at(9), Stops: 1}},
	} {
		assert.Equal(t, tt.want, outcome(tt.list, tt.tasks), tt.name)
	}
}

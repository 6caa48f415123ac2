package schedtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
)

// verdict stands in for a test that may fail.
type verdict struct {
	testing.TB
	failed string
}

func (v *verdict) Errorf(format string, args ...any) {
	v.failed += fmt.Sprintf(format, args...)
}

func (v *verdict) FailNow() { runtime.Goexit() }

func (*verdict) Helper() {}

// failure is what the check for valid plans says of a policy; nothing if it passes.
func failure(t *testing.T, p sched.Policy) string {
	v := &verdict{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		validPlans(v, func() sched.Policy { return p })
	}()
	<-done
	return v.failed
}

// meddler plans as FIFO does, and then does something it must not.
type meddler struct {
	sched.Policy
	meddle func(*sched.Snapshot, *sched.Plan)
}

func (m meddler) Plan(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	p, err := m.Policy.Plan(ctx, s)
	if err == nil && len(s.Pending) > 0 && len(s.Running) > 0 {
		m.meddle(s, p)
	}
	return p, err
}

// TestValidPlansFindsMeddling makes sure that the suite fails policies that change what they are shown.
func TestValidPlansFindsMeddling(t *testing.T) {
	require.Empty(t, failure(t, baseline.NewFIFO()))
	for name, meddle := range map[string]func(*sched.Snapshot, *sched.Plan){
		"attributes": func(s *sched.Snapshot, _ *sched.Plan) {
			s.Pending[0].Job.Attributes = map[string]string{"seen": "yes"}
		},
		"utility": func(s *sched.Snapshot, _ *sched.Plan) {
			s.Pending[0].Job.Utility = s.Running[0].Job.Utility
			s.Running[0].Job.Utility = nil
		},
		"demand":      func(s *sched.Snapshot, _ *sched.Plan) { s.Running[0].Job.Demand = sched.Resources{"node": 9} },
		"priority":    func(s *sched.Snapshot, _ *sched.Plan) { s.Pending[0].Job.Priority++ },
		"prediction":  func(s *sched.Snapshot, _ *sched.Plan) { s.Running[0].Prediction.Point++ },
		"placement":   func(s *sched.Snapshot, _ *sched.Plan) { s.Running[0].Nodes[0].Tasks++ },
		"free":        func(s *sched.Snapshot, _ *sched.Plan) { s.Free[0]-- },
		"node labels": func(s *sched.Snapshot, _ *sched.Plan) { s.Nodes.Node(0).Labels["rack"] = "elsewhere" },
		"order":       func(s *sched.Snapshot, _ *sched.Plan) { s.Pending[0].Job.ID += "x" },
	} {
		assert.Contains(t, failure(t, meddler{baseline.NewFIFO(), meddle}), "the policy changed the snapshot", name)
	}
	lost := func(_ *sched.Snapshot, p *sched.Plan) { p.Decisions, p.Rest = nil, sched.Reason{} }
	assert.NotEmpty(t, failure(t, meddler{baseline.NewFIFO(), lost}), "jobs without a reason")
	twice := func(_ *sched.Snapshot, p *sched.Plan) { p.Decisions = append(p.Decisions, p.Decisions...) }
	assert.Contains(t, failure(t, meddler{baseline.NewFIFO(), twice}), "two decisions for job")
}

// Two snapshots of one seed are the same and share no memory that a policy could reach.
func TestRandomIsRepeatable(t *testing.T) {
	a, err := Random(rand.New(rand.NewPCG(4, 1)))
	require.NoError(t, err)
	b, err := Random(rand.New(rand.NewPCG(4, 1)))
	require.NoError(t, err)
	require.Equal(t, a, b)
	assert.NotSame(t, a.Nodes, b.Nodes)
	assert.NotSame(t, a.Pending[0].Job, b.Pending[0].Job)
}

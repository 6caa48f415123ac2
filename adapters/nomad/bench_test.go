package nomad_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/nomad"
	"github.com/hedgesched/hedge/sched"
)

// BenchmarkStart compares starts of single tasks by the driver with plain registrations of similar jobs by the client,
// which is the least that any scheduler must do. The two take turns on one server, so that both meet the same load. The
// tasks are for a node that takes none, so only the server works. An operation is one of each, and one more start that
// runs concurrently with others, 16 at a time.
func BenchmarkStart(b *testing.B) {
	r := theRig(b)
	s := &starts{b: b, rig: r, node: r.ready(b, "n0")}
	_, err := r.client.Nodes().ToggleEligibility(s.node, false, nil)
	require.NoError(b, err)
	b.Cleanup(func() {
		_, err := r.client.Nodes().ToggleEligibility(s.node, true, nil)
		require.NoError(b, err)
	})
	config, o := &api.Config{Address: r.URL()}, nomad.Options{LeasePath: "hedge/bench", CheckLease: time.Second}
	lease, err := nomad.NewLease(config, o, time.Hour)
	require.NoError(b, err)
	term, err := lease.Acquire(context.Background())
	require.NoError(b, err)
	defer func() { require.NoError(b, lease.Release(context.Background(), term)) }()
	s.epoch = term.Epoch
	s.driver, err = nomad.New(config, o)
	require.NoError(b, err)
	defer s.driver.Close()
	const turn = 20
	var plain, hedge, many time.Duration
	b.ResetTimer()
	for left := b.N; left > 0; left -= turn {
		n := min(left, turn)
		plain += s.plain(n)
		hedge += s.hedge(n, 1)
		many += s.hedge(n, 16)
	}
	b.ReportMetric(float64(b.N)/plain.Seconds(), "registers/s")
	b.ReportMetric(float64(b.N)/hedge.Seconds(), "starts/s")
	b.ReportMetric(100*plain.Seconds()/hedge.Seconds(), "%-of-plain")
	b.ReportMetric(float64(b.N)/many.Seconds(), "starts/s-16-at-a-time")
}

// starts are the two ways of starting jobs.
type starts struct {
	b *testing.B
	*rig
	node   string
	driver *nomad.Driver
	epoch  uint64
	made   int
}

// names are names of jobs that never existed.
func (s *starts) names(n int) []string {
	out := make([]string, n)
	for i := range out {
		s.made++
		out[i] = fmt.Sprintf("bench-%d", s.made)
	}
	return out
}

func (s *starts) purge(names []string) {
	for _, name := range names {
		_, _, err := s.client.Jobs().Deregister(name, true, nil)
		require.NoError(s.b, err)
	}
}

// settle waits until the server has finished the work before.
func (s *starts) settle() {
	wait(s.b, "no evaluation is pending", func() bool {
		left, _, err := s.client.Evaluations().List(&api.QueryOptions{Filter: `Status == "pending"`})
		return err == nil && len(left) == 0
	})
}

// plain registers n jobs that are bound to the node.
func (s *starts) plain(n int) time.Duration {
	names := s.names(n)
	defer s.purge(names)
	s.settle()
	begin := time.Now()
	for _, name := range names {
		j := sleeper(name)
		j.TaskGroups[0].Count = ptr(1)
		j.TaskGroups[0].Constrain(api.NewConstraint("${node.unique.id}", "=", s.node))
		_, _, err := s.client.Jobs().Register(j, nil)
		require.NoError(s.b, err)
	}
	return time.Since(begin)
}

// hedge lets the driver start n held jobs of one task on the node, with that number of concurrent calls.
func (s *starts) hedge(n, parallel int) time.Duration {
	names := s.names(n)
	defer s.purge(names)
	for _, name := range names {
		j := sleeper(name)
		j.Meta[nomad.KeyTasks] = "1"
		s.register(s.b, j)
	}
	v, err := s.driver.Observe(context.Background(), true)
	require.NoError(s.b, err)
	require.Len(s.b, v.Jobs, n)
	s.settle()
	begin := time.Now()
	errs := make([]error, n)
	slots := make(chan struct{}, parallel)
	var all sync.WaitGroup
	for i := range v.Jobs {
		slots <- struct{}{}
		all.Go(func() {
			errs[i] = s.driver.Start(context.Background(),
				&adapters.Start{Job: &v.Jobs[i], Epoch: s.epoch, Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}}})
			<-slots
		})
	}
	all.Wait()
	took := time.Since(begin)
	require.NoError(s.b, errors.Join(errs...))
	return took
}

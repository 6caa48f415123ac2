package nomad_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/hashicorp/nomad/api"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/nomad"
	"github.com/hedgesched/hedge/sched"
)

// BenchmarkStart is starts of single tasks by the driver, beside plain registrations of jobs of the same kind by the client: as little as any scheduler
// could do. The tasks are for a node that takes none, so that only the server works.
func BenchmarkStart(b *testing.B) {
	r := theRig(b)
	id := r.ready(b, "n0")
	_, err := r.client.Nodes().ToggleEligibility(id, false, nil)
	require.NoError(b, err)
	b.Cleanup(func() {
		_, err := r.client.Nodes().ToggleEligibility(id, true, nil)
		require.NoError(b, err)
	})
	d, err := nomad.New(&api.Config{Address: r.URL()}, nomad.Options{LeasePath: "hedge/bench"})
	require.NoError(b, err)
	defer d.Close()
	round := 0
	fresh := func(b *testing.B) []string {
		round++
		var names []string
		for i := range b.N {
			j := sleeper(fmt.Sprintf("bench-%d-%d", round, i))
			j.Meta[nomad.KeyTasks] = "1"
			names = append(names, *j.ID)
			r.register(b, j)
		}
		return names
	}
	purge := func(names []string) {
		for _, name := range names {
			_, _, err := r.client.Jobs().Deregister(name, true, nil)
			require.NoError(b, err)
		}
	}
	b.Run("register", func(b *testing.B) {
		names := fresh(b)
		b.ResetTimer()
		for _, name := range names {
			j := sleeper(name)
			j.TaskGroups[0].Count = ptr(1)
			j.TaskGroups[0].Constrain(api.NewConstraint("${node.unique.id}", "=", id))
			_, _, err := r.client.Jobs().Register(j, nil)
			require.NoError(b, err)
		}
		b.StopTimer()
		purge(names)
	})
	b.Run("hedge", func(b *testing.B) {
		names := fresh(b)
		v, err := d.Observe(context.Background(), true)
		require.NoError(b, err)
		b.ResetTimer()
		started := 0
		for i := range v.Jobs {
			if v.Jobs[i].Gone || v.Jobs[i].Attempt > 0 {
				continue
			}
			started++
			require.NoError(b, d.Start(context.Background(), &adapters.Start{Job: &v.Jobs[i], Epoch: 1, Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}}}))
		}
		b.StopTimer()
		require.Equal(b, b.N, started)
		purge(names)
	})
}

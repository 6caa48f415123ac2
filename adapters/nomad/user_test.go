package nomad_test

import (
	"context"
	"testing"

	"github.com/hashicorp/nomad/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/nomad"
	"github.com/hedgesched/hedge/sched"
)

// TestWhatUsersRead: a job whose task cannot start is over with a note, also for an instance that comes later. A user
// who has marked a job wrongly, or lets Nomad run it, is told.
func TestWhatUsersRead(t *testing.T) {
	r := theRig(t)
	ctx := context.Background()
	_, err := r.client.Nodes().ToggleEligibility(r.ready(t, "n0"), true, nil)
	require.NoError(t, err)
	ours := map[string]*api.Job{"broken": sleeper("broken"), "counted": sleeper("counted"), "yes": sleeper("yes")}
	ours["broken"].Meta[nomad.KeyRetries], ours["broken"].Meta[nomad.KeyTasks] = "0", "1"
	ours["broken"].TaskGroups[0].Tasks[0].SetConfig("command", "/no/such/program")
	ours["counted"].TaskGroups[0].Count = ptr(2)
	ours["yes"].Meta[nomad.KeyMark] = "yes"
	for _, j := range ours {
		r.register(t, j)
	}
	d, err := nomad.New(&api.Config{Address: r.URL()}, nomad.Options{})
	require.NoError(t, err)
	defer d.Close()
	told := map[string]adapters.Job{}
	look := func() {
		v, err := d.Observe(ctx, false)
		require.NoError(t, err)
		for _, j := range v.Jobs {
			told[j.Spec.ID] = j
		}
	}
	look()
	require.ErrorContains(t, told["default/counted"].Problem, "Nomad itself runs it")
	require.ErrorContains(t, told["default/yes"].Problem, `hedge = "yes"`)

	broken := told["default/broken"]
	require.NoError(t, broken.Problem)
	require.NoError(t, d.Start(ctx, &adapters.Start{Job: &broken, Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}}}))
	wait(t, "the job is over", func() bool { look(); return told["default/broken"].Over })
	note := func() string {
		v, _, err := r.client.Variables().Read(nomad.NotePath("broken"), nil)
		require.NoError(t, err)
		return v.Items["reason"]
	}
	assert.Contains(t, note(), "has failed 1 times")
	later, err := nomad.New(&api.Config{Address: r.URL()}, nomad.Options{})
	require.NoError(t, err)
	defer later.Close()
	_, err = later.Observe(ctx, true)
	require.NoError(t, err)
	assert.Contains(t, note(), "could not be found")
	for id := range ours {
		_, _, err = r.client.Jobs().Deregister(id, true, nil)
		require.NoError(t, err)
	}
	wait(t, "nothing runs", func() bool {
		list, _, err := r.client.Jobs().Allocations("counted", true, nil)
		for _, a := range list {
			if a.ClientStatus == api.AllocClientStatusRunning || a.ClientStatus == api.AllocClientStatusPending {
				return false
			}
		}
		return err == nil
	})
}

package nomad_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/nomad"
	"github.com/hedgesched/hedge/adapters/testservers"
	"github.com/hedgesched/hedge/sched"
)

// TestAccessControl does everything that hedge does, with a token of the policy in this package, and some things that
// the policy must not allow.
func TestAccessControl(t *testing.T) {
	need(t)
	servers, err := testservers.StartNomad(context.Background(),
		testservers.NomadConfig{Dir: t.TempDir(), ACL: true, Clients: []testservers.NomadClient{client("n0")}})
	require.NoError(t, err)
	defer servers.Stop()
	admin := admin(t, servers.URL())
	config := &api.Config{Address: servers.URL(), SecretID: token(t, admin)}

	lease, err := nomad.NewLease(config, nomad.Options{}, 0)
	require.NoError(t, err)
	ctx := context.Background()
	term, err := lease.Acquire(ctx)
	require.NoError(t, err)
	term, err = lease.Renew(ctx, term)
	require.NoError(t, err)

	job := sleeper("a")
	_, _, err = admin.Jobs().Register(job, nil)
	require.NoError(t, err)
	d, err := nomad.New(config, nomad.Options{})
	require.NoError(t, err)
	defer d.Close()
	j := live(t, ctx, d, term.Epoch)
	_, _, err = admin.Variables().Read(nomad.NotePath("a"), nil)
	require.ErrorIs(t, err, api.ErrVariablePathNotFound, "its start has taken the note away")
	require.NoError(t, d.Explain(ctx, &adapters.Note{Job: &j, Epoch: term.Epoch, Err: errors.New("for a test")}))
	v, _, err := admin.Variables().Read(nomad.NotePath("a"), nil)
	require.NoError(t, err)
	assert.Equal(t, "for a test", v.Items["reason"])
	_, _, err = admin.Jobs().Deregister("a", true, nil)
	require.NoError(t, err)
	later, err := nomad.New(config, nomad.Options{})
	require.NoError(t, err)
	defer later.Close()
	_, err = later.Observe(ctx, true)
	require.NoError(t, err)
	_, _, err = admin.Variables().Read(nomad.NotePath("a"), nil)
	require.ErrorIs(t, err, api.ErrVariablePathNotFound, "the note of a job that is gone is taken away")
	require.NoError(t, lease.Release(ctx, term))
	forbidden(t, config)
}

// TestPeriodic: runs of a periodic job are placed under its name. The job itself is left alone.
func TestPeriodic(t *testing.T) {
	r := theRig(t)
	ctx := context.Background()
	_, err := r.client.Nodes().ToggleEligibility(r.ready(t, "n0"), true, nil)
	require.NoError(t, err)
	nightly := sleeper("nightly")
	nightly.AddPeriodicConfig(&api.PeriodicConfig{Enabled: ptr(true), Spec: ptr("0 0 1 1 *"), SpecType: ptr("cron")})
	r.register(t, nightly)
	_, _, err = r.client.Jobs().PeriodicForce("nightly", nil)
	require.NoError(t, err)
	d, err := nomad.New(&api.Config{Address: r.URL()}, nomad.Options{})
	require.NoError(t, err)
	defer d.Close()
	j := live(t, ctx, d, 0)
	assert.Contains(t, j.Spec.ID, "default/nightly/periodic-")
	assert.Equal(t, "nightly", j.Spec.Attributes["name"])
	for _, id := range []string{strings.TrimPrefix(j.Spec.ID, "default/"), "nightly"} {
		_, _, err = r.client.Jobs().Deregister(id, true, nil)
		require.NoError(t, err)
	}
}

// live starts a job, waits for it, explains and stops it.
//
//nolint:revive // the test comes first
func live(t *testing.T, ctx context.Context, d *nomad.Driver, epoch uint64) adapters.Job {
	t.Helper()
	var j adapters.Job
	is := func(what string, holds func() bool) {
		t.Helper()
		wait(t, what, func() bool {
			v, err := d.Observe(ctx, false)
			require.NoError(t, err)
			for i := range v.Jobs {
				if !v.Jobs[i].Gone && !v.Jobs[i].Over {
					j = v.Jobs[i]
				}
			}
			return j.Spec != nil && holds()
		})
	}
	is("the job is told", func() bool { return true })
	require.NoError(t, j.Problem)
	require.NoError(t, d.Explain(ctx, &adapters.Note{Job: &j, Epoch: epoch, Err: errors.New("for a test")}))
	require.NoError(t,
		d.Start(ctx, &adapters.Start{Job: &j, Epoch: epoch, Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 2}}}))
	is("it runs", func() bool {
		return len(j.Tasks) == 2 && j.Tasks[0].State == adapters.Running && j.Tasks[1].State == adapters.Running
	})
	require.NoError(t, d.Stop(ctx, &adapters.Stop{Job: &j, Epoch: epoch, Cause: adapters.CausePreempted}))
	is("it has stopped", func() bool { return len(j.Tasks) == 0 })
	assert.Equal(t, 1, j.Attempt)
	assert.False(t, j.Over)
	return j
}

// sleeper is a held gang of two.
func sleeper(id string) *api.Job {
	j := api.NewBatchJob(id, id, "global", 50)
	j.Datacenters = []string{"*"}
	j.Meta = map[string]string{nomad.KeyMark: "true", nomad.KeyTasks: "2"}
	task := api.NewTask("main", "raw_exec").SetConfig("command", "/bin/sleep").SetConfig("args", []string{"100000"})
	task.KillTimeout = ptr(time.Second)
	return j.AddTaskGroup(
		api.NewTaskGroup("work", 0).AddTask(task.Require(&api.Resources{CPU: ptr(100), MemoryMB: ptr(16)})))
}

// admin bootstraps access control.
func admin(t *testing.T, url string) *api.Client {
	t.Helper()
	c, err := api.NewClient(&api.Config{Address: url})
	require.NoError(t, err)
	wait(t, "access control begins", func() bool {
		first, _, err := c.ACLTokens().Bootstrap(nil)
		if err == nil {
			c.SetSecretID(first.SecretID)
		}
		return err == nil
	})
	wait(t, "the node is ready", func() bool {
		nodes, _, err := c.Nodes().List(nil)
		return err == nil && len(nodes) == 1 && nodes[0].Status == api.NodeStatusReady &&
			nodes[0].Drivers["raw_exec"] != nil && nodes[0].Drivers["raw_exec"].Healthy
	})
	return c
}

// token makes a client with a token of the policy in this package.
func token(t *testing.T, admin *api.Client) string {
	t.Helper()
	rules, err := os.ReadFile("policy.hcl")
	require.NoError(t, err)
	_, err = admin.ACLPolicies().Upsert(&api.ACLPolicy{Name: "hedge", Rules: string(rules)}, nil)
	require.NoError(t, err)
	own, _, err := admin.ACLTokens().Create(&api.ACLToken{Name: "hedge", Type: "client", Policies: []string{"hedge"}}, nil)
	require.NoError(t, err)
	return own.SecretID
}

// forbidden tries what a token of the policy must not do.
func forbidden(t *testing.T, config *api.Config) {
	t.Helper()
	c, err := api.NewClient(config)
	require.NoError(t, err)
	secret := api.NewVariable("nomad/jobs/a")
	secret.Items = api.VariableItems{"k": "v"}
	_, _, err = c.Variables().Update(secret, nil)
	require.Error(t, err, "variables of others")
	nodes, _, err := c.Nodes().List(nil)
	require.NoError(t, err)
	_, err = c.Nodes().ToggleEligibility(nodes[0].ID, false, nil)
	require.Error(t, err, "nodes are read only")
	_, _, err = c.ACLTokens().List(nil)
	require.Error(t, err, "tokens")
	_, err = c.Namespaces().Register(&api.Namespace{Name: "x"}, nil)
	require.Error(t, err, "namespaces")

	wrong := *config
	wrong.SecretID = "00000000-0000-0000-0000-000000000000"
	d, err := nomad.New(&wrong, nomad.Options{})
	require.NoError(t, err)
	defer d.Close()
	_, err = d.Observe(context.Background(), true)
	require.ErrorIs(t, err, adapters.ErrUnavailable, "a token that is none")
	require.ErrorContains(t, err, "403")
}

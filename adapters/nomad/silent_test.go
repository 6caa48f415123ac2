package nomad_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/adaptertest"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
)

// signal sends a signal to a client's agent. What the agent runs goes on.
func (r *rig) signal(t testing.TB, name string, s syscall.Signal) {
	t.Helper()
	procs, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(t, err)
	for _, proc := range procs {
		var pid int
		line, _ := os.ReadFile(proc + "/cmdline") // it may have ended
		if _, err := fmt.Sscanf(proc, "/proc/%d", &pid); err == nil &&
			strings.Contains(string(line), "agent\x00-config="+filepath.Join(r.dir, name+".json")) {
			require.NoError(t, syscall.Kill(pid, s))
			return
		}
	}
	require.Fail(t, "no agent", "of %s", name)
}

// TestSilentAgent: an agent is silent for so long that its node counts as lost. What it runs comes to its end there,
// while the job is started elsewhere. The job finishes once.
func TestSilentAgent(t *testing.T) {
	shape := adaptertest.Shape{Nodes: 2, Slots: 1, Seed: 1}
	w, ok := newWorld(t, shape).(*world)
	require.True(t, ok)
	in := w.Open(t, adaptertest.Session{Epoch: 1, StartTimeout: patience})
	history, err := predict.NewHistory(nil)
	require.NoError(t, err)
	loop, err := sched.NewLoop(in.Cluster, baseline.NewPrio(), history)
	require.NoError(t, err)
	const runtime = 30 * time.Second
	id := w.Submit(t, adaptertest.Job{Spec: sched.Job{ID: "a", Tasks: 1, Demand: w.traits.Slot}, Runtime: runtime})
	var records []adaptertest.Record
	until := func(what string, holds func() bool) {
		t.Helper()
		wait(t, what, func() bool {
			if _, err := loop.Step(context.Background(), w.Now()); err != nil {
				require.ErrorIs(t, err, adapters.ErrUnavailable)
			}
			w.Pass(t)
			records = w.Records(t)
			return holds()
		})
	}
	until("it runs", func() bool { return len(records) == 1 && records[0].State == adapters.Running })
	node, began := records[0].Node, records[0].Started
	w.signal(t, node, syscall.SIGSTOP)
	t.Cleanup(func() { w.signal(t, node, syscall.SIGCONT) })
	until("it runs elsewhere", func() bool { return len(records) == 2 && !records[1].Started.IsZero() })
	assert.False(t, records[0].Lost.IsZero())
	assert.NotEqual(t, node, records[1].Node)
	until("the first has come to its end", func() bool { return w.Now().After(began.Add(runtime + time.Second)) })
	w.signal(t, node, syscall.SIGCONT)
	until("both are over", func() bool {
		n := w.node(node)
		return len(records) == 2 && !records[0].Ended.IsZero() && !records[1].Ended.IsZero() && n != nil &&
			n.Status == api.NodeStatusReady
	})
	assert.Equal(t, adapters.Finished, records[1].State)
	for range 5 {
		until("nothing is started again", func() bool { return true })
	}
	assert.Len(t, records, 2)
	assert.Empty(t, adaptertest.Judge(records, adaptertest.Law{Slots: 1, Tasks: map[string]int{id: 1}}), "%+v", records)
}

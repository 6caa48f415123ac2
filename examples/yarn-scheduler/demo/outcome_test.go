package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/testservers"
	"github.com/hedgesched/hedge/examples/internal/demo"
)

func at(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

// ran is a task of an attempt that got its place at one time, began at another, and ended at a third; 0 where it did
// not come to that.
func ran(attempt int, placed, began, ended int64) task {
	return task{attempt: attempt, placed: at(placed), began: at(began), ended: at(ended)}
}

func TestOutcome(t *testing.T) {
	for _, tt := range []struct {
		name  string
		tasks int
		list  []task
		want  demo.Outcome
	}{
		{"it runs", 1, []task{ran(1, 5, 6, 0)}, demo.Outcome{Placed: at(5), Started: at(6)}},
		{"one of two has no place", 2, []task{ran(1, 5, 6, 9)}, demo.Outcome{}},
		{"one of two has ended", 2, []task{ran(1, 5, 6, 9), ran(1, 6, 8, 0)}, demo.Outcome{Placed: at(6), Started: at(8)}},
		{"both have ended", 2, []task{ran(1, 5, 6, 9), ran(1, 6, 8, 7)},
			demo.Outcome{Placed: at(6), Started: at(8), Finished: at(9)}},
		{"stopped and started again", 2, []task{ran(3, 5, 7, 8), ran(1, 1, 2, 0), ran(1, 1, 2, 3), ran(3, 5, 6, 9)},
			demo.Outcome{Placed: at(5), Started: at(7), Finished: at(9), Stops: 2}},
	} {
		assert.Equal(t, tt.want, outcome(tt.list, tt.tasks), tt.name)
	}
}

// TestLook: records and the ResourceManager's log are read; what is just being written is not there yet.
func TestLook(t *testing.T) {
	f := &field{dir: t.TempDir(), tasks: map[string]int{"app-a-1": 1, "app-b-2": 2}}
	require.NoError(t, os.Mkdir(f.records(), 0o700))
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(f.records(), name), []byte(text), 0o600))
	}
	write("app-a-1.1.container_5000_0001_01_000002", "began 7000000000\nended 9000000000\n")
	write("app-b-2.1.container_5000_0002_01_000002", "began 7000000000\n")
	write("app-b-2.1.container_e01_5000_0002_01_000003", "began 70")
	const log = `2026-11-22 15:11:47,417 INFO rmcontainer.RMContainerImpl: container_5000_0001_01_000002 Container ` +
		`Transitioned from NEW to ALLOCATED
2026-11-22 15:11:49,485 INFO rmcontainer.RMContainerImpl: container_5000_0001_01_000002 Container Transitioned from ` +
		`ALLOCATED to ACQUIRED
`
	require.NoError(t, os.WriteFile(filepath.Join(f.dir, testservers.ResourceManager+".log"), []byte(log), 0o600))
	got, err := f.Look(t.Context())
	require.NoError(t, err)
	given := time.Date(2026, 11, 22, 15, 11, 47, 417e6, time.Local)
	assert.Equal(t, map[string]demo.Outcome{"app-a-1": {Placed: given, Started: at(7), Finished: at(9)}, "app-b-2": {}},
		got)

	f.Policy = "keep"
	got, err = f.Look(t.Context())
	require.NoError(t, err)
	assert.Equal(t, at(5), got["app-a-1"].Placed)
	write("else", "")
	_, err = f.Look(t.Context())
	require.ErrorContains(t, err, `record "else"`)
}

// TestLeads: there is a leader once the lease has a holder.
func TestLeads(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lease.json")
	for _, tt := range []struct {
		text string
		want bool
	}{{"", false}, {`{"epoch": 1, "holder": "", "renewed": 0}`, false},
		{`{"epoch": 1, "holder": "x", "renewed": 3}`, true}} {
		if tt.text != "" {
			require.NoError(t, os.WriteFile(file, []byte(tt.text), 0o600))
		}
		is, err := leads(file)
		require.NoError(t, err)
		assert.Equal(t, tt.want, is, tt.text)
	}
}

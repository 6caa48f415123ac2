//go:build unix

package process

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/milp"
)

// TestGentle: a solver that listens is asked before it is killed, and what it then writes is read. A machine may be too
// busy to start the script before it is asked; then it is given longer.
func TestGentle(t *testing.T) {
	// Who was started with SIGINT ignored, as what runs in the background of a script is, hands that on to what it starts,
	// unless it listens itself; and what a shell is started with ignored it cannot trap.
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, os.Interrupt)
	defer signal.Stop(heard)
	path := filepath.Join(t.TempDir(), "fake")
	require.NoError(t, os.WriteFile(path, []byte(`#!/bin/sh
trap 'printf "solution status: user interrupt\nobjective value: -3.5\nx0 1 (obj:-3)\n" > solution; exit 0' INT
while :; do sleep 0.01; done
`), 0o755))
	m := &milp.Model{Maximize: true, Offset: 0.5}
	m.AddVar(milp.Var{Upper: 1, Cost: 3, Integer: true})
	for _, after := range []time.Duration{200 * time.Millisecond, 2 * time.Second, 20 * time.Second} {
		j := &job{m: m, dir: t.TempDir(), limit: time.Second}
		c := &child{path: path, dir: j.dir, gentle: true}
		require.NoError(t, c.run(context.Background(), plan{gentle: after, kill: 2 * time.Minute}, func(string) {}))
		require.False(t, c.killed)
		r := &reading{nodes: -1, iterations: -1}
		scipFinish(j, r)
		if r.raw == "" {
			continue
		}
		res, err := r.result(context.Background(), j, c)
		require.NoError(t, err)
		assert.Equal(t, milp.StopTime, res.Stop)
		assert.Equal(t, []float64{1}, res.X)
		assert.Equal(t, 3.5, res.Objective)
		assert.Equal(t, "user interrupt", res.Raw)
		return
	}
	t.Fatal("the script has never written its point")
}

//go:build cgo

package cbc_test

import (
	"context"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/cbc"
)

// knapsack is a model that is soon solved.
func knapsack(n int) *milp.Model {
	m := &milp.Model{Maximize: true, Offset: 7}
	for j := range n {
		m.AddVar(milp.Var{Upper: 1, Cost: float64(10 + j*j%17), Integer: true})
	}
	for i := range 3 {
		r := milp.Row{Lower: math.Inf(-1), Upper: float64(2 * n)}
		for j := range n {
			r.Index, r.Value = append(r.Index, int32(j)), append(r.Value, float64(1+(j*7+i*5)%11))
		}
		m.AddRow(r)
	}
	return m
}

// split is a market split problem: nobody solves one with this many rows.
func split(rows int, seed int) *milp.Model {
	m := &milp.Model{}
	n := 10 * (rows - 1)
	for range n {
		m.AddVar(milp.Var{Upper: 1, Integer: true})
	}
	state := uint32(seed)
	for range rows {
		r, sum := milp.Row{}, 0.0
		for j := range n {
			state = state*1664525 + 1013904223
			v := float64(state >> 8 % 100)
			r.Index, r.Value, sum = append(r.Index, int32(j)), append(r.Value, v), sum+v
		}
		for _, sign := range []float64{1, -1} {
			slack := m.AddVar(milp.Var{Upper: math.Inf(1), Cost: 1})
			r.Index, r.Value = append(r.Index, int32(slack)), append(r.Value, sign)
		}
		r.Lower, r.Upper = math.Floor(sum/2), math.Floor(sum/2)
		m.AddRow(r)
	}
	return m
}

// TestWaitingIsCanceled: whoever waits for another's solve is not deaf meanwhile, and keeps its start.
func TestWaitingIsCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var holder sync.WaitGroup
	began := make(chan struct{})
	holder.Go(func() {
		m := split(6, 3)
		tell := sync.OnceFunc(func() { close(began) })
		_, err := cbc.New().Solve(ctx, m, milp.Options{Log: func(string) { tell() }})
		assert.NoError(t, err)
	})
	<-began
	m := knapsack(8)
	waiting, stop := context.WithTimeout(context.Background(), time.Millisecond)
	defer stop()
	r, err := cbc.New().Solve(waiting, m, milp.Options{Start: make([]float64, m.Vars())})
	require.NoError(t, err)
	assert.Equal(t, milp.StopTime, r.Stop)
	assert.Equal(t, milp.StartAccepted, r.Start)
	assert.Len(t, r.X, m.Vars())
	cancel()
	holder.Wait()
}

func TestLog(t *testing.T) {
	var lines []string
	_, err := cbc.New().Solve(context.Background(), knapsack(12), milp.Options{Log: func(s string) {
		lines = append(lines, s)
	}})
	require.NoError(t, err)
	assert.Contains(t, strings.Join(lines, "\n"), "Welcome to the CBC MILP Solver")
}

func TestPartialStart(t *testing.T) {
	m := knapsack(12)
	start := make([]float64, m.Vars())
	for j := range start {
		start[j] = math.NaN()
	}
	start[0] = 1
	var first []float64
	r, err := milp.Solve(context.Background(), cbc.New(), m, milp.Options{Start: start, Incumbent: func(p milp.Point) {
		if first == nil {
			first = append(first, p.X...)
		}
	}})
	require.NoError(t, err)
	assert.Equal(t, milp.StartAccepted, r.Start)
	assert.Equal(t, 1.0, first[0])
	plain, err := milp.Solve(context.Background(), cbc.New(), m, milp.Options{})
	require.NoError(t, err)
	assert.InDelta(t, plain.Objective, r.Objective, 0.01)

	start[0] = 2
	r, err = milp.Solve(context.Background(), cbc.New(), m, milp.Options{Start: start})
	require.NoError(t, err)
	assert.Equal(t, milp.StartRejected, r.Start)
	assert.Equal(t, milp.StopOptimal, r.Stop)
}

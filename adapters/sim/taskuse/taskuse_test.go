package taskuse_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/taskuse"
)

// A task that works for a minute, then waits for one with its memory in use.
func Example() {
	s := taskuse.Series{
		{Duration: time.Minute, CPU: 2, Memory: 4},
		{Duration: time.Minute, CPU: 0, Memory: 4},
	}
	cpu, memory := s.Mean()
	fmt.Println(s.Validate(), s.Runtime(), s.CPUTime(), cpu, memory)
	fmt.Println(s.Stretch(30 * time.Second))
	// Output:
	// <nil> 2m0s 120 1 4
	// [{15s 2 4} {15s 0 4}]
}

func TestValidate(t *testing.T) {
	good := taskuse.Segment{Duration: time.Second, CPU: 1, Memory: 1}
	for name, change := range map[string]func(*taskuse.Segment){
		"no length":      func(g *taskuse.Segment) { g.Duration = 0 },
		"negative":       func(g *taskuse.Segment) { g.Duration = -1 },
		"too long":       func(g *taskuse.Segment) { g.Duration = taskuse.MaxSegment + 1 },
		"CPU below 0":    func(g *taskuse.Segment) { g.CPU = -1 },
		"CPU is NaN":     func(g *taskuse.Segment) { g.CPU = math.NaN() },
		"endless CPU":    func(g *taskuse.Segment) { g.CPU = math.Inf(1) },
		"memory below 0": func(g *taskuse.Segment) { g.Memory = -1 },
		"memory is NaN":  func(g *taskuse.Segment) { g.Memory = math.NaN() },
		"endless memory": func(g *taskuse.Segment) { g.Memory = math.Inf(1) },
	} {
		bad := good
		change(&bad)
		require.ErrorIs(t, taskuse.Series{good, bad}.Validate(), taskuse.ErrSeries, name)
		require.ErrorContains(t, taskuse.Series{good, bad}.Validate(), "segment 1", name)
	}
	require.NoError(t, taskuse.Series{good}.Validate())
	require.NoError(t, taskuse.Series{{Duration: time.Second}}.Validate(), "a task may use nothing")
	require.ErrorIs(t, taskuse.Series{}.Validate(), taskuse.ErrSeries)
	long := make(taskuse.Series, 200)
	for i := range long {
		long[i] = taskuse.Segment{Duration: taskuse.MaxSegment}
	}
	require.ErrorIs(t, long.Validate(), taskuse.ErrSeries)
}

// A stretched series takes exactly as long as it should, and uses as much at a time as before.
func TestStretch(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		s := make(taskuse.Series, 1+rng.IntN(20))
		for i := range s {
			s[i] = taskuse.Segment{Duration: 1 + time.Duration(rng.Int64N(int64(time.Hour))), CPU: float64(rng.IntN(3)),
				Memory: float64(rng.IntN(3))}
		}
		to := time.Duration(1 + rng.Int64N(int64(1000*24*time.Hour)))
		got := s.Stretch(to)
		require.NoError(t, got.Validate())
		require.Equal(t, to, got.Runtime())
		cpu, memory := s.Mean()
		stretchedCPU, stretchedMemory := got.Mean()
		require.InDelta(t, cpu, stretchedCPU, 1e-6+float64(len(s))*3/float64(to))
		require.InDelta(t, memory, stretchedMemory, 1e-6+float64(len(s))*3/float64(to))

		joined := s.Joined()
		require.Equal(t, s.Runtime(), joined.Runtime())
		require.InDelta(t, s.CPUTime(), joined.CPUTime(), 1e-6)
		for i := 1; i < len(joined); i++ {
			require.False(t, joined[i].CPU == joined[i-1].CPU && joined[i].Memory == joined[i-1].Memory)
		}
	}
	require.Empty(t, taskuse.Series{}.Stretch(time.Second))
}

package timeshare

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/taskuse"
)

// BenchmarkHalfContended is 10,000 machines of 30 tasks whose use changes every five minutes or so. On every second
// machine tasks want more CPU than it has, by half. A task that ends is started again.
func BenchmarkHalfContended(b *testing.B) {
	const machines, tasks = 10_000, 30
	rng := rand.New(rand.NewPCG(1, 1))
	capacity := make([]Capacity, machines)
	for i := range capacity {
		capacity[i] = Capacity{CPU: 30, Memory: 1000}
	}
	m := New(capacity, 0)
	begin := func(at time.Duration, on int32) {
		mean := 0.6
		if on%2 == 1 {
			mean = 1.5
		}
		use := make(taskuse.Series, 8)
		for i := range use {
			use[i] = taskuse.Segment{Duration: time.Duration((0.5 + rng.Float64()) * float64(5*time.Minute)),
				CPU: mean * (0.5 + rng.Float64()), Memory: 10 * rng.Float64()}
		}
		m.Start(at, on, Task{Owner: on, CPU: 0.5 + rng.Float64(), Memory: 10, Use: use})
	}
	for on := range int32(machines) {
		for range tasks {
			begin(time.Duration(on), on)
		}
	}
	m.Settle(machines)
	var completed []End
	step := func() {
		at, ok := m.Next()
		if !ok { // not by require, which takes as long as half an event
			b.Fatal("nothing happens")
		}
		completed, _ = m.Happen(at, completed[:0], nil)
		for i := range completed {
			begin(at, completed[i].Owner)
		}
		m.Settle(at)
	}
	for m.totals.Events < 500_000 {
		step()
	}
	from := m.totals.Events
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		step()
	}
	over := 0
	for i := range m.machines {
		if m.machines[i].over {
			over++
		}
	}
	require.InDelta(b, machines/2, over, machines/20)
	b.ReportMetric(float64(m.totals.Events-from)/b.Elapsed().Seconds(), "events/s")
}

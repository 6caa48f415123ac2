package timeshare_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/internal/timeshare"
	"github.com/hedgesched/hedge/adapters/sim/trace"
)

// BenchmarkSURF simulates a log of SURF's cluster, which HEDGE_SURF names: every task starts when it came, on the next
// of 100 machines of 128 cores. The log's first days are public; docs/shared.md says where.
func BenchmarkSURF(b *testing.B) {
	path := os.Getenv("HEDGE_SURF")
	if path == "" {
		b.Skip("HEDGE_SURF names no log")
	}
	log, err := trace.ReadUsage(path, &trace.Options{Format: trace.SURF})
	require.NoError(b, err)
	const machines = 100
	capacity := make([]timeshare.Capacity, machines)
	for i := range capacity {
		capacity[i] = timeshare.Capacity{CPU: 128, Memory: 1}
	}
	b.ReportAllocs()
	b.ResetTimer()
	events := int64(0)
	for range b.N {
		m := timeshare.New(capacity, 0)
		next, now := 0, time.Duration(0)
		for {
			at, ok := m.Next()
			if next < len(log.Records) && (!ok || log.Records[next].Submit <= at) {
				at, ok = log.Records[next].Submit, true
			}
			if !ok {
				break
			}
			now = at
			m.Happen(at, nil, nil)
			for ; next < len(log.Records) && log.Records[next].Submit <= at; next++ {
				r := &log.Records[next]
				m.Start(at, int32(next%machines), timeshare.Task{Owner: int32(next), CPU: r.Requested.CPU, Use: r.Use})
			}
			m.Settle(at)
		}
		events += m.Totals(now).Events
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
}

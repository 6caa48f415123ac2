package record_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/record"
	"github.com/hedgesched/hedge/sched/schedtest"
)

// large is a snapshot of a number of nodes and of jobs that wait. Every ten jobs share a forecast of 80 bins.
func large(b *testing.B, nodes, jobs int) *sched.Snapshot {
	b.Helper()
	rng := rand.New(rand.NewPCG(9, 9))
	builder := schedtest.Snapshot(schedtest.Nodes(nodes, 10))
	var d dist.Distribution
	for i := range jobs {
		if i%10 == 0 {
			s := dist.NewSketch(0)
			for range 1000 {
				require.NoError(b, s.Add(math.Exp(5+rng.NormFloat64())))
			}
			h, err := s.Distribution()
			require.NoError(b, err)
			d = h
		}
		builder.Pending(schedtest.Job(fmt.Sprint("j", i), 1+i%20).Predicted(d))
	}
	s, err := builder.Build()
	require.NoError(b, err)
	return s
}

// idle is a policy that decides nothing.
type idle struct{}

func (idle) Name() string { return "idle" }
func (idle) Plan(context.Context, *sched.Snapshot) (*sched.Plan, error) {
	return &sched.Plan{}, nil
}

var sizes = []struct{ nodes, jobs int }{{256, 60}, {12583, 300}}

func BenchmarkRecorder(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprintf("nodes=%d/pending=%d", size.nodes, size.jobs), func(b *testing.B) {
			s := large(b, size.nodes, size.jobs)
			data, err := record.Marshal(s)
			require.NoError(b, err)
			rec := record.NewRecorder(idle{}, io.Discard)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				_, _ = rec.Plan(context.Background(), s)
			}
			require.NoError(b, rec.Err())
		})
	}
}

func BenchmarkUnmarshal(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprintf("nodes=%d/pending=%d", size.nodes, size.jobs), func(b *testing.B) {
			data, err := record.Marshal(large(b, size.nodes, size.jobs))
			require.NoError(b, err)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				_, err = record.Unmarshal(data)
			}
			require.NoError(b, err)
		})
	}
}

package predict_test

import (
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/predict"
)

const benchUsers = 1 << 16

// benchJob has about five feature values of its own for each i below 200,000.
func benchJob(i int) predict.Job {
	return predict.Job{
		Attributes: map[string]string{
			"user": "u" + strconv.Itoa(i%benchUsers), "name": "n" + strconv.Itoa(i),
			"logical_name": "l" + strconv.Itoa(i/3), "tasks": strconv.Itoa(1 + i%50), "class": strconv.Itoa(i % 4),
		},
		Submitted: time.Unix(int64(i)*60, 0).UTC(),
	}
}

// million returns a history of a million feature values.
func million(b *testing.B) (h *predict.History, jobs []predict.Job, megabytes float64) {
	b.Helper()
	h = newHistory(b, nil)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	n := 0
	for ; h.Len() < 1_000_000; n++ {
		require.NoError(b, h.Observe(benchJob(n), float64(n%1000)))
	}
	for i := range 100_000 { // some feature values with more history than one run
		require.NoError(b, h.Observe(benchJob(i%5000), float64(i%777)))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	jobs = make([]predict.Job, 1<<15)
	for i := range jobs {
		jobs[i] = benchJob(i * 7919 % n)
	}
	return h, jobs, float64(after.HeapAlloc-before.HeapAlloc) / (1 << 20)
}

func BenchmarkMillion(b *testing.B) {
	h, jobs, megabytes := million(b)
	b.Run("predict", func(b *testing.B) {
		b.ReportAllocs()
		took := make([]time.Duration, 0, 1<<20)
		i := 0
		for b.Loop() {
			start := time.Now()
			h.Predict(jobs[i%len(jobs)])
			if len(took) < cap(took) {
				took = append(took, time.Since(start))
			}
			i++
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e3, "p99-µs")
		b.ReportMetric(megabytes, "MB")
	})
	b.Run("observe", func(b *testing.B) {
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			if err := h.Observe(jobs[i%len(jobs)], float64(i%1000)); err != nil {
				b.Fatal(err)
			}
			i++
		}
	})
	b.Run("predict after observe", func(b *testing.B) {
		b.ReportAllocs()
		took := make([]time.Duration, 0, 1<<20)
		i := 0
		for b.Loop() {
			job := jobs[i%len(jobs)]
			if err := h.Observe(job, float64(i%1000)); err != nil {
				b.Fatal(err)
			}
			start := time.Now()
			h.Predict(job)
			if len(took) < cap(took) {
				took = append(took, time.Since(start))
			}
			i++
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e3, "p99-µs")
	})
}

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
		require.NoError(b, h.Observe(predict.Observation{Job: benchJob(n), Runtime: float64(n % 1000)}))
	}
	for i := range 100_000 { // some feature values with more history than one run
		require.NoError(b, h.Observe(predict.Observation{Job: benchJob(i % 5000), Runtime: float64(i % 777)}))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	jobs = make([]predict.Job, 1<<15)
	for i := range jobs {
		jobs[i] = benchJob(i * 7919 % n)
	}
	return h, jobs, float64(after.HeapAlloc-before.HeapAlloc) / (1 << 20)
}

// BenchmarkMillion also reports the 99th percentile of single predictions and the
// memory of a feature value.
func BenchmarkMillion(b *testing.B) {
	h, jobs, megabytes := million(b)
	b.Run("predict", func(b *testing.B) {
		b.ReportAllocs()
		var t timing
		for i := 0; b.Loop(); i++ {
			t.predict(h, jobs[i%len(jobs)])
		}
		t.report(b)
		b.ReportMetric(megabytes*(1<<20)/float64(h.Len()), "B/value")
	})
	b.Run("observe", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if err := h.Observe(predict.Observation{Job: jobs[i%len(jobs)], Runtime: float64(i % 1000)}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("predict after observe", func(b *testing.B) {
		b.ReportAllocs()
		var t timing
		for i := 0; b.Loop(); i++ {
			job := jobs[i%len(jobs)]
			if err := h.Observe(predict.Observation{Job: job, Runtime: float64(i % 1000)}); err != nil {
				b.Fatal(err)
			}
			t.predict(h, job)
		}
		t.report(b)
	})
}

// BenchmarkContention is predictions from all cores, alone and while one in ten calls observes.
func BenchmarkContention(b *testing.B) {
	for name, every := range map[string]int{"predict": 0, "predict, a tenth observe": 10} {
		b.Run(name, func(b *testing.B) {
			h := newHistory(b, nil)
			for i := range 20_000 {
				require.NoError(b, h.Observe(predict.Observation{Job: benchJob(i % 5000), Runtime: float64(i % 777)}))
			}
			b.RunParallel(func(pb *testing.PB) {
				for i := 1; pb.Next(); i++ {
					job := benchJob(i % 5000)
					if every == 0 || i%every != 0 {
						h.Predict(job)
					} else if err := h.Observe(predict.Observation{Job: job, Runtime: float64(i % 777)}); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}

// BenchmarkPredict is what a forecast costs when memory does not: ten feature values,
// each with a full sketch.
func BenchmarkPredict(b *testing.B) {
	h := newHistory(b, nil)
	jobs := make([]predict.Job, 8)
	for i := range jobs {
		jobs[i] = predict.Job{Attributes: map[string]string{
			"user": "u" + strconv.Itoa(i%2), "name": "n" + strconv.Itoa(i%4), "class": "2", "tasks": "7", "priority": "1",
		}}
	}
	for i := range 5000 {
		require.NoError(b, h.Observe(predict.Observation{Job: jobs[i%8], Runtime: float64(1000 + i*7919%1777*(1+i%4))}))
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		h.Predict(jobs[i%8])
	}
}

// timing keeps the time of single predictions.
type timing struct{ took []time.Duration }

func (t *timing) predict(h *predict.History, job predict.Job) {
	start := time.Now()
	h.Predict(job)
	if len(t.took) < 1<<20 {
		t.took = append(t.took, time.Since(start))
	}
}

func (t *timing) report(b *testing.B) {
	slices.Sort(t.took)
	b.ReportMetric(float64(t.took[len(t.took)/2].Nanoseconds())/1e3, "p50-µs")
	b.ReportMetric(float64(t.took[len(t.took)*99/100].Nanoseconds())/1e3, "p99-µs")
}

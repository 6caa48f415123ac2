package workload

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/predict"
)

// history is what completed before start, or Spec.Train.
func (b *builder) history(start time.Duration) []Sample {
	if b.spec.NoTrain {
		return nil
	}
	jobs, end := b.past, start
	if len(b.train) > 0 {
		jobs = b.train
		end = daysAfter(jobs, start)
	}
	var out []Sample
	for i := range jobs {
		j := jobs[i]
		if done := endOf(j); finished(j) && done <= end {
			out = append(out, sampleOf(j, end))
		}
	}
	return b.limit(out)
}

// endOf is when j completed; an unknown wait counts as none.
func endOf(j *trace.Job) time.Duration {
	return j.Submit + max(j.Wait, 0) + j.Runtime
}

// daysAfter is the first instant, at start's time of the day, by which all of jobs had completed.
func daysAfter(jobs []*trace.Job, start time.Duration) time.Duration {
	var last time.Duration
	for i := range jobs {
		if finished(jobs[i]) {
			last = max(last, endOf(jobs[i]))
		}
	}
	const day = 24 * time.Hour
	at := start % day
	if at < last {
		at += (last - at + day - 1) / day * day
	}
	return at
}

// sampleOf makes a sample of j, start being the simulation's start on j's clock.
func sampleOf(j *trace.Job, start time.Duration) Sample {
	return Sample{
		Job: predict.Job{
			ID: j.ID, Attributes: attributes(j), Submitted: sim.Epoch().Add(j.Submit - start),
		},
		Runtime: j.Runtime.Seconds(),
		Done:    endOf(j) - start,
	}
}

// limit orders samples by completion, then applies TrainShare and MaxTrainSamples.
func (b *builder) limit(out []Sample) []Sample {
	slices.SortStableFunc(out, func(x, y Sample) int {
		return cmp.Or(cmp.Compare(x.Done, y.Done), cmp.Compare(x.Job.ID, y.Job.ID))
	})
	if s := b.spec.TrainShare; s > 0 && b.spec.Kind != E2E {
		keep := int(math.Ceil(s * float64(len(out))))
		out = out[len(out)-keep:]
	}
	n := b.spec.MaxTrainSamples
	if n == 0 {
		return out
	}
	count := map[string]int{}
	kept := make([]Sample, 0, len(out))
	for i := len(out) - 1; i >= 0; i-- {
		key := groupKey(out[i].Job.Attributes)
		if count[key]++; count[key] <= n {
			kept = append(kept, out[i])
		}
	}
	slices.Reverse(kept)
	return kept
}

// nameKeys are the attributes that tell recurring jobs, the best first.
var nameKeys = [...]string{"logical_name", "logical", "executable", "name", "job_name"}

// groupKey names the recurring job that attributes belong to: the user with
// the best name the log has; all attributes where it has no name.
func groupKey(attrs map[string]string) string {
	for _, k := range nameKeys {
		if v, has := attrs[k]; has {
			return attrs["user"] + "\x00" + v
		}
	}
	var sb strings.Builder
	for _, k := range slices.Sorted(maps.Keys(attrs)) {
		sb.WriteString(k + "\x00" + attrs[k] + "\x00")
	}
	return sb.String()
}

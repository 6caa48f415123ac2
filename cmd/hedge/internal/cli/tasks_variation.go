package cli

import (
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/cmd/hedge/internal/stats"
	"github.com/hedgesched/hedge/predict"
)

// gsVariation is how much task times vary across earlier jobs that are alike, and inside a job (section 4.2, Table 4):
// quantiles over the jobs of a workload of the coefficients of variation.
type gsVariation struct {
	// Time is of the mean task times of earlier jobs with the same value of a feature; of all features, the least.
	Time quantiles `json:"time"`
	// Space is of the task times of a job, over the root of 3 % of their number. Jobs of one task have none.
	Space quantiles `json:"space"`
}

type quantiles struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
}

func quantilesOf(values []float64) (q quantiles) {
	if len(values) > 0 {
		slices.Sort(values)
		q.P50, q.P90 = stats.Between(values, 0.5), stats.Between(values, 0.9)
	}
	return q
}

// past are the earlier jobs with one value of a feature: when they were submitted, and sums over all up to each.
type past struct {
	submits      []time.Duration
	sum, squares []float64
}

func (p *past) add(submit time.Duration, mean float64) {
	sum, squares := 0.0, 0.0
	if n := len(p.sum); n > 0 {
		sum, squares = p.sum[n-1], p.squares[n-1]
	}
	p.submits = append(p.submits, submit)
	p.sum, p.squares = append(p.sum, sum+mean), append(p.squares, squares+float64(mean*mean))
}

// cov is the coefficient of variation of those submitted from a time on, and whether there are two.
func (p *past) cov(from time.Duration) (float64, bool) {
	i, last := sort.Search(len(p.submits), func(i int) bool { return p.submits[i] >= from }), len(p.submits)-1
	n := float64(last + 1 - i)
	if n < 2 {
		return 0, false
	}
	sum, squares := p.sum[last], p.squares[last]
	if i > 0 {
		sum, squares = sum-p.sum[i-1], squares-p.squares[i-1]
	}
	mean := sum / n
	return math.Sqrt(max(0, squares/n-float64(mean*mean))) / mean, mean > 0
}

// variation measures a workload's jobs. With a history window, only what was submitted in it is an earlier job.
func (g *gsFlags) variation(work *taskWork) gsVariation {
	known := map[string]*past{}
	var inTime, inSpace []float64
	learn := func(j *trace.Job, job predict.Job) {
		for _, f := range g.list {
			if key, ok := featureValue(f, job); ok {
				if known[key] == nil {
					known[key] = new(past)
				}
				known[key].add(j.Submit, size(j)/float64(j.Tasks))
			}
		}
	}
	for i := range work.train {
		learn(&work.train[i], described(&work.train[i]))
	}
	for _, j := range work.jobs {
		job, from := described(j), time.Duration(math.MinInt64)
		if g.window > 0 {
			from = j.Submit - g.window
		}
		least := math.Inf(1)
		for _, f := range g.list {
			key, _ := featureValue(f, job)
			if p := known[key]; p != nil {
				if cov, ok := p.cov(from); ok {
					least = min(least, cov)
				}
			}
		}
		if !math.IsInf(least, 1) {
			inTime = append(inTime, least)
		}
		if cov, ok := within(j); ok {
			inSpace = append(inSpace, cov)
		}
		learn(j, job)
	}
	return gsVariation{Time: quantilesOf(inTime), Space: quantilesOf(inSpace)}
}

// within is the coefficient of variation of a job's task times, over the root of 3 % of their number.
func within(j *trace.Job) (float64, bool) {
	mean := size(j) / float64(j.Tasks)
	if len(j.TaskRuntimes) < 2 || mean <= 0 {
		return 0, false
	}
	sum := 0.0
	for _, d := range j.TaskRuntimes {
		off := d.Seconds() - mean
		sum += float64(off * off)
	}
	n := float64(j.Tasks)
	return math.Sqrt(sum/n) / mean / math.Sqrt(0.03*n), true
}

// featureValue is a feature and the job's value of it, if it has one.
func featureValue(f predict.Feature, job predict.Job) (string, bool) {
	if !f.Of(job) {
		return "", false
	}
	key := f.Name()
	for _, part := range strings.Split(f.Name(), "+") {
		value := job.Attributes[part]
		switch part {
		case "hour":
			value = strconv.Itoa(job.Submitted.Hour())
		case "weekday":
			value = job.Submitted.Weekday().String()
		}
		key += "\x00" + value
	}
	return key, true
}

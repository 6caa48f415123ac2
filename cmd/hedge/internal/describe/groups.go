package describe

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/trace"

	"github.com/hedgesched/hedge/cmd/hedge/internal/stats"
)

// smallestGroup is the number of jobs from which a group's own variation is looked at.
const smallestGroup = 5

// groupBy collects values by key in order of first appearance; keys "" are left out.
func groupBy(jobs []trace.Job, key func(*trace.Job) string, value func(*trace.Job) (float64, bool)) [][]float64 {
	index := map[string]int{}
	var groups [][]float64
	for i := range jobs {
		k := key(&jobs[i])
		v, ok := value(&jobs[i])
		if k == "" || !ok {
			continue
		}
		at, known := index[k]
		if !known {
			at = len(groups)
			index[k] = at
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], v)
	}
	return groups
}

// covs returns the CoV of each group that is large enough, and the values in them.
func covs(groups [][]float64) (cov []float64, values int) {
	for _, g := range groups {
		if len(g) >= smallestGroup {
			cov = append(cov, stats.CoV(g))
			values += len(g)
		}
	}
	return cov, values
}

func user(j *trace.Job) string { return j.Attributes["user"] }

func finishedRuntime(j *trace.Job) (float64, bool) {
	return j.Runtime.Seconds(), j.Runtime > 0 && j.Outcome != trace.Failed && j.Outcome != trace.Killed
}

func userCoVOf(jobs []trace.Job) (UserCoV, int) {
	sizes := groupBy(jobs, user, func(j *trace.Job) (float64, bool) { return size(j), true })
	sizeCoV, _ := covs(sizes)
	runtimeCoV, _ := covs(groupBy(jobs, user, finishedRuntime))
	return UserCoV{Users: len(sizeCoV), Size: stats.SpreadOf(sizeCoV), Runtime: stats.SpreadOf(runtimeCoV)}, len(sizes)
}

func outcomesOf(jobs []trace.Job) []Outcome {
	total := 0.0
	for i := range jobs {
		total += work(&jobs[i])
	}
	var rows []Outcome
	for _, outcome := range []trace.Outcome{trace.Finished, trace.Failed, trace.Killed, trace.Unknown} {
		var tasks []float64
		time := 0.0
		for i := range jobs {
			if jobs[i].Outcome == outcome {
				tasks = append(tasks, float64(jobs[i].Tasks))
				time += work(&jobs[i])
			}
		}
		if len(tasks) == 0 {
			continue
		}
		row := Outcome{Outcome: cmp.Or(string(outcome), "unknown"), Jobs: len(tasks),
			ShareJobs: float64(len(tasks)) / float64(len(jobs)), TasksPerJob: stats.SpreadOf(tasks)}
		if total > 0 {
			row.ShareTime = time / total
		}
		rows = append(rows, row)
	}
	return rows
}

// successOf bins the jobs whose end is known by decades of machine-hours.
func successOf(jobs []trace.Job) []WorkBin {
	const lowest, highest = -4, 7
	var all, good [highest - lowest + 1]int
	for i := range jobs {
		j := &jobs[i]
		if j.Outcome == trace.Unknown || j.Runtime <= 0 {
			continue
		}
		decade := int(math.Floor(math.Log10(work(j) / 3600)))
		at := min(highest, max(lowest, decade)) - lowest
		all[at]++
		if j.Outcome == trace.Finished {
			good[at]++
		}
	}
	var rows []WorkBin
	for at, n := range all {
		if n > 0 {
			from := math.Pow10(at + lowest)
			rows = append(rows, WorkBin{From: from, To: from * 10, Jobs: n, Success: float64(good[at]) / float64(n)})
		}
	}
	return rows
}

// featuresOf measures every attribute that the log has and user combined with each other one.
func featuresOf(jobs []trace.Job) []Feature {
	present := map[string]bool{}
	finished := 0
	for i := range jobs {
		for name := range jobs[i].Attributes {
			present[name] = true
		}
		if _, ok := finishedRuntime(&jobs[i]); ok {
			finished++
		}
	}
	var names []string
	for name := range present {
		names = append(names, name)
	}
	slices.Sort(names)
	features := make([][]string, 0, 2*len(names))
	for _, name := range names {
		features = append(features, []string{name})
	}
	for _, name := range names {
		if present["user"] && name != "user" {
			features = append(features, []string{"user", name})
		}
	}
	rows := make([]Feature, 0, len(features))
	for _, f := range features {
		cov, members := covs(groupBy(jobs, keyOf(f), finishedRuntime))
		rows = append(rows, Feature{Feature: strings.Join(f, "+"), Groups: len(cov),
			Share: float64(members) / float64(max(1, finished)), CoV: stats.SpreadOf(cov)})
	}
	return rows
}

// keyOf joins the attributes of a feature; a job without one of them has no value.
func keyOf(names []string) func(*trace.Job) string {
	return func(j *trace.Job) string {
		var key strings.Builder
		for _, name := range names {
			v, ok := j.Attributes[name]
			if !ok {
				return ""
			}
			key.WriteString(v)
			key.WriteByte(0)
		}
		return key.String()
	}
}

// month is the length of Google's 2011 trace, the one other studies generalise from.
const month = 29 * 24 * time.Hour

// Months tells whether one month represents the whole: means of each 29-day month divided by
// the mean over all of them.
type Months struct {
	Months  int         `json:"months"`
	Jobs    MonthSeries `json:"jobs"`
	Runtime MonthSeries `json:"runtime"`
	Tasks   MonthSeries `json:"tasks"`
	Work    MonthSeries `json:"machine_hours"`
}

// MonthSeries is a normalised monthly mean and its Tukey box.
type MonthSeries struct {
	Normalised []float64 `json:"normalised"`
	Box        stats.Box `json:"box"`
}

// monthsOf needs two whole months; nil otherwise. An incomplete last month is left out.
func monthsOf(jobs []trace.Job) *Months {
	first := jobs[0].Submit
	n := int((jobs[len(jobs)-1].Submit - first) / month)
	if n < 2 {
		return nil
	}
	count, runtime, tasks, hours := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range jobs {
		at := int((jobs[i].Submit - first) / month)
		if at >= n {
			break
		}
		count[at]++
		runtime[at] += jobs[i].Runtime.Seconds()
		tasks[at] += float64(jobs[i].Tasks)
		hours[at] += work(&jobs[i])
	}
	for at, c := range count {
		runtime[at] /= max(1, c)
		tasks[at] /= max(1, c)
	}
	return &Months{Months: n, Jobs: series(count), Runtime: series(runtime), Tasks: series(tasks), Work: series(hours)}
}

func series(x []float64) MonthSeries {
	mean := stats.Mean(x)
	out := make([]float64, len(x))
	for i, v := range x {
		if mean > 0 {
			out[i] = v / mean
		}
	}
	return MonthSeries{Normalised: out, Box: stats.BoxOf(out)}
}

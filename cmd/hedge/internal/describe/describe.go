// Package describe measures a cluster log: the observations of workload
// diversity (systems: workload diversity, observations 1 to 10) as numbers, and what
// decides how well history predicts its runtimes. What a log does not say is zero or left out.
package describe

import (
	"cmp"
	"math"
	"slices"

	"github.com/hedgesched/hedge/adapters/sim/trace"

	"github.com/hedgesched/hedge/cmd/hedge/internal/records"
	"github.com/hedgesched/hedge/cmd/hedge/internal/stats"
)

// Document is the document of hedge trace.
type Document struct {
	Schema  int    `json:"schema"`
	Command string `json:"command"`
	Trace   string `json:"trace"`
	Format  string `json:"format"`
	Jobs    int    `json:"jobs"`
	records.Records
	// FirstSubmitS and SpanS place the submissions on the log's clock.
	FirstSubmitS float64 `json:"first_submit_s"`
	SpanS        float64 `json:"span_s"`
	Users        int     `json:"users"`
	Tasks        int     `json:"tasks"`
	MachineHours float64 `json:"machine_hours"`
	Demand       Demand  `json:"demand"`
	// Size and Duration are observations 1 and 2; TasksPerJob equals Size unless the log gives cores a task.
	Size        Sized        `json:"size"`
	TasksPerJob stats.Spread `json:"tasks_per_job"`
	DurationS   stats.Spread `json:"duration_s"`
	// Hourly is observations 3 and 4.
	Hourly   Hourly   `json:"hourly"`
	Requests Requests `json:"requests"`
	// InterArrival is observation 6.
	InterArrival InterArrival `json:"inter_arrival"`
	// UserCoV is observation 7: within-user variation of what jobs ask for.
	UserCoV UserCoV `json:"user_cov"`
	// Outcomes are observations 8 and 9; SuccessByWork is observation 10.
	Outcomes      []Outcome  `json:"outcomes"`
	SuccessByWork []WorkBin  `json:"success_by_machine_hours"`
	Features      []Feature  `json:"feature_runtime_cov"`
	Months        *Months    `json:"months,omitempty"`
	Curves        CurveTable `json:"curves"`
}

// Demand is how much of a cluster the log keeps busy, in the log's unit of tasks.
type Demand struct {
	// MeanTasks is from the first start to the last end.
	MeanTasks float64 `json:"mean_tasks"`
	PeakTasks float64 `json:"peak_tasks"`
	// MaxJobTasks is the widest job.
	MaxJobTasks int `json:"max_job_tasks"`
}

// Sized is the size of jobs: cores where the log gives them per task, otherwise tasks.
type Sized struct {
	Unit   string       `json:"unit"`
	Spread stats.Spread `json:"spread"`
}

// Hourly is the rhythm of submissions.
type Hourly struct {
	Jobs  stats.Spread `json:"jobs_per_hour"`
	Tasks stats.Spread `json:"tasks_per_hour"`
	// ShareByHour is the share of jobs in each hour of the log's day.
	ShareByHour []float64 `json:"share_by_hour_of_day"`
	// PeakToTrough is the busiest hour of the day over the quietest; 0 when one is empty.
	PeakToTrough float64 `json:"peak_to_trough"`
	// DayCorrelation is the correlation of hourly submissions with those 24 hours later: near 1 is a
	// strong diurnal pattern, near 0 none. It needs two days.
	DayCorrelation float64 `json:"day_correlation"`
}

// Requests compares what users ask for with what they use (observation 5), where the log says.
type Requests struct {
	Jobs int `json:"jobs"`
	// RequestedOverUsed is the requested runtime over the real one.
	RequestedOverUsed stats.Spread `json:"requested_over_runtime"`
}

// InterArrival is the time between submissions.
type InterArrival struct {
	Seconds   stats.Spread `json:"seconds"`
	SubSecond float64      `json:"share_below_1s"`
	// Poisson tests the exponential distribution of the same mean; RejectedHours is the share of
	// single hours (of at least 20 submissions) in which it is rejected, since rates change over the day.
	Poisson       stats.KS `json:"poisson_ks"`
	HoursTested   int      `json:"hours_tested"`
	RejectedHours float64  `json:"poisson_rejected_hours"`
}

// UserCoV is the spread over users (of at least 5 jobs) of the coefficient of
// variation of their own jobs.
type UserCoV struct {
	Users   int          `json:"users"`
	Size    stats.Spread `json:"size"`
	Runtime stats.Spread `json:"runtime"`
}

// Outcome is a way to end.
type Outcome struct {
	Outcome     string       `json:"outcome"`
	Jobs        int          `json:"jobs"`
	ShareJobs   float64      `json:"share_of_jobs"`
	ShareTime   float64      `json:"share_of_machine_time"`
	TasksPerJob stats.Spread `json:"tasks_per_job"`
}

// WorkBin is the share of successes among jobs of about the same machine-hours.
type WorkBin struct {
	From    float64 `json:"from_machine_hours"`
	To      float64 `json:"to_machine_hours"`
	Jobs    int     `json:"jobs"`
	Success float64 `json:"success"`
}

// Feature is how much runtimes vary among jobs that share a feature's value.
type Feature struct {
	Feature string `json:"feature"`
	// Groups counts the values with at least 5 finished jobs, Share is the share of finished jobs in them.
	Groups int          `json:"groups"`
	Share  float64      `json:"share_of_jobs"`
	CoV    stats.Spread `json:"cov"`
}

// CurveTable holds CDFs for charts and scripts: 101 quantiles, 0 to 100 %.
type CurveTable struct {
	SizeCDF         []float64 `json:"size_quantiles"`
	DurationCDF     []float64 `json:"duration_s_quantiles"`
	InterArrivalCDF []float64 `json:"inter_arrival_s_quantiles"`
}

// Describe measures a log's jobs, in any order.
func Describe(log *trace.Log) *Document {
	d := &Document{Schema: 1, Command: "trace", Trace: log.Name, Format: log.Format, Jobs: len(log.Jobs),
		Records: records.Of(log)}
	if len(log.Jobs) == 0 {
		return d
	}
	jobs := slices.Clone(log.Jobs)
	slices.SortStableFunc(jobs, func(a, b trace.Job) int { return cmp.Compare(a.Submit, b.Submit) })
	d.FirstSubmitS = jobs[0].Submit.Seconds()
	d.SpanS = (jobs[len(jobs)-1].Submit - jobs[0].Submit).Seconds()
	d.sizes(jobs)
	d.Demand = demandOf(jobs)
	d.Hourly = hourlyOf(jobs)
	d.Requests = requestsOf(jobs)
	d.interArrivals(jobs)
	d.UserCoV, d.Users = userCoVOf(jobs)
	d.Outcomes = outcomesOf(jobs)
	d.SuccessByWork = successOf(jobs)
	d.Features = featuresOf(jobs)
	d.Months = monthsOf(jobs)
	return d
}

func (d *Document) sizes(jobs []trace.Job) {
	tasks, cores, runtimes := make([]float64, 0, len(jobs)), make([]float64, 0, len(jobs)), make([]float64, 0, len(jobs))
	d.Size.Unit = "tasks"
	for i := range jobs {
		j := &jobs[i]
		d.Tasks += j.Tasks
		d.MachineHours += work(j) / 3600
		tasks = append(tasks, float64(j.Tasks))
		cores = append(cores, size(j))
		if j.Demand["cpu"] > 0 {
			d.Size.Unit = "cores"
		}
		if j.Runtime > 0 {
			runtimes = append(runtimes, j.Runtime.Seconds())
		}
	}
	d.TasksPerJob, d.Size.Spread, d.DurationS = stats.SpreadOf(tasks), stats.SpreadOf(cores), stats.SpreadOf(runtimes)
	d.Curves.SizeCDF, d.Curves.DurationCDF = quantiles(cores), quantiles(runtimes)
}

// quantiles returns the 101 quantiles of x, nil for none.
func quantiles(x []float64) []float64 {
	if len(x) == 0 {
		return nil
	}
	s, out := stats.Sorted(x), make([]float64, 101)
	for i := range out {
		out[i] = stats.Quantile(s, float64(i)/100)
	}
	return out
}

// work is a job's task-seconds.
func work(j *trace.Job) float64 { return float64(float64(j.Tasks) * j.Runtime.Seconds()) }

// size is a job's cores where the log gives them per task, otherwise its tasks.
func size(j *trace.Job) float64 {
	if c := j.Demand["cpu"]; c > 0 {
		return c * float64(j.Tasks)
	}
	return float64(j.Tasks)
}

// demandOf sweeps over starts and ends.
func demandOf(jobs []trace.Job) Demand {
	type edge struct{ at, change float64 }
	edges := make([]edge, 0, 2*len(jobs))
	var d Demand
	total := 0.0
	for i := range jobs {
		j := &jobs[i]
		d.MaxJobTasks = max(d.MaxJobTasks, j.Tasks)
		if j.Runtime <= 0 {
			continue
		}
		start := (j.Submit + max(0, j.Wait)).Seconds()
		edges = append(edges, edge{start, float64(j.Tasks)}, edge{start + j.Runtime.Seconds(), -float64(j.Tasks)})
		total += work(j)
	}
	slices.SortFunc(edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.change, b.change))
	})
	level := 0.0
	for _, e := range edges {
		level += e.change
		d.PeakTasks = max(d.PeakTasks, level)
	}
	if len(edges) > 0 {
		d.MeanTasks = total / (edges[len(edges)-1].at - edges[0].at)
	}
	return d
}

func hourlyOf(jobs []trace.Job) Hourly {
	first := int(jobs[0].Submit.Hours())
	n := int(jobs[len(jobs)-1].Submit.Hours()) - first + 1
	count, tasks := make([]float64, n), make([]float64, n)
	h := Hourly{ShareByHour: make([]float64, 24)}
	for i := range jobs {
		hour := int(jobs[i].Submit.Hours())
		count[hour-first]++
		tasks[hour-first] += float64(jobs[i].Tasks)
		h.ShareByHour[hour%24] += 1 / float64(len(jobs))
	}
	h.Jobs, h.Tasks = stats.SpreadOf(count), stats.SpreadOf(tasks)
	if low := slices.Min(h.ShareByHour); low > 0 {
		h.PeakToTrough = slices.Max(h.ShareByHour) / low
	}
	if n >= 48 {
		h.DayCorrelation = correlation(count[:n-24], count[24:])
	}
	return h
}

func correlation(x, y []float64) float64 {
	mx, my := stats.Mean(x), stats.Mean(y)
	var xy, xx, yy float64
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		xy += float64(dx * dy)
		xx += float64(dx * dx)
		yy += float64(dy * dy)
	}
	if xx == 0 || yy == 0 {
		return 0
	}
	return xy / math.Sqrt(xx*yy)
}

func requestsOf(jobs []trace.Job) Requests {
	var ratio []float64
	for i := range jobs {
		if j := &jobs[i]; j.Requested > 0 && j.Runtime > 0 {
			ratio = append(ratio, float64(j.Requested)/float64(j.Runtime))
		}
	}
	return Requests{Jobs: len(ratio), RequestedOverUsed: stats.SpreadOf(ratio)}
}

func (d *Document) interArrivals(jobs []trace.Job) {
	gaps := make([]float64, 0, len(jobs))
	below := 0
	var hour []float64
	tested, rejected := 0, 0
	flush := func() {
		if len(hour) >= 20 {
			tested++
			if poisson(hour).Rejected {
				rejected++
			}
		}
		hour = hour[:0]
	}
	for i := 1; i < len(jobs); i++ {
		gap := (jobs[i].Submit - jobs[i-1].Submit).Seconds()
		gaps = append(gaps, gap)
		if gap < 1 {
			below++
		}
		if int(jobs[i].Submit.Hours()) != int(jobs[i-1].Submit.Hours()) {
			flush()
			continue
		}
		hour = append(hour, gap)
	}
	flush()
	n := float64(max(1, len(gaps)))
	d.InterArrival = InterArrival{Seconds: stats.SpreadOf(gaps), SubSecond: float64(below) / n,
		Poisson: poisson(gaps), HoursTested: tested, RejectedHours: float64(rejected) / float64(max(1, tested))}
	d.Curves.InterArrivalCDF = quantiles(gaps)
}

// poisson tests whether gaps are exponential with their own mean.
func poisson(gaps []float64) stats.KS {
	mean := stats.Mean(gaps)
	if mean == 0 {
		return stats.KS{P: 1}
	}
	return stats.KSTest(gaps, func(x float64) float64 { return 1 - math.Exp(-max(0, x)/mean) })
}

package workload

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/hedgesched/hedge/adapters/sim/taskuse"
	"github.com/hedgesched/hedge/adapters/sim/trace"
)

// minGroup is how many rows a group of usage must have to be one.
const minGroup = 5

// Fill is what a log of jobs lacks to be a workload of shared machines: how much of their requests jobs use, how use
// changes over time, and requests where there are none. The zero value has none of it.
type Fill struct {
	// groups are rows of use by user and name; rows are those of all groups.
	groups [][]ratios
	rows   []ratios
	// shapes are series of five minutes whose mean is 1.
	shapes []taskuse.Series
	// requests are pairs of what tasks ask for.
	requests []trace.Amount
	// own is what the jobs use that [Fill.Jobs] made, by id.
	own map[string]taskuse.Series
}

// ratios are what a task uses over what it requests.
type ratios struct{ mean, most trace.Amount }

// AddUsage takes what a log of usage has. Records with a request tell how much of it is used; those of the same user
// and name are a group, if there are five. Series of Google's five minutes tell how use changes.
func (f *Fill) AddUsage(log *trace.UsageLog) {
	byKey := map[string][]ratios{}
	for i := range log.Records {
		r := &log.Records[i]
		if log.Format == trace.Google5Min {
			f.addShapes(r.Use)
			continue
		}
		if !(r.Requested.CPU > 0 && r.Requested.Memory > 0) {
			continue
		}
		f.requests = append(f.requests, r.Requested)
		cpu, memory := r.Use.Mean()
		key := r.User + "\x00" + r.Name
		byKey[key] = append(byKey[key], ratios{
			mean: trace.Amount{CPU: cpu / r.Requested.CPU, Memory: memory / r.Requested.Memory},
			most: trace.Amount{CPU: r.Max.CPU / r.Requested.CPU, Memory: r.Max.Memory / r.Requested.Memory},
		})
	}
	keys := make([]string, 0, len(byKey))
	for key, rows := range byKey {
		if len(rows) >= minGroup {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, cmp.Compare[string])
	for _, key := range keys {
		f.groups = append(f.groups, byKey[key])
		f.rows = append(f.rows, byKey[key]...)
	}
}

// Jobs makes jobs of a log of usage, whose use is their own: a record is a gang of tasks that are alike. Memory, where
// the log has none, is drawn as for other jobs. An id is the job's name and the record's line.
func (f *Fill) Jobs(log *trace.UsageLog) []trace.Job {
	if f.own == nil {
		f.own = map[string]taskuse.Series{}
	}
	jobs := make([]trace.Job, len(log.Records))
	for i := range log.Records {
		r := &log.Records[i]
		j := trace.Job{ID: r.Job + ":" + strconv.Itoa(r.Line), Line: r.Line, Submit: r.Submit, Wait: trace.WaitUnknown,
			Runtime: r.Use.Runtime(), Tasks: r.Tasks, Attributes: map[string]string{"job": r.Job},
			Demand: map[string]float64{"cpu": r.Requested.CPU, "memory": r.Requested.Memory}}
		if r.User != "" {
			j.Attributes["user"] = r.User
		}
		if r.Name != "" {
			j.Attributes["logical_name"] = r.Name
		}
		jobs[i], f.own[j.ID] = j, r.Use
	}
	return jobs
}

// AddJobs takes the requests of a log of jobs.
func (f *Fill) AddJobs(jobs []trace.Job) {
	for i := range jobs {
		if a := requestOf(&jobs[i]); a.CPU > 0 && a.Memory > 0 {
			f.requests = append(f.requests, a)
		}
	}
}

// shapeLength is the number of values of a shape: an hour.
const shapeLength = 12

// addShapes cuts a series into hours whose mean is 1.
func (f *Fill) addShapes(s taskuse.Series) {
	for ; len(s) >= shapeLength; s = s[shapeLength:] {
		hour := s[:shapeLength:shapeLength]
		if cpu, memory := hour.Mean(); cpu > 0 && memory > 0 {
			f.shapes = append(f.shapes, hour.Scale(1/cpu, 1/memory))
		}
	}
}

// Groups is the number of groups of use, Rows that of their rows, Shapes that of series of an hour.
func (f *Fill) Groups() (groups, rows, shapes int) { return len(f.groups), len(f.rows), len(f.shapes) }

// check refuses a fill that cannot make a workload.
func (f *Fill) check() error {
	if len(f.groups) == 0 {
		return fmt.Errorf("workload: the fill has no group of %d records of use and requests: %w", minGroup, ErrEmpty)
	}
	return nil
}

// requestOf is what a log says that a task of the job asks for.
func requestOf(j *trace.Job) trace.Amount {
	return trace.Amount{CPU: j.Demand["cpu"], Memory: j.Demand["memory"]}
}

// follow is a series whose mean is 1, moved and stretched so that its mean and its maximum are as given. Where that
// would make it negative it is 0, and the mean then a bit larger.
func follow(shape, mean, most, peak float64) float64 {
	if peak <= 1+1e-9 {
		return mean
	}
	return max(0, mean+float64((shape-1)*(most-mean)/(peak-1)))
}

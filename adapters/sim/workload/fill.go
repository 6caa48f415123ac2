package workload

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/hedgesched/hedge/adapters/sim/taskuse"
	"github.com/hedgesched/hedge/adapters/sim/trace"
)

// minGroup is the least number of rows in a group.
const minGroup = 5

// Fill has what a log of jobs lacks for a workload of shared machines: use relative to requests, changes of use over
// time, and requests. The zero value is empty. It is not safe for concurrent use.
type Fill struct {
	// groups are rows of use by user and name; rows are those of all groups.
	groups [][]ratios
	rows   []ratios
	// shapes are hours of five-minute segments, with a mean of 1.
	shapes []taskuse.Series
	// requests are pairs of requests.
	requests []trace.Amount
	// own is the use of the jobs that [Fill.Jobs] made, by ID.
	own map[string]taskuse.Series
}

// ratios are a task's average and peak use over its request.
type ratios struct{ mean, most trace.Amount }

// AddUsage adds a log of usage. Records with requests give rows of use; at least five rows of the same user and name
// make a group, and other rows are not used. Google's five-minute series give changes over time.
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

// Jobs makes a job of each record of a log of usage: a gang of equal tasks with the record's use. If the log has no
// memory, memory is drawn as for other jobs. The job's ID is that of the log with the record's line.
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

// AddJobs adds the requests of a log of jobs.
func (f *Fill) AddJobs(jobs []trace.Job) {
	for i := range jobs {
		f.addRequest(&jobs[i])
	}
}

func (f *Fill) addRequest(j *trace.Job) {
	if a := requestOf(j); a.CPU > 0 && a.Memory > 0 {
		f.requests = append(f.requests, a)
	}
}

// shapeLength is the number of values of a shape: an hour.
const shapeLength = 12

// addShapes cuts a series into hours and scales each to a mean of 1.
func (f *Fill) addShapes(s taskuse.Series) {
	for ; len(s) >= shapeLength; s = s[shapeLength:] {
		hour := s[:shapeLength:shapeLength]
		if cpu, memory := hour.Mean(); cpu > 0 && memory > 0 {
			f.shapes = append(f.shapes, hour.Scale(1/cpu, 1/memory))
		}
	}
}

// Groups returns the numbers of groups of use, of rows in them, and of hours that show how use changes.
func (f *Fill) Groups() (groups, rows, shapes int) { return len(f.groups), len(f.rows), len(f.shapes) }

// check returns an error for a fill without groups.
func (f *Fill) check() error {
	if len(f.groups) == 0 {
		return fmt.Errorf("workload: the fill has no group of %d records of use and requests: %w", minGroup, ErrEmpty)
	}
	return nil
}

// requestOf is a task's request according to the log, 0 where it has none.
func requestOf(j *trace.Job) trace.Amount {
	return trace.Amount{CPU: j.Demand["cpu"], Memory: j.Demand["memory"]}
}

// follow transforms a value of a shape, whose mean is 1 and maximum peak, linearly so that the series gets the given
// mean and maximum. Negative results become 0, which makes the mean a little larger.
func follow(shape, mean, most, peak float64) float64 {
	if peak <= 1+1e-9 {
		return mean
	}
	return max(0, mean+float64((shape-1)*(most-mean)/(peak-1)))
}

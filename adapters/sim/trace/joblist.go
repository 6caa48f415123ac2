package trace

import (
	"strconv"
	"time"
)

// The job list's columns of counts, and the attributes and demands made of them.
var jobListCounts = [...]struct{ column, attribute, demand string }{
	{"gpu_num", "gpus", "gpu"}, {"node_num", "nodes", ""}, {"cpu_num", "cpus", "cpu"}}

// jobList reads the job lists of Philly and Blue Waters. The time between a
// job and the one before is summed up to its submission. A job has a task for
// every GPU, or for every node where it has more of them; one of CPUs alone has one task. A job that has
// 0 of all three ran nowhere; counts that are not there are unknown.
type jobList struct {
	table
	ids                                            idSet
	id, user, interval, runtime, requested, status int
	counts                                         [len(jobListCounts)]int
	now                                            time.Duration
}

func newJobList(l lines) (*jobList, error) {
	p := &jobList{table: table{lines: l}}
	if err := p.head("u_id", "interval", "run_time", "new_status"); err != nil {
		return p, err
	}
	at := map[string]*int{"u_id": &p.id, "user": &p.user, "interval": &p.interval, "run_time": &p.runtime,
		"wall_time": &p.requested, "new_status": &p.status}
	for i, c := range jobListCounts {
		at[c.column] = &p.counts[i]
	}
	return p, p.columns(at)
}

func (p *jobList) header() *Header { return nil }

func (p *jobList) next(job *Job) (string, error) {
	if err := p.record(); err != nil {
		return "", err
	}
	// A record that is bad for another reason still tells how much later those after it were submitted.
	interval, ok := duration(p.field(p.interval))
	if !ok {
		return "", p.wrong(p.interval, wantTime)
	}
	if interval > maxNanos-p.now {
		return "", p.wrong(p.interval, "intervals that add up to 3e9 at most")
	}
	p.now += interval
	job.Submit, job.Wait = p.now, WaitUnknown
	if job.Runtime, ok = duration(p.field(p.runtime)); !ok {
		return "", p.wrong(p.runtime, wantTime)
	}
	if b := p.field(p.requested); b != nil {
		if job.Requested, ok = limit(b); !ok {
			return "", p.wrong(p.requested, wantLimit)
		}
	}
	switch string(p.field(p.status)) {
	case "Pass":
		job.Outcome = Finished
	case "Failed":
		job.Outcome = Failed
	case "Killed":
		job.Outcome = Killed
	case "":
	default:
		return "", p.wrong(p.status, "Pass, Failed, Killed or nothing")
	}
	if skip, err := p.resources(job); skip != "" || err != nil {
		return skip, err
	}
	if job.Runtime == 0 {
		return "zero runtime", nil
	}
	job.ID = string(plain(p.field(p.id)))
	return "", p.newID(p.names[p.id], job.ID, quote(p.field(p.id)), &p.ids)
}

// resources fills in the job's tasks, what each of them holds, and the attributes, or says why it has none.
func (p *jobList) resources(job *Job) (skip string, err error) {
	job.Attributes = make(map[string]string, 6)
	var n [len(jobListCounts)]int64
	known := 0
	for i, c := range jobListCounts {
		b := p.field(p.counts[i])
		if b == nil {
			continue
		}
		known++
		var ok bool
		if n[i], ok = whole(b); !ok || n[i] < 0 || n[i] > 1<<31-1 {
			return "", p.wrong(p.counts[i], "a whole number from 0 to 2147483647")
		}
		if n[i] > 0 {
			job.Attributes[c.attribute] = p.strings.string(plain(b))
		}
	}
	if known == len(n) && n == [len(jobListCounts)]int64{} {
		return "no processors", nil
	}
	job.Tasks = int(max(n[0], n[1], 1))
	for i, c := range jobListCounts {
		if n[i] > 0 && c.demand != "" {
			if job.Demand == nil {
				job.Demand = make(map[string]float64, 2)
			}
			job.Demand[c.demand] = float64(n[i]) / float64(job.Tasks)
		}
	}
	job.Attributes["tasks"] = strconv.Itoa(job.Tasks)
	if b := p.field(p.user); b != nil {
		job.Attributes["user"] = p.strings.string(plain(b))
	}
	if job.Requested > 0 {
		job.Attributes["requested"] = p.strings.string(plain(p.field(p.requested)))
	}
	return "", nil
}

package trace

import (
	"strconv"
	"time"
)

// simple reads arrival_time,length,cpus: a line a job, both times in hours.
type simple struct {
	table
	arrival, length, cpus int
}

func newSimple(l lines) (*simple, error) {
	p := &simple{table: table{lines: l}}
	err := p.head("arrival_time", "length", "cpus")
	if err == nil {
		err = p.columns(map[string]*int{"arrival_time": &p.arrival, "length": &p.length, "cpus": &p.cpus})
	}
	return p, err
}

func (p *simple) header() *Header { return nil }

func (p *simple) next(job *Job) (string, error) {
	if err := p.record(); err != nil {
		return "", err
	}
	var ok bool
	if job.Submit, ok = hours(p.field(p.arrival)); !ok {
		return "", p.wrong(p.arrival, wantHours)
	}
	if job.Runtime, ok = hours(p.field(p.length)); !ok {
		return "", p.wrong(p.length, wantHours)
	}
	if job.Tasks, ok = count(p.field(p.cpus)); !ok {
		return "", p.wrong(p.cpus, wantCount)
	}
	if job.Runtime == 0 {
		return "zero runtime", nil
	}
	job.ID = strconv.Itoa(p.line - 1)
	job.Wait = WaitUnknown
	job.Attributes = map[string]string{"tasks": strconv.Itoa(job.Tasks)}
	return "", nil
}

const wantHours = "hours from 0 to 833333"

// hours parses hours that are not negative.
func hours(b []byte) (time.Duration, bool) {
	n, ok := decimal(b)
	if !ok || n < 0 || n > maxNanos/3600 {
		return 0, false
	}
	return time.Duration(n * 3600), true
}

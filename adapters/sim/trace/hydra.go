package trace

import (
	"math"
	"strconv"
	"time"
)

// hydra reads the cases of Hydra (Yang et al., IEEE Transactions on Computers, 2023): jobs on one GPU each, with a
// runtime on every type of GPU. The columns after ddl are the types.
type hydra struct {
	table
	ids               idSet
	name, submit, ddl int
	types             []metaColumn
	runtimes          []time.Duration
}

func newHydra(l lines) (*hydra, error) {
	p := &hydra{table: table{lines: l}}
	err := p.head("job_name", "norm_job_submit_time", "ddl")
	if err == nil {
		err = p.columns(map[string]*int{"job_name": &p.name, "norm_job_submit_time": &p.submit, "ddl": &p.ddl})
	}
	if err != nil {
		return p, err
	}
	for i := p.ddl + 1; i < len(p.names); i++ {
		var column int
		if p.names[i] == "" {
			return p, p.bad("columns", "one without a name after ddl", "a type of GPUs")
		}
		if err := p.columns(map[string]*int{p.names[i]: &column}); err != nil {
			return p, err
		}
		p.types = append(p.types, metaColumn{column, p.names[i]})
	}
	if len(p.types) == 0 || len(p.types) > maxSpeeds {
		return p, p.bad("columns", strconv.Itoa(len(p.types))+" after ddl", "1 to 16, the types of GPUs")
	}
	p.runtimes = make([]time.Duration, len(p.types))
	return p, nil
}

func (p *hydra) header() *Header { return nil }

func (p *hydra) next(job *Job) (string, error) {
	if err := p.record(); err != nil {
		return "", err
	}
	var ok bool
	if job.Submit, ok = duration(p.field(p.submit)); !ok {
		return "", p.wrong(p.submit, wantTime)
	}
	if err := p.times(job); err != nil {
		return "", err
	}
	if string(plain(p.field(p.ddl))) != "inf" {
		due, ok := duration(p.field(p.ddl))
		if !ok || due <= job.Submit {
			return "", p.wrong(p.ddl, "inf, or seconds after the submission, at most 3e9")
		}
		if job.Deadline = due - job.Submit; tooSoon(job) {
			return "", p.wrong(p.ddl, "inf, or a time after the submission by at least the shortest runtime, "+
				inSeconds(job.Runtime)).because(deadlineTooSoon)
		}
	}
	job.Tasks, job.Demand, job.Wait = 1, map[string]float64{"gpu": 1}, WaitUnknown
	job.Attributes = map[string]string{"name": string(plain(p.field(p.name)))}
	job.ID = job.Attributes["name"]
	return "", p.newID("job_name", job.ID, quote(p.field(p.name)), &p.ids)
}

// times fills in the runtime, on the fastest type, and the speeds of all types.
func (p *hydra) times(job *Job) error {
	job.Runtime = math.MaxInt64
	for i, t := range p.types {
		d, ok := duration(p.field(t.column))
		if !ok || d == 0 {
			return p.wrong(t.column, wantRuntime)
		}
		p.runtimes[i] = d
		job.Runtime = min(job.Runtime, d)
	}
	job.Speeds = make(map[string]float64, len(p.types))
	for i, t := range p.types {
		speed := float64(job.Runtime) / float64(p.runtimes[i])
		if speed < leastSpeed {
			return p.wrong(t.column, "at most a million times the shortest of them")
		}
		job.Speeds["gpu="+t.name] = speed
	}
	return nil
}

const (
	// leastSpeed is the lowest speed in a log.
	leastSpeed = 1e-6
	// maxSpeeds is how many speeds a job may have; that of sched.MaxSpeeds.
	maxSpeeds = 16
)

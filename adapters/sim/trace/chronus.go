package trace

import (
	"bytes"
	"math"
	"strconv"
	"time"
)

// chronus reads the traces of Chronus (Gao et al., SoCC 2021): jobs on GPUs of which a completion is worth less the
// later it is. A job has a task for each of its GPUs. Its user is a virtual cluster of Philly's.
type chronus struct {
	table
	ids                                     idSet
	id, user, gpus, submit, model, duration int
	times, values, bestEffort               int
}

func newChronus(l lines) (*chronus, error) {
	p := &chronus{table: table{lines: l}}
	err := p.head("job_id", "num_gpu", "submit_time", "duration", "expect_time_list", "expect_value_list", "best_effort")
	if err == nil {
		err = p.columns(map[string]*int{"job_id": &p.id, "user": &p.user, "num_gpu": &p.gpus, "submit_time": &p.submit,
			"model_name": &p.model, "duration": &p.duration, "expect_time_list": &p.times,
			"expect_value_list": &p.values, "best_effort": &p.bestEffort})
	}
	return p, err
}

func (p *chronus) header() *Header { return nil }

func (p *chronus) next(job *Job) (string, error) {
	if err := p.record(); err != nil {
		return "", err
	}
	var ok bool
	if job.Submit, ok = duration(p.field(p.submit)); !ok {
		return "", p.wrong(p.submit, wantTime)
	}
	if job.Runtime, ok = duration(p.field(p.duration)); !ok {
		return "", p.wrong(p.duration, wantTime)
	}
	if skip, err := gpuTasks(&p.table, p.gpus, job); skip != "" || err != nil {
		return skip, err
	}
	switch string(plain(p.field(p.bestEffort))) {
	case "1":
	case "0":
		if err := p.steps(job); err != nil {
			return "", err
		}
	default:
		return "", p.wrong(p.bestEffort, "0 or 1")
	}
	if job.Runtime == 0 {
		return "zero runtime", nil
	}
	if tooSoon(job) {
		return "", p.wrong(p.times, "a last time of at least the duration, "+inSeconds(job.Runtime)).
			because(deadlineTooSoon)
	}
	for name, column := range map[string]int{"user": p.user, "name": p.model} {
		if b := p.field(column); b != nil {
			job.Attributes[name] = p.strings.string(plain(b))
		}
	}
	job.ID, job.Wait = string(plain(p.field(p.id))), WaitUnknown
	return "", p.newID("job_id", job.ID, quote(p.field(p.id)), &p.ids)
}

// steps fills in what a completion is worth. Both lists are joined by hyphens.
func (p *chronus) steps(job *Job) error {
	times, values := p.field(p.times), p.field(p.values)
	for more := true; more; {
		var t, v []byte
		var both bool
		t, times, more = bytes.Cut(times, []byte("-"))
		v, values, both = bytes.Cut(values, []byte("-"))
		if more != both {
			return p.wrong(p.values, "as many values as expect_time_list has times")
		}
		by, ok := duration(t)
		if !ok || by == 0 || len(job.Steps) > 0 && by <= job.Steps[len(job.Steps)-1].By {
			return p.wrong(p.times, "rising seconds above 0, up to 3e9, joined by -")
		}
		value, ok := worth(v)
		if !ok || len(job.Steps) > 0 && value > job.Steps[len(job.Steps)-1].Value {
			return p.wrong(p.values, "numbers above 0 to 1e12, none above the one before, joined by -")
		}
		job.Steps = append(job.Steps, Step{By: by, Value: value})
	}
	job.Deadline = job.Steps[len(job.Steps)-1].By
	return nil
}

// maxWorth bounds what a completion is worth.
const maxWorth = 1e12

// worth parses a value above 0.
func worth[T text](b T) (float64, bool) {
	v, ok := number(b)
	return v, ok && v > 0 && v <= maxWorth
}

// gpuTasks gives the job a task of one GPU for each that it holds.
func gpuTasks(t *table, column int, job *Job) (skip string, err error) {
	n, ok := whole(t.field(column))
	if !ok || n < 0 || n > math.MaxInt32 {
		return "", t.wrong(column, "a whole number from 0 to 2147483647")
	}
	if n == 0 {
		return "no GPUs", nil
	}
	job.Tasks = int(n)
	job.Demand = map[string]float64{"gpu": 1}
	job.Attributes = map[string]string{"tasks": strconv.Itoa(job.Tasks), "gpus": strconv.Itoa(job.Tasks)}
	return "", nil
}

// helios reads job_id,arrival_s,runtime_s,gpus, as made of SenseTime's Helios traces (Hu et al., SC 2021). There are no
// users. A job has a task for each of its GPUs.
type helios struct {
	table
	ids                        idSet
	id, arrival, runtime, gpus int
}

func newHelios(l lines) (*helios, error) {
	p := &helios{table: table{lines: l}}
	err := p.head("job_id", "arrival_s", "runtime_s", "gpus")
	if err == nil {
		err = p.columns(map[string]*int{"job_id": &p.id, "arrival_s": &p.arrival, "runtime_s": &p.runtime, "gpus": &p.gpus})
	}
	return p, err
}

func (p *helios) header() *Header { return nil }

func (p *helios) next(job *Job) (string, error) {
	if err := p.record(); err != nil {
		return "", err
	}
	for _, f := range [...]struct {
		column int
		to     *time.Duration
	}{{p.arrival, &job.Submit}, {p.runtime, &job.Runtime}} {
		var ok bool
		if *f.to, ok = duration(p.field(f.column)); !ok {
			return "", p.wrong(f.column, wantTime)
		}
	}
	if skip, err := gpuTasks(&p.table, p.gpus, job); skip != "" || err != nil {
		return skip, err
	}
	if job.Runtime == 0 {
		return "zero runtime", nil
	}
	job.ID, job.Wait = string(plain(p.field(p.id))), WaitUnknown
	return "", p.newID("job_id", job.ID, quote(p.field(p.id)), &p.ids)
}

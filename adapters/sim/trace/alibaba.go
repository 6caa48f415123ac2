package trace

import (
	"errors"
	"slices"
	"strings"
	"time"
)

const wantStatus = "Terminated, Failed, Cancelled, Interrupted, Running, Ready or Waiting"

// alibaba2018 reads the batch tasks of Alibaba's 2018 trace. Its lines are tasks, those of a job together; each is a
// stage of as many tasks as it has instances.
type alibaba2018 struct {
	table
	stages
	ids                                      idSet
	name, instances, job, status, start, end int
	duration, cpu, memory                    int
	held                                     bool // the current record is of the next job
	over                                     error
}

func newAlibaba2018(l lines) (*alibaba2018, error) {
	p := &alibaba2018{table: table{lines: l}}
	err := p.head("task_name", "instances", "job_name", "status", "start_s", "duration_s")
	if err == nil {
		err = p.columns(map[string]*int{"task_name": &p.name, "instances": &p.instances, "job_name": &p.job,
			"status": &p.status, "start_s": &p.start, "end_s": &p.end, "duration_s": &p.duration, "plan_cpu": &p.cpu,
			"plan_mem": &p.memory})
	}
	return p, err
}

func (p *alibaba2018) header() *Header { return nil }

func (p *alibaba2018) at() int {
	if p.stages.last > 0 {
		return p.stages.last
	}
	return p.lines.line
}

func (p *alibaba2018) next(job *Job) (string, error) {
	if p.take(job) {
		return "", nil
	}
	of, skip, err := p.gather()
	if skip != "" || err != nil {
		return skip, err
	}
	if err := p.set(&p.lines, p.names[p.name], of); err != nil {
		return "", err
	}
	if !p.take(job) {
		return "zero runtime", nil
	}
	return "", nil
}

// gather reads the lines of the next job. The first bad one makes the job bad, and one that has not ended has it
// skipped; the job is read to its end all the same.
func (p *alibaba2018) gather() (of []Job, skip string, bad error) {
	p.stages.last = 0
	id := ""
	for first := true; ; first = false {
		if err := p.advance(); err != nil {
			if broken := (*ParseError)(nil); errors.As(err, &broken) && !broken.fatal {
				p.held = false
				if first {
					return nil, "", err
				}
				bad = or(bad, err)
				continue
			}
			if first {
				return nil, "", err
			}
			p.over = err
			break
		}
		name := string(p.field(p.job))
		if !first && name != id {
			p.held = true
			break
		}
		if first {
			id = name
			if err := p.newID(p.names[p.job], id, quote(id), &p.ids); err != nil {
				bad = err
			}
		}
		var stage Job
		why, err := p.task(id, &stage)
		if err != nil {
			bad = or(bad, err)
		}
		if skip == "" {
			skip = why
		}
		of = append(of, stage)
	}
	if bad != nil {
		return nil, "", bad
	}
	if skip == "" {
		p.submit(of)
	}
	return of, skip, nil
}

func or(first, then error) error {
	if first != nil {
		return first
	}
	return then
}

// advance reads the next line, unless the current one is not used yet.
func (p *alibaba2018) advance() error {
	switch {
	case p.over != nil:
		return p.over
	case p.held:
		p.held = false
		return nil
	}
	return p.record()
}

// submit has all stages be submitted with the first.
func (p *alibaba2018) submit(of []Job) {
	first := of[0].Submit
	for i := range of {
		first = min(first, of[i].Submit)
	}
	for i := range of {
		of[i].Submit, of[i].Wait = first, of[i].Submit-first
	}
}

// task reads the current line. Submit is when it started.
func (p *alibaba2018) task(job string, to *Job) (skip string, err error) {
	name := string(p.field(p.name))
	if name == "" {
		return "", p.wrong(p.name, "the name of a task")
	}
	to.Line = p.lines.line
	kind, number, after := stageName(name)
	for i := range after {
		after[i] = job + "/" + after[i]
	}
	to.Of, to.ID, to.After = job, job+"/"+number, after
	to.Attributes = map[string]string{"kind": p.strings.string([]byte(kind))}
	switch string(p.field(p.status)) {
	case "Terminated":
		to.Outcome = Finished
	case "Failed":
		to.Outcome = Failed
	case "Cancelled", "Interrupted":
		to.Outcome = Killed
	case "Waiting", "Running", "Ready":
		return "a stage that has not ended", nil
	default:
		return "", p.wrong(p.status, wantStatus)
	}
	var ok bool
	if to.Submit, ok = duration(p.field(p.start)); !ok {
		return "", p.wrong(p.start, wantTime)
	}
	if to.Runtime, ok = duration(p.field(p.duration)); !ok {
		return "", p.wrong(p.duration, wantTime)
	}
	if b := p.field(p.instances); b == nil {
		return "", p.wrong(p.instances, wantCount).because("a stage of no tasks")
	} else if to.Tasks, ok = count(b); !ok {
		return "", p.wrong(p.instances, wantCount)
	}
	to.Demand, err = demandsOf(&p.table, p.cpu, p.memory)
	return "", err
}

// demandsOf are cores, and shares of a machine's memory as the log has them.
func demandsOf(t *table, cpu, memory int) (map[string]float64, error) {
	out := make(map[string]float64, 2)
	for _, c := range [...]struct {
		column int
		name   string
		unit   float64
	}{{cpu, "cpu", 100}, {memory, "memory", 1}} {
		b := t.field(c.column)
		if b == nil {
			continue
		}
		v, ok := demand(b)
		if !ok {
			return nil, t.wrong(c.column, wantDemand+", or nothing")
		}
		out[c.name] = v / c.unit
	}
	return out, nil
}

// independent is the kind of tasks whose names tell of no order.
const independent = "independent"

// stageName reads a name such as R4_2_3: a task of kind R and number 4 that waits for those of number 2 and 3. Other
// names are of tasks that wait for none, and stand for their number.
func stageName(name string) (kind, number string, after []string) {
	parts := strings.Split(name, "_")
	kind = strings.TrimRight(parts[0], "0123456789")
	if kind == "" || kind == parts[0] {
		return independent, name, nil
	}
	for _, part := range parts[1:] {
		if _, ok := integer(part); !ok || part[0] == '-' {
			return independent, name, nil
		}
		if !slices.Contains(after, part) {
			after = append(after, part)
		}
	}
	return kind, parts[0][len(kind):], after
}

// alibaba2017 reads the batch tasks of Alibaba's 2017 trace, which knows no order among those of a job. Each is a stage
// of as many tasks as it has instances.
type alibaba2017 struct {
	table
	ids                            idSet
	created, ended, job, task      int
	instances, status, cpu, memory int
}

func newAlibaba2017(l lines) (*alibaba2017, error) {
	p := &alibaba2017{table: table{lines: l}}
	err := p.head("task_create_time", "task_end_time", "job_id", "task_id", "number_of_instances", "status")
	if err == nil {
		err = p.columns(map[string]*int{"task_create_time": &p.created, "task_end_time": &p.ended, "job_id": &p.job,
			"task_id": &p.task, "number_of_instances": &p.instances, "status": &p.status, "cpus_per_instance_x100": &p.cpu,
			"mem_per_instance_norm": &p.memory})
	}
	return p, err
}

func (p *alibaba2017) header() *Header { return nil }

func (p *alibaba2017) next(job *Job) (string, error) {
	if err := p.record(); err != nil {
		return "", err
	}
	switch string(p.field(p.status)) {
	case "Terminated":
		job.Outcome = Finished
	case "Failed":
		job.Outcome = Failed
	case "Cancelled", "Interrupted":
		job.Outcome = Killed
	case "Waiting", "Running", "Ready":
		return "not ended", nil
	default:
		return "", p.wrong(p.status, wantStatus)
	}
	if skip, err := p.times(job); skip != "" || err != nil {
		return skip, err
	}
	b := p.field(p.instances)
	var ok bool
	if job.Tasks, ok = count(b); !ok {
		return "", p.wrong(p.instances, wantCount)
	}
	var err error
	if job.Demand, err = demandsOf(&p.table, p.cpu, p.memory); err != nil {
		return "", err
	}
	job.Of = string(plain(p.field(p.job)))
	if job.Of == "" {
		return "", p.wrong(p.job, "an id")
	}
	name := string(plain(p.field(p.task)))
	if name == "" {
		return "", p.wrong(p.task, "an id")
	}
	job.ID = job.Of + "/" + name
	return "", p.newID(p.names[p.task], job.ID, quote(job.ID), &p.ids)
}

// times fills in the task's times, which are below 0 before the recording.
func (p *alibaba2017) times(job *Job) (skip string, err error) {
	job.Wait = WaitUnknown
	var t [2]int64
	for i, column := range [...]int{p.created, p.ended} {
		var ok bool
		if t[i], ok = decimal(p.field(column)); !ok {
			return "", p.wrong(column, "seconds from -3e9 to 3e9")
		}
	}
	switch {
	case t[0] < 0:
		return "submitted before the recording", nil
	case t[1] < t[0]:
		return "", p.wrong(p.ended, "a time not before task_create_time")
	case t[1] == t[0]:
		return "zero runtime", nil
	}
	job.Submit, job.Runtime = time.Duration(t[0]), time.Duration(t[1]-t[0])
	return "", nil
}

package trace

import (
	"bytes"
	"math"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/taskuse"
)

// googleUsage reads Google's five-minute usage of 2011, with a line per job, day and metric. The two metrics of a job's
// day are on adjacent lines.
type googleUsage struct {
	table
	job, date, metric, first int
	key                      string
	cpu, mem                 []float64
}

func newGoogleUsage(t table) (usageParser, error) {
	p := &googleUsage{table: t}
	err := p.head("job_id", "day", "metric", "v000")
	if err == nil {
		err = p.columns(map[string]*int{"job_id": &p.job, "day": &p.date, "metric": &p.metric})
	}
	if err == nil {
		p.first, err = p.dayColumns()
	}
	return p, err
}

// next combines the two metrics of a day. Values are in percent of the largest machine, and become shares.
func (p *googleUsage) next(r *UsageRecord) (string, error) {
	if err := p.record(); err != nil {
		return "", err
	}
	job := string(plain(p.field(p.job)))
	if job == "" {
		return "", p.wrong(p.job, "an id")
	}
	if key := job + " " + string(p.field(p.date)); key != p.key {
		p.key, p.cpu, p.mem = key, nil, nil
	}
	of := &p.cpu
	switch string(p.field(p.metric)) {
	case "cpu_pct":
	case "mem_pct":
		of = &p.mem
	default:
		return "", p.wrong(p.metric, "cpu_pct or mem_pct")
	}
	values, err := p.day(p.first)
	if err != nil {
		return "", err
	}
	*of = values
	if p.cpu == nil || p.mem == nil {
		return "half of a day", nil
	}
	r.Job, r.Tasks = job, 1
	for i := range p.cpu {
		r.Use = append(r.Use, taskuse.Segment{Duration: fiveMinutes, CPU: p.cpu[i] / 100, Memory: p.mem[i] / 100})
	}
	r.Max.CPU, r.Max.Memory = r.Use.Max()
	return "", nil
}

// planetLab reads the CPU of virtual machines, with a line per machine and day.
type planetLab struct {
	table
	vm, first int
}

func newPlanetLab(t table) (usageParser, error) {
	p := &planetLab{table: t}
	err := p.head("day", "vm", "v000")
	if err == nil {
		err = p.columns(map[string]*int{"vm": &p.vm})
	}
	if err == nil {
		p.first, err = p.dayColumns()
	}
	return p, err
}

func (p *planetLab) next(r *UsageRecord) (string, error) {
	if err := p.record(); err != nil {
		return "", err
	}
	values, err := p.day(p.first)
	if err != nil {
		return "", err
	}
	r.Job, r.Tasks, r.Requested.CPU = string(p.field(p.vm)), 1, 1 // the unit is the virtual machine's CPU
	for _, v := range values {
		r.Use = append(r.Use, taskuse.Segment{Duration: fiveMinutes, CPU: v / 100})
	}
	r.Use = r.Use.Joined()
	r.Max.CPU, _ = r.Use.Max()
	return "", nil
}

// surf reads tasks whose CPU is given as runs of equal values.
type surf struct {
	table
	task, submit, cores, interval, use int
}

func newSURF(t table) (usageParser, error) {
	p := &surf{table: t}
	err := p.head("task", "submit_s", "cores", "interval_s", "usage_percent")
	if err == nil {
		err = p.columns(map[string]*int{"task": &p.task, "submit_s": &p.submit, "cores": &p.cores,
			"interval_s": &p.interval, "usage_percent": &p.use})
	}
	return p, err
}

func (p *surf) next(r *UsageRecord) (string, error) {
	if err := p.record(); err != nil {
		return "", err
	}
	var ok bool
	if r.Submit, ok = duration(p.field(p.submit)); !ok {
		return "", p.wrong(p.submit, wantTime)
	}
	cores, ok := count(p.field(p.cores))
	if !ok {
		return "", p.wrong(p.cores, wantCount)
	}
	interval, ok := duration(p.field(p.interval))
	if !ok || interval == 0 || interval > taskuse.MaxSegment {
		return "", p.wrong(p.interval, "seconds above 0, to 8640000")
	}
	if r.Use, ok = runs(p.field(p.use), interval, float64(cores)/100); !ok {
		return "", p.wrong(p.use, "percentages from 0, each as 50 or as 931x50").because(reasonAmount)
	}
	r.Job, r.Tasks, r.Requested.CPU = string(plain(p.field(p.task))), 1, float64(cores)
	if err := r.Use.Validate(); err != nil {
		return "", p.wrong(p.use, "at most 50 years").because(reasonAmount)
	}
	r.Max.CPU, _ = r.Use.Max() // 0 of a task that was idle all the time
	return "", nil
}

// runs parses runs such as "931x100;50;2x0": numbers of intervals and values, which are multiplied by a unit. Runs that
// are too long for a segment are split.
func runs(b []byte, interval time.Duration, unit float64) (taskuse.Series, bool) {
	var s taskuse.Series
	for field := range bytes.SplitSeq(b, []byte(";")) {
		n, text := 1, field
		if i := bytes.IndexByte(field, 'x'); i >= 0 {
			var ok bool
			if n, ok = count(field[:i]); !ok {
				return nil, false
			}
			text = field[i+1:]
		}
		v, ok := demand(text)
		if !ok || len(s) > maxUsageValues {
			return nil, false
		}
		for most := int(taskuse.MaxSegment / interval); n > 0; n -= most {
			if len(s) > maxUsageValues {
				return nil, false
			}
			s = append(s, taskuse.Segment{Duration: time.Duration(min(n, most)) * interval, CPU: v * unit})
		}
	}
	return s, len(s) > 0
}

// borg reads the sample of Google's traces of 2019, with a row per task and five minutes.
type borg struct {
	table
	job, user, name                              int
	reqCPU, reqMem, avgCPU, avgMem, maxCPU, maxM int
}

func newBorg(t table) (usageParser, error) {
	p := &borg{table: t}
	err := p.head("collection_id", "req_cpus", "req_memory", "avg_cpus", "avg_memory", "max_cpus", "max_memory")
	if err == nil {
		err = p.columns(map[string]*int{"collection_id": &p.job, "user": &p.user, "collection_logical_name": &p.name,
			"req_cpus": &p.reqCPU, "req_memory": &p.reqMem, "avg_cpus": &p.avgCPU, "avg_memory": &p.avgMem,
			"max_cpus": &p.maxCPU, "max_memory": &p.maxM})
	}
	return p, err
}

func (p *borg) next(r *UsageRecord) (string, error) {
	if err := p.record(); err != nil {
		return "", err
	}
	var avg Amount
	for _, f := range []struct {
		column int
		to     *float64
	}{{p.reqCPU, &r.Requested.CPU}, {p.reqMem, &r.Requested.Memory}, {p.avgCPU, &avg.CPU}, {p.avgMem, &avg.Memory},
		{p.maxCPU, &r.Max.CPU}, {p.maxM, &r.Max.Memory}} {
		if p.field(f.column) == nil {
			return "no usage told", nil
		}
		var ok bool
		if *f.to, ok = demand(p.field(f.column)); !ok {
			return "", p.wrong(f.column, wantUsage).because(reasonAmount)
		}
	}
	if avg.CPU == 0 && avg.Memory == 0 {
		return "used nothing", nil
	}
	// The mean and the maximum come from different samples, so the mean may be slightly larger.
	r.Max = Amount{max(r.Max.CPU, avg.CPU), max(r.Max.Memory, avg.Memory)}
	r.Job, r.Tasks = string(plain(p.field(p.job))), 1
	r.User, r.Name = string(p.field(p.user)), string(p.field(p.name))
	r.Use = taskuse.Series{{Duration: fiveMinutes, CPU: avg.CPU, Memory: avg.Memory}}
	return "", nil
}

// alibaba reads Alibaba's batch tasks with usage: a row is the instances of a task, which are taken to be alike.
type alibaba struct {
	table
	task, instances, job, start, took, cpu, mem, cpuSum, memSum int
}

func newAlibaba(t table) (usageParser, error) {
	p := &alibaba{table: t}
	err := p.head("task_name", "instances", "job_name", "start_s", "duration_s", "plan_cpu", "plan_mem", "cpu_usage_sum",
		"mem_usage_sum")
	if err == nil {
		err = p.columns(map[string]*int{"task_name": &p.task, "instances": &p.instances, "job_name": &p.job,
			"start_s": &p.start, "duration_s": &p.took, "plan_cpu": &p.cpu, "plan_mem": &p.mem, "cpu_usage_sum": &p.cpuSum,
			"mem_usage_sum": &p.memSum})
	}
	return p, err
}

// next reads a row. A planned CPU of 100 is a core, and so is a used one; memory is percent of a machine, here a share.
func (p *alibaba) next(r *UsageRecord) (string, error) {
	if err := p.record(); err != nil {
		return "", err
	}
	for _, column := range []int{p.instances, p.cpu, p.mem, p.took, p.cpuSum, p.memSum} {
		if p.field(column) == nil {
			return "not all told", nil
		}
	}
	var ok [7]bool
	var used Amount
	var took time.Duration
	r.Submit, ok[0] = duration(p.field(p.start))
	r.Tasks, ok[1] = count(p.field(p.instances))
	took, ok[2] = duration(p.field(p.took))
	r.Requested.CPU, ok[3] = demand(p.field(p.cpu))
	r.Requested.Memory, ok[4] = demand(p.field(p.mem))
	used.CPU, ok[5] = demand(p.field(p.cpuSum))
	used.Memory, ok[6] = demand(p.field(p.memSum))
	for i, column := range []int{p.start, p.instances, p.took, p.cpu, p.mem, p.cpuSum, p.memSum} {
		if !ok[i] {
			return "", p.wrong(column, [...]string{wantTime, wantCount, wantTime, wantUsage, wantUsage, wantUsage, wantUsage}[i])
		}
	}
	if took == 0 || took > taskuse.MaxSegment {
		return "no duration", nil
	}
	if used.CPU == 0 && used.Memory == 0 {
		return "used nothing", nil
	}
	r.Requested.CPU, r.Requested.Memory = r.Requested.CPU/100, r.Requested.Memory/100
	n := float64(r.Tasks)
	g := taskuse.Segment{Duration: took, CPU: used.CPU / 100 / n, Memory: used.Memory / 100 / n}
	if math.IsInf(g.CPU, 0) || math.IsInf(g.Memory, 0) {
		return "", p.wrong(p.cpuSum, wantUsage)
	}
	r.Job, r.Name = string(p.field(p.job))+"/"+string(p.field(p.task)), string(p.field(p.task))
	r.Use, r.Max = taskuse.Series{g}, Amount{g.CPU, g.Memory}
	return "", nil
}

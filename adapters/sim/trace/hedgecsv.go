package trace

import (
	"strconv"
	"strings"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/internal/seconds"
)

// Columns of hedge's own CSV.
const (
	colID           = "id"
	colSubmit       = "submit_s"
	colRuntime      = "runtime_s"
	colTasks        = "tasks"
	colWait         = "wait_s"
	colRequested    = "requested_s"
	colDeadline     = "deadline_s"
	colOutcome      = "outcome"
	colTaskRuntimes = "task_runtimes_s"
	colAfter        = "after" // JSONL alone
	colOf           = "of"
	colSteps        = "steps"
	colSpeeds       = "speeds"
	demandPrefix    = "demand."
	attrPrefix      = "attr."
)

// hedgeCSV reads hedge's own CSV.
type hedgeCSV struct {
	table
	ids                                              idSet
	last                                             time.Duration
	id, submit, runtime, tasks                       int
	wait, requested, deadline, outcome, taskRuntimes int
	demand, attributes                               []metaColumn
}

func newHedgeCSV(l lines) (*hedgeCSV, error) {
	p := &hedgeCSV{table: table{lines: l}}
	if err := p.head(colID, colSubmit, colRuntime, colTasks); err != nil {
		return p, err
	}
	known := map[string]*int{colID: &p.id, colSubmit: &p.submit, colRuntime: &p.runtime, colTasks: &p.tasks,
		colWait:      &p.wait,
		colRequested: &p.requested, colDeadline: &p.deadline, colOutcome: &p.outcome, colTaskRuntimes: &p.taskRuntimes}
	if err := p.columns(known); err != nil {
		return p, err
	}
	for i, name := range p.names {
		if d, ok := strings.CutPrefix(name, demandPrefix); ok && d != "" {
			p.demand = append(p.demand, metaColumn{i, d})
		} else if a, ok := strings.CutPrefix(name, attrPrefix); ok && a != "" {
			p.attributes = append(p.attributes, metaColumn{i, a})
		} else if known[name] == nil {
			err := p.bad("columns", quote(name), "a known column, "+demandPrefix+"NAME or "+attrPrefix+"NAME").
				because("unknown column")
			if err := p.policy.ignored(err, "columns that are not known are ignored, as "+quote(name)); err != nil {
				return p, err
			}
			continue
		}
		if p.twice[name] {
			return p, p.bad("columns", quote(name)+" twice", "each column once")
		}
	}
	return p, nil
}

func (p *hedgeCSV) header() *Header { return nil }

func (p *hedgeCSV) next(job *Job) (string, error) {
	if err := p.record(); err != nil {
		return "", err
	}
	var ok bool
	if job.Submit, ok = duration(p.field(p.submit)); !ok {
		return "", p.wrong(p.submit, wantTime)
	}
	if job.Submit < p.last {
		return "", p.wrong(p.submit, wantLater(p.last)).because("out of order")
	}
	if job.Runtime, ok = duration(p.field(p.runtime)); !ok || job.Runtime == 0 {
		return "", p.wrong(p.runtime, wantRuntime)
	}
	if job.Tasks, ok = count(p.field(p.tasks)); !ok {
		return "", p.wrong(p.tasks, wantCount)
	}
	if job.Outcome, ok = outcome(string(p.field(p.outcome))); !ok {
		return "", p.wrong(p.outcome, wantOutcome)
	}
	job.Wait = WaitUnknown
	for _, f := range [...]struct {
		column int
		to     *time.Duration
	}{{p.wait, &job.Wait}, {p.deadline, &job.Deadline}} {
		if b := p.field(f.column); b != nil {
			if *f.to, ok = duration(b); !ok {
				return "", p.wrong(f.column, wantTime+", or nothing")
			}
		}
	}
	if b := p.field(p.requested); b != nil {
		if job.Requested, ok = limit(b); !ok {
			return "", p.wrong(p.requested, wantLimit+", or nothing")
		}
	}
	if tooSoon(job) {
		return "", p.wrong(p.deadline, wantDeadline(job)).because(deadlineTooSoon)
	}
	if err := p.rest(job); err != nil {
		return "", err
	}
	job.ID = string(p.field(p.id))
	if err := p.newID(p.names[p.id], job.ID, quote(p.field(p.id)), &p.ids); err != nil {
		return "", err
	}
	p.last = job.Submit
	return "", nil
}

const deadlineTooSoon = "deadline below the runtime"

// tooSoon tells that a job could not meet its deadline if it started at its submission: such a deadline
// is mostly one of another unit or origin.
func tooSoon(job *Job) bool { return job.Deadline > 0 && job.Deadline < job.Runtime }

// inSeconds is a time as the errors about records have it.
func inSeconds(d time.Duration) string { return string(seconds.Append(nil, d)) }

func wantDeadline(job *Job) string {
	return "seconds since submission, at least the runtime " + inSeconds(job.Runtime) + ", or nothing"
}

const (
	wantRuntime = "seconds above 0, up to 3e9"
	wantOutcome = "finished, failed, killed or nothing"
)

func wantLater(last time.Duration) string {
	return "a time not before " + inSeconds(last) + ", the job's before"
}

// rest fills in what a job may have any number of.
func (p *hedgeCSV) rest(job *Job) error {
	if b := p.field(p.taskRuntimes); b != nil {
		job.TaskRuntimes = make([]time.Duration, 0, min(job.Tasks, len(b)/2+1))
		for w, rest := word(b); len(w) > 0; w, rest = word(rest) {
			d, ok := duration(w)
			if !ok {
				return p.bad(colTaskRuntimes, quote(w), wantTime)
			}
			job.TaskRuntimes = append(job.TaskRuntimes, d)
		}
		if len(job.TaskRuntimes) != job.Tasks {
			return p.bad(colTaskRuntimes, strconv.Itoa(len(job.TaskRuntimes))+" durations", strconv.Itoa(job.Tasks)+
				", one a task, blank-separated, or nothing")
		}
	}
	for _, d := range p.demand {
		b := p.field(d.column)
		if b == nil {
			continue
		}
		v, ok := demand(b)
		if !ok {
			return p.wrong(d.column, wantDemand+", or nothing")
		}
		if job.Demand == nil {
			job.Demand = make(map[string]float64, len(p.demand))
		}
		job.Demand[d.name] = v
	}
	for _, a := range p.attributes {
		if b := p.field(a.column); b != nil {
			if job.Attributes == nil {
				job.Attributes = make(map[string]string, len(p.attributes))
			}
			job.Attributes[a.name] = p.strings.string(b)
		}
	}
	return nil
}

// outcome parses an outcome.
func outcome(s string) (Outcome, bool) {
	switch o := Outcome(s); o {
	case Unknown, Finished, Failed, Killed:
		return o, true
	}
	return Unknown, false
}

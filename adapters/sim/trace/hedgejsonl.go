package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/hedgesched/hedge/internal/jsonkeys"
)

// hedgeJSONL reads hedge's own JSONL.
type hedgeJSONL struct {
	lines
	ids  idSet
	last time.Duration
}

// jsonJob is a line; numbers are parsed by the rules of every other format.
type jsonJob struct {
	ID           string                     `json:"id"`
	Submit       json.RawMessage            `json:"submit_s"`
	Runtime      json.RawMessage            `json:"runtime_s"`
	Tasks        json.RawMessage            `json:"tasks"`
	Wait         json.RawMessage            `json:"wait_s"`
	Requested    json.RawMessage            `json:"requested_s"`
	Deadline     json.RawMessage            `json:"deadline_s"`
	Outcome      string                     `json:"outcome"`
	TaskRuntimes []json.RawMessage          `json:"task_runtimes_s"`
	Demand       map[string]json.RawMessage `json:"demand"`
	Attributes   map[string]string          `json:"attributes"`
}

func newHedgeJSONL(l lines) *hedgeJSONL { return &hedgeJSONL{lines: l} }

func (p *hedgeJSONL) header() *Header { return nil }

func (p *hedgeJSONL) next(job *Job) (string, error) {
	line, err := p.full()
	if err != nil {
		return "", err
	}
	var j jsonJob
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&j); err != nil {
		return "", p.syntax(line, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return "", p.bad("line", quote(line), "one JSON object and nothing after it")
	}
	if key, _, found := jsonkeys.Duplicate(line, 1); found {
		return "", p.bad(key, "twice", "each member once")
	}
	job.ID = j.ID
	if job.ID == "" || !p.ids.add(job.ID) {
		return "", p.bad(colID, quote(j.ID), "an id not seen before")
	}
	var ok bool
	if job.Outcome, ok = outcome(j.Outcome); !ok {
		return "", p.bad(colOutcome, quote(j.Outcome), wantOutcome)
	}
	if len(j.Attributes) > 0 {
		job.Attributes = j.Attributes
	}
	if err := p.times(job, &j); err != nil {
		return "", err
	}
	return "", p.tasks(job, &j)
}

// syntax says what is wrong with a line that is no job.
func (p *hedgeJSONL) syntax(line []byte, err error) error {
	var kind *json.UnmarshalTypeError
	e := p.bad("line", quote(line)+" ("+err.Error()+")", "a JSON object of the documented members")
	if errors.As(err, &kind) && kind.Field != "" {
		e = p.bad(kind.Field, "a JSON "+kind.Value, "a "+kind.Type.String())
	}
	e.Err = err
	return e
}

// times fills in the job's times.
func (p *hedgeJSONL) times(job *Job, j *jsonJob) error {
	job.Wait = WaitUnknown
	for _, f := range [...]struct {
		name     string
		raw      json.RawMessage
		to       *time.Duration
		required bool
	}{{colSubmit, j.Submit, &job.Submit, true}, {colRuntime, j.Runtime, &job.Runtime, true}, {colWait, j.Wait, &job.Wait, false},
		{colRequested, j.Requested, &job.Requested, false}, {colDeadline, j.Deadline, &job.Deadline, false}} {
		if f.raw == nil && !f.required {
			continue
		}
		var ok bool
		if *f.to, ok = duration(f.raw); !ok {
			return p.bad(f.name, found(f.raw), wantTime)
		}
	}
	if job.Runtime == 0 {
		return p.bad(colRuntime, found(j.Runtime), wantRuntime)
	}
	if tooSoon(job) {
		return p.bad(colDeadline, found(j.Deadline), wantDeadline(job))
	}
	if job.Submit < p.last {
		return p.bad(colSubmit, found(j.Submit), wantLater(p.last))
	}
	p.last = job.Submit
	return nil
}

// tasks fills in the job's tasks and what they hold.
func (p *hedgeJSONL) tasks(job *Job, j *jsonJob) error {
	var ok bool
	if job.Tasks, ok = count(j.Tasks); !ok {
		return p.bad(colTasks, found(j.Tasks), wantCount)
	}
	if n := len(j.TaskRuntimes); n > 0 {
		if n != job.Tasks {
			return p.bad(colTaskRuntimes, strconv.Itoa(n)+" durations", strconv.Itoa(job.Tasks)+", one a task")
		}
		job.TaskRuntimes = make([]time.Duration, n)
		for i, raw := range j.TaskRuntimes {
			if job.TaskRuntimes[i], ok = duration(raw); !ok {
				return p.bad(colTaskRuntimes, found(raw), wantTime)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(j.Demand)) {
		v, ok := amount(j.Demand[name])
		if !ok {
			return p.bad("demand."+name, found(j.Demand[name]), "a number that is not negative")
		}
		if job.Demand == nil {
			job.Demand = make(map[string]float64, len(j.Demand))
		}
		job.Demand[name] = v
	}
	return nil
}

// found shows a JSON value in an error.
func found(raw json.RawMessage) string {
	if raw == nil {
		return "nothing"
	}
	return quote(raw)
}

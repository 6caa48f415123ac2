package trace

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// hedgeJSONL reads hedge's own JSONL.
type hedgeJSONL struct {
	lines
	ids  idSet
	last time.Duration
}

// jsonJob is a line; numbers are parsed by the rules of every other format.
type jsonJob struct {
	ID           string                    `json:"id"`
	Submit       jsontext.Value            `json:"submit_s"`
	Runtime      jsontext.Value            `json:"runtime_s"`
	Tasks        jsontext.Value            `json:"tasks"`
	Wait         jsontext.Value            `json:"wait_s"`
	Requested    jsontext.Value            `json:"requested_s"`
	Deadline     jsontext.Value            `json:"deadline_s"`
	Outcome      string                    `json:"outcome"`
	TaskRuntimes []jsontext.Value          `json:"task_runtimes_s"`
	Demand       map[string]jsontext.Value `json:"demand"`
	Attributes   map[string]string         `json:"attributes"`
}

func newHedgeJSONL(l lines) *hedgeJSONL { return &hedgeJSONL{lines: l} }

func (p *hedgeJSONL) header() *Header { return nil }

func (p *hedgeJSONL) next(job *Job) (string, error) {
	line, err := p.full()
	if err != nil {
		return "", err
	}
	var j jsonJob
	if err := json.Unmarshal(line, &j, json.RejectUnknownMembers(true)); err != nil {
		return "", p.syntax(line, err)
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

const wantLine = "one JSON object of the documented members"

// syntax says what is wrong with a line that is no job.
func (p *hedgeJSONL) syntax(line []byte, err error) error {
	var e *ParseError
	var text *jsontext.SyntacticError
	var value *json.SemanticError
	switch {
	case errors.As(err, &text) && errors.Is(err, jsontext.ErrDuplicateName):
		e = p.bad(member(text.JSONPointer), "twice", "each member once")
	case errors.As(err, &text):
		e = p.bad("line", quote(line)+" ("+text.Err.Error()+")", wantLine)
	case errors.As(err, &value) && errors.Is(err, json.ErrUnknownName):
		e = p.bad(member(value.JSONPointer), "an unknown member", "none but those documented")
	case errors.As(err, &value) && value.JSONPointer != "":
		e = p.bad(member(value.JSONPointer), "a JSON "+kindOf(value.JSONKind), wantKind(value.GoType))
	default:
		e = p.bad("line", quote(line), wantLine)
	}
	e.Err = err
	return e
}

// member writes the pointer /demand/cpu as demand.cpu, and nothing of what is deeper: no documented member is.
func member(p jsontext.Pointer) string {
	names := slices.Collect(p.Tokens())
	return strings.Join(names[:min(len(names), 2)], ".")
}

// kindOf names a value of the wrong kind.
func kindOf(kind jsontext.Kind) string {
	switch kind {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case '0':
		return "number"
	}
	return "boolean"
}

// wantKind names what a member takes.
func wantKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "an array"
	}
	return "an object"
}

// times fills in the job's times.
func (p *hedgeJSONL) times(job *Job, j *jsonJob) error {
	job.Wait = WaitUnknown
	for _, f := range [...]struct {
		name     string
		raw      jsontext.Value
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
func found(raw jsontext.Value) string {
	if raw == nil {
		return "nothing"
	}
	return quote(raw)
}

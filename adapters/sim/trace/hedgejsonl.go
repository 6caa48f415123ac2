package trace

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hedgesched/hedge/internal/form"
)

// hedgeJSONL reads hedge's own JSONL.
type hedgeJSONL struct {
	lines
	ids  idSet
	last time.Duration
	// unknown is set once members that are not known are to be ignored.
	unknown bool
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
	if err := p.parse(trim(line), &j); err != nil {
		return "", err
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
	if err := p.tasks(job, &j); err != nil {
		return "", err
	}
	job.ID = j.ID
	if job.ID == "" || !p.ids.add(job.ID) {
		return "", p.bad(colID, quote(j.ID), wantNewID).because(seenBefore)
	}
	p.last = job.Submit
	return "", nil
}

// parse parses a line. Members that are not known are refused until the policy lets them pass.
func (p *hedgeJSONL) parse(line []byte, j *jsonJob) error {
	err := json.Unmarshal(line, j, json.RejectUnknownMembers(!p.unknown))
	if err == nil {
		return nil
	}
	f := form.Explain(line, err)
	e := p.bad(cmp.Or(f.Path, "line"), f.Found, f.Expected).because(jsonReason(f.Path))
	e.Err = f
	if !errors.Is(err, json.ErrUnknownName) {
		return e
	}
	err = p.policy.ignored(e.because("unknown member"), "members that are not known are ignored, as "+quote(f.Path))
	if err != nil {
		return err
	}
	p.unknown = true
	*j = jsonJob{}
	return p.parse(line, j)
}

// jsonReason counts what is wrong below a member as wrong in that, since there is no end of what lines may hold.
func jsonReason(path string) string {
	member, _, _ := strings.Cut(path, ".")
	switch member {
	case colID, colSubmit, colRuntime, colTasks, colWait, colRequested, colDeadline, colOutcome, colTaskRuntimes,
		"demand", "attributes":
		return "wrong " + member
	}
	return "wrong JSON"
}

// times fills in the job's times.
func (p *hedgeJSONL) times(job *Job, j *jsonJob) error {
	job.Wait = WaitUnknown
	for _, f := range [...]struct {
		name     string
		raw      jsontext.Value
		to       *time.Duration
		parse    func(jsontext.Value) (time.Duration, bool)
		required bool
	}{
		{colSubmit, j.Submit, &job.Submit, duration[jsontext.Value], true},
		{colRuntime, j.Runtime, &job.Runtime, duration[jsontext.Value], true},
		{colWait, j.Wait, &job.Wait, duration[jsontext.Value], false},
		{colRequested, j.Requested, &job.Requested, limit[jsontext.Value], false},
		{colDeadline, j.Deadline, &job.Deadline, duration[jsontext.Value], false},
	} {
		if f.raw == nil && !f.required {
			continue
		}
		var ok bool
		if *f.to, ok = f.parse(f.raw); !ok {
			return p.bad(f.name, found(f.raw), wantTime)
		}
	}
	if job.Runtime == 0 {
		return p.bad(colRuntime, found(j.Runtime), wantRuntime)
	}
	if tooSoon(job) {
		return p.bad(colDeadline, found(j.Deadline), wantDeadline(job)).because(deadlineTooSoon)
	}
	if job.Submit < p.last {
		return p.bad(colSubmit, found(j.Submit), wantLater(p.last)).because("out of order")
	}
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
			return p.bad("demand."+name, found(j.Demand[name]), "a number that is not negative").because("wrong demand")
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

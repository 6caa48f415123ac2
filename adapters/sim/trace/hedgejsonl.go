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
	ID           jsontext.Value            `json:"id"`
	Submit       jsontext.Value            `json:"submit_s"`
	Runtime      jsontext.Value            `json:"runtime_s"`
	Tasks        jsontext.Value            `json:"tasks"`
	Wait         jsontext.Value            `json:"wait_s"`
	Requested    jsontext.Value            `json:"requested_s"`
	Deadline     jsontext.Value            `json:"deadline_s"`
	Steps        [][2]jsontext.Value       `json:"steps"`
	Outcome      string                    `json:"outcome"`
	After        []jsontext.Value          `json:"after"`
	Of           jsontext.Value            `json:"of"`
	TaskRuntimes []jsontext.Value          `json:"task_runtimes_s"`
	Speeds       map[string]jsontext.Value `json:"speeds"`
	Demand       map[string]jsontext.Value `json:"demand"`
	Attributes   map[string]jsontext.Value `json:"attributes"`
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
	if err := p.attributes(job, &j); err != nil {
		return "", err
	}
	if err := p.times(job, &j); err != nil {
		return "", err
	}
	if err := p.tasks(job, &j); err != nil {
		return "", err
	}
	if job.ID, ok = named(j.ID); !ok {
		return "", p.bad(colID, kind(j.ID), "a string or a number")
	}
	if err := p.stage(job, &j); err != nil {
		return "", err
	}
	if err := p.newID(colID, job.ID, quote(job.ID), &p.ids); err != nil {
		return "", err
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
		"demand", "attributes", colAfter, colOf, colSteps, colSpeeds:
		return "wrong " + member
	}
	return "wrong JSON"
}

// attributes fills in the job's attributes.
func (p *hedgeJSONL) attributes(job *Job, j *jsonJob) error {
	for _, name := range slices.Sorted(maps.Keys(j.Attributes)) {
		raw := j.Attributes[name]
		if absent(raw) {
			continue
		}
		text, ok := named(raw)
		if !ok {
			return p.bad("attributes."+name, kind(raw), "a string or a number").because("wrong attributes")
		}
		if job.Attributes == nil {
			job.Attributes = make(map[string]string, len(j.Attributes))
		}
		job.Attributes[name] = text
	}
	return nil
}

// stage fills in what the job waits for, which stands before it, and what it is a stage of.
func (p *hedgeJSONL) stage(job *Job, j *jsonJob) error {
	var ok bool
	if job.Of, ok = named(j.Of); !ok {
		return p.bad(colOf, kind(j.Of), "a string or a number")
	}
	for i, raw := range j.After {
		parent, ok := named(raw)
		switch {
		case !ok || parent == "":
			return p.bad(colAfter, found(raw), "the ids of jobs")
		case !p.ids.has(parent):
			return p.bad(colAfter, quote(parent), "the id of a job that stands before this one").because(unknownParent)
		case slices.Contains(job.After[:i], parent):
			return p.bad(colAfter, quote(parent)+" twice", "each job once")
		}
		job.After = append(job.After, parent)
	}
	return nil
}

// steps fills in what a completion is worth by when. The last time is the deadline, which need not be said again.
func (p *hedgeJSONL) steps(job *Job, j *jsonJob) error {
	if len(j.Steps) == 0 {
		return nil
	}
	bad := func(i int) error { return p.bad(colSteps, found(j.Steps[i][0])+", "+found(j.Steps[i][1]), wantSteps) }
	for i, raw := range j.Steps {
		by, ok := duration(raw[0])
		value, valued := worth(raw[1])
		if !ok || !valued || by == 0 || i > 0 && (by <= job.Steps[i-1].By || value > job.Steps[i-1].Value) {
			return bad(i)
		}
		job.Steps = append(job.Steps, Step{By: by, Value: value})
	}
	last := len(job.Steps) - 1
	if job.Deadline > 0 && job.Deadline != job.Steps[last].By {
		return bad(last)
	}
	if job.Deadline = job.Steps[last].By; tooSoon(job) {
		return p.bad(colSteps, found(j.Steps[last][0]), wantDeadline(job)).because(deadlineTooSoon)
	}
	return nil
}

// speeds fills in how fast the job runs on which nodes.
func (p *hedgeJSONL) speeds(job *Job, j *jsonJob) error {
	if len(j.Speeds) > maxSpeeds {
		return p.bad(colSpeeds, strconv.Itoa(len(j.Speeds))+" speeds", "at most 16")
	}
	for _, on := range slices.Sorted(maps.Keys(j.Speeds)) {
		v, err := strconv.ParseFloat(string(j.Speeds[on]), 64)
		if err != nil || !isSpeed(on, v) {
			return p.bad(colSpeeds+"."+on, found(j.Speeds[on]), wantSpeed).because("wrong " + colSpeeds)
		}
		if job.Speeds == nil {
			job.Speeds = make(map[string]float64, len(j.Speeds))
		}
		job.Speeds[on] = v
	}
	return nil
}

// isSpeed tells whether a speed and the nodes that it is on make sense.
func isSpeed(on string, v float64) bool {
	label, value, ok := strings.Cut(on, "=")
	return (ok && label != "" && value != "" || on == otherNodes) && v >= leastSpeed && v <= 1
}

const (
	// otherNodes is every node in a job's speeds.
	otherNodes = "other"
	// wantSpeed is what speeds are.
	wantSpeed = "by label=value or other, a number from 1e-6 to 1"
)

// wantSteps is what steps of utility are.
const wantSteps = "pairs of seconds, rising, and values above 0 to 1e12, not rising; the last time is the deadline"

// absent tells that a member is not there, or null, which programs write for what they do not know.
func absent(raw jsontext.Value) bool { return len(raw) == 0 || raw.Kind() == 'n' }

// named returns what a value names: a text, or a number as other formats have it, or "" where it is absent.
func named(raw jsontext.Value) (string, bool) {
	switch {
	case absent(raw):
		return "", true
	case raw.Kind() == '0':
		return string(plain(raw)), true
	case raw.Kind() != '"':
		return "", false
	}
	b, err := jsontext.AppendUnquote(nil, raw)
	return string(b), err == nil
}

// kind names the type of a value.
func kind(raw jsontext.Value) string {
	switch raw.Kind() {
	case '{':
		return "an object"
	case '[':
		return "an array"
	}
	return "a boolean"
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
		if absent(f.raw) && !f.required {
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
	if err := p.steps(job, j); err != nil {
		return err
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
	if err := p.speeds(job, j); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(j.Demand)) {
		if absent(j.Demand[name]) {
			continue
		}
		v, ok := demand(j.Demand[name])
		if !ok {
			return p.bad("demand."+name, found(j.Demand[name]), wantDemand).because("wrong demand")
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

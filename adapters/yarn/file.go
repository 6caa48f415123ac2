package yarn

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"
	goyaml "go.yaml.in/yaml/v2"
	"sigs.k8s.io/yaml"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

// The limits of job files.
const (
	// MaxFile is the maximum size of a job file in bytes.
	MaxFile = 256 << 10
	// MaxScript is the maximum size in bytes of a gang's command and environment together.
	MaxScript = 64 << 10
)

// The resources of nodes and tasks.
const (
	// Memory is in MiB, like YARN's own resource of that name.
	Memory = "memory-mb"
	// VCores are YARN's virtual cores.
	VCores = "vcores"
)

// The labels of nodes for equivalence sets, besides node attributes.
const (
	// LabelNode is the node's id, host:port.
	LabelNode = "node"
	// LabelHost is the node's host.
	LabelHost = "host"
	// LabelRack is the node's rack.
	LabelRack = "rack"
	// LabelPartition is the node's node label; "" is the default partition.
	LabelPartition = "label"
	// LabelKind is KindNode, or KindPool for a pool of [Options].Pools.
	LabelKind = "kind"
	KindNode  = "node"
	KindPool  = "pool"
)

// ErrJob is the error of a job file that makes no sense.
var ErrJob = errors.New("yarn: job cannot be scheduled")

// File is the content of a job file, in YAML or JSON. Unknown fields are refused.
type File struct {
	// Tasks is the number of a gang's tasks, 1 to adapters.MaxTasks, or an application's maximum number of containers;
	// default 1.
	Tasks int `json:"tasks,omitzero"`
	// Resources are the resources of each task.
	Resources TaskResources `json:"resources"`
	// Command is what /bin/sh runs for each task of a gang. Its environment has HEDGE_JOB, HEDGE_ATTEMPT, HEDGE_RANK (0 to
	// HEDGE_TASKS - 1), HEDGE_TASKS and HEDGE_NODE.
	Command string `json:"command,omitzero"`
	// Environment is added to the environment of a gang's tasks. Nothing in it is expanded.
	Environment map[string]string `json:"environment,omitzero"`
	// Application is a submission context of YARN's REST API, for a job that is not a gang. It must not have the fields
	// that hedge fills in: application-id, queue, priority and app-node-label-expression. hedge adds tags to its own.
	Application stdjson.RawMessage `json:"application,omitzero"`
	// Label is the node label on which the job runs; the default, "", is the default partition.
	Label string `json:"label,omitzero"`
	// Queue is YARN's queue; default "default".
	Queue string `json:"queue,omitzero"`
	// Priority is for both hedge and YARN, at least 0.
	Priority int `json:"priority,omitzero"`
	// Deadline is a duration from submission of at least 1s, like "2h30m", or a time, like "2026-01-02T15:04:05Z".
	Deadline string `json:"deadline,omitzero"`
	// Utility is the value of the job's completion over time, in the form of utility.Marshal; default
	// adapters.DefaultUtility.
	Utility stdjson.RawMessage `json:"utility,omitzero"`
	// Required are labels of the nodes on which the job may run, like "rack=/r1|/r2 & host=a"; "key=*" is any value.
	Required string `json:"required,omitzero"`
	// Speeds is how fast the job runs on which nodes, like "rack=/r1|/r2 1; other 0.5"; default full speed everywhere.
	Speeds string `json:"speeds,omitzero"`
	// Checkpoint says that a restarted job continues where it was.
	Checkpoint bool `json:"checkpoint,omitzero"`
	// Retries is how often the job is started again after a failed attempt; default 3.
	Retries *int `json:"retries,omitzero"`
	// Attributes are for prediction.
	Attributes map[string]string `json:"attributes,omitzero"`
}

// TaskResources are the resources of one task.
type TaskResources struct {
	// MemoryMB is in MiB, at least 1.
	MemoryMB int `json:"memory-mb"`
	// VCores is the number of virtual cores; default 1.
	VCores int `json:"vcores,omitzero"`
}

// parsed is a parsed job file.
type parsed struct {
	file    File
	spec    *sched.Job // never nil
	digest  string     // of what it says, "" if it says nothing
	problem error
	retries int
	by      adapters.Deadline
	past    bool // the problem is that the deadline had passed at submission
}

// gang reports whether the job consists of plain tasks.
func (p *parsed) gang() bool { return len(p.file.Application) == 0 }

// Describe is what hedge makes of a job file that was submitted at that time: the gang, its demand, hints and
// equivalence sets. The error wraps [ErrJob] and says what is wrong, as the job's user is told.
func Describe(name string, data []byte, submitted time.Time) (*sched.Job, error) {
	p := parse(name, data).dated(submitted)
	return p.spec, p.problem
}

// dated is the job with that time of submission. The receiver is not modified, since it may have been reported.
func (p *parsed) dated(submitted time.Time) *parsed {
	doc, spec := *p, *p.spec
	doc.spec, spec.Submitted = &spec, submitted
	if p.past {
		doc.problem = nil // the time of submission is better known now
	}
	if doc.problem != nil {
		return &doc
	}
	var err error
	if spec.Deadline, err = p.by.From(submitted); err != nil {
		doc.problem = fmt.Errorf("%w: %q: deadline is %q, %w", ErrJob, spec.ID, p.file.Deadline, err)
	}
	doc.past = err != nil
	if len(p.file.Utility) == 0 {
		spec.Utility = adapters.DefaultUtility(spec.Deadline)
	}
	return &doc
}

// parse parses a job file whose time of submission is not known yet. It always returns a spec, which may have no more
// than a name.
func parse(name string, data []byte) *parsed {
	p := &parsed{spec: &sched.Job{ID: name, Tasks: 1}}
	if err := p.read(data); err != nil {
		p.problem = fmt.Errorf("%w: %q: %w", ErrJob, name, err)
	}
	return p
}

func (p *parsed) read(data []byte) error {
	if len(data) > MaxFile {
		return fmt.Errorf("the file has %d bytes, expected at most %d", len(data), MaxFile)
	}
	text, err := canonical(data)
	if err != nil {
		return err
	}
	p.digest = digest(text)
	if err := json.Unmarshal(text, &p.file, json.RejectUnknownMembers(true)); err != nil {
		return field(err)
	}
	if err := p.check(); err != nil {
		return err
	}
	if err := p.hints(); err != nil {
		return err
	}
	return p.spec.Validate()
}

// field makes an error that names the wrong field.
func field(err error) error {
	var wrong *json.SemanticError
	if !errors.As(err, &wrong) {
		return fmt.Errorf("expected the fields of a job: %w", err)
	}
	name := strings.ReplaceAll(strings.TrimPrefix(string(wrong.JSONPointer), "/"), "/", ".")
	switch {
	case errors.Is(wrong.Err, json.ErrUnknownName):
		return fmt.Errorf("field %q is unknown", name)
	case name == "":
		return fmt.Errorf("expected the fields of a job, found %s", wrong.JSONKind)
	case wrong.Err != nil:
		return fmt.Errorf("field %q: %w", name, wrong.Err)
	}
	return fmt.Errorf("field %q is a %s, expected a %s", name, wrong.JSONKind, wrong.GoType)
}

// canonical is a file's content in a canonical form. The library refuses duplicate keys, and aliases that grow out of
// all proportion.
func canonical(data []byte) ([]byte, error) {
	text, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return nil, fmt.Errorf("expected YAML or JSON: %w", err)
	}
	if len(text) > 4*MaxFile {
		return nil,
			fmt.Errorf("with its aliases written out the file has %d bytes, expected at most %d", len(text), 4*MaxFile)
	}
	return text, alone(data)
}

// alone returns an error if something follows the first document. The library would ignore it silently.
func alone(data []byte) error {
	documents := goyaml.NewDecoder(bytes.NewReader(data))
	for first := true; ; first = false {
		var document any
		err := documents.Decode(&document)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("expected YAML or JSON: %w", err)
		case !first && document != nil:
			return errors.New("there is more than one document, expected one job")
		}
	}
}

var environmentName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// check checks what YARN is asked for, and fills in defaults.
func (p *parsed) check() error {
	f := &p.file
	if f.Tasks == 0 {
		f.Tasks = 1
	}
	if f.Resources.VCores == 0 {
		f.Resources.VCores = 1
	}
	if f.Queue == "" {
		f.Queue = "default"
	}
	p.retries = 3
	if f.Retries != nil {
		p.retries = *f.Retries
	}
	switch {
	case f.Tasks < 1 || f.Tasks > adapters.MaxTasks:
		return fmt.Errorf("tasks is %d, expected 1 to %d", f.Tasks, adapters.MaxTasks)
	case f.Resources.MemoryMB < 1 || f.Resources.MemoryMB > 1<<30:
		return fmt.Errorf("resources.memory-mb is %d, expected 1 to %d", f.Resources.MemoryMB, 1<<30)
	case f.Resources.VCores < 1 || f.Resources.VCores > 1<<20:
		return fmt.Errorf("resources.vcores is %d, expected 1 to %d", f.Resources.VCores, 1<<20)
	case f.Label != "" && !labelName.MatchString(f.Label):
		return fmt.Errorf("label is %q, expected letters, digits, hyphens and underscores", f.Label)
	case f.Priority < 0 || f.Priority > 1<<20:
		return fmt.Errorf("priority is %d, expected 0 to %d", f.Priority, 1<<20)
	case p.retries < 0 || p.retries > 1_000_000:
		return fmt.Errorf("retries is %d, expected 0 to 1000000", p.retries)
	case strings.ContainsFunc(f.Queue, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}) || len(f.Queue) > 1000:
		return fmt.Errorf("queue is %q, expected a name", f.Queue)
	}
	if p.gang() {
		return p.checkGang()
	}
	return p.checkApplication()
}

func (p *parsed) checkGang() error {
	f := &p.file
	if strings.TrimSpace(f.Command) == "" {
		return errors.New("there is neither a command nor an application, expected one of them")
	}
	for _, k := range sortedKeys(f.Environment) {
		if !environmentName.MatchString(k) || strings.HasPrefix(k, "HEDGE_") {
			return fmt.Errorf(
				"environment has %q, expected names of letters, digits and underscores that do not begin with HEDGE_", k)
		}
		if strings.ContainsRune(f.Environment[k], 0) {
			return fmt.Errorf("environment.%s has a zero byte", k)
		}
	}
	if n := len(script(f)); n > MaxScript {
		return fmt.Errorf("command and environment have %d bytes, expected at most %d", n, MaxScript)
	}
	if strings.ContainsRune(f.Command, 0) {
		return errors.New("command has a zero byte")
	}
	return nil
}

// own are the fields of a submission context that hedge fills in.
var own = []string{"application-id", "queue", "priority", "app-node-label-expression"}

func (p *parsed) checkApplication() error {
	if p.file.Command != "" || len(p.file.Environment) > 0 {
		return errors.New("there are a command or an environment, and an application: expected one of them")
	}
	var fields map[string]stdjson.RawMessage
	if err := stdjson.Unmarshal(p.file.Application, &fields); err != nil || fields == nil {
		return errors.New("application is no object, expected a submission context")
	}
	for _, k := range own {
		if _, there := fields[k]; there {
			return fmt.Errorf("application has %q, which hedge fills in", k)
		}
	}
	if _, there := fields["am-container-spec"]; !there {
		return errors.New(`application has no "am-container-spec"`)
	}
	var tags struct {
		Tags object[struct {
			Tag list[string] `json:"tag"`
		}] `json:"application-tags"`
	}
	if err := stdjson.Unmarshal(p.file.Application, &tags); err != nil {
		return fmt.Errorf("application.application-tags: %w", err)
	}
	if n := len(tags.Tags.value.Tag); n > 5 {
		return fmt.Errorf("application has %d tags, expected at most 5", n)
	}
	for _, tag := range tags.Tags.value.Tag {
		if len(tag) > 100 || strings.ContainsFunc(tag, func(r rune) bool { return r > unicode.MaxASCII }) {
			return fmt.Errorf("application has the tag %q, expected at most 100 letters of ASCII", tag)
		}
	}
	return nil
}

// hints reads the fields for the scheduler.
func (p *parsed) hints() error {
	f, s := &p.file, p.spec
	s.Tasks, s.Priority, s.Checkpoint = f.Tasks, f.Priority, f.Checkpoint
	s.Demand = sched.Resources{Memory: float64(f.Resources.MemoryMB), VCores: float64(f.Resources.VCores)}
	kind := KindNode
	if !p.gang() {
		kind = KindPool
	}
	s.Required = sched.NodesWith(LabelPartition, f.Label).And(sched.NodesWith(LabelKind, kind))
	s.Attributes = map[string]string{"name": s.ID, "queue": f.Queue}
	for k, v := range f.Attributes {
		s.Attributes[k] = v
	}
	if f.Deadline != "" {
		d, err := adapters.ParseDeadline(f.Deadline)
		if err != nil {
			return fmt.Errorf("deadline is %q, %w", f.Deadline, err)
		}
		p.by = d
	}
	if f.Required != "" {
		set, err := adapters.ParseSet(f.Required, "rack=/r1|/r2 & host=a")
		if err != nil {
			return fmt.Errorf("required is %q: %w", f.Required, err)
		}
		s.Required = s.Required.And(set)
	}
	if f.Speeds != "" {
		speeds, err := adapters.ParseSpeeds(f.Speeds, "rack=/r1|/r2 1; other 0.5")
		if err != nil {
			return fmt.Errorf("speeds is %q: %w", f.Speeds, err)
		}
		s.Speeds = speeds
	}
	return p.worth()
}

// worth sets the utility of the file. Without one it depends on the deadline; see dated.
func (p *parsed) worth() error {
	if len(p.file.Utility) == 0 {
		return nil
	}
	u, err := adapters.ParseUtility(p.file.Utility)
	if err != nil {
		return fmt.Errorf("utility: %w", err)
	}
	p.spec.Utility = u
	return nil
}

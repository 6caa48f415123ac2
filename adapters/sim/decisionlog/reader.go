package decisionlog

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hedgesched/hedge/internal/form"
	"github.com/hedgesched/hedge/internal/lines"
)

// LineError says in which line of a log something is wrong.
type LineError struct {
	// Line counts from 1; 0 is the log as a whole.
	Line int
	// Job is the job at fault, if one is.
	Job string
	// Err is what is wrong, the job named but not the line.
	Err error
}

func lineError(line int, job string, err error) error {
	if job != "" {
		err = fmt.Errorf("job %q: %w", job, err)
	}
	return &LineError{Line: line, Job: job, Err: err}
}

// Error names the line and the job.
func (e *LineError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("decision log: %v", e.Err)
	}
	return fmt.Sprintf("decision log: line %d: %v", e.Line, e.Err)
}

// Unwrap is the error without its place.
func (e *LineError) Unwrap() error { return e.Err }

// MaxLine is the longest line that is read, in bytes.
const MaxLine = 64 << 20

// Read streams the events of a log, plain or gzip. The first error ends the
// stream and is a [*LineError]. An event is the caller's to keep.
func Read(r io.Reader) iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		in, err := plain(r)
		if err != nil {
			yield(nil, lineError(1, "", err))
			return
		}
		scan := lines.NewScanner(in, MaxLine)
		line := 0
		for scan.Scan() {
			line++
			e, err := parse(scan.Bytes())
			if err != nil {
				yield(nil, lineError(line, "", err))
				return
			}
			e.Line = line
			if !yield(e, nil) {
				return
			}
		}
		if err := scan.Err(); err != nil {
			if errors.Is(err, bufio.ErrTooLong) {
				err = fmt.Errorf("%w: longer than %d bytes", ErrSyntax, MaxLine)
			}
			yield(nil, lineError(line+1, "", err))
		}
	}
}

// plain takes gzip off, if r is gzip.
func plain(r io.Reader) (io.Reader, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	magic, err := in.Peek(2)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if len(magic) < 2 || magic[0] != 0x1f || magic[1] != 0x8b {
		return in, nil
	}
	return gzip.NewReader(in)
}

// rawEvent is a line as JSON has it, with times as they stand there: they are exact only in decimals.
type rawEvent struct {
	T          jsontext.Value     `json:"t"`
	Event      string             `json:"event"`
	Schema     int                `json:"schema"`
	Job        string             `json:"job"`
	Class      string             `json:"class"`
	Tasks      int                `json:"tasks"`
	Deadline   jsontext.Value     `json:"deadline"`
	Nodes      []Node             `json:"nodes"`
	NodeRanges [][]int            `json:"node_ranges"`
	Speed      float64            `json:"speed"`
	Why        string             `json:"why"`
	Runtime    jsontext.Value     `json:"runtime"`
	Speeds     []Speed            `json:"speeds"`
	Checkpoint bool               `json:"checkpoint"`
	After      []string           `json:"after"`
	Of         string             `json:"of"`
	Demand     map[string]float64 `json:"demand"`
	Required   []Term             `json:"required"`

	// As logs were before they had speeds: a job runs slowdown times longer off the nodes that it prefers.
	Slowed    bool    `json:"slowed"`
	Slowdown  float64 `json:"slowdown"`
	Preferred []Term  `json:"preferred"`

	TaskRuntimes []jsontext.Value `json:"task_runtimes"`
	Node         string           `json:"node"`
	Index        int              `json:"index"`
	Indices      []int            `json:"indices"`
	Part         string           `json:"part"`
	CPU          []float64        `json:"cpu"`
	Memory       []float64        `json:"memory"`

	Shared       bool           `json:"shared"`
	Policy       string         `json:"policy"`
	Seed         int64          `json:"seed"`
	Cycle        jsontext.Value `json:"cycle"`
	Span         jsontext.Value `json:"span"`
	TasksPerNode int            `json:"tasks_per_node"`

	Cycles int    `json:"cycles"`
	Solver Solver `json:"solver"`
}

// schema is the newest version of the format that is understood.
const schema = 2

func parse(line []byte) (*Event, error) {
	var raw rawEvent
	if err := json.Unmarshal(line, &raw); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSyntax, form.Explain(line, err))
	}
	if raw.T == nil || raw.T.Kind() == 'n' || raw.Event == "" {
		return nil, fmt.Errorf(`%w: fields "t" and "event" are needed`, ErrSyntax)
	}
	e := &Event{
		Kind: raw.Event, Job: raw.Job, Class: raw.Class, Tasks: raw.Tasks, Nodes: raw.Nodes,
		Speed: raw.Speed, Speeds: raw.Speeds, Why: raw.Why, Checkpoint: raw.Checkpoint,
		After: raw.After, Of: raw.Of, Demand: raw.Demand, Required: raw.Required,
		Node: raw.Node, Index: raw.Index, Indices: raw.Indices, Part: raw.Part, CPU: raw.CPU, Memory: raw.Memory,
	}
	if err := e.place(raw.NodeRanges); err != nil {
		return nil, err
	}
	for _, text := range raw.TaskRuntimes {
		d, err := parseSeconds(string(text))
		if err != nil {
			return nil, fmt.Errorf("%w: task_runtimes: %w", ErrSyntax, err)
		}
		e.TaskRuntimes = append(e.TaskRuntimes, d)
	}
	if err := e.older(&raw); err != nil {
		return nil, err
	}
	var cycle, span time.Duration
	for _, f := range []struct {
		name string
		from jsontext.Value
		to   *time.Duration
	}{
		{"t", raw.T, &e.Time}, {"deadline", raw.Deadline, &e.Deadline}, {"runtime", raw.Runtime, &e.Runtime},
		{"cycle", raw.Cycle, &cycle}, {"span", raw.Span, &span},
	} {
		var err error
		if *f.to, err = parseSeconds(string(f.from)); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrSyntax, f.name, err)
		}
	}
	switch raw.Event {
	case Cluster:
		if raw.Schema < 1 || raw.Schema > schema {
			return nil, fmt.Errorf("%w: schema %d, want 1 to %d", ErrSyntax, raw.Schema, schema)
		}
		e.Header = &Header{
			Schema: raw.Schema, Policy: raw.Policy, Seed: raw.Seed, Cycle: cycle, Span: span,
			TasksPerNode: raw.TasksPerNode, Shared: raw.Shared,
		}
	case End:
		e.Trailer = &Trailer{Cycles: raw.Cycles, Solver: raw.Solver}
	}
	return e, e.validate()
}

// place fills in the ranges of a start.
func (e *Event) place(given [][]int) error {
	if len(given) > 0 && len(e.Nodes) > 0 {
		return fmt.Errorf(`%w: both "nodes" and "node_ranges"`, ErrSyntax)
	}
	for _, g := range given {
		if len(g) < 2 || len(g) > 3 || g[0] < 0 || g[1] <= g[0] || len(g) == 3 && g[2] < 1 {
			return fmt.Errorf("%w: node_ranges: found %v, expected [from,to] or [from,to,tasks], from below to",
				ErrSyntax, g)
		}
		r := Range{From: g[0], To: g[1], Tasks: 1}
		if len(g) == 3 {
			r.Tasks = g[2]
		}
		e.Ranges = append(e.Ranges, r)
	}
	return nil
}

// validate refuses values that no line may have.
func (e *Event) validate() error {
	switch {
	case e.Kind == Cluster || e.Kind == End:
		return nil
	case e.Job == "" && known(e.Kind):
		return fmt.Errorf("%w: %s without a job", ErrSyntax, e.Kind)
	case e.Kind == Submit && e.Class != SLO && e.Class != BestEffort:
		return fmt.Errorf("%w: class %q, want slo or be", ErrSyntax, e.Class)
	case e.Kind == Submit && e.Tasks < 1:
		return fmt.Errorf("%w: %d tasks, want at least 1", ErrSyntax, e.Tasks)
	case e.Speed < 0 || e.Speed > 1:
		return fmt.Errorf("%w: speed %v, want above 0 and at most 1", ErrSyntax, e.Speed)
	}
	for i := range e.Speeds {
		if s := e.Speeds[i].Speed; !(s > 0 && s <= 1) {
			return fmt.Errorf("%w: speeds[%d].speed %v, want above 0 and at most 1", ErrSyntax, i, s)
		}
	}
	return nil
}

// older reads the fields of logs from before there were speeds.
func (e *Event) older(raw *rawEvent) error {
	if raw.Slowdown != 0 && !(raw.Slowdown >= 1) {
		return fmt.Errorf("%w: slowdown %v, want at least 1", ErrSyntax, raw.Slowdown)
	}
	if raw.Slowdown > 1 && len(raw.Preferred) > 0 {
		e.Speeds = []Speed{{On: raw.Preferred, Speed: 1}, {Speed: 1 / raw.Slowdown}}
	}
	e.slowed = raw.Slowed
	return nil
}

// known tells whether the event is one of a job.
func known(kind string) bool {
	switch kind {
	case Submit, Start, Finish, Preempt, Drop, Task, Evict, Lost:
		return true
	}
	return false
}

// parseSeconds reads decimal seconds, exactly where they have no exponent.
// Empty text and null are 0. Negative and overflowing times are refused, as is JSON that is no number.
func parseSeconds(text string) (time.Duration, error) {
	if text == "" || text == "null" {
		return 0, nil
	}
	if c := text[0]; c != '-' && (c < '0' || c > '9') {
		return 0, fmt.Errorf("found %.40s, expected a number", text)
	}
	if strings.ContainsAny(text, "eE") {
		s, err := strconv.ParseFloat(text, 64)
		if err != nil || !(s >= 0 && s < math.MaxInt64/1e9) {
			return 0, fmt.Errorf("found %.40s, expected a number in range", text)
		}
		return time.Duration(math.Round(s * 1e9)), nil
	}
	whole, fraction, _ := strings.Cut(text, ".")
	s, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || s < 0 || whole[0] == '-' || s > math.MaxInt64/int64(time.Second)-1 {
		return 0, fmt.Errorf("found %.40s, expected a number in range", text)
	}
	d := time.Duration(s) * time.Second
	unit := time.Second
	for _, c := range fraction {
		unit /= 10 // what is below a nanosecond counts nothing
		d += unit * time.Duration(c-'0')
	}
	return d, nil
}

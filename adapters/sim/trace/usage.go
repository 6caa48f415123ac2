package trace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/taskuse"
)

// The formats of logs of usage.
const (
	// Google5Min is the summed use of a job's tasks, with a value for each five minutes of a day (Google, 2011).
	Google5Min = "google-5min"
	// BorgSample has a row for the requests and use of a task in five minutes (Google, 2019).
	BorgSample = "borg-sample"
	// PlanetLab is the CPU of virtual machines in percent, with a value for each five minutes of a day.
	PlanetLab = "planetlab"
	// SURF is the CPU of tasks in percent of their cores, as runs of equal values.
	SURF = "surf"
	// AlibabaUsage is Alibaba's table of batch tasks of 2018, with the use of their instances.
	AlibabaUsage = "alibaba-usage"
)

// UsageFormats returns the names of the formats that [ReadUsage] reads.
func UsageFormats() []string {
	return []string{Google5Min, BorgSample, PlanetLab, SURF, AlibabaUsage}
}

// Amount is CPU and memory, in the log's units.
type Amount struct {
	CPU    float64 `json:"cpu"`
	Memory float64 `json:"memory"`
}

// UsageRecord is the use of a task, or of several equal tasks.
type UsageRecord struct {
	// Line is the record's line in the file, from 1. For Google5Min it is that of the second of the record's two metrics.
	Line int
	// Job names the job, virtual machine or task. It is not unique: a job may have records of several days or tasks.
	Job string
	// User and Name identify recurring work. They are empty if the log does not have them.
	User, Name string
	// Submit is the time of submission since the log's origin; 0 if the log does not have it.
	Submit time.Duration
	// Tasks is the number of equal tasks, at least 1.
	Tasks int
	// Requested is a task's request; 0 if the log does not have it.
	Requested Amount
	// Use is a task's use from its start to its end. If the log has no memory, memory is 0.
	Use taskuse.Series
	// Max is a task's peak use, at least the maximum of Use. It is larger if the log has averages and peaks.
	Max Amount
}

// UsageLog is the result of [ReadUsage].
type UsageLog struct {
	// Name and Format are the log's name and format.
	Name, Format string
	// Records are in file order, by Line.
	Records []UsageRecord
	// Skipped counts valid records without use, by reason.
	Skipped map[string]int
	// Bad counts malformed or impossible records, by reason. They are left out.
	Bad []Bad
	// Notes are messages for the user, a line each.
	Notes []string
}

// usageParser reads one format.
type usageParser interface {
	next(r *UsageRecord) (skip string, err error)
	at() int
}

// ReadUsage reads a log of usage, plain or gzip. Options.Format is one of [UsageFormats]; if it is empty, the format is
// recognised by the columns. Options.Meta is ignored. Bad records are handled as by [Open]. For a log without records
// the error wraps [ErrEmpty].
func ReadUsage(path string, opts *Options) (*UsageLog, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	log, err := CollectUsage(f, path, opts)
	return log, errors.Join(err, f.Close())
}

// CollectUsage reads a log of usage from r, as [ReadUsage] does. Name is used in errors.
func CollectUsage(r io.Reader, name string, opts *Options) (*UsageLog, error) {
	if opts == nil {
		opts = &Options{}
	}
	pol, err := newPolicy(opts)
	if err != nil {
		return nil, err
	}
	b, err := unzip(r, name)
	if err != nil {
		return nil, err
	}
	format := opts.Format
	if format == "" {
		format = UsageFormatOf(b)
	}
	p, err := newUsageParser(format, lines{file: name, r: b, policy: pol})
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("%s: %w", name, ErrEmpty)
	}
	if err != nil {
		return nil, err
	}
	log := &UsageLog{Name: name, Format: format}
	for {
		var record UsageRecord
		skip, err := p.next(&record)
		if err == nil && skip == "" {
			record.Line = p.at()
			log.Records = append(log.Records, record)
		}
		if err = pol.record(skip, err); errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	log.Skipped, log.Bad, log.Notes = pol.skipped, pol.bad, pol.notes
	if len(log.Records) == 0 {
		return nil, fmt.Errorf("%s: %w", name, ErrEmpty)
	}
	return log, nil
}

func newUsageParser(format string, l lines) (usageParser, error) {
	t := table{lines: l}
	switch format {
	case Google5Min:
		return newGoogleUsage(t)
	case BorgSample:
		return newBorg(t)
	case PlanetLab:
		return newPlanetLab(t)
	case SURF:
		return newSURF(t)
	case AlibabaUsage:
		return newAlibaba(t)
	}
	return nil, fmt.Errorf("%w: %q, known: %s", ErrUnknownFormat, format, strings.Join(UsageFormats(), ", "))
}

// UsageFormatOf recognises the format of a log of usage by the columns in its first line. It consumes nothing. The
// result is empty for any other file.
func UsageFormatOf(b *bufio.Reader) string {
	start, _ := b.Peek(bufferSize) // the next read returns the error
	if i := slices.Index(start, '\n'); i >= 0 {
		start = start[:i]
	}
	names, _ := split(nil, slices.Clone(chomp(start)), maxColumns)
	has := func(wanted ...string) bool {
		for _, w := range wanted {
			if !slices.ContainsFunc(names, func(n []byte) bool { return string(n) == w }) {
				return false
			}
		}
		return true
	}
	switch {
	case has("job_id", "day", "metric", "v000"):
		return Google5Min
	case has("collection_id", "req_cpus", "avg_cpus"):
		return BorgSample
	case has("day", "vm", "v000"):
		return PlanetLab
	case has("task", "cores", "interval_s", "usage_percent"):
		return SURF
	case has("task_name", "plan_cpu", "cpu_usage_sum"):
		return AlibabaUsage
	}
	return ""
}

// The reasons by which bad records are counted, in all formats of usage, and what was expected.
const (
	reasonShort    = "series too short"
	reasonNothing  = "no usage"
	reasonAmount   = "wrong usage"
	wantUsage      = "a number from 0 to 1e30"
	wantSomeUsage  = "some usage above 0"
	fiveMinutes    = 5 * time.Minute
	valuesOfADay   = 288
	wantWholeDay   = "288 values, one each five minutes"
	maxUsageValues = 1 << 20
)

// day reads the values of a day, from column first on.
func (t *table) day(first int) ([]float64, error) {
	values := make([]float64, valuesOfADay)
	some := false
	for i := range values {
		at := first + i
		if t.field(at) == nil {
			return nil, t.wrong(at, wantWholeDay).because(reasonShort)
		}
		v, ok := demand(t.field(at))
		if !ok {
			return nil, t.wrong(at, wantUsage).because(reasonAmount)
		}
		values[i], some = v, some || v > 0
	}
	if !some {
		return nil, t.bad("values", "only 0", wantSomeUsage).because(reasonNothing)
	}
	return values, nil
}

// dayColumns finds the column of a day's first value. The other 287 must follow it in order.
func (t *table) dayColumns() (first int, err error) {
	if err := t.columns(map[string]*int{"v000": &first}); err != nil {
		return 0, err
	}
	for i := range valuesOfADay {
		if at, ok := t.index[fmt.Sprintf("v%03d", i)]; !ok || at != first+i {
			return 0, t.bad("columns", "not v000 to v287 in a row", wantWholeDay)
		}
	}
	return first, nil
}

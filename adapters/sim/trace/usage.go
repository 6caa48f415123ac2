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

// The names of the formats of logs that tell what tasks use.
const (
	// Google5Min is the summed use of a job's tasks, a value each five minutes of a day (Google, 2011).
	Google5Min = "google-5min"
	// BorgSample is what a task has requested and used in five minutes, a row each (Google, 2019).
	BorgSample = "borg-sample"
	// PlanetLab is the CPU of virtual machines, in percent, a value each five minutes of a day.
	PlanetLab = "planetlab"
	// SURF is the CPU of tasks, in percent of their cores, in runs of equal values.
	SURF = "surf"
	// AlibabaUsage is Alibaba's 2018 table of batch tasks with what their instances used.
	AlibabaUsage = "alibaba-usage"
)

// UsageFormats returns the names of the formats that ReadUsage reads.
func UsageFormats() []string {
	return []string{Google5Min, BorgSample, PlanetLab, SURF, AlibabaUsage}
}

// Amount is CPU and memory, in the log's units.
type Amount struct {
	CPU    float64 `json:"cpu"`
	Memory float64 `json:"memory"`
}

// UsageRecord is what a log says of the use of a task, or of tasks that are alike.
type UsageRecord struct {
	// Line is where the record stands in its file, from 1.
	Line int
	// Job names the job, virtual machine or task. It is not unique: a job has records of several days or tasks.
	Job string
	// User and Name are the attributes of recurring work, empty where the log does not say.
	User, Name string
	// Submit is when it came, since the log's origin; 0 where the log does not say.
	Submit time.Duration
	// Tasks is how many tasks are like this one, at least 1.
	Tasks int
	// Requested is what a task asks for, 0 where the log does not say.
	Requested Amount
	// Use is what a task uses from its start to its end. Where the log has no memory, it is 0.
	Use taskuse.Series
	// Max is the most that a task uses, at least what is in Use: logs of averages may tell it apart.
	Max Amount
}

// UsageLog is what ReadUsage has read.
type UsageLog struct {
	// Name and Format are those of the log.
	Name, Format string
	// Records are in file order, but for Google5Min: there a record stands where the second of its two metrics does.
	Records []UsageRecord
	// Skipped counts, by reason, the records that are legitimate and tell of no use.
	Skipped map[string]int
	// Bad counts, by reason, the records that were left out as malformed or impossible.
	Bad []Bad
	// Notes are what a user should be told of the log, a line each.
	Notes []string
}

// usageParser reads one format.
type usageParser interface {
	next(r *UsageRecord) (skip string, err error)
	at() int
}

// ReadUsage reads a log of usage, plain or gzip. Options.Format is one of UsageFormats or empty, which recognises it by
// its columns; Options.Meta has no meaning. The policy for bad records is that of [Open]. A log without records is
// ErrEmpty.
func ReadUsage(path string, opts *Options) (*UsageLog, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	log, err := CollectUsage(f, path, opts)
	return log, errors.Join(err, f.Close())
}

// CollectUsage reads a log of usage from r, as [ReadUsage] does. The name is for errors.
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

// UsageFormatOf recognises a log of usage by the columns in its first line, and takes nothing from the reader. It is
// empty for any other file.
func UsageFormatOf(b *bufio.Reader) string {
	start, _ := b.Peek(bufferSize) // what cannot be read is told when it is
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

// usageReasons are what bad records of usage are counted by, whatever the format.
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

// day reads the values of a day, from column v000 on.
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

// dayColumns finds the column of a day's first value, and wants the others to follow it.
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

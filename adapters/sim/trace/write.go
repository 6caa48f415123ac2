package trace

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hedgesched/hedge/adapters/sim/internal/seconds"
)

// ErrJob means that a job cannot be written so that it would be read back.
var ErrJob = errors.New("trace: job cannot be written")

// Columns are those of hedge's CSV that vary from log to log.
type Columns struct {
	// Demand and Attributes name the keys that get columns, in their order.
	Demand, Attributes []string
	// TaskRuntimes makes room for the tasks' own durations.
	TaskRuntimes bool
}

// ColumnsOf returns the columns that jobs need, sorted.
func ColumnsOf(jobs []Job) Columns {
	var c Columns
	demand, attributes := make(map[string]bool), make(map[string]bool)
	for i := range jobs {
		for k := range jobs[i].Demand {
			demand[k] = true
		}
		for k := range jobs[i].Attributes {
			attributes[k] = true
		}
		c.TaskRuntimes = c.TaskRuntimes || len(jobs[i].TaskRuntimes) > 0
	}
	c.Demand, c.Attributes = slices.Sorted(maps.Keys(demand)), slices.Sorted(maps.Keys(attributes))
	return c
}

// CSVWriter writes hedge's CSV. It is not safe for concurrent use.
type CSVWriter struct {
	w       *bufio.Writer
	columns Columns
	check   checker
	buf     []byte
	err     error
}

// NewCSVWriter returns a writer of hedge's CSV with the given columns besides the fixed ones. What it
// wrote is only complete after Flush.
func NewCSVWriter(w io.Writer, columns Columns) *CSVWriter {
	c := &CSVWriter{w: bufio.NewWriter(w), columns: columns}
	b := append(c.buf, strings.Join([]string{colID, colSubmit, colRuntime, colTasks, colWait, colRequested, colDeadline,
		colOutcome}, ",")...)
	if columns.TaskRuntimes {
		b = append(append(b, ','), colTaskRuntimes...)
	}
	for _, k := range columns.Demand {
		b = appendCSV(append(b, ','), demandPrefix+k)
	}
	for _, k := range columns.Attributes {
		b = appendCSV(append(b, ','), attrPrefix+k)
	}
	c.buf = append(b, '\n')
	c.err = columns.check()
	return c
}

// check refuses names that no reader would take.
func (c Columns) check() error {
	for _, names := range [...][]string{c.Demand, c.Attributes} {
		seen := make(map[string]bool, len(names))
		for _, k := range names {
			if k == "" || !utf8.ValidString(k) || strings.Contains(k, "\n") || seen[k] {
				return fmt.Errorf("%w: columns: found %s, expected names in UTF-8, each once and of one line", ErrJob, quote(k))
			}
			seen[k] = true
		}
	}
	return nil
}

// Write writes a job. Jobs come in order of submission; one out of order, one that no reader
// would take, one with a key that has no column and one with a line break in a text is refused as
// ErrJob, and nothing of it is written.
func (c *CSVWriter) Write(job *Job) error {
	if c.err != nil {
		return c.err
	}
	if err := c.fits(job); err != nil {
		return err
	}
	if err := c.check.job(job); err != nil {
		return err
	}
	b := appendCSV(c.buf, job.ID)
	b = seconds.Append(append(b, ','), job.Submit)
	b = seconds.Append(append(b, ','), job.Runtime)
	b = strconv.AppendInt(append(b, ','), int64(job.Tasks), 10)
	if b = append(b, ','); job.Wait >= 0 {
		b = seconds.Append(b, job.Wait)
	}
	for _, d := range [...]time.Duration{job.Requested, job.Deadline} {
		if b = append(b, ','); d > 0 {
			b = seconds.Append(b, d)
		}
	}
	c.buf = append(c.appendColumns(append(append(b, ','), job.Outcome...), job), '\n')
	return c.spill()
}

// appendColumns writes what only some logs have.
func (c *CSVWriter) appendColumns(b []byte, job *Job) []byte {
	if c.columns.TaskRuntimes {
		b = append(b, ',')
		for i, d := range job.TaskRuntimes {
			if i > 0 {
				b = append(b, ' ')
			}
			b = seconds.Append(b, d)
		}
	}
	for _, k := range c.columns.Demand {
		b = append(b, ',')
		if v, ok := job.Demand[k]; ok {
			b = strconv.AppendFloat(b, v, 'g', -1, 64)
		}
	}
	for _, k := range c.columns.Attributes {
		b = append(b, ',')
		if v, ok := job.Attributes[k]; ok {
			b = appendCSV(b, v)
		}
	}
	return b
}

// Flush writes what is buffered.
func (c *CSVWriter) Flush() error {
	if c.err != nil {
		return c.err
	}
	return errors.Join(c.spill(), c.w.Flush())
}

func (c *CSVWriter) spill() error {
	_, err := c.w.Write(c.buf)
	c.buf = c.buf[:0]
	return err
}

// fits checks what only CSV cannot carry.
func (c *CSVWriter) fits(job *Job) error {
	if len(job.After) > 0 || job.Of != "" {
		return refuse(job, "after, of", "some", "none: stages are for JSONL")
	}
	if len(job.Speeds) > 0 {
		return refuse(job, "speeds", "some", "none: they are for JSONL")
	}
	if len(job.Steps) > 0 {
		return refuse(job, "steps", "some", "none: they are for JSONL")
	}
	if strings.Contains(job.ID, "\n") {
		return refuse(job, "id", "a line break", "none")
	}
	if len(job.TaskRuntimes) > 0 && !c.columns.TaskRuntimes {
		return refuse(job, "task runtimes", "some", "none, having no column")
	}
	for _, k := range slices.Sorted(maps.Keys(job.Demand)) {
		if !slices.Contains(c.columns.Demand, k) {
			return refuse(job, "demand", quote(k), "a key that has a column")
		}
	}
	for _, k := range slices.Sorted(maps.Keys(job.Attributes)) {
		if !slices.Contains(c.columns.Attributes, k) {
			return refuse(job, "attribute", quote(k), "a key that has a column")
		}
		if strings.Contains(job.Attributes[k], "\n") {
			return refuse(job, "attribute "+k, "a line break", "none")
		}
	}
	return nil
}

// appendCSV writes a text, quoted where it must be. An empty one is quoted,
// for what is not there is empty.
func appendCSV(b []byte, s string) []byte {
	if s != "" && !strings.ContainsAny(s, "\",\r\n") && !strings.HasPrefix(s, mark) && len(trim([]byte(s))) == len(s) {
		return append(b, s...)
	}
	b = append(b, '"')
	for i := range len(s) {
		if s[i] == '"' {
			b = append(b, '"')
		}
		b = append(b, s[i])
	}
	return append(b, '"')
}

// JSONLWriter writes hedge's JSONL. It is not safe for concurrent use.
type JSONLWriter struct {
	w     *bufio.Writer
	check checker
	buf   []byte
}

// NewJSONLWriter returns a writer of hedge's JSONL. What it wrote is only complete after Flush.
func NewJSONLWriter(w io.Writer) *JSONLWriter {
	return &JSONLWriter{w: bufio.NewWriter(w)}
}

// Write writes a job. Jobs come in order of submission; one out of order and one that no
// reader would take is refused as ErrJob, and nothing of it is written.
func (c *JSONLWriter) Write(job *Job) error {
	if err := c.check.job(job); err != nil {
		return err
	}
	b := appendJSON(append(c.buf[:0], `{"id":`...), job.ID)
	b = seconds.Append(append(b, `,"submit_s":`...), job.Submit)
	b = seconds.Append(append(b, `,"runtime_s":`...), job.Runtime)
	b = strconv.AppendInt(append(b, `,"tasks":`...), int64(job.Tasks), 10)
	if job.Wait >= 0 {
		b = seconds.Append(append(b, `,"wait_s":`...), job.Wait)
	}
	if job.Requested > 0 {
		b = seconds.Append(append(b, `,"requested_s":`...), job.Requested)
	}
	if job.Deadline > 0 {
		b = seconds.Append(append(b, `,"deadline_s":`...), job.Deadline)
	}
	for i, s := range job.Steps {
		b = seconds.Append(append(append(b, next(i, `,"steps":[`)...), '['), s.By)
		b = append(strconv.AppendFloat(append(b, ','), s.Value, 'g', -1, 64), ']')
	}
	if len(job.Steps) > 0 {
		b = append(b, ']')
	}
	for i, on := range slices.Sorted(maps.Keys(job.Speeds)) {
		b = appendJSON(append(b, next(i, `,"speeds":{`)...), on)
		b = strconv.AppendFloat(append(b, ':'), job.Speeds[on], 'g', -1, 64)
	}
	if len(job.Speeds) > 0 {
		b = append(b, '}')
	}
	if job.Outcome != Unknown {
		b = appendJSON(append(b, `,"outcome":`...), string(job.Outcome))
	}
	for i, parent := range job.After {
		b = appendJSON(append(b, next(i, `,"after":[`)...), parent)
	}
	if len(job.After) > 0 {
		b = append(b, ']')
	}
	if job.Of != "" {
		b = appendJSON(append(b, `,"of":`...), job.Of)
	}
	for i, d := range job.TaskRuntimes {
		b = append(b, next(i, `,"task_runtimes_s":[`)...)
		b = seconds.Append(b, d)
	}
	if len(job.TaskRuntimes) > 0 {
		b = append(b, ']')
	}
	for i, k := range slices.Sorted(maps.Keys(job.Demand)) {
		b = appendJSON(append(b, next(i, `,"demand":{`)...), k)
		b = strconv.AppendFloat(append(b, ':'), job.Demand[k], 'g', -1, 64)
	}
	if len(job.Demand) > 0 {
		b = append(b, '}')
	}
	for i, k := range slices.Sorted(maps.Keys(job.Attributes)) {
		b = appendJSON(append(b, next(i, `,"attributes":{`)...), k)
		b = appendJSON(append(b, ':'), job.Attributes[k])
	}
	if len(job.Attributes) > 0 {
		b = append(b, '}')
	}
	c.buf = append(b, '}', '\n')
	_, err := c.w.Write(c.buf)
	return err
}

// next returns what stands before the i-th element of a list that opens so.
func next(i int, open string) string {
	if i == 0 {
		return open
	}
	return ","
}

// Flush writes what is buffered.
func (c *JSONLWriter) Flush() error { return c.w.Flush() }

// appendJSON writes a string, which is valid UTF-8.
func appendJSON(b []byte, s string) []byte {
	q, err := json.Marshal(s)
	if err != nil {
		return append(b, `""`...) // no string fails
	}
	return append(b, q...)
}

// checker refuses the jobs that a reader would refuse.
type checker struct {
	ids  idSet
	last time.Duration
}

// refuse says why a job is not written.
func refuse(job *Job, field, found, expected string) error {
	return fmt.Errorf("%w: %s: %s: found %s, expected %s", ErrJob, quote(job.ID), field, found, expected)
}

func (c *checker) job(job *Job) error {
	for _, f := range [...]struct {
		name string
		d    time.Duration
		min  time.Duration
	}{{"submit", job.Submit, 0}, {"runtime", job.Runtime, 1}, {"wait", job.Wait, math.MinInt64},
		{"requested", job.Requested, 0}, {"deadline", job.Deadline, 0}} {
		if f.d < f.min || f.d > maxNanos {
			return refuse(job, f.name, f.d.String(), "at least "+max(0, f.min).String()+" and at most 3e9 seconds")
		}
	}
	if tooSoon(job) {
		return refuse(job, "deadline", job.Deadline.String(), wantDeadline(job))
	}
	if job.Submit < c.last {
		return refuse(job, "submit", job.Submit.String(), "a time not before "+c.last.String()+", the job's before")
	}
	if job.Tasks < 1 || job.Tasks > math.MaxInt32 {
		return refuse(job, "tasks", strconv.Itoa(job.Tasks), wantCount)
	}
	if n := len(job.TaskRuntimes); n > 0 && n != job.Tasks {
		return refuse(job, "task runtimes", strconv.Itoa(n), strconv.Itoa(job.Tasks)+", one a task")
	}
	for _, d := range job.TaskRuntimes {
		if d < 0 || d > maxNanos {
			return refuse(job, "task runtime", d.String(), wantTime)
		}
	}
	if _, ok := outcome(string(job.Outcome)); !ok {
		return refuse(job, "outcome", quote(job.Outcome), wantOutcome)
	}
	if err := texts(job); err != nil {
		return err
	}
	if err := falling(job); err != nil {
		return err
	}
	for i, parent := range job.After {
		if !c.ids.has(parent) || slices.Contains(job.After[:i], parent) {
			return refuse(job, "after", quote(parent), "ids that are written before, each once")
		}
	}
	if !c.ids.add(job.ID) {
		return refuse(job, "id", quote(job.ID), "an id not written before")
	}
	c.last = job.Submit
	return nil
}

// falling checks the job's steps.
func falling(job *Job) error {
	for i, s := range job.Steps {
		last := i == len(job.Steps)-1
		if !(s.Value > 0 && s.Value <= maxWorth) || s.By <= 0 || last && s.By != job.Deadline ||
			i > 0 && (s.By <= job.Steps[i-1].By || s.Value > job.Steps[i-1].Value) {
			return refuse(job, "steps", fmt.Sprintf("%v, %g", s.By, s.Value), wantSteps)
		}
	}
	return nil
}

// texts checks the job's strings and amounts.
func texts(job *Job) error {
	if job.ID == "" || !utf8.ValidString(job.ID) {
		return refuse(job, "id", quote(job.ID), "a text in UTF-8")
	}
	if !utf8.ValidString(job.Of) {
		return refuse(job, "of", quote(job.Of), "a text in UTF-8")
	}
	for i, on := range slices.Sorted(maps.Keys(job.Speeds)) {
		if v := job.Speeds[on]; i >= maxSpeeds || !utf8.ValidString(on) || !isSpeed(on, v) {
			return refuse(job, "speeds "+quote(on), strconv.FormatFloat(v, 'g', -1, 64), wantSpeed)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(job.Demand)) {
		if v := job.Demand[k]; !(v >= 0 && v <= maxDemand) {
			return refuse(job, "demand "+quote(k), strconv.FormatFloat(v, 'g', -1, 64), wantDemand)
		}
		if k == "" || !utf8.ValidString(k) {
			return refuse(job, "demand", quote(k), "a name in UTF-8")
		}
	}
	for _, k := range slices.Sorted(maps.Keys(job.Attributes)) {
		if k == "" || !utf8.ValidString(k) || !utf8.ValidString(job.Attributes[k]) {
			return refuse(job, "attribute "+quote(k), quote(job.Attributes[k]), "a name and a text in UTF-8")
		}
	}
	return nil
}

package trace

import (
	"cmp"
	"errors"
	"io"
	"strconv"
	"time"
)

// eagle reads "arrival tasks mean t1 t2 … tn", blank-separated, and what the
// table beside it says of the job on the same line.
type eagle struct {
	plainLines
	meta *eagleMeta
}

func newEagle(l lines, meta *lines) (*eagle, error) {
	p := &eagle{plainLines: plainLines{lines: l}}
	if meta == nil {
		return p, nil
	}
	m, err := newEagleMeta(*meta)
	p.meta = m
	return p, err
}

func (p *eagle) header() *Header { return nil }

func (p *eagle) next(job *Job) (string, error) {
	line, err := p.plainLines.record(eagleFields, func(string) {})
	if errors.Is(err, io.EOF) && p.meta != nil {
		return "", p.meta.end(p.line)
	}
	if err != nil {
		return "", err
	}
	if err := p.record(job, line); err != nil {
		return "", err
	}
	job.Wait = WaitUnknown
	if p.meta == nil {
		job.ID = strconv.Itoa(p.line)
		job.Attributes = map[string]string{"tasks": strconv.Itoa(job.Tasks)}
	} else if err := p.meta.next(job, p.line); err != nil {
		return "", err
	}
	if job.Runtime == 0 {
		return "zero runtime", nil
	}
	return "", nil
}

// eagleFields are the fewest fields of a line.
const eagleFields = 4

// record parses a line.
func (p *eagle) record(job *Job, line []byte) error {
	var ok bool
	w, line := word(line)
	if job.Submit, ok = duration(w); !ok {
		return p.bad("arrival", quote(w), wantTime)
	}
	w, line = word(line)
	if job.Tasks, ok = count(w); !ok {
		return p.bad("tasks", quote(w), wantCount)
	}
	w, line = word(line)
	if job.Runtime, ok = duration(w); !ok {
		return p.bad("mean", quote(w), wantTime)
	}
	// A line of n bytes has no more than n/2+1 words, whatever it says.
	job.TaskRuntimes = make([]time.Duration, 0, min(job.Tasks, len(line)/2+1))
	for w, line = word(line); len(w) > 0; w, line = word(line) {
		d, ok := duration(w)
		if !ok {
			return p.bad("duration "+strconv.Itoa(len(job.TaskRuntimes)+1), quote(w), wantTime).because("wrong duration")
		}
		job.TaskRuntimes = append(job.TaskRuntimes, d)
	}
	if n := len(job.TaskRuntimes); n != job.Tasks {
		return p.bad("durations", strconv.Itoa(n), strconv.Itoa(job.Tasks)+", one a task").
			because("wrong number of durations")
	}
	return nil
}

// eagleMeta reads the table of attributes: a line for each of the log's.
type eagleMeta struct {
	table
	ids                            idSet
	line, id, outcome, cpu, memory int
	attributes                     []metaColumn
	// row is the log's line that the current record is about, 0 for none; the record stays until the log gets there.
	row int64
	// last is the log's latest line that had a record.
	last int
}

// metaColumn is a column that becomes an attribute.
type metaColumn struct {
	column int
	name   string
}

// metaAttributes are the columns that become attributes, and their names there.
var metaAttributes = [...][2]string{{"user", "user"}, {"sched_class", "class"}, {"priority", "priority"},
	{"job_name", "name"}, {"logical_name", "logical_name"}, {"cpu_req", "cpu"}, {"mem_req", "memory"}}

func newEagleMeta(l lines) (*eagleMeta, error) {
	m := &eagleMeta{table: table{lines: l}}
	err := m.head("line", "job_id")
	if errors.Is(err, io.EOF) {
		m.lines.line = 1
		err = m.bad("columns", "an empty file", "line,job_id,…")
	}
	if err == nil {
		err = m.columns(map[string]*int{"line": &m.line, "job_id": &m.id, "job_end_event": &m.outcome,
			"cpu_req": &m.cpu, "mem_req": &m.memory})
	}
	if err == nil {
		m.attributes, err = m.attributeColumns(metaAttributes[:])
	}
	return m, err
}

// seek reads on to the record about the log's given line. The rows of lines that were bad or blank are passed over.
func (m *eagleMeta) seek(line int) error {
	var wrong error
	for m.row == 0 {
		err := m.record()
		if errors.Is(err, io.EOF) {
			m.lines.line++
			return cmp.Or[error](wrong, m.bad("line", "the end of the file",
				"a row for line "+strconv.Itoa(line)+" of the log").because(noRow))
		}
		n := int64(0)
		if err == nil {
			var ok bool
			if n, ok = whole(m.field(m.line)); !ok || n <= int64(m.last) {
				n, err = 0, m.wrong(m.line, strconv.Itoa(line)+", the log's line")
			}
		}
		var bad *ParseError
		switch {
		case err != nil && (m.policy.strict || !errors.As(err, &bad) || bad.fatal):
			return err
		case err != nil:
			wrong = err // this line's row, unless that comes now
		case n >= int64(line):
			m.row = n
		}
	}
	if m.row > int64(line) {
		return cmp.Or[error](wrong, m.wrong(m.line, strconv.Itoa(line)+", the log's line").because(noRow))
	}
	return nil
}

const noRow = "no row in the table of attributes"

// next adds what the table says of the log's given line.
func (m *eagleMeta) next(job *Job, line int) error {
	if err := m.seek(line); err != nil {
		return err
	}
	m.row, m.last = 0, line
	var ok bool
	if job.Outcome, ok = googleOutcome(m.field(m.outcome)); !ok {
		return m.wrong(m.outcome, wantEvent)
	}
	for _, d := range [...]metaColumn{{m.cpu, "cpu"}, {m.memory, "memory"}} {
		b := m.field(d.column)
		if b == nil {
			continue
		}
		v, ok := demand(b)
		if !ok {
			return m.wrong(d.column, wantDemand)
		}
		if job.Demand == nil {
			job.Demand = make(map[string]float64, 2)
		}
		job.Demand[d.name] = v
	}
	job.Attributes = make(map[string]string, len(m.attributes)+1)
	for _, a := range m.attributes {
		if b := m.field(a.column); b != nil {
			job.Attributes[a.name] = m.strings.string(plain(b))
		}
	}
	job.Attributes["tasks"] = strconv.Itoa(job.Tasks)
	job.ID = string(plain(m.field(m.id)))
	return m.newID(m.names[m.id], job.ID, quote(m.field(m.id)), &m.ids)
}

// end wants the table to be over with the log: a row for a line that is not there is as bad as a line without a row.
func (m *eagleMeta) end(last int) error {
	for {
		if m.row == 0 {
			if err := m.record(); err != nil {
				return err
			}
			m.row, _ = whole(m.field(m.line))
		}
		row := m.row
		m.row = 0
		if row > int64(last) || row <= int64(m.last) {
			return m.wrong(m.line, "the end of the file, as the log ends at line "+strconv.Itoa(last)).
				because("a row for no line of the log")
		}
	}
}

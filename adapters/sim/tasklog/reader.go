package tasklog

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/decisionlog"
)

// RecordError says which record of a log is wrong.
type RecordError struct {
	// Record counts from 1; 0 is the header, or the log as a whole.
	Record int
	// Err is what is wrong: it wraps an error of package decisionlog, or the reader's.
	Err error
}

// Error names the record.
func (e *RecordError) Error() string {
	if e.Record == 0 {
		return fmt.Sprintf("task log: %v", e.Err)
	}
	return fmt.Sprintf("task log: record %d: %v", e.Record, e.Err)
}

// Unwrap is the error without its place.
func (e *RecordError) Unwrap() error { return e.Err }

func syntax(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{decisionlog.ErrSyntax}, args...)...)
}

// Reader reads a log; make one with [NewReader]. It is not safe for concurrent use.
type Reader struct {
	in      *bufio.Reader
	header  Header
	last    Record
	figures Figures
	records int
	ended   bool
}

// NewReader reads the header. Its errors are a [*RecordError]: decisionlog.ErrSyntax for what is no log
// of this version.
func NewReader(r io.Reader) (*Reader, error) {
	l := &Reader{in: bufio.NewReaderSize(r, 1<<16)}
	if err := l.head(); err != nil {
		return nil, &RecordError{0, whole(err)}
	}
	return l, nil
}

// Header is the log's header.
func (l *Reader) Header() Header { return l.header }

// Records is the number of records read.
func (l *Reader) Records() int { return l.records }

func (l *Reader) head() error {
	var magic [len(Magic) + 1]byte
	if _, err := io.ReadFull(l.in, magic[:]); err != nil {
		return err
	}
	switch found := magic[len(Magic)]; {
	case string(magic[:len(Magic)]) != Magic:
		return syntax("it does not begin with %s", Magic)
	case found != version:
		return syntax("version %d, expected %d", found, version)
	}
	h := &l.header
	size, err := l.unsigned(200)
	if err != nil {
		return err
	}
	name := make([]byte, size)
	if _, err := io.ReadFull(l.in, name); err != nil {
		return err
	}
	h.Policy = string(name)
	if h.Seed, err = l.signed(); err != nil {
		return err
	}
	var n [6]uint64
	for i := range n {
		if n[i], err = l.unsigned(math.MaxInt32 * 1e4); err != nil {
			return err
		}
	}
	h.Workers, h.Slots = int(min(n[0], math.MaxInt32)), int(min(n[1], math.MaxInt32))
	h.Overhead, h.Tolerance = time.Duration(n[2]), time.Duration(n[3])
	h.PauseCost, h.ResumeCost = time.Duration(n[4]), time.Duration(n[5])
	return h.check()
}

// Read reads the next record into r. It returns io.EOF after the last one, also where that is not [End]. Other errors
// are a [*RecordError].
func (l *Reader) Read(r *Record) error {
	if l.ended {
		_, err := l.in.ReadByte()
		if err == nil {
			err = syntax("bytes after the end")
		}
		return l.place(err)
	}
	kind, err := l.in.ReadByte()
	if err != nil {
		return l.place(err) // the end of a log that has no figures
	}
	l.records++
	r.Kind, r.Figures, r.Durations = Kind(kind), nil, r.Durations[:0]
	if err := l.body(r); err != nil {
		return l.place(whole(err))
	}
	return nil
}

// place names the record of an error.
func (l *Reader) place(err error) error {
	if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return io.EOF
	}
	return &RecordError{l.records, err}
}

// whole has an end in the middle be unexpected.
func whole(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (l *Reader) body(r *Record) error {
	passed, err := l.unsigned(math.MaxInt64)
	if err != nil {
		return err
	}
	if int64(passed) > math.MaxInt64-int64(l.last.At) {
		return syntax("a time beyond all times")
	}
	l.last.At += time.Duration(passed)
	r.At = l.last.At
	switch r.Kind {
	case Submit:
		return l.submit(r)
	case Start, Stop, Pause, Resume, Finish:
		if err := l.number(&l.last.Job); err != nil {
			return err
		}
		task, err := l.unsigned(math.MaxInt32)
		if err != nil {
			return err
		}
		r.Job, r.Task = l.last.Job, int32(task)
		return l.worker(r)
	case Loss:
		return l.worker(r)
	case End:
		l.ended = true
		r.Figures = &l.figures
		return l.end(r.Figures)
	}
	return syntax("a record of kind %d", r.Kind)
}

func (l *Reader) worker(r *Record) error {
	if err := l.number(&l.last.Worker); err != nil {
		return err
	}
	if r.Worker = l.last.Worker; int(r.Worker) >= l.header.Workers {
		return syntax("worker %d of %d", r.Worker, l.header.Workers)
	}
	return nil
}

func (l *Reader) submit(r *Record) error {
	if err := l.number(&l.last.Job); err != nil {
		return err
	}
	r.Job = l.last.Job
	long, err := l.unsigned(1)
	if err != nil {
		return err
	}
	r.Long = long == 1
	tasks, err := l.unsigned(math.MaxInt32)
	if err != nil {
		return err
	}
	if tasks == 0 {
		return syntax("a job of no tasks")
	}
	d := time.Duration(0)
	for range tasks {
		by, err := l.signed()
		if err != nil {
			return err
		}
		if d += time.Duration(by); d < 0 { // also where it overflows
			return syntax("a task of %v", d)
		}
		r.Durations = append(r.Durations, d)
	}
	return nil
}

func (l *Reader) end(f *Figures) error {
	float := func(to *float64) error {
		var b [8]byte
		_, err := io.ReadFull(l.in, b[:])
		*to = math.Float64frombits(binary.LittleEndian.Uint64(b[:]))
		if err == nil && !(*to >= 0 && *to <= math.MaxFloat64) {
			err = syntax("a figure of %v", *to)
		}
		return err
	}
	for _, c := range f.classes() {
		jobs, err := l.unsigned(math.MaxInt32)
		if err != nil {
			return err
		}
		c.Jobs = int(jobs)
		for _, s := range c.seconds() {
			if err := float(s); err != nil {
				return err
			}
		}
	}
	return float(&f.Makespan)
}

// unsigned reads a number up to a limit.
func (l *Reader) unsigned(limit uint64) (uint64, error) {
	b, err := l.in.Peek(binary.MaxVarintLen64 + 1) // a byte more, to see that a number is too long
	n, size := binary.Uvarint(b)
	switch {
	case size == 0: // all that is left is a part of a number
		return 0, err
	case size < 0:
		return 0, syntax("a number of more than 64 bits")
	case n > limit:
		return 0, syntax("a number of %d, expected at most %d", n, limit)
	}
	_, err = l.in.Discard(size)
	return n, err
}

// signed reads a number that may be negative.
func (l *Reader) signed() (int64, error) {
	n, err := l.unsigned(math.MaxUint64)
	if n&1 != 0 {
		return ^int64(n >> 1), err
	}
	return int64(n >> 1), err
}

// number changes a number from 0 on by a difference.
func (l *Reader) number(n *int32) error {
	by, err := l.signed()
	if err != nil {
		return err
	}
	to := int64(*n) + by
	if by > math.MaxInt32 || by < -math.MaxInt32 || to < 0 || to > math.MaxInt32 {
		return syntax("a difference of %d from %d", by, *n)
	}
	*n = int32(to)
	return nil
}

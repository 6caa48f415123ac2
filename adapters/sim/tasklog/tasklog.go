// Package tasklog writes, reads and checks the decision log of a simulation that places every task by itself: what
// became of each task, when and where, in a few bytes a record. It is for systems made of messages; the log of gangs is
// that of package decisionlog. It never simulates: [Check] shares nothing with the simulators but the records.
//
// A log is a header, records in order of time, and the figures of the run:
//
//	header   "HEDGETASKS", a byte for the version (1); the policy's length and name; the seed; workers, slots of each;
//	         overhead, tolerance and what a pause and a resumption cost, in nanoseconds
//	record   a byte for the kind, the nanoseconds since the record before; then by kind:
//	         submit   the job, 1 if it is long and 0 if not, the number of its tasks, and the nanoseconds of each
//	         start, stop, pause, resume, finish   the job, the task, the worker
//	         loss     the worker
//	figures  the byte of End and the nanoseconds as above; for short, long and all jobs their number and the mean, p50,
//	         p90 and p99 of their completion times in seconds; the makespan in seconds
//
// Numbers are varints as in encoding/binary. A job, a worker and the time of a task are written as the difference from
// the one written before them, signed; so is the seed. All else is unsigned. The first task of each job is written as
// the difference from 0. Seconds are the eight bytes of a float64, the lowest first.
package tasklog

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"time"
)

// Magic is what a log begins with.
const Magic = "HEDGETASKS"

const version = 1

// Kind is what a record says.
type Kind uint8

// The kinds of records.
const (
	// Submit is the arrival of a job with all its tasks.
	Submit Kind = iota + 1
	// Start takes a slot of a worker for a task, which begins anew.
	Start
	// Stop takes a task away from its worker; what it has done is lost.
	Stop
	// Pause has a task give its slot back and keep what it has done, and Resume has it go on.
	Pause
	Resume
	// Finish is the end of a task that has done all its work.
	Finish
	// Loss is the crash of a worker, behind the stops of all its tasks. Those that have ended there may run again.
	Loss
	// End is the last record.
	End
)

// Header says what was run.
type Header struct {
	// Policy is the name of the system, at most 200 bytes, and Seed that of the run.
	Policy string
	Seed   int64
	// Workers is their number, from 1 to 10,000,000, and Slots the tasks that each runs at once, from 1 to 1,000,000.
	Workers, Slots int
	// Overhead is how long a task has its slot beside its own time, up to an hour, and Tolerance by how much rounding
	// may make that longer or shorter, up to a second.
	Overhead, Tolerance time.Duration
	// PauseCost and ResumeCost, up to an hour, are how much longer a task takes that gets the slot of a paused one, and
	// one that goes on.
	PauseCost, ResumeCost time.Duration
}

// Record is one record. Jobs, tasks of a job and workers count from 0.
type Record struct {
	Kind Kind
	// At is since the start of the simulation.
	At time.Duration
	// Job is of all kinds but Loss and End, Task of Start, Stop, Pause, Resume and Finish, and Worker of these and Loss.
	Job, Task, Worker int32
	// Long and Durations are of Submit: the job's class, and what each of its tasks takes. A reader uses the room of
	// Durations again.
	Long      bool
	Durations []time.Duration
	// Figures is of End.
	Figures *Figures
}

// Class is the completion times of a class of jobs in seconds; quantiles are interpolated between the closest ranks.
type Class struct {
	Jobs                int
	Mean, P50, P90, P99 float64
}

// Figures are those of a run. Makespan is the seconds from the first submission to the last end.
type Figures struct {
	Short, Long, All Class
	Makespan         float64
}

// classes are the figures of the classes in the order of the log.
func (f *Figures) classes() [3]*Class { return [3]*Class{&f.Short, &f.Long, &f.All} }

// seconds are the fields in the order of the log.
func (c *Class) seconds() [4]*float64 { return [4]*float64{&c.Mean, &c.P50, &c.P90, &c.P99} }

// Observer is told of records as they happen, in order of time. It keeps neither the record nor its Durations.
type Observer interface{ Observe(r *Record) }

// Writer writes a log; make one with [NewWriter]. It is not safe for concurrent use.
type Writer struct {
	out  *bufio.Writer
	line []byte
	last Record
	err  error
}

// NewWriter writes the header. Where that fails, or a field is out of its range, [Writer.Close] returns the error.
func NewWriter(w io.Writer, h *Header) *Writer {
	l := &Writer{out: bufio.NewWriterSize(w, 1<<16)}
	b := append(append(l.line, Magic...), version)
	b = append(binary.AppendUvarint(b, uint64(len(h.Policy))), h.Policy...)
	b = binary.AppendVarint(b, h.Seed)
	for _, n := range []int64{int64(h.Workers), int64(h.Slots), int64(h.Overhead), int64(h.Tolerance), int64(h.PauseCost),
		int64(h.ResumeCost)} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	l.err = h.check()
	l.write(b)
	return l
}

func (h *Header) check() error {
	wrong := func(what string, found any) error { return syntax("%s is %v", what, found) }
	switch {
	case len(h.Policy) > 200:
		return wrong("the length of the policy", len(h.Policy))
	case h.Workers < 1 || h.Workers > 10_000_000:
		return wrong("the number of workers", h.Workers)
	case h.Slots < 1 || h.Slots > 1_000_000:
		return wrong("the number of slots", h.Slots)
	case h.Overhead < 0 || h.Overhead > time.Hour:
		return wrong("the overhead", h.Overhead)
	case h.Tolerance < 0 || h.Tolerance > time.Second:
		return wrong("the tolerance", h.Tolerance)
	case h.PauseCost < 0 || h.PauseCost > time.Hour:
		return wrong("the cost of a pause", h.PauseCost)
	case h.ResumeCost < 0 || h.ResumeCost > time.Hour:
		return wrong("the cost of a resumption", h.ResumeCost)
	}
	return nil
}

// Observe writes a record other than [End]. The first error is that of [Writer.Close].
func (l *Writer) Observe(r *Record) {
	b := l.head(r.Kind, r.At)
	switch r.Kind {
	case Submit:
		b = l.job(b, r.Job)
		long := byte(0)
		if r.Long {
			long = 1
		}
		b = binary.AppendUvarint(append(b, long), uint64(len(r.Durations)))
		before := time.Duration(0)
		for _, d := range r.Durations {
			b = binary.AppendVarint(b, int64(d-before))
			before = d
		}
	case Loss:
		b = l.worker(b, r.Worker)
	default:
		b = l.worker(binary.AppendUvarint(l.job(b, r.Job), uint64(r.Task)), r.Worker)
	}
	l.write(b)
}

func (l *Writer) head(kind Kind, at time.Duration) []byte {
	if l.err == nil && at < l.last.At {
		l.err = fmt.Errorf("task log: a record of %v after one of %v", at, l.last.At)
	}
	b := binary.AppendUvarint(append(l.line[:0], byte(kind)), uint64(at-l.last.At))
	l.last.At = at
	return b
}

func (l *Writer) job(b []byte, job int32) []byte {
	b = binary.AppendVarint(b, int64(job)-int64(l.last.Job))
	l.last.Job = job
	return b
}

func (l *Writer) worker(b []byte, worker int32) []byte {
	b = binary.AppendVarint(b, int64(worker)-int64(l.last.Worker))
	l.last.Worker = worker
	return b
}

func (l *Writer) write(b []byte) {
	l.line = b
	if l.err == nil {
		_, l.err = l.out.Write(b)
	}
}

// Close writes the figures, and returns the first error of all writes.
func (l *Writer) Close(f *Figures) error {
	b := l.head(End, l.last.At)
	for _, c := range f.classes() {
		b = binary.AppendUvarint(b, uint64(c.Jobs))
		for _, s := range c.seconds() {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(*s))
		}
	}
	l.write(binary.LittleEndian.AppendUint64(b, math.Float64bits(f.Makespan)))
	if l.err != nil {
		return l.err
	}
	return l.out.Flush()
}

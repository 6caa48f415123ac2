package trace

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// The fields of the Standard Workload Format that a job is made of.
const (
	swfID = iota
	swfSubmit
	swfWait
	swfRuntime
	swfAllocated
	swfCPU
	swfMemory
	swfRequestedProcs
	swfRequestedTime
	swfRequestedMemory
	swfStatus
	swfUser
	swfGroup
	swfExecutable
	swfQueue
	swfPartition
	swfPreceding
	swfThink
	swfFields
)

var swfNames = [swfFields]string{"job", "submit", "wait", "runtime", "allocated processors", "cpu time", "memory",
	"requested processors", "requested time", "requested memory", "status", "user", "group", "executable", "queue",
	"partition", "preceding job", "think time"}

// swf reads the Standard Workload Format. Only the fields that a job is made of are looked at.
type swf struct {
	plainLines
	head    Header
	fields  [][]byte
	origin  int64
	started bool
	ids     idSet
	strings interner
	shared  map[string]map[string]string // attributes, by what they are made of: jobs that are alike share them
	key     []byte                       // scratch
}

func newSWF(l lines) *swf {
	return &swf{plainLines: plainLines{lines: l}, strings: interner{}, shared: map[string]map[string]string{}}
}

func (p *swf) header() *Header { return &p.head }

func (p *swf) next(job *Job) (string, error) {
	line, err := p.plainLines.record(swfFields, p.comment)
	if err != nil {
		return "", err
	}
	p.fields = words(p.fields[:0], line, swfFields+1)
	switch n := len(p.fields); {
	case n < swfFields:
		return "", p.narrow(n, strconv.Itoa(swfFields))
	case n > swfFields:
		if err := p.wide(swfFields, strconv.Itoa(swfFields)); err != nil {
			return "", err
		}
	}
	return p.record(job)
}

// comment keeps the lines of the header that say how large the machine was
// and when the log began.
func (p *swf) comment(s string) {
	key, value, ok := strings.Cut(s, ":")
	if !ok {
		return
	}
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	n, isNumber := whole(value)
	switch {
	case !isNumber || n < 0:
	case key == "UnixStartTime":
		p.head.UnixStart = n
	case n > math.MaxInt32:
	case key == "MaxNodes":
		p.head.MaxNodes = int(n)
	case key == "MaxProcs":
		p.head.MaxProcs = int(n)
	}
	if key == "Computer" {
		p.head.Computer = value
	}
}

// record makes the current line a job, or says why it is none.
func (p *swf) record(job *Job) (string, error) {
	status, ok := whole(p.fields[swfStatus])
	if !ok || status < -1 || status > 5 {
		return "", p.wrong(swfStatus, "a number from -1 to 5")
	}
	id, err := p.id()
	if err != nil {
		return "", err
	}
	var n [swfRequestedProcs + 1]int64
	for _, i := range [...]int{swfSubmit, swfWait, swfRuntime, swfRequestedProcs} {
		if n[i], err = p.number(i); err != nil {
			return "", err
		}
	}
	tasks := n[swfRequestedProcs]
	if tasks <= 0 {
		if n[swfAllocated], err = p.number(swfAllocated); err != nil {
			return "", err
		}
		tasks = n[swfAllocated]
	}
	if status >= 2 && status <= 4 {
		return "part of a job", nil
	}
	switch skip := missing(&n, tasks); {
	case skip != "":
		return skip, nil
	case tasks%billion != 0 || tasks/billion > 1<<31-1:
		return "", p.wrong(swfRequestedProcs, wantCount)
	}
	if err := p.times(job, &n); err != nil {
		return "", err
	}
	job.Tasks = int(tasks / billion)
	job.Outcome = swfOutcome(status)
	if err := p.attributes(job); err != nil {
		return "", err
	}
	job.ID = string(id)
	return "", p.newID(swfField(swfID), job.ID, quote(p.fields[swfID]), &p.ids)
}

// id returns the job's id, which is a text where some systems have one, as 17.server or 12_[3].
func (p *swf) id() ([]byte, error) {
	id := plain(p.fields[swfID])
	if n, ok := decimal(id); ok && n < 0 || bytes.EqualFold(id, []byte("nan")) {
		return nil, p.wrong(swfID, "a number that is not negative")
	}
	for _, c := range id {
		if c <= ' ' || c == '"' || c == 0x7f {
			return nil, p.wrong(swfID, "a number or a text without quotes")
		}
	}
	if !utf8.Valid(id) {
		return nil, p.wrong(swfID, "a number or a text in UTF-8")
	}
	return id, nil
}

// number parses a time or a number of processors; -1 stands for nothing.
func (p *swf) number(i int) (int64, error) {
	n, ok := decimal(p.fields[i])
	if !ok || n < 0 && n != -billion {
		return 0, p.wrong(i, "a number from 0 to 3e9, or -1")
	}
	return n, nil
}

// missing says what a record lacks to be a job, "" for nothing.
func missing(n *[swfRequestedProcs + 1]int64, tasks int64) string {
	switch {
	case n[swfSubmit] < 0:
		return "no submission time"
	case n[swfRuntime] < 0:
		return "no runtime"
	case n[swfRuntime] == 0:
		return "zero runtime"
	case tasks <= 0:
		return "no processors"
	}
	return ""
}

// times fills in the job's times. Some logs give the submission in Unix
// time: then the first is not before UnixStartTime, and all are counted from there.
func (p *swf) times(job *Job, n *[swfRequestedProcs + 1]int64) error {
	if !p.started {
		p.started = true
		if start := p.head.UnixStart; start > 0 && start <= n[swfSubmit]/billion {
			p.origin = start * billion
		}
	}
	if n[swfSubmit] < p.origin {
		return p.wrong(swfSubmit, "a time not before UnixStartTime, as the first was given in Unix time")
	}
	job.Submit = time.Duration(n[swfSubmit] - p.origin)
	job.Runtime = time.Duration(n[swfRuntime])
	job.Wait = WaitUnknown
	if n[swfWait] >= 0 {
		job.Wait = time.Duration(n[swfWait])
	}
	if b := p.fields[swfRequestedTime]; !isUnknown(b) {
		var ok bool
		if job.Requested, ok = limit(b); !ok {
			return p.wrong(swfRequestedTime, wantLimit+", or -1")
		}
	}
	return nil
}

// isUnknown tells that a field is -1, which SWF writes for what is not known.
func isUnknown(b []byte) bool {
	if b[0] != '-' {
		return false
	}
	n, ok := whole(b)
	return ok && n == -1
}

// swfAttributes are the fields that become attributes.
var swfAttributes = [...]struct {
	field int
	name  string
}{{swfUser, "user"}, {swfGroup, "group"}, {swfExecutable, "executable"}, {swfQueue, "queue"},
	{swfPartition, "partition"}, {swfRequestedTime, "requested"}}

// attributes fills in what the log knows of the job besides its times. What names something may be any number or
// text, but no negative number other than -1.
func (p *swf) attributes(job *Job) error {
	p.key = strconv.AppendInt(p.key[:0], int64(job.Tasks), 10)
	for _, f := range swfAttributes {
		b := p.fields[f.field]
		p.key = append(p.key, 0)
		if b[0] != '-' {
			p.key = append(p.key, plain(b)...)
			continue
		}
		if _, ok := amount(b[1:]); ok && !isUnknown(b) {
			return p.wrong(f.field, "a number that is not negative, a text, or -1")
		}
	}
	if a, known := p.shared[string(p.key)]; known {
		job.Attributes = a
		return nil
	}
	a := make(map[string]string, len(swfAttributes)+1)
	for _, f := range swfAttributes {
		if b := p.fields[f.field]; b[0] != '-' {
			a[f.name] = p.strings.string(plain(b))
		}
	}
	a["tasks"] = strconv.Itoa(job.Tasks)
	if len(p.shared) >= maxInterned {
		clear(p.shared)
	}
	p.shared[string(p.key)] = a
	job.Attributes = a
	return nil
}

func (p *swf) wrong(field int, expected string) *ParseError {
	return p.bad(swfField(field), quote(p.fields[field]), expected).because("wrong " + swfNames[field])
}

// swfField names a field as errors do.
func swfField(field int) string { return fmt.Sprintf("field %d (%s)", field+1, swfNames[field]) }

// swfOutcome translates field 11.
func swfOutcome(status int64) Outcome {
	switch status {
	case 0:
		return Failed
	case 1:
		return Finished
	case 5:
		return Killed
	}
	return Unknown
}

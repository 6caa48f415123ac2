package trace

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
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

// swf reads the Standard Workload Format.
type swf struct {
	lines
	head    Header
	fields  [][]byte
	origin  int64
	started bool
	ids     idSet
	strings interner
}

func newSWF(l lines) *swf { return &swf{lines: l, strings: interner{}} }

func (p *swf) header() *Header { return &p.head }

func (p *swf) next(job *Job) (string, error) {
	for {
		line, err := p.lines.full()
		if err != nil {
			return "", err
		}
		if line = bytes.TrimLeft(line, " \t"); line[0] == ';' {
			p.comment(string(line[1:]))
			continue
		}
		p.fields = words(p.fields[:0], line, swfFields+1)
		switch n := len(p.fields); {
		case n < swfFields:
			return "", p.bad("columns", strconv.Itoa(n), strconv.Itoa(swfFields))
		case n > swfFields:
			return "", p.bad("columns", "more", strconv.Itoa(swfFields))
		}
		return p.record(job)
	}
}

// comment keeps the lines of the header that say how large the machine was
// and when the log began.
func (p *swf) comment(s string) {
	key, value, ok := strings.Cut(s, ":")
	if !ok {
		return
	}
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	n, isNumber := integer(value)
	switch {
	case !isNumber || n < 0:
	case key == "UnixStartTime":
		p.head.UnixStart = n
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
	id, ok := integer(p.fields[swfID])
	if !ok || id < 0 {
		return "", p.wrong(swfID, "a number that is not negative")
	}
	status, ok := integer(p.fields[swfStatus])
	if !ok || status < -1 || status > 5 {
		return "", p.wrong(swfStatus, "a number from -1 to 5")
	}
	var n [swfPartition + 1]int64
	for i := swfSubmit; i <= swfPartition; i++ {
		if i == swfStatus {
			continue
		}
		if n[i], ok = decimal(p.fields[i]); !ok || n[i] < 0 && n[i] != -billion {
			return "", p.wrong(i, "a number from 0 to 3e9, or -1")
		}
	}
	if status >= 2 && status <= 4 {
		return "part of a job", nil
	}
	job.ID = string(p.fields[swfID])
	if !p.ids.add(job.ID) {
		return "", p.wrong(swfID, "an id not seen before")
	}
	tasks := n[swfRequestedProcs]
	if tasks <= 0 {
		tasks = n[swfAllocated]
	}
	switch skip := missing(&n, tasks); {
	case skip != "":
		return skip, nil
	case tasks%billion != 0 || tasks/billion > 1<<31-1:
		return "", p.wrong(swfRequestedProcs, wantCount)
	}
	if !p.times(job, &n) {
		return "", p.wrong(swfSubmit, "a time not before UnixStartTime, as the first was given in Unix time")
	}
	job.Tasks = int(tasks / billion)
	job.Outcome = swfOutcome(status)
	p.attributes(job)
	return "", nil
}

// missing says what a record lacks to be a job, "" for nothing.
func missing(n *[swfPartition + 1]int64, tasks int64) string {
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
// time: then the first is not before UnixStartTime, and all are counted from
// there; one before it is reported as false.
func (p *swf) times(job *Job, n *[swfPartition + 1]int64) bool {
	if !p.started {
		p.started = true
		if start := p.head.UnixStart; start > 0 && start <= n[swfSubmit]/billion {
			p.origin = start * billion
		}
	}
	if n[swfSubmit] < p.origin {
		return false
	}
	job.Submit = time.Duration(n[swfSubmit] - p.origin)
	job.Runtime = time.Duration(n[swfRuntime])
	job.Wait = WaitUnknown
	if n[swfWait] >= 0 {
		job.Wait = time.Duration(n[swfWait])
	}
	job.Requested = time.Duration(max(0, n[swfRequestedTime]))
	return true
}

// attributes fills in what the log knows of the job besides its times.
func (p *swf) attributes(job *Job) {
	a := make(map[string]string, 8)
	for _, f := range [...]struct {
		field int
		name  string
	}{{swfUser, "user"}, {swfGroup, "group"}, {swfExecutable, "executable"}, {swfQueue, "queue"},
		{swfPartition, "partition"}, {swfRequestedTime, "requested"}} {
		if b := p.fields[f.field]; b[0] != '-' {
			a[f.name] = p.strings.string(b)
		}
	}
	a["tasks"] = strconv.Itoa(job.Tasks)
	job.Attributes = a
}

func (p *swf) wrong(field int, expected string) *ParseError {
	return p.bad(fmt.Sprintf("field %d (%s)", field+1, swfNames[field]), quote(p.fields[field]), expected)
}

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

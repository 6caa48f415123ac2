package trace

import "time"

const wantEvent = "FINISH, FAIL, KILL, EVICT, LOST, RUNNING or nothing"

// googleJobs reads the job table of Google's 2011 trace: a line a job, made
// from its events. A job runs from its first SCHEDULE event to its last end event; the table
// knows no tasks, so every job counts as one.
type googleJobs struct {
	table
	ids                           idSet
	id, submit, start, end, event int
	attributes                    []metaColumn
}

func newGoogleJobs(l lines) (*googleJobs, error) {
	p := &googleJobs{table: table{lines: l}}
	err := p.head("job_id", "submit_s", "start_s", "end_s", "end_event")
	if err == nil {
		err = p.columns(map[string]*int{"job_id": &p.id, "submit_s": &p.submit, "start_s": &p.start,
			"end_s": &p.end, "end_event": &p.event})
	}
	if err == nil {
		p.attributes, err = p.attributeColumns(metaAttributes[:])
	}
	return p, err
}

func (p *googleJobs) header() *Header { return nil }

func (p *googleJobs) next(job *Job) (string, error) {
	if err := p.record(); err != nil {
		return "", err
	}
	id := plain(p.field(p.id))
	if len(id) == 0 { // whatever else it is
		return "", p.newID(p.names[p.id], "", "", &p.ids)
	}
	var ok bool
	if job.Outcome, ok = googleOutcome(p.field(p.event)); !ok {
		return "", p.wrong(p.event, wantEvent)
	}
	if skip, err := p.times(job); skip != "" || err != nil {
		return skip, err
	}
	job.Tasks = 1
	job.Attributes = make(map[string]string, len(p.attributes))
	for _, a := range p.attributes {
		if b := p.field(a.column); b != nil {
			job.Attributes[a.name] = p.strings.string(plain(b))
		}
	}
	job.ID = string(id)
	return "", p.newID(p.names[p.id], job.ID, quote(p.field(p.id)), &p.ids)
}

// times fills in the job's times, or says which of them the recording missed.
func (p *googleJobs) times(job *Job) (string, error) {
	var t [3]int64
	for i, column := range [...]int{p.submit, p.start, p.end} {
		t[i] = -1
		if b := p.field(column); b != nil {
			d, ok := duration(b)
			if !ok {
				return "", p.wrong(column, wantTime+", or nothing")
			}
			t[i] = int64(d)
		}
	}
	submit, start, end := t[0], t[1], t[2]
	switch {
	case submit < 0:
		return "no submission time", nil
	case submit == 0:
		return "submitted before the recording", nil
	case start < 0:
		return "never started", nil
	case start < submit:
		return "", p.wrong(p.start, "a time not before submit_s")
	case end < 0:
		return "no end", nil
	case end < start:
		return "", p.wrong(p.end, "a time not before start_s")
	case end == start:
		return "zero runtime", nil
	}
	job.Submit, job.Wait, job.Runtime = time.Duration(submit), time.Duration(start-submit), time.Duration(end-start)
	return "", nil
}

// googleOutcome translates an end event; EVICT is a kill by the system, LOST says nothing.
func googleOutcome(b []byte) (Outcome, bool) {
	switch string(b) {
	case "FINISH":
		return Finished, true
	case "FAIL":
		return Failed, true
	case "KILL", "EVICT":
		return Killed, true
	case "LOST", "RUNNING", "":
		return Unknown, true
	}
	return Unknown, false
}

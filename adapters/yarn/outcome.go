package yarn

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hedgesched/hedge/adapters"
)

// conclude notes what has become of an attempt that is over, where nobody else does: whoever reads it, it is the same.
func (d *Driver) conclude(ctx context.Context, e *entry) error {
	if !e.look {
		return nil
	}
	next, take := e.rec, false
	switch {
	case e.bad != nil:
		return nil
	case e.rec != nil && !e.rec.Open && len(e.files) == 0 && e.doc == nil:
		next, take = nil, true
	case e.open() && e.app != nil && e.app.over():
		next, take = d.outcome(e)
	}
	if !take {
		return nil
	}
	err := d.spool.change(ctx, e.name, e.rec, next, 0, nil)
	switch {
	case errors.Is(err, adapters.ErrStale), errors.Is(err, adapters.ErrRefused):
		return nil // another instance has; it is read again
	case err != nil:
		return err
	}
	if next == nil {
		d.spool.forget(e.name)
	}
	if err := d.reread(e); err != nil {
		return err
	}
	return d.conclude(ctx, e) // what is left of a job that is gone is taken away
}

// reread takes in what this instance has written itself.
func (d *Driver) reread(e *entry) error {
	r, err := d.spool.record(e.name)
	if err != nil && !errors.Is(err, errRecord) {
		return err
	}
	a := e.app
	d.put(e, nil, r, err)
	if e.open() && a != nil && a.ID == r.App {
		e.app = a
	}
	return nil
}

// outcome is the record of an attempt whose application is over, unless the scheduler is to decide about it.
func (d *Driver) outcome(e *entry) (*record, bool) {
	next := d.closed(e)
	switch {
	case e.app.succeeded():
		next.Finished = true
	case e.rec.Stop != "", !e.mine():
	case next.Failures > e.doc.retries:
		next.Err = fmt.Sprintf("yarn: job %q has failed %d times: %v", e.name, next.Failures, e.why())
	default:
		return nil, false // it is told as failed, and stopped
	}
	return next, true
}

// closed is the record with its attempt concluded, whose application is over.
func (d *Driver) closed(e *entry) *record {
	next := *e.rec
	next.Open, next.Stop = false, ""
	next.Started, next.Ended = d.span(e)
	if e.blame() {
		next.Failures++
	}
	if e.mine() && e.doc.spec.Checkpoint && !e.app.succeeded() {
		next.Done += d.kept(e, next.Started, next.Ended)
	}
	return &next
}

// blame tells whether the job itself has failed.
func (e *entry) blame() bool {
	code := e.app.exitCode()
	if e.rec.Stop != "" || e.app.succeeded() || slices.Contains(taken, code) || missed(code, e.app.Diagnostics) {
		return false
	}
	// hedge's own program: what the gang's tasks do stands in a status, which is told with the application's end
	if e.rec.Gang && e.app.gaveUp() {
		return slices.Contains(overMemory, code)
	}
	st, err := e.status()
	return err != nil || st.Cause != causeShort && st.Cause != causeStart && st.Cause != causeLost
}

// taken are the exit codes of ApplicationMasters whose container was taken: released with its node, disks failed,
// preempted, killed by the ResourceManager or by the NodeManager's own scheduler.
var taken = []string{"-100", "-101", "-102", "-106", "-108"}

// overMemory are the exit codes of ApplicationMasters that took more memory than they had asked for, virtual or
// physical. That of a gang is the larger the more tasks it has.
var overMemory = []string{"-103", "-104"}

// missed tells of an ApplicationMaster that ended while its NodeManager was away, which does not know how, then. One
// may exit with that code itself, but then the NodeManager tells more of it.
func missed(code, diagnostics string) bool {
	return code == "154" && !strings.Contains(diagnostics, "Exception from container-launch")
}

// exited is how the ResourceManager's own words begin of an application whose ApplicationMaster's container has ended.
// What applications write comes after that.
var exited = regexp.MustCompile(
	`^Application application_[0-9]+_[0-9]+ failed [0-9]+ times.*? due to .*?AM Container for appattempt_[0-9_]+ exited with +exitCode: (-?[0-9]+)`)

// exitCode is that of the ApplicationMaster, "" where the ResourceManager tells none. The diagnostics of an application
// that told its end are its own words.
func (a *app) exitCode() string {
	if a.State != "FAILED" {
		return ""
	}
	if found := exited.FindStringSubmatch(a.Diagnostics); found != nil {
		return found[1]
	}
	return ""
}

// attempted is how the ResourceManager's own words begin of an application whose last attempt has failed: its
// ApplicationMaster has ended or could not be launched, or was not heard of for long. One that YARN has not even tried,
// since there is no such queue or its user may not use it, is told of in other words.
var attempted = regexp.MustCompile(`^Application application_[0-9]+_[0-9]+ failed [0-9]+ times`)

// gaveUp tells whether the application is over because of its ApplicationMaster, which has not told its end.
func (a *app) gaveUp() bool { return a.State == "FAILED" && attempted.MatchString(a.Diagnostics) }

// status is what a gang's ApplicationMaster has told at its end. What another application writes says nothing of a
// gang.
func (e *entry) status() (*status, error) {
	if !e.rec.Gang {
		return nil, errStatus
	}
	return parseStatus([]byte(e.app.Diagnostics))
}

// why is what went wrong with an application.
func (e *entry) why() error {
	if st, err := e.status(); err == nil {
		return st.why()
	}
	text := strings.TrimSpace(e.app.Diagnostics)
	const most = 500
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return fmt.Errorf("yarn: application %s: %s, %s: %s", e.app.ID, e.app.State, e.app.FinalStatus, text)
}

// span is from when to when the whole gang ran, in an attempt that is over; zero where it did not.
func (d *Driver) span(e *entry) (started, ended time.Time) {
	ended = milliseconds(int64(e.app.FinishedTime))
	if !e.rec.Gang {
		return milliseconds(int64(e.app.LaunchTime)), ended
	}
	started = d.state.starts[e.rec.App]
	if started.IsZero() {
		started = e.rec.Started
	}
	if st, err := e.status(); err == nil {
		started = milliseconds(st.StartedMS)
		if st.EndedMS > 0 {
			ended = milliseconds(st.EndedMS)
		}
	} else if started.IsZero() && e.app.succeeded() {
		started = milliseconds(int64(e.app.LaunchTime))
	}
	if ended.Before(started) {
		ended = started
	}
	return started, ended
}

// kept is what the span of an attempt is worth at full speed.
func (d *Driver) kept(e *entry, started, ended time.Time) time.Duration {
	var tasks []adapters.Task
	for _, nt := range e.rec.Plan {
		for range nt.Tasks {
			tasks = append(tasks, adapters.Task{Node: nt.Node, State: adapters.Failed, Started: started, Ended: ended})
		}
	}
	return adapters.Progress(e.doc.spec, tasks, ended, d.labelsOf)
}

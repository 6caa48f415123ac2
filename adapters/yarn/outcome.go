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

// conclude records the outcome of an attempt that is over, unless another instance does. Every instance would record
// the same.
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
	return d.conclude(ctx, e) // cleans up after a job that is gone
}

// reread reads what this instance has written itself.
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

// outcome is the record of an attempt whose application is over, unless the scheduler must decide about it.
func (d *Driver) outcome(e *entry) (*record, bool) {
	next := d.closed(e)
	switch {
	case e.app.succeeded():
		next.Finished = true
	case e.rec.Stop != "", !e.mine():
	case next.Failures > e.doc.retries:
		next.Err = fmt.Sprintf("yarn: job %q has failed %d times: %v", e.name, next.Failures, e.why())
	default:
		return nil, false // it is reported as failed, and then stopped
	}
	return next, true
}

// closed is the record with its attempt concluded. The application is over.
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

// blame reports whether the failure is the job's own.
func (e *entry) blame() bool {
	code := e.app.exitCode()
	if e.rec.Stop != "" || e.app.succeeded() || slices.Contains(taken, code) || missed(code, e.app.Diagnostics) {
		return false
	}
	// This is hedge's own program. What the gang's tasks have done is in the status, which is part of the application's
	// end.
	if e.rec.Gang && e.app.gaveUp() {
		return slices.Contains(overMemory, code)
	}
	st, err := e.status()
	return err != nil || st.Cause != causeShort && st.Cause != causeStart && st.Cause != causeLost
}

// taken are the exit codes of an ApplicationMaster whose container was taken away: released with its node, disks
// failed, preempted, or killed by the ResourceManager or by the NodeManager's own scheduler.
var taken = []string{"-100", "-101", "-102", "-106", "-108"}

// overMemory are the exit codes of an ApplicationMaster that used more memory than requested, virtual or physical. An
// ApplicationMaster with more tasks needs more memory.
var overMemory = []string{"-103", "-104"}

// missed reports whether an ApplicationMaster ended while its NodeManager was away, which then does not know how. A
// program may exit with the same code, but then the NodeManager says more about it.
func missed(code, diagnostics string) bool {
	return code == "154" && !strings.Contains(diagnostics, "Exception from container-launch")
}

// exited matches the beginning of the ResourceManager's own words about an application whose ApplicationMaster's
// container has ended. Words of applications come after that.
var exited = regexp.MustCompile(
	`^Application application_[0-9]+_[0-9]+ failed [0-9]+ times.*? due to .*?AM Container for appattempt_[0-9_]+ ` +
		`exited with +exitCode: (-?[0-9]+)`)

// exitCode is the exit code of the ApplicationMaster, "" if the ResourceManager gives none. The diagnostics of an
// application that has reported its end are its own words.
func (a *app) exitCode() string {
	if a.State != "FAILED" {
		return ""
	}
	if found := exited.FindStringSubmatch(a.Diagnostics); found != nil {
		return found[1]
	}
	return ""
}

// attempted matches the beginning of the ResourceManager's own words about an application whose last attempt has
// failed: its ApplicationMaster has ended, could not be launched, or was silent for long. The words differ for an
// application that YARN has not even tried, since its queue does not exist or its user may not use it.
var attempted = regexp.MustCompile(`^Application application_[0-9]+_[0-9]+ failed [0-9]+ times`)

// gaveUp reports whether the application is over because of its ApplicationMaster, which did not report its end.
func (a *app) gaveUp() bool { return a.State == "FAILED" && attempted.MatchString(a.Diagnostics) }

// status is what a gang's ApplicationMaster has reported at its end. Texts of other applications are no status.
func (e *entry) status() (*status, error) {
	if !e.rec.Gang {
		return nil, errStatus
	}
	return parseStatus([]byte(e.app.Diagnostics))
}

// why says what went wrong with an application.
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

// span is when the whole gang began and ended, in an attempt that is over. It is zero if the gang never ran.
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

// kept is the span of an attempt at full speed.
func (d *Driver) kept(e *entry, started, ended time.Time) time.Duration {
	var tasks []adapters.Task
	for _, nt := range e.rec.Plan {
		for range nt.Tasks {
			tasks = append(tasks, adapters.Task{Node: nt.Node, State: adapters.Failed, Started: started, Ended: ended})
		}
	}
	return adapters.Progress(e.doc.spec, tasks, ended, d.labelsOf)
}

package yarn

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

// ErrWithdrawn is why a job is over whose file was taken away or says something else now. It comes with [adapters.ErrCancelled].
var ErrWithdrawn = errors.New("yarn: the job was withdrawn")

var (
	errUnknownApp = errors.New("yarn: the ResourceManager does not know the application")
	errTwice      = errors.New("there are two files of that name, expected one")
)

// state is what was read.
type state struct {
	ever               bool
	entries            map[string]*entry
	active             map[string]*entry    // that have changed or have an open attempt
	jobsAt, statesAt   time.Time            // when the folders were changed last, as of the last scan
	jobsOld, statesOld bool                 // and that was long enough before it
	lives              uint64               // that were begun after the first look
	starts             map[string]time.Time // since when gangs run, by application
	mute               string               // the job whose ApplicationMaster did not answer last
	nodes              map[string]*node     // that take part, by id
	absent             map[string]time.Time // since when the ResourceManager does not tell of a node
	odd                map[string]error     // what makes no sense of what it tells of nodes, by id
	named              map[string]string    // what Options.Told was told, by id
	told               map[string]adapters.Node
}

func newState() *state {
	return &state{entries: map[string]*entry{}, active: map[string]*entry{}, starts: map[string]time.Time{}, nodes: map[string]*node{}, absent: map[string]time.Time{}, named: map[string]string{}, told: map[string]adapters.Node{}}
}

// entry is a job: its files, what hedge has noted, and its application.
type entry struct {
	name      string
	files     []jobFile
	doc       *parsed // nil if there is no file
	at        jobFile // the doc's
	uid       string
	submitted time.Time

	info fs.FileInfo // the record's
	rec  *record
	bad  error // a record that makes no sense

	app     *app  // of the open attempt, nil if the ResourceManager knows none
	odd     error // what it said of it last made no sense: app is what it said before
	told    *adapters.Job
	uidTold string // the told job's UID without its life
	life    string // tells what is told apart from what was told to be gone and had the same UID
	look    bool   // it has changed
}

// entry is the one of a name, which is made if there is none.
func (s *state) entry(name string) *entry {
	e := s.entries[name]
	if e == nil {
		e = &entry{name: name}
		if s.ever { // there may have been one before
			e.life = s.another()
		}
		s.entries[name] = e
	}
	return e
}

// another is a life that nothing has had.
func (s *state) another() string {
	s.lives++
	return fmt.Sprint("/", s.lives)
}

// open tells whether there is an attempt that is not concluded.
func (e *entry) open() bool { return e.rec != nil && e.rec.Open }

// mine tells whether the record is about the submission that the file is.
func (e *entry) mine() bool { return e.doc != nil && e.rec != nil && e.rec.UID == e.uid }

// ref is what actions get back: a job as it was told.
type ref struct {
	entry *entry
	doc   *parsed
	at    jobFile
	uid   string
	rec   *record
	when  time.Time // submitted
}

// Observe reads the spool and asks for applications and nodes.
func (d *Driver) Observe(ctx context.Context, relist bool) (*adapters.View, error) {
	s := d.state
	full := relist || !s.ever
	if err := d.readJobs(full); err != nil {
		return nil, err
	}
	if err := d.readStates(full); err != nil {
		return nil, err
	}
	if err := d.readApps(ctx); err != nil {
		return nil, err
	}
	for _, name := range sortedKeys(s.active) {
		if err := d.conclude(ctx, s.active[name]); err != nil {
			return nil, err
		}
	}
	nodes, odd, err := d.rm.nodes(ctx)
	if err != nil {
		return nil, err
	}
	d.takeNodes(nodes, odd)
	d.name()
	v := &adapters.View{Full: full}
	d.tellJobs(v)
	d.tellNodes(v)
	s.ever = true
	return v, nil
}

// settledFor is how long a folder must not have changed for its time of change to tell that nothing has.
const settledFor = 2 * time.Second

// readJobs reads the job files that are new or have changed.
func (d *Driver) readJobs(full bool) error {
	s := d.state
	at, err := d.spool.changedAt(jobsDir)
	if err != nil || !full && s.jobsOld && at.Equal(s.jobsAt) {
		return err
	}
	files, err := d.spool.scan()
	if err != nil {
		return err
	}
	by := make(map[string][]jobFile, len(files))
	for _, f := range files {
		by[f.name] = append(by[f.name], f)
	}
	for name := range s.entries {
		if _, there := by[name]; !there {
			by[name] = nil
		}
	}
	for _, name := range sortedKeys(by) {
		e, now := s.entry(name), by[name]
		if slices.Equal(e.files, now) {
			continue
		}
		if err := d.readJob(e, now); err != nil {
			return err
		}
	}
	s.jobsAt, s.jobsOld = at, time.Since(at) > settledFor
	return nil
}

// readJob reads the files of one job. Where one cannot be read for now, nothing has changed.
func (d *Driver) readJob(e *entry, now []jobFile) error {
	texts, errs := make([][]byte, len(now)), make([]error, len(now))
	for i := range now {
		texts[i], errs[i] = d.spool.open(&now[i])
		if errors.Is(errs[i], adapters.ErrUnavailable) {
			return errs[i]
		}
	}
	d.touch(e)
	e.files, e.doc = now, nil
	before, since := e.uid, e.submitted
	e.uid = ""
	for i := range now {
		f := &now[i]
		data, err := texts[i], errs[i]
		if errors.Is(err, fs.ErrNotExist) {
			e.files = nil // it is just being taken away: it is looked at again
			continue
		}
		doc := parse(e.name, data)
		if err != nil {
			doc = &parsed{spec: &sched.Job{ID: e.name, Tasks: 1}, problem: fmt.Errorf("%w: %q: %w", ErrJob, e.name, err)}
		}
		if doc.digest == "" {
			doc.digest = digest(data)
		}
		uid := digest([]byte(doc.digest + "\x00" + f.token))
		if e.doc == nil || e.rec != nil && e.rec.UID == uid {
			e.doc, e.uid, e.at, e.submitted = doc, uid, *f, d.dated(f)
		}
	}
	if e.doc == nil {
		return nil
	}
	if len(now) > 1 && !(e.open() && e.mine()) {
		e.doc.problem = fmt.Errorf("%w: %q: %w: %s and %s", ErrJob, e.name, errTwice, now[0].base, now[1].base)
	}
	if e.uid == before {
		e.submitted = since
	}
	e.doc = e.doc.dated(e.submitted)
	return nil
}

// dated is when a file was submitted: when it was changed last, which anybody can set to anything, but not later than now.
func (d *Driver) dated(f *jobFile) time.Time {
	at, now := f.modified, d.opt.Now()
	if at.After(now) {
		at = now
	}
	if first := time.Unix(0, 0); at.Before(first) {
		at = first
	}
	return at.UTC()
}

// readStates reads the records that are new or have changed.
func (d *Driver) readStates(full bool) error {
	s := d.state
	at, err := d.spool.changedAt(stateDir)
	if err != nil || !full && s.statesOld && at.Equal(s.statesAt) {
		return err
	}
	infos, err := d.spool.states()
	if err != nil {
		return err
	}
	s.statesAt, s.statesOld = at, time.Since(at) > settledFor
	for name, e := range s.entries {
		if infos[name] == nil && (e.rec != nil || e.bad != nil) {
			d.put(e, nil, nil, nil)
		}
	}
	for name, info := range infos {
		e := s.entry(name)
		if e.info != nil && e.info.ModTime().Equal(info.ModTime()) && e.info.Size() == info.Size() && inodeOf(e.info) == inodeOf(info) {
			continue
		}
		r, err := d.spool.record(name)
		if err != nil && !errors.Is(err, errRecord) {
			return err
		}
		d.put(e, info, r, err)
		if !s.ever && e.open() {
			d.spool.forget(name) // whoever started it may have crashed before
		}
	}
	return nil
}

// touch has a job looked at.
func (d *Driver) touch(e *entry) {
	e.look = true
	d.state.active[e.name] = e
}

// put takes in a record.
func (d *Driver) put(e *entry, info fs.FileInfo, r *record, bad error) {
	if e.open() && (r == nil || !r.Open || r.App != e.rec.App) {
		delete(d.state.starts, e.rec.App)
	}
	if e.rec == nil || r == nil || e.rec.App != r.App {
		e.app, e.odd = nil, nil
	}
	d.touch(e)
	e.info, e.rec, e.bad = info, r, bad
	if e.mine() && !r.Submitted.IsZero() && !r.Submitted.Equal(e.submitted) {
		e.doc, e.submitted = e.doc.dated(r.Submitted), r.Submitted
	}
}

// readApps asks what became of the open attempts.
func (d *Driver) readApps(ctx context.Context) error {
	s := d.state
	var list []*entry
	for _, name := range sortedKeys(s.active) {
		if e := s.active[name]; e.open() && (e.app == nil || !e.app.over()) {
			list = append(list, e)
		}
	}
	if len(list) == 0 {
		return nil
	}
	live, err := d.rm.live(ctx, d.opt.Instance)
	if err != nil {
		return err
	}
	for _, e := range list {
		e.look = true
		a := live[e.rec.App]
		if a == nil {
			a, err = d.rm.app(ctx, e.rec.App)
		}
		switch {
		case err == nil:
			e.app, e.odd = a, nil
		case errors.Is(err, errOdd):
			e.odd, err = err, nil
		default:
			return err
		}
	}
	d.readStarts(ctx, list)
	return nil
}

// name tells of applications and nodes of which the ResourceManager said what makes no sense, once of each as long as it says the same.
func (d *Driver) name() {
	s := d.state
	odd := maps.Clone(s.odd)
	for _, e := range s.active {
		if e.odd != nil {
			if odd == nil {
				odd = map[string]error{}
			}
			odd[e.rec.App] = e.odd
		}
	}
	maps.DeleteFunc(s.named, func(id, _ string) bool { return odd[id] == nil })
	for _, id := range sortedKeys(odd) {
		if text := odd[id].Error(); d.opt.Told != nil && s.named[id] != text {
			s.named[id] = text
			d.opt.Told(odd[id])
		}
	}
}

// statusShare is the part of a call's time that all ApplicationMasters together may take to answer in a look.
const statusShare = 5

// readStarts asks since when gangs run, once each. An ApplicationMaster that does not answer is asked again in the next look, after the others.
func (d *Driver) readStarts(ctx context.Context, list []*entry) {
	ctx, cancel := context.WithTimeout(ctx, d.opt.Timeout/statusShare)
	defer cancel()
	next := slices.IndexFunc(list, func(e *entry) bool { return e.name > d.state.mute })
	for _, e := range slices.Concat(list[max(0, next):], list[:max(0, next)]) {
		a := e.app
		if a == nil || !e.rec.Gang || a.State != "RUNNING" || a.Progress < allRun || a.Progress >= 100 || !d.state.starts[e.rec.App].IsZero() {
			continue
		}
		st, err := d.rm.status(ctx, e.rec.App)
		if err != nil {
			d.state.mute = e.name
			return
		}
		if st.StartedMS > 0 {
			d.state.starts[e.rec.App] = milliseconds(st.StartedMS)
		}
	}
}

// allRun is the progress from which on all of a gang runs. That of an application that has told its end is 100, whatever it was.
const allRun = 50

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
	if e.rec.Stop != "" || e.app.succeeded() || slices.Contains(taken, code) || e.rec.Gang && code == invalid || missed(code, e.app.Diagnostics) {
		return false
	}
	st, err := e.status()
	return err != nil || st.Cause != causeShort && st.Cause != causeStart && st.Cause != causeLost
}

// taken are the exit codes of ApplicationMasters whose container was taken: released with its node, disks failed, preempted, killed by the
// ResourceManager or by the NodeManager's own scheduler.
var taken = []string{"-100", "-101", "-102", "-106", "-108"}

// invalid is the exit code of containers that could not be set up: of an application it is its own files' doing, but a gang's ApplicationMaster has none.
const invalid = "-1000"

// missed tells of an ApplicationMaster that ended while its NodeManager was away, which does not know how, then. One may exit with that code itself, but then the
// NodeManager tells more of it.
func missed(code, diagnostics string) bool {
	return code == "154" && !strings.Contains(diagnostics, "Exception from container-launch")
}

// exited is how the ResourceManager's own words begin of an application whose ApplicationMaster's container has ended. What applications write comes after that.
var exited = regexp.MustCompile(`^Application application_[0-9]+_[0-9]+ failed [0-9]+ times.*? due to .*?AM Container for appattempt_[0-9_]+ exited with +exitCode: (-?[0-9]+)`)

// exitCode is that of the ApplicationMaster, "" where the ResourceManager tells none. The diagnostics of an application that told its end are its own words.
func (a *app) exitCode() string {
	if a.State != "FAILED" {
		return ""
	}
	if found := exited.FindStringSubmatch(a.Diagnostics); found != nil {
		return found[1]
	}
	return ""
}

// status is what a gang's ApplicationMaster has told at its end. What another application writes says nothing of a gang.
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

// tellJobs tells of the jobs that have changed, or of all.
func (d *Driver) tellJobs(v *adapters.View) {
	s := d.state
	list := s.active
	if v.Full {
		list = s.entries
	}
	for _, name := range sortedKeys(list) {
		e := list[name]
		job := d.tell(e)
		if e.told != nil && (job == nil || job.UID != e.uidTold) { // what was told is over, also where its file comes back as it was
			e.life = s.another()
		}
		if job != nil {
			e.uidTold, job.UID = job.UID, job.UID+e.life
		}
		switch {
		case job == nil && e.told == nil:
		case job == nil:
			v.Jobs = append(v.Jobs, adapters.Job{Spec: e.told.Spec, UID: e.told.UID, Gone: true})
		case v.Full || e.told == nil || !sameJob(e.told, job):
			v.Jobs = append(v.Jobs, *job)
		}
		e.told, e.look = job, false
		if !e.open() {
			delete(s.active, name)
		}
		if job == nil && e.rec == nil && e.bad == nil && len(e.files) == 0 {
			delete(s.entries, name)
			d.spool.forget(name)
		}
	}
}

// sameJob tells whether nothing has changed but what actions get back, which is the same object then, too.
func sameJob(a, b *adapters.Job) bool {
	x, y := a.Ref.(*ref), b.Ref.(*ref)
	if x.rec != y.rec || x.doc != y.doc || x.at != y.at {
		return false
	}
	l, r := *a, *b
	l.Ref, r.Ref = nil, nil
	return reflect.DeepEqual(l, r)
}

// tell is a job as it stands, nil if there is none.
func (d *Driver) tell(e *entry) *adapters.Job {
	r := &ref{entry: e, doc: e.doc, at: e.at, uid: e.uid, rec: e.rec, when: e.submitted}
	if e.open() && !e.mine() {
		return d.tellOld(e, r)
	}
	if e.doc == nil {
		return nil
	}
	spec := e.doc.spec
	job := &adapters.Job{Spec: spec, UID: e.uid, Revision: revision(e), Problem: e.doc.problem, Ref: r}
	if e.bad != nil {
		job.Problem = fmt.Errorf("%w: %q: %w", ErrJob, e.name, e.bad)
		return job
	}
	if !e.mine() {
		return job
	}
	job.Attempt, job.Done = e.rec.Attempt, e.rec.Done
	switch {
	case e.rec.Open:
		job.Tasks = d.tasks(e)
		if job.Problem == nil {
			job.Problem = e.odd
		}
	case e.rec.Finished:
		for _, nt := range e.rec.Plan {
			for range nt.Tasks {
				job.Tasks = append(job.Tasks, adapters.Task{Node: nt.Node, State: adapters.Finished, Started: e.rec.Started, Ended: e.rec.Ended})
			}
		}
	case e.rec.Err != "":
		job.Over, job.Err = true, errors.New(e.rec.Err)
	}
	return job
}

// revision is a number for what the job says, and whether it can be scheduled.
func revision(e *entry) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %v", e.uid, e.doc.problem)
	return h.Sum64()
}

// tellOld is of an attempt of a submission that is no more.
func (d *Driver) tellOld(e *entry, r *ref) *adapters.Job {
	spec := &sched.Job{ID: e.name, Tasks: e.rec.tasks(), Demand: e.rec.Demand, Submitted: e.rec.Submitted}
	job := &adapters.Job{
		Spec: spec, UID: e.rec.UID, Attempt: e.rec.Attempt, Over: true, Err: fmt.Errorf("%w: %w: job %q", adapters.ErrCancelled, ErrWithdrawn, e.name), Ref: r,
	}
	if e.told != nil && e.uidTold == e.rec.UID {
		job.Spec, job.Revision, job.Done = e.told.Spec, e.told.Revision, e.told.Done
	}
	job.Tasks = d.tasks(e)
	if e.app == nil && e.odd == nil {
		for i := range job.Tasks {
			job.Tasks[i].State, job.Tasks[i].Err = adapters.Stopping, nil // until it is certain that it does not come any more
		}
	}
	return job
}

// tasks are those of an open attempt.
func (d *Driver) tasks(e *entry) []adapters.Task {
	one := adapters.Task{State: adapters.Requested}
	a := e.app
	switch {
	case a == nil && e.rec.Stop != "":
		one.State = adapters.Stopping
	case a == nil && e.odd != nil:
	case a == nil:
		one.State, one.Err = adapters.Failed, fmt.Errorf("%w: %s", errUnknownApp, e.rec.App)
	case a.over():
		one.State, one.Err = adapters.Failed, e.why()
		one.Started, one.Ended = d.span(e)
		if a.succeeded() {
			one.State, one.Err = adapters.Finished, nil
		} else if e.rec.Stop != "" || !e.mine() {
			one = adapters.Task{State: adapters.Stopping} // it is noted next
		}
	case e.rec.Stop != "":
		one.State, one.Started = adapters.Stopping, d.state.starts[e.rec.App]
	case !e.rec.Gang && a.State == "RUNNING":
		one.State, one.Started = adapters.Running, milliseconds(int64(a.LaunchTime))
	case e.rec.Gang && (a.State == "RUNNING" && a.Progress >= allRun && a.Progress < 100 || !d.state.starts[e.rec.App].IsZero()):
		one.State, one.Started = adapters.Running, d.state.starts[e.rec.App]
	}
	out := make([]adapters.Task, 0, e.rec.tasks())
	for _, nt := range e.rec.Plan {
		t := one
		if t.Node = nt.Node; t.State.Holds() && t.State != adapters.Stopping && e.rec.Gang && !d.present(nt.Node) {
			t.State = adapters.Lost
		}
		for range nt.Tasks {
			out = append(out, t)
		}
	}
	return out
}

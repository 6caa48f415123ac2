package yarn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

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

// settledFor is how long a folder must not have changed before its modification time is trusted.
const settledFor = 2 * time.Second

// readJobs reads the job files that are new or have changed.
func (d *Driver) readJobs(full bool) error {
	s := d.state
	at, err := d.spool.changedAt(jobsDir)
	if err != nil || !full && s.jobsOld && at.Equal(s.jobsAt) {
		return err
	}
	files, nameless, err := d.spool.scan()
	if err != nil {
		return err
	}
	d.nameless(nameless)
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

// nameless records which files cannot be jobs because of their names. It deletes the notes about files that are gone.
func (d *Driver) nameless(files []string) {
	s := d.state
	if s.nameless == nil {
		s.nameless = d.spool.oddNotes()
	}
	for _, file := range files {
		if !s.nameless[file] {
			text := fmt.Sprintf(
				"%v: %q: expected NAME.yaml, NAME.yml or NAME.json, or NAME~TOKEN and one of these, NAME being at most 100 "+
					"letters of a to z, digits, dots, hyphens and underscores, "+
					"the first a letter or digit\n", ErrName, file)
			s.nameless[file] = put(NotePath(d.spool.dir, file), []byte(text), false) == nil
		}
	}
	for file := range s.nameless {
		if !slices.Contains(files, file) {
			d.spool.forget(file)
			delete(s.nameless, file)
		}
	}
}

// readJob reads the files of one job. If one cannot be read now, the job stays as it is.
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
			e.files = nil // it is just being deleted: look again
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

// dated is when a file was submitted: its modification time, which anybody can set to anything, but at most now.
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
		if e.info != nil && e.info.ModTime().Equal(info.ModTime()) && e.info.Size() == info.Size() &&
			inodeOf(e.info) == inodeOf(info) {
			continue
		}
		r, err := d.spool.record(name)
		if err != nil && !errors.Is(err, errRecord) {
			return err
		}
		d.put(e, info, r, err)
		if !s.ever && e.open() {
			d.spool.forget(name) // whoever started it may have crashed before doing this
		}
	}
	return nil
}

// touch marks a job to be looked at.
func (d *Driver) touch(e *entry) {
	e.look = true
	d.state.active[e.name] = e
}

// put applies a record.
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
	var others []*entry
	for _, e := range list {
		e.look = true
		if a := live[e.rec.App]; a != nil {
			e.app, e.odd = a, nil
		} else {
			others = append(others, e)
		}
	}
	if err := d.readEnded(ctx, others); err != nil {
		return err
	}
	d.readStarts(ctx, list)
	return nil
}

// atOnce is the number of concurrent calls for applications.
const atOnce = 8

// readEnded reads applications that are not live. After a long time on standby there are many. If a read fails, what
// was read before it is kept.
func (d *Driver) readEnded(ctx context.Context, list []*entry) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var begun atomic.Int64
	var all sync.WaitGroup
	for range min(atOnce, len(list)) {
		all.Go(func() {
			for i := int(begun.Add(1)) - 1; i < len(list) && ctx.Err() == nil; i = int(begun.Add(1)) - 1 {
				e := list[i]
				switch a, err := d.rm.app(ctx, e.rec.App); {
				case err == nil:
					e.app, e.odd = a, nil
				case errors.Is(err, errOdd):
					e.odd = err
				default:
					cancel(err)
				}
			}
		})
	}
	all.Wait()
	if err := context.Cause(ctx); err == nil || errors.Is(err, adapters.ErrUnavailable) {
		return err
	}
	return failRead("applications", ctx.Err())
}

// name passes the errors of answers that make no sense to OnError, each once while it stays the same.
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
		if text := odd[id].Error(); d.opt.OnError != nil && s.named[id] != text {
			s.named[id] = text
			d.opt.OnError(odd[id])
		}
	}
}

// statusShare limits the time in which all ApplicationMasters together may answer, per observation, to one part in
// statusShare of a call's timeout.
const statusShare = 5

// readStarts asks when gangs began to run, once per gang. An ApplicationMaster that does not answer is asked again in
// the next observation, after the others.
func (d *Driver) readStarts(ctx context.Context, list []*entry) {
	ctx, cancel := context.WithTimeout(ctx, d.opt.Timeout/statusShare)
	defer cancel()
	next := slices.IndexFunc(list, func(e *entry) bool { return e.name > d.state.mute })
	for _, e := range slices.Concat(list[max(0, next):], list[:max(0, next)]) {
		a := e.app
		if a == nil || !e.rec.Gang || a.State != "RUNNING" || a.Progress < allRun || a.Progress >= 100 ||
			!d.state.starts[e.rec.App].IsZero() {
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

// allRun is the progress from which on the whole gang runs. An application that has reported its end has a progress of
// 100, whatever it was before.
const allRun = 50

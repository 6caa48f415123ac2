package yarn

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

// ErrName is an invalid job name.
var ErrName = errors.New("yarn: invalid job name")

// ErrExists is the submission of a job whose name is in use.
var ErrExists = errors.New("yarn: there is a job of that name")

// jobName matches the name of a job, which is part of file names and environments.
var jobName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// extensions are the extensions of job files.
var extensions = []string{".yaml", ".yml", ".json"}

// The folders of a spool.
const (
	jobsDir  = "jobs"
	stateDir = "state"
	notesDir = "notes"
	leaseDoc = "lease.json"
	epochDoc = "epoch" // the last epoch, in case the lease is deleted
	lockDoc  = "lock"
)

// spool is the folder that all instances share.
type spool struct {
	dir     string
	timeout time.Duration
	lock    *flock.Flock
	turns
	gate func(call string, done bool) error // called before and after every change, if not nil
}

func openSpool(dir string, timeout time.Duration) (*spool, error) {
	for _, sub := range []string{jobsDir, stateDir, notesDir} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return nil, fmt.Errorf("yarn: spool: %w", err)
		}
	}
	for _, sub := range []string{".", jobsDir, stateDir, notesDir} {
		sweep(filepath.Join(dir, sub), time.Now().Add(-staleAfter))
	}
	s := &spool{dir: dir, timeout: timeout, lock: flock.New(filepath.Join(dir, lockDoc)),
		turns: turns{turn: make(chan struct{}, 1)}}
	s.turn <- struct{}{}
	return s, nil
}

// Submit puts a job file into a spool as a new submission: it runs even if another job of the same name and content has
// run before. The name has at most 100 letters, digits, dots, hyphens and underscores. hedge checks the content, and
// Submit does not; see [Describe]. Errors are [ErrName], [ErrExists] and the file system's.
func Submit(spool, name string, data []byte) error {
	if !jobName.MatchString(name) {
		return fmt.Errorf("%w: %q", ErrName, name)
	}
	dir := filepath.Join(spool, jobsDir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("yarn: spool: %w", err)
	}
	for _, e := range entries {
		if of, _, ok := splitName(e.Name()); ok && of == name {
			return fmt.Errorf("%w: %q: %s", ErrExists, name, e.Name())
		}
	}
	if err := replace(filepath.Join(dir, name+"~"+strings.ToLower(rand.Text()[:12])+".yaml"), data); err != nil {
		return fmt.Errorf("yarn: spool: %w", err)
	}
	return nil
}

// Withdraw removes a job from a spool. If it runs, hedge stops it. A job that does not exist is no error.
func Withdraw(spool, name string) error {
	if !jobName.MatchString(name) {
		return fmt.Errorf("%w: %q", ErrName, name)
	}
	dir := filepath.Join(spool, jobsDir)
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if of, _, ok := splitName(e.Name()); ok && of == name && err == nil {
			if err = os.Remove(filepath.Join(dir, e.Name())); errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		}
	}
	if err != nil {
		return fmt.Errorf("yarn: spool: %w", err)
	}
	return nil
}

// NotePath is the file with the reason why a job of a spool waits or has failed for good. For a file in the folder jobs
// whose name is no job's, pass the file's whole name.
func NotePath(spool, name string) string { return filepath.Join(spool, notesDir, name+".txt") }

// splitName splits the name of a job file into the job's name and the submission's token, if it has one.
func splitName(file string) (name, token string, ok bool) {
	ext := filepath.Ext(file)
	if !slices.Contains(extensions, ext) {
		return "", "", false
	}
	name, token, _ = strings.Cut(strings.TrimSuffix(file, ext), "~")
	return name, token, jobName.MatchString(name)
}

// jobFile is a file of the folder jobs, as it was when it was listed.
type jobFile struct {
	base, name, token string
	size              int64
	modified          time.Time
	inode             uint64
}

// scan lists the job files in order, without opening them, and the files whose names are no jobs'.
func (s *spool) scan() (out []jobFile, nameless []string, err error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, jobsDir))
	if err != nil {
		return nil, nil, s.fail(err)
	}
	for _, e := range entries {
		name, token, ok := splitName(e.Name())
		if !ok {
			// skips files of others and half-written files, and files whose note would have the name of a job's note
			if !strings.HasPrefix(e.Name(), ".") && !jobName.MatchString(e.Name()) {
				nameless = append(nameless, e.Name())
			}
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, nil, s.fail(err)
		}
		out = append(out, jobFile{e.Name(), name, token, info.Size(), info.ModTime(), inodeOf(info)})
	}
	return out, nameless, nil
}

func inodeOf(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ino
	}
	return 0
}

// changedAt is when a file was last added to a folder or removed from it.
func (s *spool) changedAt(sub string) (time.Time, error) {
	info, err := os.Stat(filepath.Join(s.dir, sub))
	if err != nil {
		return time.Time{}, s.fail(err)
	}
	return info.ModTime(), nil
}

// open reads a job file. It follows no link and waits for no pipe. ErrUnavailable says nothing about the file: there
// are too many open files, say, or a file server is away. The job must not be taken for another one then.
func (s *spool) open(f *jobFile) ([]byte, error) {
	data, err := s.regular(f)
	for _, own := range []error{nil, fs.ErrNotExist, fs.ErrPermission, errIrregular, syscall.ELOOP, syscall.ENXIO} {
		if errors.Is(err, own) {
			return data, err
		}
	}
	return nil, s.fail(err)
}

// errIrregular is a folder, a pipe, or anything else that is no regular file.
var errIrregular = errors.New("no regular file")

func (s *spool) regular(f *jobFile) ([]byte, error) {
	h, err := os.OpenFile(filepath.Join(s.dir, jobsDir, f.base), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	info, err := h.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", f.base, errIrregular)
	}
	return io.ReadAll(io.LimitReader(h, MaxFile+1))
}

func (s *spool) fail(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: yarn: spool: %w", adapters.ErrUnavailable, err)
}

// record is hedge's record of a job: its last attempt and the outcome.
type record struct {
	// Seq grows by one with every change.
	Seq uint64 `json:"seq"`
	// UID identifies the submission.
	UID       string    `json:"uid"`
	Submitted time.Time `json:"submitted"`
	Attempt   int       `json:"attempt"`
	Failures  int       `json:"failures,omitempty"`
	// Done is the kept work of earlier attempts.
	Done time.Duration `json:"done,omitempty"`
	// Open says that the attempt is not concluded: its application may exist, or may still arrive.
	Open   bool              `json:"open,omitempty"`
	App    string            `json:"app,omitempty"`
	Gang   bool              `json:"gang,omitempty"`
	Plan   []sched.NodeTasks `json:"plan,omitempty"`
	Demand sched.Resources   `json:"demand,omitempty"`
	// Stop is why the open attempt was stopped. Started and Ended are when its whole gang began and ended.
	Stop    string    `json:"stop,omitempty"`
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	// Finished says that the job has done its work. Err says why it is not tried again.
	Finished bool   `json:"finished,omitempty"`
	Err      string `json:"err,omitempty"`
	// Epoch and Reason are those of the last action.
	Epoch  uint64 `json:"epoch,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// tasks is the number of tasks in the plan.
func (r *record) tasks() int {
	n := 0
	for _, nt := range r.Plan {
		n += nt.Tasks
	}
	return n
}

func (s *spool) recordPath(name string) string {
	return filepath.Join(s.dir, stateDir, name+".json")
}

// record reads a job's record, nil if there is none.
func (s *spool) record(name string) (*record, error) {
	data, err := os.ReadFile(s.recordPath(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, s.fail(err)
	}
	r := &record{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", errRecord, s.recordPath(name), err)
	}
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", errRecord, s.recordPath(name), err)
	}
	return r, nil
}

// errRecord is a state file that makes no sense, since somebody has written in it.
var errRecord = errors.New("yarn: state file makes no sense")

var appID = regexp.MustCompile(`^application_[0-9]{1,19}_[0-9]{1,10}$`)

func (r *record) check() error {
	switch {
	case r.Attempt < 0 || r.Failures < 0 || r.Done < 0:
		return errors.New("negative counts")
	case r.Open && !appID.MatchString(r.App):
		return fmt.Errorf("app %q, expected an application's id", r.App)
	}
	for _, nt := range r.Plan {
		if nt.Node == "" || nt.Tasks < 1 || nt.Tasks > adapters.MaxTasks {
			return fmt.Errorf("%d tasks on node %q", nt.Tasks, nt.Node)
		}
	}
	if n := r.tasks(); n > adapters.MaxTasks || n == 0 && (r.Open || r.Finished) {
		return fmt.Errorf("a plan of %d tasks", n)
	}
	return nil
}

// states lists the jobs with a record, and the files.
func (s *spool) states() (map[string]fs.FileInfo, error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, stateDir))
	if err != nil {
		return nil, s.fail(err)
	}
	out := make(map[string]fs.FileInfo, len(entries))
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || !jobName.MatchString(name) {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, s.fail(err)
		}
		out[name] = info
	}
	return out, nil
}

// pass calls the gate.
func (s *spool) pass(call string, done bool) error {
	if s.gate == nil {
		return nil
	}
	return s.gate(call, done)
}

// change replaces the record that was read, or creates one if have is nil. It deletes the record if next is nil. The
// error is ErrStale if the record has changed, and ErrFenced if another epoch than the action's leads, or none. With
// epoch 0 the lease is not checked: such a change only records what YARN says. Valid, if not nil, is called under the
// lock.
func (s *spool) change(ctx context.Context, name string, have, next *record, epoch uint64, valid func() error) error {
	if err := s.pass("state of "+name, false); err != nil {
		return err
	}
	err := s.lockedFor(ctx, name, func() error {
		if err := s.fence(epoch); err != nil {
			return err
		}
		now, err := s.record(name)
		switch {
		case err != nil && !errors.Is(err, errRecord):
			return err
		case err != nil:
			return fmt.Errorf("%w: %w", adapters.ErrRefused, err)
		case (now == nil) != (have == nil) ||
			now != nil && (now.Seq != have.Seq || now.UID != have.UID || now.App != have.App):
			return fmt.Errorf("%w: job %q has changed", adapters.ErrStale, name)
		}
		if valid != nil {
			if err := valid(); err != nil {
				return err
			}
		}
		if next == nil {
			return s.fail(os.Remove(s.recordPath(name)))
		}
		if next.Seq = 1; have != nil {
			next.Seq = have.Seq + 1
		}
		data, err := json.Marshal(next)
		if err != nil {
			return err
		}
		if err := replace(s.recordPath(name), data); err != nil {
			return s.fail(err)
		}
		if next.Err != "" { // for the user; if the note cannot be written, the record says the same
			_ = put(NotePath(s.dir, name), []byte(next.Err+"\n"), false)
		}
		return nil
	})
	if gate := s.pass("state of "+name, true); gate != nil {
		return gate
	}
	return err
}

// fence refuses actions of every epoch but the lease's. Without a lease nobody leads. The caller holds the lock.
func (s *spool) fence(epoch uint64) error {
	if epoch == 0 {
		return nil
	}
	var l lease
	there, err := s.read(leaseDoc, &l)
	switch {
	case err != nil:
		return err
	case !there:
		return fmt.Errorf("%w: epoch %d, and there is no lease", adapters.ErrFenced, epoch)
	case epoch != l.Epoch:
		return fmt.Errorf("%w: epoch %d, the leader's is %d", adapters.ErrFenced, epoch, l.Epoch)
	}
	return nil
}

// note writes why a job waits.
func (s *spool) note(ctx context.Context, name, text string, epoch uint64) error {
	if err := s.pass("note on "+name, false); err != nil {
		return err
	}
	err := s.lockedFor(ctx, name, func() error {
		if err := s.fence(epoch); err != nil {
			return err
		}
		return s.fail(put(NotePath(s.dir, name), []byte(text+"\n"), false))
	})
	if gate := s.pass("note on "+name, true); gate != nil {
		return gate
	}
	return err
}

// oddNotes are the existing notes about files whose names are no jobs'. An earlier instance wrote them, and it is not
// known whether they are still true.
func (s *spool) oddNotes() map[string]bool {
	out := map[string]bool{}
	entries, _ := os.ReadDir(filepath.Join(s.dir, notesDir))
	for _, e := range entries {
		if file, is := strings.CutSuffix(e.Name(), ".txt"); is && !jobName.MatchString(file) &&
			!strings.HasPrefix(file, ".") {
			out[file] = false
		}
	}
	return out
}

// replace atomically replaces a file. It returns once the file would survive a loss of power, since YARN is called next
// and that must not be forgotten.
func replace(path string, data []byte) error {
	if err := put(path, data, true); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	// file systems that cannot sync a directory need not
	if err := dir.Sync(); !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}

// unfinished is the prefix of files that are being written.
const unfinished = ".new-"

// staleAfter is the age from which nobody still writes such a file, whatever the file server's clock says.
const staleAfter = time.Hour

// sweep deletes what crashes have left half written. What cannot be deleted, such as another user's file, does no harm.
func sweep(dir string, before time.Time) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), unfinished) && info.Mode().IsRegular() &&
			info.ModTime().Before(before) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// put creates a file atomically.
func put(path string, data []byte, sync bool) error {
	f, err := os.CreateTemp(filepath.Dir(path), unfinished+"*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil && sync {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // useless by now
	}
	return err
}

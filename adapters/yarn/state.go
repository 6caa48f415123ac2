package yarn

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/hedgesched/hedge/adapters"
)

// ErrWithdrawn says that a job is over since its file was deleted or says something else. It comes with
// [adapters.ErrCancelled].
var ErrWithdrawn = errors.New("yarn: the job was withdrawn")

var (
	errUnknownApp = errors.New("yarn: the ResourceManager does not know the application")
	errTwice      = errors.New("there are two files of that name, expected one")
)

// state is what was read.
type state struct {
	ever               bool
	entries            map[string]*entry
	active             map[string]*entry    // those that have changed or have an open attempt
	jobsAt, statesAt   time.Time            // when the folders were last changed, as of the last scan
	jobsOld, statesOld bool                 // whether that was long enough before the scan
	lives              uint64               // number of lives begun after the first observation
	starts             map[string]time.Time // since when gangs run, by application
	mute               string               // the job whose ApplicationMaster did not answer last time
	nodes              map[string]*node     // the nodes in use, by id
	// nameless are the files of the folder jobs whose names are no jobs', and whether a note says so. It is nil before the
	// first observation.
	nameless  map[string]bool
	absent    map[string]time.Time     // since when the ResourceManager has not mentioned a node
	odd       map[string]error         // errors of answers about nodes, by id
	named     map[string]string        // errors passed to Options.OnError, by id
	toldNodes map[string]adapters.Node // as last reported, by name
}

func newState() *state {
	return &state{entries: map[string]*entry{}, active: map[string]*entry{}, starts: map[string]time.Time{},
		nodes: map[string]*node{}, absent: map[string]time.Time{}, named: map[string]string{},
		toldNodes: map[string]adapters.Node{}}
}

// entry is a job: its files, its record and its application.
type entry struct {
	name      string
	files     []jobFile
	doc       *parsed // nil if there is no file
	at        jobFile // the file of doc
	uid       string
	submitted time.Time

	info fs.FileInfo // of the record's file
	rec  *record
	bad  error // error of a record that makes no sense

	app     *app          // of the open attempt; nil if the ResourceManager knows none
	odd     error         // the last answer made no sense: app is from the one before
	toldJob *adapters.Job // as last reported; nil if never, or if it is gone
	bareUID string        // the UID of toldJob without its life
	life    string        // distinguishes the job from one with the same UID that was reported as gone
	look    bool          // it has changed
}

// entry is the entry of that name, which is created if there is none.
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

// another is a new life.
func (s *state) another() string {
	s.lives++
	return fmt.Sprint("/", s.lives)
}

// open reports whether there is an attempt that is not concluded.
func (e *entry) open() bool { return e.rec != nil && e.rec.Open }

// mine reports whether the record is about the file's submission.
func (e *entry) mine() bool { return e.doc != nil && e.rec != nil && e.rec.UID == e.uid }

// ref is what actions get back: a job as it was reported.
type ref struct {
	entry *entry
	doc   *parsed
	at    jobFile
	uid   string
	rec   *record
	when  time.Time // time of submission
}

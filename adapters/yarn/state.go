package yarn

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/hedgesched/hedge/adapters"
)

// ErrWithdrawn is why a job is over whose file was taken away or says something else now. It comes with
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
	active             map[string]*entry    // that have changed or have an open attempt
	jobsAt, statesAt   time.Time            // when the folders were changed last, as of the last scan
	jobsOld, statesOld bool                 // and that was long enough before it
	lives              uint64               // that were begun after the first look
	starts             map[string]time.Time // since when gangs run, by application
	mute               string               // the job whose ApplicationMaster did not answer last
	nodes              map[string]*node     // that take part, by id
	// files of the folder jobs whose names are no jobs', and whether a note says so; nil before the first look
	nameless  map[string]bool
	absent    map[string]time.Time     // since when the ResourceManager does not tell of a node
	odd       map[string]error         // what makes no sense of what it tells of nodes, by id
	named     map[string]string        // what Options.Told was told, by id
	toldNodes map[string]adapters.Node // as they were told last, by name
}

func newState() *state {
	return &state{entries: map[string]*entry{}, active: map[string]*entry{}, starts: map[string]time.Time{},
		nodes: map[string]*node{}, absent: map[string]time.Time{}, named: map[string]string{},
		toldNodes: map[string]adapters.Node{}}
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

	app     *app          // of the open attempt, nil if the ResourceManager knows none
	odd     error         // what it said of it last made no sense: app is what it said before
	toldJob *adapters.Job // as it was told last, nil if it was not or is gone
	bareUID string        // the told job's UID without its life
	life    string        // tells what is told apart from what was told to be gone and had the same UID
	look    bool          // it has changed
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

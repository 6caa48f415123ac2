package nomad

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

// The keys of a job's meta that its user writes.
const (
	// KeyMark marks a job as hedge's, with the value "true"; with "false" it is as if there were no such key.
	KeyMark = "hedge"
	// KeyTasks is the size of the gang, 1 to adapters.MaxTasks; default 1.
	KeyTasks = "hedge_tasks"
	// KeyDeadline is by when the job should be done: so long after its submission, at least 1s, as "2h30m", or at a time
	// after it, as "2026-01-02T15:04:05Z".
	KeyDeadline = "hedge_deadline"
	// KeyUtility is what its completion is worth at which time, as JSON, in the form of utility.Marshal; default
	// adapters.DefaultUtility.
	KeyUtility = "hedge_utility"
	// KeyPreferred are the nodes where it runs at full speed: labels as in "node.class=fast|big & meta.rack=r1"; "key=*"
	// is any value.
	KeyPreferred = "hedge_preferred"
	// KeySlowdown is how many times longer it runs on other nodes than the preferred, 1 to 1e6.
	KeySlowdown = "hedge_slowdown"
	// KeyCheckpoint says with "true" that the job goes on where it was when it is started again.
	KeyCheckpoint = "hedge_checkpoint"
	// KeyRetries is how often the job is started again after an attempt with a task that failed; default 3.
	KeyRetries = "hedge_retries"
)

// The keys that hedge writes.
const (
	keyOrigin    = "hedge_origin"    // JobModifyIndex of the user's registration
	keySubmitted = "hedge_submitted" // its time, ns since 1970
	keyAttempt   = "hedge_attempt"   // starts so far
	keyStart     = "hedge_start"     // the JobModifyIndex that the last start was decided on: in the names of its groups
	keyActed     = "hedge_acted"     // the same of the last action, which makes every action a new version
	keyDone      = "hedge_done"      // work kept by attempts before the last
	keyFailures  = "hedge_failures"  // attempts that failed
	keyEpoch     = "hedge_epoch"
	keyReason    = "hedge_reason" // of the last action
	keyOver      = "hedge_over"   // why it is not tried again
	keyParent    = "hedge_parent" // the periodic job that it is a run of
	keyRank      = "hedge_first_rank"
)

// The resources of nodes and tasks.
const (
	// CPU is in MHz, as in Nomad's job files.
	CPU = "cpu"
	// Memory is in MiB.
	Memory = "memory"
	// Disk is in MiB, that of allocations' own directories.
	Disk = "disk"
)

// ErrJob is the sentinel of jobs that are marked as hedge's and cannot be scheduled.
var ErrJob = errors.New("nomad: job cannot be scheduled")

// hints are what a job says to hedge and what hedge has noted in it.
type hints struct {
	spec      *sched.Job
	problem   error
	template  *api.TaskGroup // nil where there is none
	mains     []string       // the tasks of the template that do its work
	predicate []predicate

	retries, failures, attempt int
	origin, start              uint64
	done                       time.Duration
	over                       string
}

// marked tells whether a job is hedge's: also where what its mark says makes no sense, so that its user is told.
func marked(meta map[string]string) bool {
	v, there := meta[KeyMark]
	is, err := parseBool(v)
	return there && (is || err != nil)
}

// parseBool reads what is true or false, and takes nothing else for it: hints mean the same on every cluster.
func parseBool(v string) (bool, error) {
	if v != "true" && v != "false" {
		return false, adapters.Expected("true or false")
	}
	return v == "true", nil
}

// parent tells whether a job never runs itself: it is periodic or parameterized, and its children are jobs of their
// own.
func parent(job *api.Job) bool {
	return job.Periodic != nil && deref(job.ParentID) == "" || job.ParameterizedJob != nil && !job.Dispatched
}

// Describe is what hedge makes of a job: the gang, its demand, hints and equivalence sets. The error wraps [ErrJob] and
// says what is wrong with it; it is what the job's user is told. Whether the job is marked does not matter, but a mark
// must be true or false. Constraints that are no equivalence sets show as labels that only nodes seen by a [Driver]
// have. Hints of a job that hedge has placed are not held against it while it runs: those that make no sense are passed
// over.
func Describe(job *api.Job) (*sched.Job, error) {
	h := read(job)
	return h.spec, h.problem
}

// read takes a job apart. It always gives a spec, if only one that is a name.
func read(job *api.Job) *hints {
	meta := job.Meta
	h := &hints{retries: 3, spec: &sched.Job{ID: key{deref(job.Namespace), deref(job.ID)}.String(), Tasks: 1}}
	h.noted(job)
	h.spec.Priority = deref(job.Priority)
	h.spec.Attributes = attributes(job)
	h.problem = h.hinted(meta)
	if n := h.places(job); h.problem != nil && 0 < n && n <= adapters.MaxTasks {
		// it was well for the hedge that has placed it, and must be known while it runs; what is wrong holds once it waits
		// again
		h.problem, h.spec.Tasks = nil, n
	}
	if h.problem == nil {
		h.problem = h.planned(job)
	}
	if h.problem == nil {
		h.problem = h.spec.Validate()
	}
	if h.problem != nil {
		h.problem = fmt.Errorf("%w: %q: %w%s", ErrJob, deref(job.ID), h.problem, h.unheld(job))
	}
	return h
}

// unheld says of a job that is not held, and so is not left to hedge, who runs it and what its user is to do.
func (h *hints) unheld(job *api.Job) string {
	if deref(job.Stop) {
		return ""
	}
	for _, g := range job.TaskGroups {
		if !h.placed(g) && deref(g.Count) > 0 {
			return fmt.Sprintf(
				"; Nomad itself runs it, as it does every job of which group %q has count %d: to have hedge place it, stop it "+
					"and register it again with count = 0",
				deref(g.Name), deref(g.Count))
		}
	}
	return ""
}

// noted reads hedge's own keys. A job that was copied under another name has those of the original, which are older
// than it is.
func (h *hints) noted(job *api.Job) {
	meta := job.Meta
	number := func(k string) uint64 {
		n, _ := strconv.ParseUint(meta[k], 10, 64) // 0 where there is none
		return n
	}
	h.origin = deref(job.JobModifyIndex)
	submitted := deref(job.SubmitTime)
	if origin := number(keyOrigin); origin != 0 && origin >= deref(job.CreateIndex) && origin < h.origin {
		h.origin, h.start = origin, number(keyStart)
		h.attempt, h.failures = int(min(number(keyAttempt), 1<<30)), int(min(number(keyFailures), 1<<30))
		h.done = max(0, time.Duration(min(number(keyDone), 1<<62)))
		h.over = meta[keyOver]
		submitted = int64(min(number(keySubmitted), 1<<62))
	}
	h.spec.Submitted = time.Unix(0, submitted).UTC()
}

// known are the keys that may be there, the users' first.
var known = []string{
	KeyMark, KeyTasks, KeyDeadline, KeyUtility, KeyPreferred, KeySlowdown, KeyCheckpoint, KeyRetries,
	keyOrigin, keySubmitted, keyAttempt, keyStart, keyActed, keyDone, keyFailures, keyEpoch, keyReason, keyOver, keyParent,
}

// unknown is the error of a key that nobody reads, nil if there is none.
func unknown(meta map[string]string) error {
	for _, k := range slices.Sorted(maps.Keys(meta)) {
		if strings.HasPrefix(k, "hedge_") && !slices.Contains(known, k) {
			return fmt.Errorf("meta key %q is unknown, expected one of %q", k, known[1:8])
		}
	}
	return nil
}

// hinted reads the user's keys. What makes no sense is as if it were not there; the error is of the first.
func (h *hints) hinted(meta map[string]string) error {
	s, first := h.spec, unknown(meta)
	for _, one := range []struct {
		key, expected string
		read          func(string) error
	}{
		{KeyMark, "", func(v string) (err error) {
			_, err = parseBool(v)
			return err
		}},
		{KeyTasks, fmt.Sprintf("a number from 1 to %d", adapters.MaxTasks), func(v string) (err error) {
			s.Tasks, err = within(v, 1, adapters.MaxTasks)
			return err
		}},
		{KeyDeadline, "", func(v string) error {
			d, err := adapters.ParseDeadline(v)
			if err == nil {
				s.Deadline, err = d.From(s.Submitted)
			}
			return err
		}},
		{KeyUtility, "a utility as JSON", func(v string) (err error) {
			s.Utility, err = adapters.ParseUtility([]byte(v))
			return err
		}},
		{KeyPreferred, "", func(v string) (err error) {
			s.Preferred, err = adapters.ParseSet(v, "node.class=fast|big & meta.rack=r1")
			return err
		}},
		{KeySlowdown, "", func(v string) error { // after the nodes that it is of
			slowdown, err := adapters.ParseSlowdown(v)
			if err == nil {
				err = adapters.CheckPreferred(slowdown, s.Preferred, KeyPreferred)
			}
			if err == nil {
				s.Slowdown = slowdown
			}
			return err
		}},
		{KeyCheckpoint, "", func(v string) (err error) {
			s.Checkpoint, err = parseBool(v)
			return err
		}},
		{KeyRetries, "a number from 0 to 1000000", func(v string) (err error) {
			h.retries, err = within(v, 0, 1_000_000)
			return err
		}},
	} {
		v, ok := meta[one.key]
		if !ok {
			continue
		}
		before, retries := *s, h.retries
		err := one.read(v)
		if err == nil {
			continue
		}
		*s, h.retries = before, retries
		switch {
		case first != nil:
		case errors.As(err, new(adapters.Expected)):
			first = fmt.Errorf("meta %s = %q, %w", one.key, v, err)
		default:
			first = fmt.Errorf("meta %s = %q, expected %s: %w", one.key, v, one.expected, err)
		}
	}
	if s.Utility == nil {
		s.Utility = adapters.DefaultUtility(s.Deadline)
	}
	return first
}

var errRange = errors.New("out of range")

func within(v string, low, high int) (int, error) {
	n, err := strconv.Atoi(v)
	if err == nil && (n < low || n > high) {
		err = errRange
	}
	if err != nil {
		return low, err
	}
	return n, nil
}

// attributes are what is known of a job before it runs: its name, namespace and priority, and what its meta says.
func attributes(job *api.Job) map[string]string {
	out := map[string]string{}
	for k, v := range job.Meta {
		if k != KeyMark && !strings.HasPrefix(k, "hedge_") {
			out[k] = v
		}
	}
	out["name"] = deref(job.Name)
	if p := cmp.Or(deref(job.ParentID), job.Meta[keyParent]); p != "" {
		out["name"] = p // a child's own name is never seen again
	}
	out["namespace"] = deref(job.Namespace)
	if n, ok := job.Meta[KeyTasks]; ok {
		out["tasks"] = n
	}
	return out
}

// planned reads what Nomad itself is to know: kind, groups, resources and constraints.
func (h *hints) planned(job *api.Job) error {
	if err := h.kind(job); err != nil {
		return err
	}
	g := h.template
	for _, t := range g.Tasks {
		if t.Resources != nil && deref(t.Resources.Cores) > 0 {
			return fmt.Errorf("task %q asks for %d cores, expected cpu in MHz", t.Name, *t.Resources.Cores)
		}
	}
	h.mains = mains(g)
	h.spec.Demand = demand(g)
	return h.required(job)
}

// kind finds the template, and whether the job is of a kind that can be held.
func (h *hints) kind(job *api.Job) error {
	switch {
	case deref(job.Type) != api.JobTypeBatch:
		return fmt.Errorf("type is %q, expected %q", deref(job.Type), api.JobTypeBatch)
	case job.Dispatched:
		return errors.New(
			"it was dispatched, and Nomad takes no such job again: expected one that is registered for each run")
	case job.Multiregion != nil && len(job.Multiregion.Regions) > 0:
		return errors.New("it is for several regions, expected one")
	}
	for _, g := range job.TaskGroups {
		if h.placed(g) {
			continue
		}
		if h.template != nil {
			return fmt.Errorf("there are groups %q and %q, expected one, the template of the gang's %s", deref(h.template.Name),
				deref(g.Name), KeyTasks)
		}
		h.template = g
	}
	switch {
	case h.template == nil:
		return errors.New("there is no group, expected one")
	case deref(h.template.Count) != 0:
		return fmt.Errorf("group %q has count %d, expected 0, and %s = \"%d\" for a gang of as many", deref(h.template.Name),
			deref(h.template.Count), KeyTasks, deref(h.template.Count))
	}
	return nil
}

// placed tells whether a group is one of the last start's.
func (h *hints) placed(g *api.TaskGroup) bool {
	return h.start != 0 && startOf(deref(g.Name)) == h.start
}

// places is how many tasks the groups of the last start have, 0 of a job that does not run.
func (h *hints) places(job *api.Job) int {
	n := 0
	if !deref(job.Stop) {
		for _, g := range job.TaskGroups {
			if h.placed(g) {
				n += deref(g.Count)
			}
		}
	}
	return n
}

// groupName is the name of a placed group. It is never that of an earlier start, whose allocations Nomad would take for
// the group's own.
func groupName(template string, start uint64, i int) string {
	return fmt.Sprintf("%s-at%d-%d", template, start, i)
}

// startOf is the start that a group is of, 0 if it is a user's.
func startOf(group string) uint64 {
	parts := strings.Split(group, "-")
	if len(parts) < 3 {
		return 0
	}
	at, ok := strings.CutPrefix(parts[len(parts)-2], "at")
	n, err := strconv.ParseUint(at, 10, 64)
	if _, bad := strconv.Atoi(parts[len(parts)-1]); !ok || err != nil || bad != nil {
		return 0
	}
	return n
}

// mains are the tasks that do a group's work: the leader, or all that are not before, beside or after it.
func mains(g *api.TaskGroup) []string {
	var out []string
	for _, t := range g.Tasks {
		if t.Leader {
			return []string{t.Name}
		}
		if t.Lifecycle == nil || t.Lifecycle.Hook == "" {
			out = append(out, t.Name)
		}
	}
	return out
}

// demand is what Nomad sets aside for one task of the gang: what runs together, or what runs before or after, whichever
// is more.
func demand(g *api.TaskGroup) sched.Resources {
	var before, main, after, always [2]float64
	for _, t := range g.Tasks {
		part := &main
		if l := t.Lifecycle; l != nil {
			switch {
			case l.Sidecar:
				part = &always
			case l.Hook == api.TaskLifecycleHookPrestart:
				part = &before
			case l.Hook == api.TaskLifecycleHookPoststop:
				part = &after
			}
		}
		if r := t.Resources; r != nil {
			part[0] += float64(deref(r.CPU))
			part[1] += float64(deref(r.MemoryMB))
		}
	}
	out := sched.Resources{
		CPU: always[0] + max(before[0], main[0], after[0]), Memory: always[1] + max(before[1], main[1], after[1]),
	}
	if g.EphemeralDisk != nil && deref(g.EphemeralDisk.SizeMB) > 0 {
		out[Disk] = float64(deref(g.EphemeralDisk.SizeMB))
	}
	return out
}

// deref is a value, or the zero one.
func deref[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// jsonCopy is a deep copy.
func jsonCopy[T any](v *T) (*T, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	out := new(T)
	return out, json.Unmarshal(data, out)
}

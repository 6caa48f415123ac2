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

// The keys of a job's meta that its user sets.
const (
	// KeyMark marks a job as hedge's, with the value "true". The value "false" is the same as no mark.
	KeyMark = "hedge"
	// KeyTasks is the number of the gang's tasks, 1 to adapters.MaxTasks; default 1.
	KeyTasks = "hedge_tasks"
	// KeyDeadline is the job's deadline: a duration from its submission of at least 1s, like "2h30m", or a time after it,
	// like "2026-01-02T15:04:05Z".
	KeyDeadline = "hedge_deadline"
	// KeyUtility is the value of the job's completion over time, as JSON of utility.Marshal; default
	// adapters.DefaultUtility.
	KeyUtility = "hedge_utility"
	// KeySpeeds is how fast the job runs on nodes with which labels, like
	// "node.class=fast|big & meta.rack=r1 1; other 0.5"; "key=*" is any value. Default full speed everywhere.
	KeySpeeds = "hedge_speeds"
	// KeyCheckpoint says, with "true", that a restarted job continues where it was.
	KeyCheckpoint = "hedge_checkpoint"
	// KeyAfter are the ids of jobs of the same namespace that must have finished before this one starts, like
	// "fetch, split".
	KeyAfter = "hedge_after"
	// KeyRetries is how often the job is started again after an attempt in which a task failed; default 3.
	KeyRetries = "hedge_retries"
	// KeyResize allows hedge, with "true", to start the group's only task with the cpu, memory and memory_max that the
	// task is forecast to need, instead of those that it asks for: never with more.
	KeyResize = "hedge_resize"
	// KeyResizeLeast is the least memory of a resized task, in MiB, 10 to the task's memory; default 10.
	KeyResizeLeast = "hedge_resize_least"
)

// The keys that hedge sets.
const (
	keyOrigin    = "hedge_origin"    // JobModifyIndex of the user's registration
	keySubmitted = "hedge_submitted" // time of that registration, in ns since 1970
	keyAttempt   = "hedge_attempt"   // number of starts so far
	keyStart     = "hedge_start"     // JobModifyIndex that the last start was decided on; part of the names of its groups
	keyActed     = "hedge_acted"     // the same for the last action, which makes every action a new version
	keyDone      = "hedge_done"      // work kept by attempts before the last
	keyFailures  = "hedge_failures"  // number of failed attempts
	keyEpoch     = "hedge_epoch"
	keyReason    = "hedge_reason" // of the last action
	keyOver      = "hedge_over"   // why the job is not tried again
	keyParent    = "hedge_parent" // the periodic job of which this is a run
	keyRank      = "hedge_first_rank"
)

// The resources of nodes and tasks.
const (
	// CPU is in MHz, as in Nomad's job files.
	CPU = "cpu"
	// Memory is in MiB.
	Memory = "memory"
	// Disk is in MiB, for the allocations' own directories.
	Disk = "disk"
)

// ErrJob is the error of a job that is marked for hedge but cannot be scheduled.
var ErrJob = errors.New("nomad: job cannot be scheduled")

// hints are what a job says to hedge, and what hedge has noted in it.
type hints struct {
	spec      *sched.Job
	problem   error
	template  *api.TaskGroup // nil if there is none
	mains     []string       // the template's tasks that do the job's work
	predicate []predicate

	resize   bool
	least    int              // MiB; 0 if the job says nothing
	bounds   *adapters.Bounds // nil if the task may not be resized
	reserved sched.Resources  // of a task of the last start, if that is not what the job asks for

	retries, failures, attempt int
	origin, start              uint64
	done                       time.Duration
	over                       string
}

// marked reports whether a job is hedge's. A job with a mark that makes no sense counts, so that its user is told.
func marked(meta map[string]string) bool {
	v, there := meta[KeyMark]
	is, err := parseBool(v)
	return there && (is || err != nil)
}

// parseBool accepts only true and false, so that hints mean the same on every cluster.
func parseBool(v string) (bool, error) {
	if v != "true" && v != "false" {
		return false, adapters.Expected("true or false")
	}
	return v == "true", nil
}

// parent reports whether a job never runs itself, since it is periodic or parameterized. Its children are jobs of their
// own.
func parent(job *api.Job) bool {
	return job.Periodic != nil && deref(job.ParentID) == "" || job.ParameterizedJob != nil && !job.Dispatched
}

// Describe is what hedge makes of a job: its gang, demand, hints and equivalence sets. The error wraps [ErrJob] and
// says what is wrong, as the job's user is told. The job need not be marked, but a mark must be true or false.
// Constraints that are not equivalence sets appear as labels that only nodes seen by a [Driver] have. If hedge has
// placed the job, wrong hints are no error while it runs; they are ignored.
func Describe(job *api.Job) (*sched.Job, error) {
	h := read(job)
	return h.spec, h.problem
}

// read parses a job. It always returns a spec, which may have no more than a name.
func read(job *api.Job) *hints {
	meta := job.Meta
	h := &hints{retries: 3, spec: &sched.Job{ID: key{deref(job.Namespace), deref(job.ID)}.String(), Tasks: 1}}
	h.noted(job)
	h.spec.Priority = deref(job.Priority)
	h.spec.Attributes = attributes(job)
	h.problem = h.hinted(meta)
	if n := h.places(job); h.problem != nil && 0 < n && n <= adapters.MaxTasks {
		// The hedge that placed the job accepted its hints, and the job must be known while it runs. What is wrong counts
		// once it waits again.
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

// unheld is a hint for the user of a job that is not held, and so not left to hedge: it says who runs the job and what
// to do.
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

// noted reads hedge's own keys. A copy of a job under another name has the original's keys, which are older than the
// copy.
func (h *hints) noted(job *api.Job) {
	meta := job.Meta
	number := func(k string) uint64 {
		n, _ := strconv.ParseUint(meta[k], 10, 64) // 0 if there is none
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

// hintKeys are the keys by which users describe a job; known are all that are allowed.
var (
	hintKeys = []string{
		KeyTasks, KeyDeadline, KeyUtility, KeySpeeds, KeyCheckpoint, KeyAfter, KeyRetries, KeyResize, KeyResizeLeast,
	}
	known = append([]string{
		KeyMark, keyOrigin, keySubmitted, keyAttempt, keyStart, keyActed, keyDone, keyFailures, keyEpoch, keyReason, keyOver,
		keyParent,
	}, hintKeys...)
)

// unknown is the error of a key that nobody reads, or nil.
func unknown(meta map[string]string) error {
	for _, k := range slices.Sorted(maps.Keys(meta)) {
		if strings.HasPrefix(k, "hedge_") && !slices.Contains(known, k) {
			return fmt.Errorf("meta key %q is unknown, expected one of %q", k, hintKeys)
		}
	}
	return nil
}

// hint reads a key of the user's.
type hint struct {
	key, expected string
	read          func(string) error
}

// readers are the hints of all keys, in the order in which they are read.
func (h *hints) readers() []hint {
	s := h.spec
	boolean := func(to *bool) func(string) error {
		return func(v string) (err error) {
			*to, err = parseBool(v)
			return err
		}
	}
	return []hint{
		{KeyMark, "", boolean(new(bool))},
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
		{KeySpeeds, "", func(v string) (err error) {
			s.Speeds, err = adapters.ParseSpeeds(v, "node.class=fast|big & meta.rack=r1 1; other 0.5")
			return err
		}},
		{KeyCheckpoint, "", boolean(&s.Checkpoint)},
		{KeyAfter, "", func(v string) error {
			names, err := adapters.ParseAfter(v)
			namespace, _, _ := strings.Cut(s.ID, "/")
			for i := range names {
				names[i] = key{namespace, names[i]}.String()
			}
			s.After = names
			return err
		}},
		{KeyRetries, "a number from 0 to 1000000", func(v string) (err error) {
			h.retries, err = within(v, 0, 1_000_000)
			return err
		}},
		{KeyResize, "", boolean(&h.resize)},
		{KeyResizeLeast, "a number of MiB from 10 to 1000000000", func(v string) (err error) {
			h.least, err = within(v, leastMemory, 1_000_000_000)
			return err
		}},
	}
}

// hinted reads the user's keys. Wrong values are ignored, and the first of them is the error.
func (h *hints) hinted(meta map[string]string) error {
	s, first := h.spec, unknown(meta)
	for _, one := range h.readers() {
		v, ok := meta[one.key]
		if !ok {
			continue
		}
		before, retries, least := *s, h.retries, h.least
		err := one.read(v)
		if err == nil {
			continue
		}
		*s, h.retries, h.least = before, retries, least
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

// attributes are what is known of a job before it runs: its name, namespace, priority and meta.
func attributes(job *api.Job) map[string]string {
	out := map[string]string{}
	for k, v := range job.Meta {
		if k != KeyMark && !strings.HasPrefix(k, "hedge_") {
			out[k] = v
		}
	}
	out["name"] = deref(job.Name)
	if p := cmp.Or(deref(job.ParentID), job.Meta[keyParent]); p != "" {
		out["name"] = p // the child's own name never occurs again
	}
	out["namespace"] = deref(job.Namespace)
	if n, ok := job.Meta[KeyTasks]; ok {
		out["tasks"] = n
	}
	return out
}

// planned reads what Nomad itself uses: the kind, groups, resources and constraints.
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
	h.reserves(job)
	if err := h.sized(); err != nil && h.places(job) == 0 {
		return err
	}
	return h.required(job)
}

// kind finds the template and checks that the job is of a kind that can be held.
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

// placed reports whether a group belongs to the last start.
func (h *hints) placed(g *api.TaskGroup) bool {
	return h.start != 0 && startOf(deref(g.Name)) == h.start
}

// places is the number of tasks in the groups of the last start. It is 0 if the job does not run.
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

// groupName is the name of a placed group. It differs from the names of earlier starts: Nomad would take their
// allocations for this group's.
func groupName(template string, start uint64, i int) string {
	return fmt.Sprintf("%s-at%d-%d", template, start, i)
}

// startOf is the start of a group, and 0 for a user's group.
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

// mains are the tasks that do a group's work: the leader, or all tasks that do not run before, beside or after the
// work.
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

// demand is what Nomad reserves for one task of the gang: the sum of what runs together, or what runs before or after
// if that is more.
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

// deref is the value, or zero for nil.
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

package sim

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hedgesched/hedge/sched"
)

// maxTime bounds arrivals and runtimes, so that sums of a few cannot overflow.
const maxTime = 50 * 365 * 24 * time.Hour

// newLife checks nodes and jobs and has the jobs wait for their arrival.
func newLife(cfg *Config) (*life, error) {
	nodes, err := sched.NewNodeSet(cfg.Nodes)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNode, err)
	}
	if nodes.Len() == 0 {
		return nil, fmt.Errorf("%w: no nodes", ErrConfig)
	}
	l := &life{
		nodes:   nodes,
		physics: newExclusive(nodes),
		index:   newIndex(len(cfg.Jobs)),
		told:    make([]sched.Event, 0, nodes.Len()+16),
		load:    newRecorder(),

		byRanges: cfg.Ranges,
	}
	for i := range cfg.Nodes {
		l.told = append(l.told, sched.Event{Kind: sched.NodeUp, Time: epoch, Node: nodes.Node(i)})
	}
	if err := l.admit(cfg.Jobs); err != nil {
		return nil, err
	}
	l.window = cfg.Span
	if l.window == 0 && len(l.jobs) > 0 {
		l.window = l.jobs[len(l.jobs)-1].arrive
	}
	if err := l.share(cfg); err != nil {
		return nil, err
	}
	return l, nil
}

// admit takes in the jobs in order of arrival, ties by id.
func (l *life) admit(jobs []Job) error {
	order := make([]int32, len(jobs))
	for i := range order {
		order[i] = int32(i)
	}
	arrival := func(a, b int32) int {
		return cmp.Or(cmp.Compare(jobs[a].Arrive, jobs[b].Arrive), strings.Compare(jobs[a].ID, jobs[b].ID))
	}
	if !slices.IsSortedFunc(order, arrival) { // logs are, as a rule
		slices.SortFunc(order, arrival)
	}
	known := demands{nodes: l.nodes, known: map[string][]float64{}}
	l.jobs, l.kept = make([]job, len(jobs)), make([]JobRecord, len(jobs))
	for at, i := range order {
		from := &jobs[i]
		if err := checkJob(from); err != nil {
			return err
		}
		if !l.index.add(l.jobs, at, from.ID) {
			return fmt.Errorf("%w: %q", ErrDuplicateJob, from.ID)
		}
		demand, err := known.admit(&from.Job)
		if err != nil {
			return err
		}
		l.fill(at, from, demand)
	}
	return l.link()
}

// fill makes the job of an index.
func (l *life) fill(at int, from *Job, demand []float64) {
	j := &l.jobs[at]
	j.Job, j.arrive = &from.Job, from.Arrive
	j.gang = gang{id: int32(at), tasks: j.Tasks, demand: demand, work: &from.Work}
}

func checkJob(j *Job) error {
	if err := j.Validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrJob, err)
	}
	bad := func(field string, value any, want string) error {
		return fmt.Errorf("%w: job %q: %s is %v, want %s", ErrJob, j.ID, field, value, want)
	}
	switch {
	case !utf8.ValidString(j.ID):
		return bad("ID", "not UTF-8", "UTF-8")
	case j.Tasks > math.MaxInt32:
		return bad("Tasks", j.Tasks, "at most 2^31-1")
	case j.Arrive < 0 || j.Arrive > maxTime:
		return bad("Arrive", j.Arrive, "0 to 50 years")
	case j.Deadline > maxTime:
		return bad("Deadline", j.Deadline, "at most 50 years")
	case !j.Work.fits(j.Tasks):
		return bad("Work", fmt.Sprintf("of %d tasks", len(j.Work.times())), fmt.Sprintf("that of %d", j.Tasks))
	case j.Work.shortest() < 0:
		return bad("Work", j.Work.shortest(), "0 to 50 years, at the lowest speed, too")
	case j.Work.Runtime().Seconds()*sched.Stretch(j.Speeds.Least()) > maxTime.Seconds():
		return bad("Work", j.Work.Runtime(), "0 to 50 years, at the lowest speed, too")
	}
	return nil
}

// demands keeps the demands that it has seen as vectors.
type demands struct {
	nodes *sched.NodeSet
	known map[string][]float64
	key   []byte
}

// admit returns the job's demand as a vector, or why it can never run.
func (d *demands) admit(j *sched.Job) ([]float64, error) {
	d.key = d.key[:0]
	if len(j.Demand) > 0 {
		d.key = fmt.Append(d.key, j.Demand) // maps print in order of keys
	}
	demand, ok := d.known[string(d.key)]
	if !ok {
		var err error
		if demand, err = d.nodes.Demand(j.Demand); err != nil {
			return nil, fmt.Errorf("%w: job %q: %w", ErrJob, j.ID, err)
		}
		d.known[string(d.key)] = demand
	}
	room := d.nodes.Site(j.Required, demand).Holds
	if j.Tasks > room {
		where := "the idle cluster has"
		if !j.Required.IsAny() {
			where = "the nodes it requires (" + j.Required.String() + ") have"
		}
		return nil, fmt.Errorf("%w: job %q of %d tasks, %s room for %d", ErrTooWide, j.ID, j.Tasks, where, room)
	}
	return demand, nil
}

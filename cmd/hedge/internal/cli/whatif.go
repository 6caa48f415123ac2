package cli

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/hedgesched/hedge/adapters/sim/forward"
	"github.com/hedgesched/hedge/cmd/hedge/internal/figures"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/whatif"
)

// whatIfDocument is the JSON document of hedge what-if.
type whatIfDocument struct {
	Schema      int             `json:"schema"`
	Command     string          `json:"command"`
	Policy      string          `json:"policy"`
	PolicyAfter string          `json:"policy_after"`
	Changes     []whatif.Change `json:"changes"`
	Before      []prospect      `json:"before"`
	After       []prospect      `json:"after"`
	// Misses are the expected numbers of jobs that miss their deadlines.
	MissesBefore float64  `json:"misses_before"`
	MissesAfter  float64  `json:"misses_after"`
	StartsNow    []string `json:"starts_now"`
	Gained       []string `json:"gained"`
	Lost         []string `json:"lost"`
	Stopped      []string `json:"stopped"`
	WallMS       float64  `json:"wall_ms"`
	ForwardMS    float64  `json:"forward_ms"`
}

// prospect is what becomes of a job. Times are seconds from now, null beyond the horizon.
type prospect struct {
	Job     string   `json:"job"`
	State   string   `json:"state"`
	Start   *when    `json:"start_s,omitempty"`
	End     *when    `json:"end_s,omitempty"`
	Started float64  `json:"started"`
	Meets   *float64 `json:"meets_deadline,omitempty"`
}

type when struct {
	P10 *float64 `json:"p10"`
	P50 *float64 `json:"p50"`
	P90 *float64 `json:"p90"`
}

// whatIfFlags are the flags of hedge what-if.
type whatIfFlags struct {
	snapshotFlags
	changes []string
	hours   float64
	runs    int
	seed    uint64
}

func newWhatIf(s *Host) *cobra.Command {
	var f whatIfFlags
	cmd := &cobra.Command{
		Use:   "what-if",
		Short: "Show what a change of nodes, jobs or policy would do",
		Long: `what-if takes a recorded snapshot, applies changes to a copy, and plans both: which jobs start now, before and
after. Then it simulates both onwards, several times, with runtimes drawn from the forecasts and no further jobs:
when jobs start and end, and how many miss their deadlines.

Give each change as one --change; they are applied in order:
  drain NODE                     the node goes; the jobs that run there stop and wait again
  cordon NODE                    the node takes no new tasks
  add N nodes like NODE [label KEY=VALUE ...] [offer RESOURCE=AMOUNT ...]
  add N jobs like JOB            N copies of the job are submitted now
  drop JOB                       a waiting job is withdrawn, a running job ends now
  tasks JOB N | priority JOB N | deadline JOB DURATION | demand JOB RESOURCE=AMOUNT ... | require JOB SET
                                 new values for a waiting job
  policy NAME                    another policy plans`,
		Example: `  hedge what-if --snapshot cycle-17.json.gz --change 'drain node-3' --change 'priority train-42 9'
  hedge what-if --snapshot cycle-17.json.gz --policy edf --change 'add 8 nodes like node-3' --hours 24 --json
  hedge what-if --snapshot cycle-17.json.gz --change 'policy prio' --hours 0`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			doc, err := f.ask(cmd.Context(), s)
			if err != nil {
				return err
			}
			if f.json {
				return writeJSON(s.Out, doc)
			}
			return failed(whatIfTable(s.Out, doc))
		},
	}
	f.add(cmd)
	fs := cmd.Flags()
	fs.StringArrayVar(&f.changes, "change", nil, "a `change`, in the language above; may be given several times")
	fs.Float64Var(&f.hours, "hours", 4, "hours to simulate onwards; 0 plans one cycle only")
	fs.IntVar(&f.runs, "runs", 5, "number of simulated futures")
	fs.Uint64Var(&f.seed, "seed", 1, "seed of the draws")
	return cmd
}

func (f *whatIfFlags) check() error {
	switch {
	case len(f.changes) == 0:
		return fmt.Errorf("--change: found nothing, expected a change such as 'drain node-3'")
	case !(f.hours >= 0 && f.hours <= maxHours):
		return fmt.Errorf("--hours: found %v, expected 0 to %d", f.hours, maxHours)
	case f.runs < 1 || f.runs > 10_000:
		return fmt.Errorf("--runs: found %d, expected 1 to 10000", f.runs)
	}
	return f.snapshotFlags.check()
}

// ask answers the question.
func (f *whatIfFlags) ask(ctx context.Context, s *Host) (*whatIfDocument, error) {
	changes := make([]whatif.Change, len(f.changes))
	for i, text := range f.changes {
		var err error
		if changes[i], err = whatif.Parse(text); err != nil {
			return nil, fmt.Errorf("--change: %w", err)
		}
	}
	doc := &whatIfDocument{Schema: schema, Command: "what-if", Policy: f.policy, PolicyAfter: f.policy, Changes: changes}
	before, done, err := f.policies(s, f.policy)
	if err != nil {
		return nil, fmt.Errorf("--policy: %w", err)
	}
	defer done()
	if name, other := whatif.PolicyOf(changes); other {
		doc.PolicyAfter = name
	}
	after, closed, err := f.policies(s, doc.PolicyAfter) // with an engine of its own, since both plan at once
	if err != nil {
		return nil, fmt.Errorf("--change: policy: %w", err)
	}
	defer closed()
	snapshot, err := f.read(s)
	if err != nil {
		return nil, err
	}
	if _, err := whatif.Apply(snapshot, changes); err != nil {
		return nil, fmt.Errorf("--change: %w", err)
	}
	began := time.Now()
	a, err := whatif.Ask(ctx, snapshot, changes, whatif.Fresh(before), whatif.Fresh(after))
	if err != nil {
		return nil, failed(err)
	}
	doc.WallMS = float64(time.Since(began)) / float64(time.Millisecond)
	doc.StartsNow, doc.Gained = atLeast(a.StartsNow), atLeast(a.Gained)
	doc.Lost, doc.Stopped = atLeast(a.Lost), atLeast(a.Stopped)
	began = time.Now()
	if doc.Before, doc.MissesBefore, err = f.prospects(ctx, snapshot, a.Before, before); err != nil {
		return nil, failed(err)
	}
	if doc.After, doc.MissesAfter, err = f.prospects(ctx, a.Snapshot, a.After, after); err != nil {
		return nil, failed(err)
	}
	doc.ForwardMS = float64(time.Since(began)) / float64(time.Millisecond)
	return doc, nil
}

// atLeast returns a list that is not nil, which JSON shows as [].
func atLeast(list []string) []string { return append([]string{}, list...) }

// prospects returns the prospect of every running, pending and held job, in the order of [forward.Run], and the
// expected number of missed deadlines.
func (f *whatIfFlags) prospects(ctx context.Context, s *sched.Snapshot, plan *sched.Plan,
	policy func() (sched.Policy, error)) (list []prospect, misses float64, err error) {
	starts := map[string]sched.Kind{}
	for i := range plan.Decisions {
		starts[plan.Decisions[i].Job] = plan.Decisions[i].Kind
	}
	states := map[sched.Kind]string{sched.Start: "starts", sched.Preempt: "stops", sched.Defer: "pending"}
	list = []prospect{}
	for i := range s.Running {
		p := prospect{Job: s.Running[i].Job.ID, State: "running", Started: 1}
		if starts[p.Job] == sched.Preempt {
			p.State = "stops"
		}
		list = append(list, p)
	}
	for i := range s.Pending {
		id := s.Pending[i].Job.ID
		list = append(list, prospect{Job: id, State: states[starts[id]]})
	}
	for i := range s.Held {
		list = append(list, prospect{Job: s.Held[i].Job.ID, State: "held"})
	}
	if f.hours == 0 {
		return list, 0, nil
	}
	outcomes, err := forward.Run(ctx, s, policy, forward.Options{Runs: f.runs, Seed: f.seed,
		Horizon: time.Duration(f.hours * float64(time.Hour))})
	if err != nil {
		return nil, 0, err
	}
	for i := range outcomes {
		o, p := &outcomes[i], &list[i]
		p.Start, p.End, p.Started = span(o.Start), span(o.End), o.Started
		if o.Meets != sched.UnknownProbability {
			p.Meets = new(o.Meets)
			misses += 1 - o.Meets
		}
	}
	return list, misses, nil
}

// span converts a span for a document.
func span(s forward.Span) *when {
	known := func(v float64) *float64 {
		if math.IsInf(v, 0) {
			return nil
		}
		return new(v)
	}
	return &when{known(s.P10), known(s.P50), known(s.P90)}
}

// maxProspects limits the rows of the table.
const maxProspects = 20

func whatIfTable(w io.Writer, d *whatIfDocument) error {
	var p page
	for _, c := range d.Changes {
		p.line("change: %s", c)
	}
	p.line("starts now: %s", names(d.StartsNow))
	for _, l := range []struct {
		what string
		jobs []string
	}{{"and did not before", d.Gained}, {"no longer starts now", d.Lost}, {"is stopped for it", d.Stopped}} {
		if len(l.jobs) > 0 {
			p.line("%s: %s", l.what, names(l.jobs))
		}
	}
	if len(d.After) == 0 || d.After[0].Start == nil {
		return p.to(w)
	}
	p.line("expected to miss their deadlines: %s before, %s after", figures.Number(d.MissesBefore),
		figures.Number(d.MissesAfter))
	before := map[string]*prospect{}
	for i := range d.Before {
		before[d.Before[i].Job] = &d.Before[i]
	}
	var rows []table.Row
	for i := range d.After {
		a := &d.After[i]
		if b := before[a.Job]; a.State != "running" && len(rows) < maxProspects {
			rows = append(rows, table.Row{a.Job, b.median(true), a.median(true), b.median(false), a.median(false)})
		}
	}
	p.line("")
	p.table(table.Row{"job that waits", "starts in: before", "after", "ends in: before", "after"}, rows...)
	return p.to(w)
}

// median is the median start or end, as text for the table.
func (p *prospect) median(start bool) string {
	if p == nil {
		return "-"
	}
	s := p.End
	if start {
		s = p.Start
		if p.State == "running" || p.State == "stops" {
			return "runs"
		}
	}
	if s == nil || s.P50 == nil {
		return "later"
	}
	return figures.Span(*s.P50)
}

// names lists the first ten names and counts the rest.
func names(list []string) string {
	const most = 10
	switch n := len(list); {
	case n == 0:
		return "none"
	case n > most:
		return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), n-most)
	}
	return strings.Join(list, ", ")
}

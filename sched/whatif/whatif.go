// Package whatif applies hypothetical changes to a snapshot: nodes come and go, and jobs become narrower, more urgent,
// or disappear. A policy that plans the changed snapshot shows what would happen then. Changes have a small language,
// the same for people and programs:
//
//	drain NODE                     the node goes; the jobs that run there stop and wait again
//	cordon NODE                    the node takes no new tasks; what runs there goes on
//	add N nodes like NODE [label KEY=VALUE …] [offer RESOURCE=AMOUNT …]
//	add N jobs like JOB            N copies of the job are submitted now
//	drop JOB                       a pending or held job is withdrawn; a running job ends now
//	tasks JOB N                    a pending job's gang has N tasks
//	priority JOB N                 a pending job has this priority
//	require JOB SET                a pending job may run on these nodes only, as rack=r1|r2&gpu=* or any
//	demand JOB RESOURCE=AMOUNT …   each task of a pending job holds these amounts; 0 removes the resource
//	deadline JOB DURATION          time from a pending job's submission to its deadline; 0s removes it
//	policy NAME                    another policy plans
//
// Quote a name that contains blanks or quotes as in Go. [Parse] reads a change, [Change.String] writes it, and [Apply]
// applies changes to a copy of a snapshot.
//
// The package decides nothing and simulates nothing; [Ask] has the caller's planners plan. Package why finds the
// smallest changes that start a job.
package whatif

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hedgesched/hedge/sched"
)

// ErrChange is wrapped by errors about a change that cannot be read or cannot be applied.
var ErrChange = errors.New("whatif: no change")

// Verb says what a change does.
type Verb string

// The verbs, with the fields of [Change] that each one uses beside Name.
const (
	Drain    Verb = "drain"     // a node
	Cordon   Verb = "cordon"    // a node
	AddNodes Verb = "add-nodes" // like a node: Count, Labels, Resources
	AddJobs  Verb = "add-jobs"  // like a job: Count
	Drop     Verb = "drop"      // a job
	Tasks    Verb = "tasks"     // a job: Count
	Priority Verb = "priority"  // a job: Count
	Require  Verb = "require"   // a job: Set
	Demand   Verb = "demand"    // a job: Resources
	Deadline Verb = "deadline"  // a job: Span
	Policy   Verb = "policy"    // a policy
)

// Change is one change. Fields that its verb does not use are zero.
type Change struct {
	Verb Verb
	// Name is the name of a node or policy, or the ID of a job.
	Name string
	// Count is a number of nodes or jobs to add, 1 to 100,000; a number of tasks, 1 to 2³¹-1; or a priority, any int.
	// [Parse] enforces these ranges.
	Count int
	// Set is the equivalence set that the job requires after the change.
	Set sched.EquivalenceSet
	// Labels and Resources of added nodes override those of the node that they are copied from. In a change of demand,
	// Resources has the amounts that change; the others stay.
	Labels    map[string]string
	Resources sched.Resources
	// Span is the time from submission to deadline, at least 0; 0 means no deadline.
	Span time.Duration
}

// String writes the change in the language that [Parse] reads.
func (c Change) String() string {
	name := quote(c.Name)
	switch c.Verb {
	case AddNodes:
		var b strings.Builder
		fmt.Fprintf(&b, "add %d %s like %s", c.Count, plural(c.Count, "node"), name)
		for i, key := range slices.Sorted(maps.Keys(c.Labels)) {
			if i == 0 {
				b.WriteString(" label")
			}
			b.WriteString(" " + quote(key) + "=" + quote(c.Labels[key]))
		}
		if len(c.Resources) > 0 {
			b.WriteString(" offer" + amounts(c.Resources))
		}
		return b.String()
	case AddJobs:
		return fmt.Sprintf("add %d %s like %s", c.Count, plural(c.Count, "job"), name)
	case Tasks, Priority:
		return fmt.Sprintf("%s %s %d", c.Verb, name, c.Count)
	case Require:
		return fmt.Sprintf("%s %s %s", c.Verb, name, c.Set)
	case Demand:
		return fmt.Sprintf("%s %s%s", c.Verb, name, amounts(c.Resources))
	case Deadline:
		return fmt.Sprintf("%s %s %v", c.Verb, name, c.Span)
	default:
		return fmt.Sprintf("%s %s", c.Verb, name)
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return what
	}
	return what + "s"
}

func amounts(r sched.Resources) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(r)) {
		fmt.Fprintf(&b, " %s=%s", quote(name), strconv.FormatFloat(r[name], 'g', -1, 64))
	}
	return b.String()
}

// quote quotes a name that the parser would otherwise split, or take for a word of the language.
func quote(s string) string {
	if s == "" || strings.ContainsAny(s, "=\" \t\r\n`\\") || !strconv.CanBackquote(s) || s == "label" || s == "offer" {
		return strconv.Quote(s)
	}
	return s
}

// PolicyOf returns the policy that the changes ask for, the last one if there are several. Ok reports whether they ask
// for any.
func PolicyOf(changes []Change) (name string, ok bool) {
	for i := range changes {
		if changes[i].Verb == Policy {
			name, ok = changes[i].Name, true
		}
	}
	return name, ok
}

// MarshalText writes the change as [Change.String] does.
func (c Change) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads the change as [Parse] does.
func (c *Change) UnmarshalText(text []byte) error {
	read, err := Parse(string(text))
	if err == nil {
		*c = read
	}
	return err
}

// Package whatif changes a snapshot: nodes that come and go, jobs that are narrower, more urgent or not there. A
// policy that plans the changed snapshot tells what would happen then. Changes are written in a small language, so
// that people and programs say them alike:
//
//	drain NODE                     the node goes; the jobs that run there stop and wait again
//	cordon NODE                    the node takes no new tasks; what runs there goes on
//	add N nodes like NODE [label KEY=VALUE …] [offer RESOURCE=AMOUNT …]
//	add N jobs like JOB            the job comes N times more, now
//	drop JOB                       a job that waits is withdrawn; one that runs ends now
//	tasks JOB N                    the gang of a job that waits has N tasks
//	priority JOB N                 its priority
//	require JOB SET                the nodes that it may run on, as rack=r1|r2&gpu=* or any
//	demand JOB RESOURCE=AMOUNT …   what each of its tasks holds; 0 takes a resource away
//	deadline JOB DURATION          the time from its submission by which it should be done; 0s for none
//	policy NAME                    another policy plans
//
// A name with blanks or quotes is quoted as in Go. [Parse] reads a change, [Change.String] writes it, and [Apply]
// applies it to a copy of a snapshot.
//
// The package decides nothing: it runs no policy and simulates nothing. Package why finds the smallest changes that
// start a job.
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

// ErrChange is the sentinel of changes that cannot be read or cannot be made.
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
	// Name is that of the node, the job or the policy.
	Name string
	// Count is how many nodes or jobs are added, a number of tasks, or a priority.
	Count int
	// Set is the set of nodes that a job requires.
	Set sched.EquivalenceSet
	// Labels and Resources are what added nodes have beside, or instead of, what the node has that they are like.
	// Resources are also the amounts that change in a demand.
	Labels    map[string]string
	Resources sched.Resources
	// Span is a deadline, at least 0.
	Span time.Duration
}

// String is the change in the language that [Parse] reads.
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

// quote quotes a name that could be mistaken for several words, or for a word of the language.
func quote(s string) string {
	if s == "" || strings.ContainsAny(s, "=\" \t\r\n`\\") || !strconv.CanBackquote(s) || s == "label" || s == "offer" {
		return strconv.Quote(s)
	}
	return s
}

// PolicyOf is the policy that the changes ask for, the last one if there are several, and whether they ask for one.
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

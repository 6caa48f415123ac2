package milptest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/hedgesched/hedge/solver/milp"
)

// Config are the options of the suite. Its zero value runs every case that the backend's Caps allow.
type Config struct {
	// Skip has the reasons for cases that are not to be run, by name. They are printed. A name that is not in Cases fails
	// the suite.
	Skip map[string]string
	// Tolerance is the tolerance of objectives and bounds, relative to max(1, |objective|); 0 means 1e-6.
	Tolerance float64
	// Seeds is the number of random models per random case; 0 means 25.
	Seeds int
	// Patience is how long a call may take before it counts as hung; 0 means 5 minutes.
	Patience time.Duration

	after    func(time.Duration) <-chan time.Time // replaces time.After in tests of the patience
	settling time.Duration                        // how long goroutines may take to end; 0 means Patience
}

func (c Config) filled() Config {
	if c.Tolerance == 0 {
		c.Tolerance = 1e-6
	}
	if c.Seeds == 0 {
		c.Seeds = 25
	}
	if c.Patience == 0 {
		c.Patience = 5 * time.Minute
	}
	if c.settling == 0 {
		c.settling = c.Patience
	}
	if c.after == nil {
		c.after = time.After
	}
	return c
}

// Cases are the names of the suite's cases, in the order in which they run.
func Cases() []string {
	var names []string
	for _, c := range cases() {
		names = append(names, c.name)
	}
	return names
}

// Run runs every case as a subtest of t.
func Run(t *testing.T, b milp.Backend, cfg Config) {
	t.Helper()
	for _, problem := range cfg.problems() {
		t.Error(problem)
	}
	for _, c := range cases() {
		t.Run(c.name, func(t *testing.T) {
			c.on(t, b, cfg)
		})
	}
}

// problems are the mistakes in c.
func (c Config) problems() []string {
	var found []string
	known := Cases()
	for name, why := range c.Skip {
		if !slices.Contains(known, name) {
			found = append(found, fmt.Sprintf("Config.Skip: there is no case %q", name))
		} else if why == "" {
			found = append(found, fmt.Sprintf("Config.Skip: case %q: no reason is given", name))
		}
	}
	if c.Tolerance < 0 || c.Seeds < 0 || c.Patience < 0 {
		found = append(found, fmt.Sprintf("Config: tolerance %v, seeds %d, patience %v: expected no negative numbers",
			c.Tolerance, c.Seeds, c.Patience))
	}
	slices.Sort(found)
	return found
}

// reporter is the part of testing.T that cases use. Fatalf and Skipf do not return.
type reporter interface {
	Helper()
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
}

// needs are the Caps that a case needs.
type needs int

const (
	nothing    needs = iota
	integers         // Integer or Heuristic
	proofs           // Integer
	wide             // not Bounded
	nodes            // Nodes
	noNodes          // not Nodes
	incumbents       // Incumbents
	logs             // Log
	noIntegers       // neither Integer nor Heuristic
	bounded          // Bounded
)

// testCase is one case. Its doc is the fault that it guards against.
type testCase struct {
	name, doc string
	needs     []needs
	run       func(s *suite)
}

// on runs c, or skips it with the reason.
func (c testCase) on(t reporter, b milp.Backend, cfg Config) {
	t.Helper()
	if why, ok := cfg.Skip[c.name]; ok {
		t.Skipf("skipped by Config.Skip: %s", why)
	}
	for _, n := range c.needs {
		if why := n.missing(b.Caps()); why != "" {
			t.Skipf("%s: %s", b.Name(), why)
		}
	}
	c.run(&suite{reporter: t, b: b, can: b.Caps(), cfg: cfg.filled(), doc: c.doc})
}

// missing says what can lacks, "" if nothing.
func (n needs) missing(can milp.Caps) string {
	lacks := map[needs]string{}
	set := func(n needs, ok bool, why string) {
		if !ok {
			lacks[n] = why
		}
	}
	set(integers, can.Integer || can.Heuristic, "does not claim Integer or Heuristic")
	set(proofs, can.Integer, "does not claim Integer")
	set(wide, !can.Bounded, "claims Bounded")
	set(nodes, can.Nodes, "does not claim Nodes")
	set(noNodes, !can.Nodes, "claims Nodes")
	set(incumbents, can.Incumbents, "does not claim Incumbents")
	set(logs, can.Log, "does not claim Log")
	set(noIntegers, !can.Integer && !can.Heuristic, "claims Integer or Heuristic")
	set(bounded, can.Bounded, "does not claim Bounded")
	return lacks[n]
}

// suite is the backend as one case sees it.
type suite struct {
	reporter
	b   milp.Backend
	can milp.Caps
	cfg Config
	doc string
}

// failf ends the case.
func (s *suite) failf(format string, args ...any) {
	s.Helper()
	s.Fatalf("%s\n(guards against: %s)", fmt.Sprintf(format, args...), s.doc)
}

// background is the context of solves that nothing stops.
func background() context.Context { return context.Background() }

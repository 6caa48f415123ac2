package adaptertest

import (
	"slices"
	"testing"
)

// Case is one thing that every adapter must do.
type Case struct {
	// Name is what must be so.
	Name string
	// Needs are the abilities without which it is skipped.
	Needs []Ability
	// Shape is what it needs of its World; zero counts are 2.
	Shape Shape
	run   func(*host)
}

// Run does the case in a World of its own.
func (c Case) Run(t testing.TB, make Maker) {
	t.Helper()
	s := c.Shape.filled()
	w := make(t, s)
	traits := w.Traits()
	can(t, &traits, c.Needs)
	h := newHost(t, w, s)
	c.run(h)
	h.judge()
}

// filled has no zero counts.
func (s Shape) filled() Shape {
	if s.Nodes == 0 {
		s.Nodes = 2
	}
	if s.Slots == 0 {
		s.Slots = 2
	}
	if s.Seed == 0 {
		s.Seed = 1
	}
	return s
}

// Run checks an adapter: each case as a subtest, and a crash at every call.
func Run(t *testing.T, make Maker) {
	t.Helper()
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) { c.Run(t, make) })
	}
	t.Run("a crash before and after every call", func(t *testing.T) { crashes(t, make, false) })
}

// RunParallel does the same with Worlds side by side, as many as the test flag -parallel allows, for Worlds that share
// a cluster: most of a case is waiting. A case that takes the servers away is done before, by itself. Worlds must not
// disturb one another otherwise.
func RunParallel(t *testing.T, make Maker) {
	t.Helper()
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) { c.Parallel(t, make) })
	}
	t.Run("a crash before and after every call", func(t *testing.T) {
		t.Parallel()
		crashes(t, make, true)
	})
}

// Parallel is Run for a subtest of its own, beside others unless it takes the servers away.
func (c Case) Parallel(t *testing.T, make Maker) {
	t.Helper()
	if !slices.Contains(c.Needs, StopServer) {
		t.Parallel()
	}
	c.Run(t, make)
}

// Cases are all but the crashes, in order.
func Cases() []Case {
	out := lifeCases()
	out = append(out, cancelCases()...)
	out = append(out, stageCases()...)
	out = append(out, nodeCases()...)
	out = append(out, failureCases()...)
	out = append(out, connectionCases()...)
	return append(out, schedulerCases()...)
}

package adaptertest

import (
	"testing"
)

// testCase is one thing that every adapter must do.
type testCase struct {
	name  string
	needs []Ability
	shape Shape
	run   func(*host)
}

func (c *testCase) shaped(seed uint64) Shape {
	s := c.shape
	if s.Nodes == 0 {
		s.Nodes = 2
	}
	if s.Slots == 0 {
		s.Slots = 2
	}
	s.Seed = seed
	return s
}

// Run checks an adapter: each case as a subtest with a World of its own.
func Run(t *testing.T, make Maker) {
	t.Helper()
	for _, c := range cases() {
		t.Run(c.name, func(t *testing.T) {
			s := c.shaped(1)
			w := make(t, s)
			traits := w.Traits()
			can(t, &traits, c.needs)
			h := newHost(t, w, s)
			c.run(h)
			h.judge()
		})
	}
	t.Run("a crash before and after every call", func(t *testing.T) { crashes(t, make) })
}

func cases() []testCase {
	out := lifeCases()
	out = append(out, cancelCases()...)
	out = append(out, nodeCases()...)
	out = append(out, failureCases()...)
	out = append(out, connectionCases()...)
	return append(out, schedulerCases()...)
}

package yarn

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/adaptertest"
)

// smoke are the cases that TestSmoke runs: those in which nothing depends on who is first, and no node is lost, so that YARN can be told to wait long for each.
var smoke = []string{
	"a job starts where it was planned and its end is observed", "cancelled while running",
	"stale actions are refused", "actions of an epoch that is over are refused", "a restart finds what runs",
}

// TestSmoke does a part of the suite on real servers with -short, too, where they are built.
func TestSmoke(t *testing.T) {
	if !testing.Short() {
		t.Skip("without -short, TestConformance does all cases")
	}
	need(t)
	cases := adaptertest.Cases()
	for _, name := range smoke {
		i := slices.IndexFunc(cases, func(c adaptertest.Case) bool { return c.Name == name })
		require.GreaterOrEqual(t, i, 0, "the suite has no case %q", name)
		t.Run(name, func(t *testing.T) { cases[i].Run(t, newWorld) })
	}
}

// TestSmokeNames: the cases of TestSmoke are the suite's, also where it is skipped.
func TestSmokeNames(t *testing.T) {
	names := map[string]bool{}
	for _, c := range adaptertest.Cases() {
		names[c.Name] = true
	}
	for _, name := range smoke {
		require.True(t, names[name], "the suite has no case %q", name)
	}
}

package kubernetes

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/adaptertest"
)

// TestSmoke does the cases of the suite in which nothing is slow on purpose, for gangs of pods and for Jobs: what is done with -short, too, where the
// servers' programs are built.
func TestSmoke(t *testing.T) {
	if !testing.Short() {
		t.Skip("without -short, TestConformance does all cases")
	}
	for _, sort := range []struct {
		name   string
		asJobs bool
		cases  []string
	}{
		{"groups", false, []string{
			"a job starts where it was planned and its end is observed", "jobs wait for room", "a preempted job is stopped and runs again",
			"cancelled while pending", "cancelled as it is handed in", "cancelled while starting", "cancelled while running",
			"a node is lost and comes back", "a node is lost and its job runs elsewhere", "a gang that cannot start whole is rolled back",
			"the watch breaks", "stale actions are refused", "actions of an epoch that is over are refused", "a restart finds what runs",
			"what finished while no scheduler ran is learnt", "two instances at once",
		}},
		{"jobs", true, []string{
			"a job starts where it was planned and its end is observed", "cancelled while running",
			"a node is lost and its job runs elsewhere", "a restart finds what runs",
		}},
	} {
		t.Run(sort.name, func(t *testing.T) {
			t.Parallel()
			all := map[string]adaptertest.Case{}
			for _, c := range adaptertest.Cases() {
				all[c.Name] = c
			}
			for _, name := range sort.cases {
				require.Contains(t, all, name)
				t.Run(name, func(t *testing.T) {
					all[name].Parallel(t, func(t testing.TB, s adaptertest.Shape) adaptertest.World { return newWorld(t, s, sort.asJobs) })
				})
			}
		})
	}
}

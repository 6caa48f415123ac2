package threesigma

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/internal/odds"
)

// TestReview: a job teaches what became of it, once, as soon as that is certain. No more is kept than of the jobs that
// run.
func TestReview(t *testing.T) {
	const deadline = 100 // s
	at := func(s int) time.Time { return time.Unix(0, 0).UTC().Add(time.Duration(s) * time.Second) }
	j := &sched.Job{ID: "j", Tasks: 1, Submitted: at(0), Deadline: deadline * time.Second}
	runs := func(s int) *sched.Snapshot { return &sched.Snapshot{Now: at(s), Running: []sched.Running{{Job: j}}} }
	waits := func(s int) *sched.Snapshot { return &sched.Snapshot{Now: at(s), Pending: []sched.Pending{{Job: j}}} }
	away := func(s int) *sched.Snapshot { return &sched.Snapshot{Now: at(s)} }
	done := func(s, when int) *sched.Snapshot {
		return &sched.Snapshot{Now: at(s),
			Completed: []sched.Completion{{Job: "other", At: at(when)}, {Job: "j", At: at(when)}}}
	}
	for name, c := range map[string]struct {
		seen        []*sched.Snapshot
		jobs, met   float64
		stillWaited bool
	}{
		"in time":         {[]*sched.Snapshot{runs(10), done(20, 15)}, 1, 1, false},
		"within a cycle":  {[]*sched.Snapshot{done(20, 15)}, 1, 1, false},
		"at the deadline": {[]*sched.Snapshot{runs(95), done(105, deadline)}, 1, 1, false},
		"just late":       {[]*sched.Snapshot{runs(95), done(105, deadline+1)}, 1, 0, false},
		"runs on past its deadline": {
			[]*sched.Snapshot{runs(10), runs(deadline), runs(101), runs(110), done(120, 115)}, 1, 0, false},
		"not over": {[]*sched.Snapshot{runs(10), runs(deadline)}, 0, 0, true},
		"stopped, back in time": {[]*sched.Snapshot{runs(10), away(20), waits(30), runs(40), done(50, 45)}, 0, 0,
			false},
		"stopped, back after its deadline": {[]*sched.Snapshot{runs(10), away(90), away(110), waits(120)}, 0, 0, false},
		"withdrawn":                        {[]*sched.Snapshot{runs(10), away(20), away(110)}, 0, 0, false},
		"done while it was being stopped":  {[]*sched.Snapshot{runs(10), away(20), done(30, 25)}, 0, 0, false},
		"a start that failed":              {[]*sched.Snapshot{waits(10), away(110)}, 0, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := New(Config{})
			require.NoError(t, err)
			p.tell(j, odds.Foretold{Chance: 0.5, Passed: 0.1})
			for _, s := range c.seen {
				p.review(s)
			}
			jobs, met := p.calibrator.Learnt()
			assert.Equal(t, []float64{c.jobs, c.met}, []float64{jobs, met})
			assert.Equal(t, c.stillWaited, len(p.told) == 1)
		})
	}
}

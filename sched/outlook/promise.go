package outlook

import (
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/internal/odds"
)

// promise is what was estimated for a job's deadline, kept to learn from the outcome.
type promise struct {
	job      string
	deadline float64 // seconds since the origin
	told     [stages][]foretold
	seen     int // round in which the job was last seen
	done     bool
	met      bool // if done
}

// foretold is one estimate. Those of one cycle and stage are a batch.
type foretold struct {
	odds.Foretold
	batch *batch
}

// batch is what was told in one cycle to jobs of one stage. Such jobs meet the same queue, and with it meet or miss
// their deadlines together. So a batch teaches as much as a single job, however many jobs are in it.
type batch struct{ round, jobs int }

// promises are in the order of their first estimates.
type promises struct {
	list   []*promise
	of     map[string]*promise
	latest [stages]*batch
}

// The stages of a job, which are corrected each on its own. What becomes of jobs that start says nothing of those that
// wait beside them: most of the former come while there is room, and hardly miss a deadline.
const (
	arriving = iota // in its first cycle, which does not start it
	waited          // in a later one, which does not start it either
	starting        // in the cycle that starts it
	stages
)

// stage is that of a job which goes on waiting.
func (w *waiting) stage() int {
	if w.cycles > 1 {
		return waited
	}
	return arriving
}

// add keeps an estimate for a job.
func (p *promises) add(job string, deadline float64, round, stage int, f odds.Foretold) {
	m := p.of[job]
	if m == nil || m.deadline != deadline {
		m = &promise{job: job, deadline: deadline}
		p.of[job] = m
		p.list = append(p.list, m)
	}
	m.seen = round
	b := p.latest[stage]
	if b == nil || b.round != round {
		b = &batch{round: round}
		p.latest[stage] = b
	}
	b.jobs++
	m.told[stage] = append(m.told[stage], foretold{f, b})
}

// review learns from jobs whose deadlines have passed: those that have finished, and those that still wait or run. It
// does not learn earlier from those that finish in time. Else what is learnt would be too good, since it is known
// sooner of a job that it meets its deadline than that it misses it. A job that has disappeared teaches nothing.
func (e *Estimator) review(c *cycle) {
	finished := map[string]float64{}
	for _, d := range c.snap.Completed {
		finished[d.Job] = d.At.Sub(e.origin).Seconds()
	}
	see := func(j *sched.Job) {
		if m := e.promises.of[j.ID]; m != nil {
			m.seen = e.round
		}
	}
	for i := range c.snap.Running {
		see(c.snap.Running[i].Job)
	}
	for i := range c.snap.Pending {
		see(c.snap.Pending[i].Job)
	}
	kept := e.promises.list[:0]
	for _, m := range e.promises.list {
		if at, done := finished[m.job]; done {
			m.done, m.met = true, at <= m.deadline
		}
		switch {
		case !m.done && m.seen != e.round: // withdrawn, or being stopped
			e.forget(m)
		case c.now > m.deadline:
			e.keepWord(m, m.met)
		default:
			kept = append(kept, m)
		}
	}
	clear(e.promises.list[len(kept):])
	e.promises.list = kept
}

func (e *Estimator) keepWord(m *promise, met bool) {
	for stage := range m.told {
		for _, f := range m.told[stage] {
			e.odds[stage].Learn(f.Foretold, met, 1/float64(f.batch.jobs))
		}
	}
	e.forget(m)
}

func (e *Estimator) forget(m *promise) {
	if e.promises.of[m.job] == m {
		delete(e.promises.of, m.job)
	}
}

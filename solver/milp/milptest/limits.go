package milptest

import (
	"context"
	"runtime"
	"slices"
	"time"

	"github.com/hedgesched/hedge/solver/milp"
)

func limitCases() []testCase {
	return slices.Concat(limitsWithPoints(), limitsBefore(), limitsAround())
}

// limitsWithPoints stop searches that would not end by themselves, and check what is kept.
func limitsWithPoints() []testCase {
	return []testCase{
		{name: "limit:time",
			doc:   "a limited solve being called optimal, losing its point, or having a bound on the wrong side",
			needs: []needs{integers}, run: func(s *suite) {
				s.limited(false, milp.StopTime, func(o *milp.Options) { o.Time = brief })
			}},
		{name: "limit:time, maximising", doc: "a limited solve's bound being that of the turned model",
			needs: []needs{integers}, run: func(s *suite) {
				s.limited(true, milp.StopTime, func(o *milp.Options) { o.Time = brief })
			}},
		{name: "limit:nodes", doc: "the limit of nodes being ignored, or losing the point", needs: []needs{integers, nodes},
			run: func(s *suite) {
				s.limited(false, milp.StopNodes, func(o *milp.Options) { o.Nodes = 20 })
			}},
		{name: "limit:one node", doc: "the smallest limit of nodes meaning none", needs: []needs{integers, nodes},
			run: func(s *suite) {
				s.limited(false, milp.StopNodes, func(o *milp.Options) { o.Nodes = 1 })
			}},
		{name: "limit:no nodes", doc: "a limit of nodes being ignored by backends that keep none", needs: []needs{noNodes},
			run: func(s *suite) {
				s.refused(maximise("", []milp.Var{real(0, 1, 1)}), milp.Options{Nodes: 1}, milp.ErrUnsupported)
			}},
		{name: "limit:deadline", doc: "a context's deadline being ignored, called a cancellation, or losing the point",
			needs: []needs{integers}, run: func(s *suite) {
				ctx, cancel := context.WithTimeout(background(), brief)
				defer cancel()
				m, start := split(false)
				s.stopped(m, start, s.must(ctx, m, milp.Options{Start: start}), milp.StopTime)
			}},
		{name: "limit:cancel", doc: "a cancellation being ignored, being an error, or losing the point",
			needs: []needs{integers}, run: func(s *suite) {
				m, start := split(false)
				ctx, cancel := context.WithCancel(background())
				defer cancel()
				defer time.AfterFunc(brief, cancel).Stop()
				s.stopped(m, start, s.must(ctx, m, milp.Options{Start: start}), milp.StopCanceled)
			}},
		{name: "limit:cancel in Incumbent",
			doc:   "a cancellation from a call-back locking up, or losing the point that it was told of",
			needs: []needs{integers, incumbents}, run: cancelInCallback},
	}
}

// limitsBefore have limits that are reached, or almost, when the solve begins.
func limitsBefore() []testCase {
	return []testCase{
		{name: "limit:canceled before", doc: "a context that has ended starting a search all the same, or being an error",
			needs: []needs{integers}, run: func(s *suite) {
				ctx, cancel := context.WithCancel(background())
				cancel()
				m, _ := split(false)
				s.stopped(m, nil, s.must(ctx, m, milp.Options{}), milp.StopCanceled)
			}},
		{name: "limit:past deadline", doc: "a deadline in the past meaning none", needs: []needs{integers},
			run: func(s *suite) {
				ctx, cancel := context.WithDeadline(background(), time.Now().Add(-time.Hour))
				defer cancel()
				m, _ := split(false)
				s.stopped(m, nil, s.must(ctx, m, milp.Options{}), milp.StopTime)
			}},
		{name: "limit:canceled before, easy", doc: "a context that has ended making easy models an error",
			run: func(s *suite) {
				ctx, cancel := context.WithCancel(background())
				cancel()
				m := maximise("", []milp.Var{real(0, 4, 1), real(0, 4, 1)}, atMost(5, 1, 1))
				a := s.must(ctx, m, milp.Options{})
				s.agrees(m, a, 5)
				if a.Stop != milp.StopCanceled && a.Stop != milp.StopOptimal {
					s.failf("it stopped for %q, expected %q or %q", a.Stop, milp.StopCanceled, milp.StopOptimal)
				}
			}},
		{name: "limit:1 ms", doc: "times that are rounded to none, and a set-up that fails when the time is up",
			needs: []needs{integers}, run: func(s *suite) {
				m, _ := split(false)
				s.stopped(m, nil, s.must(background(), m, milp.Options{Time: time.Millisecond}), milp.StopTime)
			}},
	}
}

// limitsAround have many limits, or none that is reached.
func limitsAround() []testCase {
	return []testCase{
		{name: "limit:solve after cancel", doc: "a cancellation that reaches the solves after it, or beside it",
			needs: []needs{integers}, run: afterCancel},
		{name: "limit:cancel at any time", doc: "cancellations that fall between two checks", needs: []needs{integers},
			run: func(s *suite) {
				for seed := range s.cfg.Seeds {
					m, start := split(seed%2 == 1)
					ctx, cancel := context.WithCancel(background())
					timer := time.AfterFunc(time.Duration(random(seed).IntN(20_000))*time.Microsecond, cancel)
					a := s.must(ctx, m, milp.Options{Start: start, Seed: int64(seed)})
					timer.Stop()
					cancel()
					s.stopped(m, nil, a, milp.StopCanceled)
				}
			}},
		{name: "limit:linear program", doc: "limits within a linear program losing what is known, or being called optimal",
			run: func(s *suite) {
				for k := range 5 {
					m, want, _ := planted(2*k+1, 2000, 60, 3)
					a := s.must(background(), m, milp.Options{Time: time.Duration(1+k) * time.Millisecond})
					s.agrees(m, a, want)
					if a.Stop != milp.StopTime && (a.Stop != milp.StopOptimal || !s.near(a.Objective, want)) {
						s.failf("%s: it stopped for %q with %v; expected %q, or the optimum %v", describe(m), a.Stop, a.Objective,
							milp.StopTime, want)
					}
				}
			}},
		{name: "limit:100 canceled solves", doc: "goroutines that are left behind", needs: []needs{integers}, run: hundred},
		{name: "limit:easy within limits", doc: "limits that are not reached being reported", needs: []needs{proofs},
			run: func(s *suite) {
				m := oddCycle()
				ctx, cancel := context.WithTimeout(background(), s.cfg.Patience)
				defer cancel()
				opts := milp.Options{Time: s.cfg.Patience, Gap: -1}
				if s.can.Nodes {
					opts.Nodes = 1_000_000
				}
				if a := s.must(ctx, m, opts); a.Stop != milp.StopOptimal || !s.near(a.Objective, 3) {
					s.failf("it stopped for %q with %v, expected the optimum 3", a.Stop, a.Objective)
				}
			}},
		{name: "limit:gap", doc: "a gap being ignored, or the bound being made up to close it", needs: []needs{proofs},
			run: func(s *suite) {
				for _, gap := range []float64{0.5, 0.1, 0.01, 0} {
					m, want := oddCycle(), 3.0
					a := s.must(background(), m, milp.Options{Gap: gap})
					s.agrees(m, a, want)
					if a.Stop != milp.StopOptimal || a.Gap() > (milp.Options{Gap: gap}).TargetGap()+s.cfg.Tolerance {
						s.failf("gap %v: it stopped for %q with %v and a bound of %v", gap, a.Stop, a.Objective, a.Bound)
					}
				}
			}},
	}
}

// brief is how long solves of unsolvable models may go on.
const brief = 200 * time.Millisecond

// limited expects a hard model to end for a reason, with everything that must be kept.
func (s *suite) limited(maximize bool, reason milp.Stop, limit func(*milp.Options)) {
	s.Helper()
	m, start := split(maximize)
	opts := milp.Options{Start: start}
	limit(&opts)
	s.stopped(m, start, s.must(background(), m, opts), reason)
}

// stopped expects a to have stopped for a reason, and to keep start if that was accepted.
func (s *suite) stopped(m *milp.Model, start []float64, a answer, reason milp.Stop) {
	s.Helper()
	s.agrees(m, a, 0)
	if a.Stop != reason && !(a.Stop == milp.StopOther && !s.can.Integer) {
		s.failf("%s: it stopped for %q (%s), with objective %v and bound %v; expected %q", describe(m), a.Stop, a.Raw,
			a.Objective, a.Bound, reason)
	}
	if start != nil {
		s.keepsStart(m, start, a)
	}
}

func cancelInCallback(s *suite) {
	m, start := split(false)
	ctx, cancel := context.WithTimeout(background(), s.cfg.Patience/2)
	defer cancel()
	told := 0
	a := s.must(ctx, m, milp.Options{Start: start, Incumbent: func(milp.Point) {
		told++
		cancel()
	}})
	if told == 0 {
		s.failf("%s: it claims Incumbents, and has told of none; it stopped for %q with %v", describe(m), a.Stop, a.Objective)
	}
	s.stopped(m, start, a, milp.StopCanceled)
	if a.X == nil {
		s.failf("%s: it has no point after it has told of one", describe(m))
	}
}

// afterCancel cancels one of several solves, and begins others before and after that.
func afterCancel(s *suite) {
	hard, _ := split(false)
	easy, want := oddCycle(), 3.0
	if !s.can.Integer {
		easy, want, _ = planted(3, 200, 20, 3)
	}
	ctx, cancel := context.WithCancel(background())
	defer cancel()
	first, beside := s.begin(ctx, hard, milp.Options{}), s.begin(background(), easy, exact())
	cancel()
	second := s.begin(background(), easy, exact())
	s.stopped(hard, nil, s.await(first), milp.StopCanceled)
	after := s.begin(background(), easy, exact())
	for _, p := range []*pending{beside, second, after} {
		a := s.await(p)
		if a.err != nil || a.Stop != milp.StopOptimal || !s.near(a.Objective, want) {
			s.failf("%s: beside or after a cancelled solve: %v, %+v; expected the optimum %v", describe(easy), a.err, a.Result,
				want)
		}
	}
}

// hundred cancels a hundred solves and counts goroutines.
func hundred(s *suite) {
	m, _ := split(false)
	round := func(k int) {
		ctx, cancel := context.WithCancel(background())
		timer := time.AfterFunc(time.Duration(k%10)*200*time.Microsecond, cancel)
		s.must(ctx, m, milp.Options{})
		timer.Stop()
		cancel()
	}
	for k := range 5 {
		round(k)
	}
	before := runtime.NumGoroutine()
	for k := range 100 {
		round(k)
	}
	s.settles(before + 20)
}

// settles waits until there are at most that many goroutines.
func (s *suite) settles(limit int) {
	s.Helper()
	end := time.After(s.cfg.settling)
	for runtime.NumGoroutine() > limit {
		select {
		case <-end:
			s.failf("there are %d goroutines, expected at most %d", runtime.NumGoroutine(), limit)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

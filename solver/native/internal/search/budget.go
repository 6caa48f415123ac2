package search

import (
	"context"
	"math"
	"time"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/pack"
)

// DefaultWork is the work, in units, of a search limited by neither work nor time, about a fifth of a second.
const DefaultWork = 200_000

// Budget is the work and the time that a search may take, and how much of them it has taken. Work is counted in ops,
// of which [pack.OpsPerUnit] are a unit: row operations, which take about the same time on any problem, so that where
// a search ends depends on the problem and not on the machine. A phase is a part of the search that has an end of its
// own. Aim and Count come first. A Budget is not safe for concurrent use.
type Budget struct {
	ctx      context.Context
	deadline time.Time
	timed    bool
	err      error
	limit    int64    // 0 is none
	horizon  int64    // the number of ops there will be time for, roughly, of which phases get their shares
	phase    int64    // where the present phase ends
	early    int64    // until here the first plan is made however late it is
	pollAt   int64    // when to look at the clock next
	ops      int64    // by parts that do not count their own
	meters   []*int64 // of parts that do
	goal     *Incumbent

	// Meet is called when the ops spent reach MeetAt, which it moves on. It is where a worker exchanges with others:
	// it may wait for them, and it panics with their errors.
	Meet   func(spent int64)
	MeetAt int64
	// Looked is called at every look at the clock, if it is not nil.
	Looked func(spent int64)
}

// longest is the horizon of all limits beyond it, nineteen hours, of which shares can be worked out without
// overflowing.
const longest = 1 << 45

// pollOps is the number of ops between two looks at the clock, about 64 microseconds.
const pollOps = 64 * pack.OpsPerUnit

// Count makes the budget add the listed counters of ops to what has been spent.
func (b *Budget) Count(meters ...*int64) { b.meters = meters }

// Aim makes the budget one for a search that ends once n is proven, or its gap is small enough.
func (b *Budget) Aim(n *Incumbent) { b.goal = n }

// Begin sets the limits by the options; work, in units, is the limit where they set none. What has been spent starts
// at nothing, but for what the counters say.
func (b *Budget) Begin(ctx context.Context, opts solver.Options, work int64) {
	b.ctx, b.err, b.ops = ctx, nil, 0
	if opts.Work != 0 || opts.Time != 0 {
		work = opts.Work
	}
	b.limit = 0
	if work > 0 {
		b.limit = min(work, math.MaxInt64/pack.OpsPerUnit/8) * pack.OpsPerUnit
	}
	b.horizon = b.limit
	if b.limit == 0 {
		b.horizon = opts.Time.Microseconds() * pack.OpsPerUnit
	}
	if b.deadline, b.timed = ctx.Deadline(); b.timed && (opts.Time > 0 || work == 0) {
		b.horizon = time.Until(b.deadline).Microseconds() * pack.OpsPerUnit
		if b.limit > 0 {
			b.horizon = min(b.horizon, b.limit)
		}
	}
	b.horizon = min(b.horizon, longest)
}

// Follow takes over the limits of the leader's budget, for a helper under ctx that has spent a number of ops.
func (b *Budget) Follow(ctx context.Context, lead *Budget, spent int64) {
	b.ctx, b.err, b.ops = ctx, nil, spent
	b.limit, b.horizon, b.deadline, b.timed = lead.limit, lead.horizon, lead.deadline, lead.timed
}

// Release drops the context.
func (b *Budget) Release() { b.ctx = nil }

// Context is the context that the search is under.
func (b *Budget) Context() context.Context { return b.ctx }

// Restart starts the first phase, which has no end of its own.
func (b *Budget) Restart() { b.pollAt, b.early, b.phase = 0, 0, math.MaxInt64 }

// Confine ends the search when a number of ops has been spent, whatever the options say. It is for tests.
func (b *Budget) Confine(ops int64) { b.limit, b.horizon = ops, ops }

// Spend counts ops.
func (b *Budget) Spend(ops int64) { b.ops += ops }

// Spent is the number of ops that have been spent, by whichever part.
func (b *Budget) Spent() int64 {
	sum := b.ops
	for _, m := range b.meters {
		sum += *m
	}
	return sum
}

// Share is the number of spent ops at which a phase of one n-th of what is left ends.
func (b *Budget) Share(n int64) int64 {
	spent := b.Spent()
	left := b.horizon - spent
	if left <= 0 {
		left = max(DefaultWork*pack.OpsPerUnit, spent)
	}
	return spent + left/n
}

// Within searches in a phase that ends when the ops spent reach end, and reports whether it has come to its end.
func (b *Budget) Within(end int64, search func()) (over bool) {
	before := b.phase
	b.phase = end
	search()
	over = b.Spent() >= b.phase
	b.phase = before
	return over
}

// PhaseEnd is the number of spent ops at which the present phase ends, or all work.
func (b *Budget) PhaseEnd() int64 {
	if b.limit > 0 {
		return min(b.phase, b.limit)
	}
	return b.phase
}

// EndPhase ends the present phase.
func (b *Budget) EndPhase() { b.phase = 0 }

// Horizon is the number of ops there will be time for, roughly, in all.
func (b *Budget) Horizon() int64 { return b.horizon }

// Limit is the number of ops there are; 0 means that only time is limited.
func (b *Budget) Limit() int64 { return b.limit }

// Hurry lets Late say that it is not late until a number of ops more is spent.
func (b *Budget) Hurry(ops int64) { b.early = b.Spent() + ops }

// Checkpoint reports whether the present phase of the search may go on. Searches ask it all the while, and it is where
// others are let in: it meets the team, and looks at the clock if it is time to.
func (b *Budget) Checkpoint() bool {
	if b.err != nil || b.goal.Proven {
		return false
	}
	spent := b.Spent()
	if b.used(spent) {
		return false
	}
	if spent >= b.MeetAt {
		b.Meet(spent)
	}
	b.look(spent)
	return b.err == nil && !b.goal.Reached() && spent < b.phase
}

// Late is true once time is over or work exceeds its limit by 5 %: abandon what is under way. Nothing takes it up
// again, as Checkpoint is false from the limit on. It is false for the ops that Hurry allows. It looks at the clock if
// it is time to.
func (b *Budget) Late() bool {
	spent := b.Spent()
	b.look(spent)
	return spent >= b.early && (b.err != nil || b.used(spent-b.limit/20))
}

// used says whether that many ops are all there are.
func (b *Budget) used(spent int64) bool { return b.limit > 0 && spent >= b.limit }

// look reads the clock, every now and then.
func (b *Budget) look(spent int64) {
	if spent < b.pollAt {
		return
	}
	b.pollAt = spent + pollOps
	b.ReadClock()
	if b.Looked != nil {
		b.Looked(spent)
	}
}

// ReadClock reports whether the time is over by the context and the clock.
func (b *Budget) ReadClock() bool {
	if b.err = b.ctx.Err(); b.err == nil && b.timed && !time.Now().Before(b.deadline) {
		b.err = context.DeadlineExceeded // the timer may be late on a loaded machine
	}
	return b.err != nil
}

// Err is why the context or the clock has ended the search, as ReadClock has found it last; nil if they have not.
func (b *Budget) Err() error { return b.err }

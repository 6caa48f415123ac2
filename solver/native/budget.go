package native

import (
	"context"
	"math"
	"time"

	"github.com/hedgesched/hedge/solver"
)

// budget is the work and the time that a search may take, and how much of them it has. Work is counted in ops, of which opsPerUnit are a unit:
// row operations, which take about the same time on any problem, so that where a search ends depends on the problem and not on the machine.
type budget struct {
	ctx      context.Context
	deadline time.Time
	timed    bool
	ctxErr   error     // why ctx or the clock has ended the search; nil if they have not
	limit    int64     // 0 is none
	horizon  int64     // about how many ops there will be time for, of which phases get their shares
	phase    int64     // where the present phase ends
	early    int64     // until here the first plan is made however late it is
	pollAt   int64     // when to look at the clock next
	ops      int64     // by parts that do not count their own
	meters   [4]*int64 // of parts that do: the plan in hand, the prices, and the programs of the whole problem and of cores
}

// longest is the horizon of all limits beyond it, nineteen hours, of which shares can be worked out without overflowing.
const longest = 1 << 45

// pollOps is how many ops go by between two looks at the clock, about 64 microseconds.
const pollOps = 64 * opsPerUnit

// setLimits sets the limits by the options, where work is what there is without any.
func (b *budget) setLimits(ctx context.Context, opts solver.Options, work int64) {
	b.ctx, b.ctxErr = ctx, nil
	if opts.Work != 0 || opts.Time != 0 {
		work = opts.Work
	}
	b.limit = 0
	if work > 0 {
		b.limit = min(work, math.MaxInt64/opsPerUnit/8) * opsPerUnit
	}
	b.horizon = b.limit
	if b.limit == 0 {
		b.horizon = opts.Time.Microseconds() * opsPerUnit
	}
	if b.deadline, b.timed = ctx.Deadline(); b.timed && (opts.Time > 0 || work == 0) {
		b.horizon = time.Until(b.deadline).Microseconds() * opsPerUnit
		if b.limit > 0 {
			b.horizon = min(b.horizon, b.limit)
		}
	}
	b.horizon = min(b.horizon, longest)
}

// follow takes over the leader's limits, for a helper under ctx that counts from that much work.
func (b *budget) follow(ctx context.Context, lead *budget, spent int64) {
	b.ctx, b.ctxErr, b.ops = ctx, nil, spent
	b.limit, b.horizon, b.deadline, b.timed = lead.limit, lead.horizon, lead.deadline, lead.timed
}

// restart starts the first phase, which has no end of its own.
func (b *budget) restart() { b.pollAt, b.early, b.phase = 0, 0, math.MaxInt64 }

// spend counts ops.
func (b *budget) spend(ops int64) { b.ops += ops }

// spent is how many ops have been spent, by whichever part.
func (b *budget) spent() int64 {
	return b.ops + *b.meters[0] + *b.meters[1] + *b.meters[2] + *b.meters[3]
}

// share is the spent work at which a phase of one n-th of what is left ends.
func (b *budget) share(n int64) int64 {
	spent := b.spent()
	left := b.horizon - spent
	if left <= 0 {
		left = max(defaultWork*opsPerUnit, spent)
	}
	return spent + left/n
}

// within searches in a phase that ends when the work spent reaches end, and reports whether it has come to its end.
func (b *budget) within(end int64, search func()) (over bool) {
	before := b.phase
	b.phase = end
	search()
	over = b.spent() >= b.phase
	b.phase = before
	return over
}

// phaseEnd is the spent work at which the present phase ends, or all work.
func (b *budget) phaseEnd() int64 {
	if b.limit > 0 {
		return min(b.phase, b.limit)
	}
	return b.phase
}

// endPhase ends the present phase.
func (b *budget) endPhase() { b.phase = 0 }

// used says whether that much is all the work there is.
func (b *budget) used(spent int64) bool { return b.limit > 0 && spent >= b.limit }

// readClock reports whether the time is over by the context and the clock.
func (b *budget) readClock() bool {
	if b.ctxErr = b.ctx.Err(); b.ctxErr == nil && b.timed && !time.Now().Before(b.deadline) {
		b.ctxErr = context.DeadlineExceeded // the timer may be late on a loaded machine
	}
	return b.ctxErr != nil
}

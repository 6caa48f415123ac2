package native

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/plan"
	"github.com/hedgesched/hedge/solver/native/internal/warm"
)

// team is the workers of one solve. The leader, number 0, is the caller's goroutine: it has the relaxation and
// searches for the proof. The others, in goroutines that end before Solve does, look for plans by its prices. They
// meet where each of them has done so much work: whoever comes first waits for the rest, and all leave with the same
// best plan and bound. So what a worker knows at any amount of its work is a function of the problem and the options.
//
// Meetings are every 500 units at first, later a tenth of what has been done apart, but at most 20,000 units. As soon
// as the leader's relaxation is solved, the others take over its columns and dive into it themselves. A plan of
// others proves and prunes at once, but a worker builds on it only between its own searches: two that went on from
// the same plan would find the same. A solve that ends before the first meeting has one worker.
//
// Without a work limit nobody waits, because the clock decides then anyway, and there are no more workers than
// GOMAXPROCS.
type team struct {
	members []*worker
	waits   bool
	cancel  context.CancelFunc
	running sync.WaitGroup
	started bool
	ended   bool
	most    int64 // the ops of the helper that has spent the most

	mu      sync.Mutex
	round   sync.Cond // has ended
	rounds  int
	present int // members that are at work
	arrived []bool
	waiting int
	board   board
	failure *workerError
}

// board is what the team knows together.
type board struct {
	best   pack.State
	by     int // whose plan it is,
	since  int // and from which round
	bound  float64
	root   *warm.Root
	advice plan.Advice
}

// workerError is a panic of a worker, on its way to the goroutine that has called Solve.
type workerError struct {
	value any
	stack []byte
}

func (e *workerError) Error() string {
	return fmt.Sprintf("%v, in a worker of the native engine:\n%s", e.value, e.stack)
}

// Unwrap is the error that the worker has panicked with, if it is one.
func (e *workerError) Unwrap() error {
	err, _ := e.value.(error)
	return err
}

// maxWorkers bounds how many workers a solve has, and with them its memory.
const maxWorkers = 64

// When the team meets: first after firstMeeting ops, when small problems are solved, then every time when a part more
// has been done.
const (
	firstMeeting = 500 * pack.OpsPerUnit
	mostBetween  = 20_000 * pack.OpsPerUnit
	partBetween  = 10
)

// workers is how many workers there are to be. By the clock, more than can run at the same time would only be in each
// other's way.
func (w *worker) workers(threads int) int {
	if w.budget.Limit() == 0 {
		threads = min(threads, runtime.GOMAXPROCS(0))
	}
	return min(threads, maxWorkers)
}

// makeTeam makes w the leader of n workers, who start at the first meeting.
func (w *worker) makeTeam(n int, seed int64) {
	for len(w.crew) < n-1 {
		w.crew = append(w.crew, newWorker())
	}
	t := &team{
		members: append([]*worker{w}, w.crew[:n-1]...), waits: w.budget.Limit() > 0,
		arrived: make([]bool, n), present: 1,
	}
	t.round.L = &t.mu
	t.board.bound, t.board.by = math.Inf(1), -1
	t.board.best.Value = math.Inf(-1)
	for i, m := range t.members {
		m.team, m.number = t, i
		m.random.Seed(seed, uint64(i))
	}
	w.budget.MeetAt = firstMeeting
}

// start gives the helpers what the leader knows and sets them to work.
func (t *team) start(spent int64) {
	lead := t.members[0]
	ctx, cancel := context.WithCancel(lead.budget.Context())
	t.cancel, t.started, t.present = cancel, true, len(t.members)
	t.post(lead)
	for _, h := range t.members[1:] {
		h.joinTeam(ctx, lead, spent)
		t.running.Add(1)
		go func() {
			defer t.running.Done()
			defer t.leave(h)
			h.assist()
		}()
	}
}

// meetTeam is where worker w, who has spent so much, exchanges with the others. For the leader it
// panics if a helper has.
func (w *worker) meetTeam(spent int64) {
	t := w.team
	for w.budget.MeetAt <= spent {
		w.budget.MeetAt += min(max(w.budget.MeetAt/partBetween, firstMeeting), mostBetween)
	}
	if !t.started {
		t.start(spent)
		return
	}
	if err := t.meet(w); err != nil && w.number == 0 {
		panic(err)
	}
}

func (t *team) meet(w *worker) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.post(w)
	if !t.waits {
		t.collect(w)
		return t.failed()
	}
	t.arrived[w.number] = true
	t.waiting++
	now := t.rounds
	t.close()
	for t.rounds == now {
		t.round.Wait()
	}
	return t.failed()
}

func (t *team) failed() error {
	if t.failure == nil {
		return nil
	}
	return t.failure
}

// close ends the round if all have arrived who are still at work.
func (t *team) close() {
	if t.waiting == 0 || t.waiting < t.present {
		return
	}
	for i, m := range t.members {
		if t.arrived[i] {
			t.collect(m)
		}
		t.arrived[i] = false
	}
	t.waiting = 0
	t.rounds++
	t.round.Broadcast()
}

// post puts on the board what w knows better. What is there after a round depends on nobody's
// being first: of plans that are equally good, the older one stays, or the one of the worker with the least number.
func (t *team) post(w *worker) {
	b := &t.board
	if v := w.known.Best.Value; v > b.best.Value || v == b.best.Value && b.since == t.rounds && w.number < b.by {
		b.best.Copy(&w.known.Best)
		b.by, b.since = w.number, t.rounds
	}
	if w.number > 0 {
		return
	}
	b.bound = w.known.Bound()
	b.root = w.noted
	w.orders.Advise(&b.advice)
}

// collect gives w what is on the board. News of prices, or of the relaxation, end the phase that a helper is in; what
// it does next begins with them, but for dives, which go on one after the other.
func (t *team) collect(w *worker) {
	b := &t.board
	if b.best.Value > w.known.Top() {
		w.known.Team.Copy(&b.best)
		w.known.Team.In = &w.in
	}
	w.known.TeamBound = min(w.known.TeamBound, b.bound)
	if w.number == 0 {
		return
	}
	if b.advice.Number > w.advice.Number {
		w.advice.Copy(&b.advice)
		w.news = true
		if w.budget.Spent() > 2*w.newsAt {
			w.budget.EndPhase()
		}
	}
	if w.noted == nil && b.root != nil {
		w.noted = b.root
		w.budget.EndPhase()
	}
}

// leave is the end of helper h's work.
func (t *team) leave(h *worker) {
	var failure *workerError
	if r := recover(); r != nil {
		failure = &workerError{value: r, stack: debug.Stack()}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if failure == nil {
		t.post(h)
	} else if t.failure == nil {
		t.failure = failure
	}
	t.most = max(t.most, h.budget.Spent())
	t.present--
	t.close()
}

// finish is the end of the leader's work. Where it has come to a conclusion that is the end for all, and what helpers
// have found since they met last does not count: how far they have come is a matter of time. Otherwise it waits till
// they have used up their work.
func (w *worker) finish() (spent int64) {
	t := w.team
	t.disband(w.known.Proven || w.known.Gap() <= w.known.Target || w.budget.Err() != nil)
	if t.failure != nil {
		panic(t.failure)
	}
	if w.known.Proven || w.known.Gap() <= w.known.Target {
		w.known.Adopt()
		return w.budget.Spent()
	}
	t.collect(w)
	w.known.Adopt()
	return max(w.budget.Spent(), t.most)
}

// disband ends the helpers' work, at once or when it is used up. The second time it does nothing.
func (t *team) disband(now bool) {
	if !t.started || t.ended {
		return
	}
	t.ended = true
	defer t.cancel()
	if now {
		t.cancel()
	}
	t.mu.Lock()
	if now {
		t.waits = false
	}
	t.post(t.members[0])
	t.present--
	t.close()
	t.mu.Unlock()
	t.running.Wait()
}

package plan

import (
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/search"
)

// Ruin and recreate. Twenty jobs taken out at once and twice the noise are better where it is the whole search, and
// worse in it.
const (
	noisePart   = 0.05 // of a placed job's value in the mean: what an iteration may lose at first
	firstCycle  = 2000 // iterations in which that falls to nothing; every cycle is twice the last
	mostRuined  = 6    // jobs taken out at once
	mostFree    = 8    // free jobs that are tried in their place
	mostEvicted = 8    // jobs that give way to one
	mostLooked  = 12   // placed jobs looked at for one that gives way,
	mostVictims = 3    // and how many of these may be in the way
)

// In one iteration in ejectionEvery, chains are tried, of leastUnits at most, for each job's best ejectionOptions.
const (
	leastUnits      = 4
	ejectionEvery   = 4
	ejectionOptions = 2
)

// Local is ruin and recreate: each iteration changes a part of the plan, rebuilds it greedily by prices and noise, and
// is undone if it lost too much. What may be lost falls in cycles of growing length. Begin comes first, then Cycle,
// and Again between two cycles.
type Local struct {
	in        *pack.Instance
	budget    *search.Budget
	random    *search.Random
	known     *search.Incumbent
	cur       *pack.State
	orders    *Orders
	ejection  *Ejection
	moved     func(j int) // touch
	cycle     int         // iterations of the next cycle
	done      int         // iterations
	ejecting  bool        // in this iteration others make room for the jobs put in again
	res       []float64   // cur's state before the iteration
	preempted []bool
	value     float64
	touched   []int // jobs changed in this iteration, with what they had
	had       []int
	split     []float64
	stamp     []int
	now       int
	placed    []int // jobs in the plan, in no particular order
	free      []int // and those that are not
	where     []int // index of each job in its list
	queue     []int
	key       []float64
}

// NewLocal searches in cur, by the orders, and by chains of e.
func NewLocal(
	in *pack.Instance, budget *search.Budget, random *search.Random, known *search.Incumbent, cur *pack.State,
	o *Orders, e *Ejection,
) Local {
	return Local{in: in, budget: budget, random: random, known: known, cur: cur, orders: o, ejection: e}
}

// reset makes the lists agree with cur.
func (l *Local) reset() {
	n := len(l.in.P.Jobs)
	l.stamp, l.where = pack.Resize(l.stamp, n), pack.Resize(l.where, n)
	clear(l.stamp)
	l.now = 0
	l.key = pack.Resize(l.key, n)
	l.relist()
}

func (l *Local) relist() {
	l.placed, l.free = l.placed[:0], l.free[:0]
	for j, o := range l.cur.Choice {
		switch {
		case o >= 0:
			l.where[j] = len(l.placed)
			l.placed = append(l.placed, j)
		case l.in.JobOpts[j] < l.in.JobOpts[j+1] && l.orders.byRed[l.in.JobOpts[j]] >= 0:
			l.where[j] = len(l.free)
			l.free = append(l.free, j)
		}
	}
}

// move takes job j from one list to the other.
func (l *Local) move(j int, from, to *[]int) {
	i, last := l.where[j], len(*from)-1
	(*from)[i] = (*from)[last]
	l.where[(*from)[i]] = i
	*from = (*from)[:last]
	l.where[j] = len(*to)
	*to = append(*to, j)
}

// save remembers cur before an iteration.
func (l *Local) save() {
	l.now++
	l.res = append(l.res[:0], l.cur.Res...)
	l.preempted = append(l.preempted[:0], l.cur.Preempted...)
	l.value = l.cur.Value
	l.touched, l.had, l.split = l.touched[:0], l.had[:0], l.split[:0]
	l.budget.Spend(int64(len(l.res))/4 + 16)
}

// touch remembers job j's place the first time an iteration changes it.
func (l *Local) touch(j int) {
	if l.stamp[j] == l.now {
		return
	}
	l.stamp[j] = l.now
	l.touched = append(l.touched, j)
	l.had = append(l.had, l.cur.Choice[j])
	k := l.in.MaxParts
	l.split = append(l.split, l.cur.Split[j*k:j*k+k]...)
}

// undo brings back what save remembered.
func (l *Local) undo() {
	copy(l.cur.Res, l.res)
	copy(l.cur.Preempted, l.preempted)
	l.cur.Value = l.value
	k := l.in.MaxParts
	for i, j := range l.touched {
		if was, is := l.had[i] >= 0, l.cur.Choice[j] >= 0; was && !is {
			l.move(j, &l.free, &l.placed)
		} else if is && !was {
			l.move(j, &l.placed, &l.free)
		}
		l.cur.Choice[j] = l.had[i]
		copy(l.cur.Split[j*k:j*k+k], l.split[i*k:i*k+k])
	}
}

// drop takes placed job j out and queues it for recreation.
func (l *Local) drop(j int) {
	l.touch(j)
	l.cur.Remove(j)
	l.move(j, &l.placed, &l.free)
	l.queue = append(l.queue, j)
}

// Begin starts from the best plan, and reports whether there are jobs to search with.
func (l *Local) Begin() bool {
	l.cur.Copy(&l.known.Best)
	l.reset()
	l.moved = l.touch
	l.cycle, l.done = firstCycle, 0
	return len(l.placed)+len(l.free) > 0
}

// Cycle searches for a cycle, and reports whether it has come to its end: if not, the phase has.
func (l *Local) Cycle() bool {
	scale := l.noise()
	for i := range l.cycle {
		if !l.budget.Checkpoint() {
			return false
		}
		cool := 1 - float64(i)/float64(l.cycle)
		l.iterate(scale * cool * cool)
		if l.done++; l.done%4096 == 0 {
			l.cur.Rebuild()
		}
	}
	l.cycle *= 2
	return true
}

// Again goes on from the best plan.
func (l *Local) Again() {
	l.cur.Copy(&l.known.Best)
	l.relist()
}

// noise is the loss an iteration may be forgiven at first: a part of a typical
// placed job's value.
func (l *Local) noise() float64 {
	if len(l.placed) == 0 {
		return 0
	}
	return noisePart * math.Abs(l.known.Best.Value) / float64(len(l.placed))
}

func (l *Local) iterate(forgive float64) {
	l.save()
	l.queue = l.queue[:0]
	l.ejecting = l.random.IntN(ejectionEvery) == 0
	ok := true
	switch k := l.random.IntN(10); {
	case k < 3 && len(l.in.P.Running) > 0:
		ok = l.switchRunning(l.random.IntN(len(l.in.P.Running)))
	case k < 6 && len(l.free) > 0:
		ok = l.force(l.free[l.random.IntN(len(l.free))])
	case k < 7 && len(l.placed) > 0:
		ok = l.force(l.placed[l.random.IntN(len(l.placed))])
	default:
		l.ruin(1 + l.random.IntN(mostRuined))
	}
	if ok {
		l.recreate()
	}
	loss := l.value - l.cur.Value
	if !ok || (loss > 0 && loss > forgive*l.random.Exponential()) {
		l.undo()
		return
	}
	if !l.known.Keep(l.cur) {
		l.relist()
	}
}

// ruin takes n random jobs out.
func (l *Local) ruin(n int) {
	for ; n > 0 && len(l.placed) > 0; n-- {
		l.drop(l.placed[l.random.IntN(len(l.placed))])
	}
}

// force gives job j one of its better options, evicting what is in the way.
func (l *Local) force(j int) bool {
	opts := l.orders.byRed[l.in.JobOpts[j]:l.in.JobOpts[j+1]]
	n := 0
	for n < len(opts) && opts[n] >= 0 {
		n++
	}
	o := opts[min(l.random.IntN(n), l.random.IntN(n))]
	if l.cur.Choice[j] == o {
		return false
	}
	if l.cur.Choice[j] >= 0 {
		l.drop(j)
		l.queue = l.queue[:0]
	}
	l.touch(j)
	for tries := 0; !l.cur.TryPlace(o); tries++ {
		if tries == mostEvicted {
			return false
		}
		if len(l.in.P.Running) > 0 && l.random.IntN(4) == 0 && l.orders.Pre.TryPlace(l.cur, o, l.in.Opts[o].Value) {
			break
		}
		v := l.victim(l.in.Opts[o].Start, len(l.in.Opts[o].Usage))
		if v < 0 {
			return false
		}
		l.drop(v)
	}
	l.move(j, &l.free, &l.placed)
	return true
}

// victim is a placed job that uses slots of the given span: of a few random
// ones, the one worth least beyond its price.
func (l *Local) victim(start, span int) int {
	if len(l.placed) == 0 {
		return -1
	}
	worst, least := -1, math.Inf(1)
	for found, i := 0, 0; i < mostLooked && found < mostVictims; i++ {
		j := l.placed[l.random.IntN(len(l.placed))]
		o := &l.in.Opts[l.cur.Choice[j]]
		if o.Start >= start+span || o.Start+len(o.Usage) <= start {
			continue
		}
		found++
		if key := l.orders.red[l.cur.Choice[j]] / o.Value; key < least {
			worst, least = j, key
		}
	}
	l.budget.Spend(40)
	return worst
}

// switchRunning preempts running job m, or lets it run on, evicting jobs in its room.
func (l *Local) switchRunning(m int) bool {
	if !l.cur.Preempted[m] {
		if l.in.P.Running[m].PreemptCost > 4*math.Abs(l.cur.Value) {
			return false
		}
		l.cur.Preempt(m)
		l.ruin(l.random.IntN(3))
		return true
	}
	for tries := 0; l.cur.Needed(m); tries++ {
		if tries == mostEvicted {
			return false
		}
		v := l.victim(0, l.in.T)
		if v < 0 {
			return false
		}
		l.drop(v)
	}
	l.cur.Unpreempt(m)
	return true
}

// recreate inserts the dropped jobs and some free ones, in the order of reduced
// value per value with noise.
func (l *Local) recreate() {
	dropped := len(l.queue)
	l.enqueueFree()
	l.sortQueue()
	byValue, shaken := l.random.IntN(6) == 0, l.random.IntN(3) == 0
	for i, j := range l.queue {
		if l.cur.Choice[j] >= 0 {
			continue
		}
		l.touch(j)
		often := i < dropped+2
		if often && l.ejecting && l.insertEjecting(j) || l.insert(j, byValue, shaken) || often && l.insertByPreempting(j) {
			l.move(j, &l.free, &l.placed)
		}
	}
	if len(l.in.P.Running) > 0 {
		l.cur.Spare(l.orders.Pre.ByCost)
	}
}

// insertEjecting gives free job j one of its best options by reduced value, for which others make room.
func (l *Local) insertEjecting(j int) bool {
	opts := l.orders.byRed[l.in.JobOpts[j]:l.in.JobOpts[j+1]]
	for _, o := range opts[:min(ejectionOptions, len(opts))] {
		if o < 0 || l.budget.Late() {
			break
		}
		if l.cur.TryPlace(o) || l.ejection.Place(o, leastUnits, l.moved) {
			return true
		}
	}
	return false
}

// insert gives free job j an option that fits: the most valuable one, or the best by reduced value, as it is or shaken.
func (l *Local) insert(j int, byValue, shaken bool) bool {
	switch {
	case byValue:
		return l.orders.InsertByValue(j)
	case shaken:
		return l.insertShaken(j)
	default:
		return l.orders.Insert(j)
	}
}

// enqueueFree adds some of the jobs that are not in the plan to the queue.
func (l *Local) enqueueFree() {
	for n := min(mostFree, len(l.free)); n > 0; n-- {
		j := l.free[l.random.IntN(len(l.free))]
		if !slices.Contains(l.queue, j) {
			l.queue = append(l.queue, j)
		}
	}
}

// sortQueue orders the queue by reduced value per value, or by value, with noise.
func (l *Local) sortQueue() {
	byValue := l.random.IntN(3) == 0
	for _, j := range l.queue {
		o := l.orders.byRed[l.in.JobOpts[j]]
		k := l.orders.red[o] / l.in.Opts[o].Value
		if byValue {
			k = l.in.Opts[o].Value
		}
		l.key[j] = k * (0.5 + float64(l.random.Float64()))
	}
	pack.SortBy(l.queue, l.key, -1)
	l.budget.Spend(int64(len(l.queue) * 60))
}

// insertByPreempting gives job j its best option by reduced value in the room of running jobs, now and then.
func (l *Local) insertByPreempting(j int) bool {
	if len(l.in.P.Running) == 0 || l.random.IntN(6) != 0 {
		return false
	}
	o := l.orders.byRed[l.in.JobOpts[j]]
	return l.orders.Pre.TryPlace(l.cur, o, l.in.Opts[o].Value)
}

// insertShaken is insert with two partitions changing places in the order that the gang fills them in: prices put gangs
// into the same partitions over and over, and whole tasks may fit in another way only.
func (l *Local) insertShaken(j int) bool {
	a, b := l.random.Uint32(), l.random.Uint32()
	for _, o := range l.orders.byRed[l.in.JobOpts[j]:l.in.JobOpts[j+1]] {
		if o < 0 || l.budget.Late() {
			break
		}
		opt := &l.in.Opts[o]
		order := l.cur.Order[opt.P0:opt.P1]
		i, k := a%uint32(len(order)), b%uint32(len(order))
		order[i], order[k] = order[k], order[i]
		done := l.cur.TryPlace(o)
		order[i], order[k] = order[k], order[i]
		if done {
			return true
		}
	}
	return false
}

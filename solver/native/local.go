package native

import (
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// local is the ruin-and-recreate search's memory.
type local struct {
	*progress
	greedy    *greedy
	ejection  *ejection
	ejecting  bool      // in this iteration others make room for the jobs put in again
	res       []float64 // cur's state before the iteration
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

// reset makes the lists agree with cur.
func (l *local) reset() {
	n := len(l.in.P.Jobs)
	l.stamp, l.where = pack.Resize(l.stamp, n), pack.Resize(l.where, n)
	clear(l.stamp)
	l.now = 0
	l.key = pack.Resize(l.key, n)
	l.relist()
}

func (l *local) relist() {
	l.placed, l.free = l.placed[:0], l.free[:0]
	for j, o := range l.cur.Choice {
		switch {
		case o >= 0:
			l.where[j] = len(l.placed)
			l.placed = append(l.placed, j)
		case l.in.JobOpts[j] < l.in.JobOpts[j+1] && l.greedy.byRed[l.in.JobOpts[j]] >= 0:
			l.where[j] = len(l.free)
			l.free = append(l.free, j)
		}
	}
}

// move takes job j from one list to the other.
func (l *local) move(j int, from, to *[]int) {
	i, last := l.where[j], len(*from)-1
	(*from)[i] = (*from)[last]
	l.where[(*from)[i]] = i
	*from = (*from)[:last]
	l.where[j] = len(*to)
	*to = append(*to, j)
}

// save remembers cur before an iteration.
func (l *local) save() {
	l.now++
	l.res = append(l.res[:0], l.cur.Res...)
	l.preempted = append(l.preempted[:0], l.cur.Preempted...)
	l.value = l.cur.Value
	l.touched, l.had, l.split = l.touched[:0], l.had[:0], l.split[:0]
	l.Spend(int64(len(l.res))/4 + 16)
}

// touch remembers job j's place the first time an iteration changes it.
func (l *local) touch(j int) {
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
func (l *local) undo() {
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
func (l *local) drop(j int) {
	l.touch(j)
	l.cur.Remove(j)
	l.move(j, &l.placed, &l.free)
	l.queue = append(l.queue, j)
}

// improve is the search: each iteration changes a part of the plan, rebuilds it
// greedily by prices and noise, and is undone if it lost too much. What may be
// lost falls in cycles of growing length. It ends when the work spent reaches until.
func (l *local) improve(until int64) { l.Within(until, l.search) }

func (l *local) search() {
	l.cur.Copy(&l.best)
	l.reset()
	l.ejection.moves = l.touch
	defer func() { l.ejection.moves = nil }()
	if len(l.placed)+len(l.free) == 0 {
		return
	}
	cycle := firstCycle
	for n := 0; ; {
		scale := l.noise()
		for i := range cycle {
			if !l.checkpoint() {
				return
			}
			cool := 1 - float64(i)/float64(cycle)
			l.iterate(scale * cool * cool)
			if n++; n%4096 == 0 {
				l.cur.Rebuild()
			}
		}
		cycle *= 2
		l.greedy.takePrices()
		l.cur.Copy(&l.best)
		l.relist()
	}
}

// noise is the loss an iteration may be forgiven at first: a part of a typical
// placed job's value.
func (l *local) noise() float64 {
	if len(l.placed) == 0 {
		return 0
	}
	return noisePart * math.Abs(l.best.Value) / float64(len(l.placed))
}

func (l *local) iterate(forgive float64) {
	l.save()
	l.queue = l.queue[:0]
	l.ejecting = l.IntN(ejectionEvery) == 0
	ok := true
	switch k := l.IntN(10); {
	case k < 3 && len(l.in.P.Running) > 0:
		ok = l.switchRunning(l.IntN(len(l.in.P.Running)))
	case k < 6 && len(l.free) > 0:
		ok = l.force(l.free[l.IntN(len(l.free))])
	case k < 7 && len(l.placed) > 0:
		ok = l.force(l.placed[l.IntN(len(l.placed))])
	default:
		l.ruin(1 + l.IntN(mostRuined))
	}
	if ok {
		l.recreate()
	}
	loss := l.value - l.cur.Value
	if !ok || (loss > 0 && loss > forgive*l.Exponential()) {
		l.undo()
		return
	}
	if !l.keep() {
		l.relist()
	}
}

// ruin takes n random jobs out.
func (l *local) ruin(n int) {
	for ; n > 0 && len(l.placed) > 0; n-- {
		l.drop(l.placed[l.IntN(len(l.placed))])
	}
}

// force gives job j one of its better options, evicting what is in the way.
func (l *local) force(j int) bool {
	opts := l.greedy.byRed[l.in.JobOpts[j]:l.in.JobOpts[j+1]]
	n := 0
	for n < len(opts) && opts[n] >= 0 {
		n++
	}
	o := opts[min(l.IntN(n), l.IntN(n))]
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
		if len(l.in.P.Running) > 0 && l.IntN(4) == 0 && l.greedy.pre.TryPlace(&l.cur, o, l.in.Opts[o].Value) {
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
func (l *local) victim(start, span int) int {
	if len(l.placed) == 0 {
		return -1
	}
	worst, least := -1, math.Inf(1)
	for found, i := 0, 0; i < mostLooked && found < mostVictims; i++ {
		j := l.placed[l.IntN(len(l.placed))]
		o := &l.in.Opts[l.cur.Choice[j]]
		if o.Start >= start+span || o.Start+len(o.Usage) <= start {
			continue
		}
		found++
		if key := l.greedy.red[l.cur.Choice[j]] / o.Value; key < least {
			worst, least = j, key
		}
	}
	l.Spend(40)
	return worst
}

// switchRunning preempts running job m, or lets it run on, evicting jobs in its room.
func (l *local) switchRunning(m int) bool {
	if !l.cur.Preempted[m] {
		if l.in.P.Running[m].PreemptCost > 4*math.Abs(l.cur.Value) {
			return false
		}
		l.cur.Preempt(m)
		l.ruin(l.IntN(3))
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
func (l *local) recreate() {
	dropped := len(l.queue)
	l.enqueueFree()
	l.sortQueue()
	byValue, shaken := l.IntN(6) == 0, l.IntN(3) == 0
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
		l.cur.Spare(l.greedy.pre.ByCost)
	}
}

// insertEjecting gives free job j one of its best options by reduced value, for which others make room.
func (l *local) insertEjecting(j int) bool {
	opts := l.greedy.byRed[l.in.JobOpts[j]:l.in.JobOpts[j+1]]
	for _, o := range opts[:min(ejectionOptions, len(opts))] {
		if o < 0 || l.late() {
			break
		}
		if l.cur.TryPlace(o) || l.ejection.place(o, leastUnits) {
			return true
		}
	}
	return false
}

// insert gives free job j an option that fits: the most valuable one, or the best by reduced value, as it is or shaken.
func (l *local) insert(j int, byValue, shaken bool) bool {
	switch {
	case byValue:
		return l.greedy.insertByValue(j)
	case shaken:
		return l.insertShaken(j)
	default:
		return l.greedy.insert(j)
	}
}

// enqueueFree adds some of the jobs that are not in the plan to the queue.
func (l *local) enqueueFree() {
	for n := min(mostFree, len(l.free)); n > 0; n-- {
		j := l.free[l.IntN(len(l.free))]
		if !slices.Contains(l.queue, j) {
			l.queue = append(l.queue, j)
		}
	}
}

// sortQueue orders the queue by reduced value per value, or by value, with noise.
func (l *local) sortQueue() {
	byValue := l.IntN(3) == 0
	for _, j := range l.queue {
		o := l.greedy.byRed[l.in.JobOpts[j]]
		k := l.greedy.red[o] / l.in.Opts[o].Value
		if byValue {
			k = l.in.Opts[o].Value
		}
		l.key[j] = k * (0.5 + float64(l.Float64()))
	}
	sortIndices(l.queue, l.key, -1)
	l.Spend(int64(len(l.queue) * 60))
}

// insertByPreempting gives job j its best option by reduced value in the room of running jobs, now and then.
func (l *local) insertByPreempting(j int) bool {
	if len(l.in.P.Running) == 0 || l.IntN(6) != 0 {
		return false
	}
	o := l.greedy.byRed[l.in.JobOpts[j]]
	return l.greedy.pre.TryPlace(&l.cur, o, l.in.Opts[o].Value)
}

// insertShaken is insert with two partitions changing places in the order that the gang fills them in: prices put gangs
// into the same partitions over and over, and whole tasks may fit in another way only.
func (l *local) insertShaken(j int) bool {
	a, b := l.Uint32(), l.Uint32()
	for _, o := range l.greedy.byRed[l.in.JobOpts[j]:l.in.JobOpts[j+1]] {
		if o < 0 || l.late() {
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

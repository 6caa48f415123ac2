package native

import (
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// local is the ruin-and-recreate search's memory.
type local struct {
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
func (l *local) reset(w *workspace) {
	n := len(w.in.P.Jobs)
	l.stamp, l.where = pack.Resize(l.stamp, n), pack.Resize(l.where, n)
	clear(l.stamp)
	l.now = 0
	l.key = pack.Resize(l.key, n)
	l.relist(w)
}

func (l *local) relist(w *workspace) {
	l.placed, l.free = l.placed[:0], l.free[:0]
	for j, o := range w.cur.Choice {
		switch {
		case o >= 0:
			l.where[j] = len(l.placed)
			l.placed = append(l.placed, j)
		case w.in.JobOpts[j] < w.in.JobOpts[j+1] && w.byRed[w.in.JobOpts[j]] >= 0:
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
func (l *local) save(w *workspace) {
	l.now++
	l.res = append(l.res[:0], w.cur.Res...)
	l.preempted = append(l.preempted[:0], w.cur.Preempted...)
	l.value = w.cur.Value
	l.touched, l.had, l.split = l.touched[:0], l.had[:0], l.split[:0]
	w.ops += int64(len(l.res))/4 + 16
}

// touch remembers job j's place the first time an iteration changes it.
func (l *local) touch(w *workspace, j int) {
	if l.stamp[j] == l.now {
		return
	}
	l.stamp[j] = l.now
	l.touched = append(l.touched, j)
	l.had = append(l.had, w.cur.Choice[j])
	k := w.in.MaxParts
	l.split = append(l.split, w.cur.Split[j*k:j*k+k]...)
}

// undo brings back what save remembered.
func (l *local) undo(w *workspace) {
	copy(w.cur.Res, l.res)
	copy(w.cur.Preempted, l.preempted)
	w.cur.Value = l.value
	k := w.in.MaxParts
	for i, j := range l.touched {
		if was, is := l.had[i] >= 0, w.cur.Choice[j] >= 0; was && !is {
			l.move(j, &l.free, &l.placed)
		} else if is && !was {
			l.move(j, &l.placed, &l.free)
		}
		w.cur.Choice[j] = l.had[i]
		copy(w.cur.Split[j*k:j*k+k], l.split[i*k:i*k+k])
	}
}

// drop takes placed job j out and queues it for recreation.
func (l *local) drop(w *workspace, j int) {
	l.touch(w, j)
	w.cur.Remove(j)
	l.move(j, &l.placed, &l.free)
	l.queue = append(l.queue, j)
}

// improve is the search: each iteration changes a part of the plan, rebuilds it
// greedily by prices and noise, and is undone if it lost too much. What may be
// lost falls in cycles of growing length. It ends when the work spent reaches phase.
func (w *workspace) improve(phase int64) {
	w.phase = phase
	w.cur.Copy(&w.best)
	l := &w.ls
	l.reset(w)
	if len(l.placed)+len(l.free) == 0 {
		return
	}
	cycle := 2000
	for n := 0; ; {
		scale := w.noise()
		for i := range cycle {
			if w.over() {
				return
			}
			cool := 1 - float64(i)/float64(cycle)
			w.iterate(scale * cool * cool)
			if n++; n%4096 == 0 {
				w.cur.Rebuild()
			}
		}
		cycle *= 2
		w.heed()
		w.cur.Copy(&w.best)
		l.relist(w)
	}
}

// noise is the loss an iteration may be forgiven at first: a part of a typical
// placed job's value.
func (w *workspace) noise() float64 {
	if len(w.ls.placed) == 0 {
		return 0
	}
	return 0.05 * math.Abs(w.best.Value) / float64(len(w.ls.placed))
}

func (w *workspace) iterate(forgive float64) {
	l := &w.ls
	l.save(w)
	l.queue = l.queue[:0]
	ok := true
	switch k := w.rng.IntN(10); {
	case k < 3 && len(w.in.P.Running) > 0:
		ok = w.flip(w.rng.IntN(len(w.in.P.Running)))
	case k < 6 && len(l.free) > 0:
		ok = w.force(l.free[w.rng.IntN(len(l.free))])
	case k < 7 && len(l.placed) > 0:
		ok = w.force(l.placed[w.rng.IntN(len(l.placed))])
	default:
		w.ruin(1 + w.rng.IntN(6))
	}
	if ok {
		w.recreate()
	}
	loss := l.value - w.cur.Value
	if !ok || (loss > 0 && loss > forgive*w.exponential()) {
		l.undo(w)
		return
	}
	if !w.keep() {
		l.relist(w)
	}
}

// ruin takes n random jobs out.
func (w *workspace) ruin(n int) {
	l := &w.ls
	for ; n > 0 && len(l.placed) > 0; n-- {
		l.drop(w, l.placed[w.rng.IntN(len(l.placed))])
	}
}

// force gives job j one of its better options, evicting what is in the way.
func (w *workspace) force(j int) bool {
	l := &w.ls
	opts := w.byRed[w.in.JobOpts[j]:w.in.JobOpts[j+1]]
	n := 0
	for n < len(opts) && opts[n] >= 0 {
		n++
	}
	o := opts[min(w.rng.IntN(n), w.rng.IntN(n))]
	if w.cur.Choice[j] == o {
		return false
	}
	if w.cur.Choice[j] >= 0 {
		l.drop(w, j)
		l.queue = l.queue[:0]
	}
	l.touch(w, j)
	for tries := 0; !w.cur.TryPlace(o); tries++ {
		if tries == 8 {
			return false
		}
		if len(w.in.P.Running) > 0 && w.rng.IntN(4) == 0 && w.pre.TryPlace(&w.cur, o, w.in.Opts[o].Value) {
			break
		}
		v := w.victim(w.in.Opts[o].Start, len(w.in.Opts[o].Usage))
		if v < 0 {
			return false
		}
		l.drop(w, v)
	}
	l.move(j, &l.free, &l.placed)
	return true
}

// victim is a placed job that uses slots of the given span: of a few random
// ones, the one worth least beyond its price.
func (w *workspace) victim(start, span int) int {
	l := &w.ls
	if len(l.placed) == 0 {
		return -1
	}
	worst, least := -1, math.Inf(1)
	for found, i := 0, 0; i < 12 && found < 3; i++ {
		j := l.placed[w.rng.IntN(len(l.placed))]
		o := &w.in.Opts[w.cur.Choice[j]]
		if o.Start >= start+span || o.Start+len(o.Usage) <= start {
			continue
		}
		found++
		if key := w.dual.red[w.cur.Choice[j]] / o.Value; key < least {
			worst, least = j, key
		}
	}
	w.ops += 40
	return worst
}

// flip preempts running job m, or lets it run on, evicting jobs in its room.
func (w *workspace) flip(m int) bool {
	if !w.cur.Preempted[m] {
		if w.in.P.Running[m].PreemptCost > 4*math.Abs(w.cur.Value) {
			return false
		}
		w.cur.Preempt(m)
		w.ruin(w.rng.IntN(3))
		return true
	}
	for tries := 0; w.cur.Needed(m); tries++ {
		if tries == 8 {
			return false
		}
		v := w.victim(0, w.in.T)
		if v < 0 {
			return false
		}
		w.ls.drop(w, v)
	}
	w.cur.Unpreempt(m)
	return true
}

// recreate inserts the dropped jobs and some free ones, in the order of reduced
// value per value with noise.
func (w *workspace) recreate() {
	l := &w.ls
	dropped := len(l.queue)
	for n := min(8, len(l.free)); n > 0; n-- {
		j := l.free[w.rng.IntN(len(l.free))]
		if !slices.Contains(l.queue, j) {
			l.queue = append(l.queue, j)
		}
	}
	byValue := w.rng.IntN(3) == 0
	for _, j := range l.queue {
		o := w.byRed[w.in.JobOpts[j]]
		k := w.dual.red[o] / w.in.Opts[o].Value
		if byValue {
			k = w.in.Opts[o].Value
		}
		l.key[j] = k * (0.5 + float64(w.rng.Float64()))
	}
	sortIndices(l.queue, l.key, -1)
	w.ops += int64(len(l.queue) * 60)
	greedy := w.rng.IntN(6) == 0
	shaken := w.rng.IntN(3) == 0
	for i, j := range l.queue {
		if w.cur.Choice[j] >= 0 {
			continue
		}
		l.touch(w, j)
		done := false
		switch {
		case greedy:
			done = w.insertByValue(j)
		case shaken:
			done = w.insertShaken(j)
		default:
			done = w.insert(j)
		}
		if !done && len(w.in.P.Running) > 0 && i < dropped+2 && w.rng.IntN(6) == 0 {
			o := w.byRed[w.in.JobOpts[j]]
			done = w.pre.TryPlace(&w.cur, o, w.in.Opts[o].Value)
		}
		if done {
			l.move(j, &l.free, &l.placed)
		}
	}
	if len(w.in.P.Running) > 0 {
		w.cur.Spare(w.pre.ByCost)
	}
}

// insertShaken is insert with two partitions changing places in the order that the gang fills them in: prices put gangs
// into the same partitions over and over, and whole tasks may fit in another way only.
func (w *workspace) insertShaken(j int) bool {
	a, b := w.rng.Uint32(), w.rng.Uint32()
	for _, o := range w.byRed[w.in.JobOpts[j]:w.in.JobOpts[j+1]] {
		if o < 0 || w.late() {
			break
		}
		opt := &w.in.Opts[o]
		order := w.cur.Order[opt.P0:opt.P1]
		i, k := a%uint32(len(order)), b%uint32(len(order))
		order[i], order[k] = order[k], order[i]
		done := w.cur.TryPlace(o)
		order[i], order[k] = order[k], order[i]
		if done {
			return true
		}
	}
	return false
}

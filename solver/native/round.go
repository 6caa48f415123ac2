package native

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// roundProgram makes a plan from the node's program: jobs in the order of their weight
// there, each with its heaviest option, split alike; then what else fits.
func (w *workspace) roundProgram() {
	q := &w.node
	w.cur.Copy(&q.base)
	q.jobs = q.jobs[:0]
	for _, set := range w.lp.active {
		j := int(set)
		if k := j - len(w.in.P.Jobs); k >= 0 {
			if w.lp.weight(w.runColumn(k)) > 0.5 {
				w.cur.Preempt(k)
			}
			continue
		}
		q.key[j] = 0
		for o := w.in.JobOpts[j]; o < w.in.JobOpts[j+1]; o++ {
			q.key[j] = max(q.key[j], q.weight[o])
		}
		if q.key[j] > 0.01 {
			q.jobs = append(q.jobs, j)
		}
	}
	sortIndices(q.jobs, q.key, -1)
	for _, j := range q.jobs {
		if w.late() {
			break
		}
		pick := w.in.JobOpts[j]
		for o := pick; o < w.in.JobOpts[j+1]; o++ {
			if q.weight[o] > q.weight[pick] {
				pick = o
			}
		}
		if !w.placeAlike(pick) {
			w.insert(j)
		}
	}
	w.complete()
}

// complete fills the plan up by reduced value and spares whom it can.
func (w *workspace) complete() {
	for _, j := range w.node.order {
		if w.late() {
			break
		}
		if w.cur.Choice[j] < 0 {
			w.insert(j)
		}
	}
	w.cur.Spare(w.pre.ByCost)
	w.keep()
}

// placeAlike gives option o's job a split near the one in the program.
func (w *workspace) placeAlike(o int) bool {
	opt := &w.in.Opts[o]
	n := opt.P1 - opt.P0
	if !w.shares(o) || !w.fitShares(opt, w.node.share[:n], w.node.round[:n]) {
		return false
	}
	w.cur.Place(o, w.node.round[:n])
	return true
}

// shares computes how the program splits option o; false if it does not take it.
func (w *workspace) shares(o int) bool {
	m := &w.lp
	opt := &w.in.Opts[o]
	share := w.node.share[:opt.P1-opt.P0]
	clear(share)
	total := 0.0
	for c := m.head[opt.Job]; c >= 0; c = m.next[c] {
		if int(m.opt[c]) != o {
			continue
		}
		if z := m.weight(c); z > 0 {
			total += z
			for i, v := range m.split[m.cut[c]:m.cut[c+1]] {
				share[i] += float64(z * v)
			}
		}
	}
	for i := range share {
		share[i] /= max(total, 1e-12)
	}
	return total > 1e-9
}

// fitShares makes a split that fits and is near the given shares.
func (w *workspace) fitShares(opt *pack.Option, share, split []float64) bool {
	left := opt.Count
	for i, v := range share {
		if v = min(v+1e-7, left); opt.Whole {
			v = math.Floor(v)
		}
		split[i] = 0
		if v > 0 {
			split[i] = min(v, w.in.Fit(opt, w.in.Part[opt.P0+i], w.cur.Res))
			w.ops += int64(len(opt.Usage) * len(opt.Demand))
		}
		left -= split[i]
		share[i] -= split[i]
	}
	for left > 1e-9*opt.Count {
		at := -1
		w.ops += int64(len(share)) / 4
		for i, v := range share {
			if v > -1e17 && (at < 0 || v > share[at]) {
				at = i
			}
		}
		if at < 0 {
			return false
		}
		room := min(left, w.in.Fit(opt, w.in.Part[opt.P0+at], w.cur.Res)-split[at])
		w.ops += int64(len(opt.Usage) * len(opt.Demand))
		if room > 0 {
			if share[at] > 0 && opt.Whole {
				room = min(room, 1)
			}
			split[at] += room
			left -= room
			share[at] -= room
			if share[at] > 0 {
				continue
			}
			if room == 1 && left > 0 {
				continue
			}
		}
		share[at] = math.Inf(-1)
	}
	return true
}

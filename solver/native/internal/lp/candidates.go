package lp

// candidates are columns to bring in, at most one of a set, that gained the most when they were last looked at. To
// look at all columns before every pivot would take longer than the better choice saves.
type candidates struct {
	*Program
	list  []int32 // by falling gain; row r's slack is -1-r
	gains []float64
	least float64 // what a column must gain more than to be in list
}

// maxCandidates is how many columns a look at all of them picks out.
const maxCandidates = 24

// looked is how many sets a look goes through before it may have enough candidates; fewer are looked at together.
const looked = 64

// choose picks the most promising columns.
func (k *candidates) choose() {
	k.list, k.gains, k.least = k.list[:0], k.gains[:0], k.Tol
	n := k.Sets()
	if n < looked {
		k.chooseOfAll()
		return
	}
	for i := range n {
		if i%looked == looked-1 && len(k.list) >= maxCandidates*2/3 {
			break
		}
		k.at++
		if k.at >= n {
			k.at = 0
		}
		if c, gain := k.bestOf(k.at); c >= 0 {
			k.offer(c, gain)
		}
	}
	k.chooseSlacks()
}

// chooseSlacks puts the rows' slacks that gain the most among the candidates.
func (k *candidates) chooseSlacks() {
	m := k.Program
	for r, p := range m.Prices {
		if g := max(m.lo[r]-p, p-m.hi[r]); g > 0 && m.Slack[r] < 0 {
			k.offer(int32(-1-r), g)
		}
	}
}

// chooseOfAll is choose for so few sets that all are looked at.
func (k *candidates) chooseOfAll() {
	m := k.Program
	sums := m.weighRows(m.Prices)
	for s := range m.Sets() {
		key := m.Key[s]
		base, at, best := m.Val[key]-sums[key], int32(-1), 0.0
		for c := m.Head[s]; c >= 0; c = m.Next[c] {
			if g := m.Val[c] - sums[c] - base; g > best && m.Where[c] == -1 {
				best, at = g, c
			}
		}
		if at >= 0 {
			k.offer(at, best)
		}
	}
	m.Ops += int64(len(m.Set))
	k.chooseSlacks()
}

// bestOf is set s's column that gains most, -1 if none gains anything, and how much that is.
func (k *candidates) bestOf(s int) (c int32, gain float64) {
	m := k.Program
	base, at, best := m.Dual(s), int32(-1), 0.0
	for c := m.Head[s]; c >= 0; c = m.Next[c] {
		if m.Where[c] != -1 || (int(c) >= m.Stay && !m.refund[c] && m.Val[c]-base < k.least) {
			continue
		}
		if g := m.Price(c) - base; g > best {
			best, at = g, c
		}
	}
	return at, best
}

// offer puts column c among the candidates if it gains enough for that.
func (k *candidates) offer(c int32, gain float64) {
	if gain <= k.least {
		return
	}
	i := len(k.list)
	if i == maxCandidates {
		i--
		k.list, k.gains = k.list[:i], k.gains[:i]
	}
	k.list, k.gains = append(k.list, c), append(k.gains, gain)
	for ; i > 0 && k.gains[i-1] < k.gains[i]; i-- {
		k.gains[i-1], k.gains[i] = k.gains[i], k.gains[i-1]
		k.list[i-1], k.list[i] = k.list[i], k.list[i-1]
	}
	if len(k.gains) == maxCandidates {
		k.least = k.gains[maxCandidates-1]
	}
}

// best is the candidate that gains most by now, and how much that is.
func (k *candidates) best() (int32, float64) {
	m := k.Program
	best, at := 0.0, int32(0)
	for _, c := range k.list {
		g := 0.0
		if c < 0 {
			if r := -1 - c; m.Slack[r] < 0 {
				g = max(m.lo[r]-m.Prices[r], m.Prices[r]-m.hi[r])
			}
		} else if m.Where[c] == -1 {
			g = m.Price(c) - m.Dual(int(m.Set[c]))
		}
		if g > best {
			best, at = g, c
		}
	}
	return at, best
}

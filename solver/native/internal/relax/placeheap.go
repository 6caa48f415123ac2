package relax

// placeHeap is places that still have room, the cheapest first, and of those that cost the same the first.
type placeHeap []int32

// fill makes it the places where split is less than limit, which cost unit each.
func (h *placeHeap) fill(unit, split, limit []float64) {
	*h = (*h)[:0]
	for i, most := range limit {
		if split[i] < most {
			*h = append(*h, int32(i))
		}
	}
	for i := len(*h)/2 - 1; i >= 0; i-- {
		h.sift(unit, i)
	}
}

// pop takes the cheapest place off; -1 if there is none.
func (h *placeHeap) pop(unit []float64) int {
	list := *h
	last := len(list) - 1
	if last < 0 {
		return -1
	}
	top := list[0]
	list[0], *h = list[last], list[:last]
	h.sift(unit, 0)
	return int(top)
}

// sift moves entry i down to where it belongs.
func (h *placeHeap) sift(unit []float64, i int) {
	list := *h
	before := func(a, b int32) bool { return unit[a] < unit[b] || (unit[a] == unit[b] && a < b) }
	for {
		c := 2*i + 1
		if c >= len(list) {
			return
		}
		if c+1 < len(list) && before(list[c+1], list[c]) {
			c++
		}
		if !before(list[c], list[i]) {
			return
		}
		list[i], list[c] = list[c], list[i]
		i = c
	}
}

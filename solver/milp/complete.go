package milp

import (
	"cmp"
	"math"
	"slices"
)

// complete makes a feasible point from x. It solves only for the variables that are not integer. It fixes one integer
// after the other as close to x as the rows allow, together with the other integers of its equations. If that fails,
// the group is undone and tried differently. Integers at zero in x come last, and use the remaining room if that pays.
// Only the choices for one group are undone, so it may find nothing.
func (d *diver) complete(x []float64) {
	d.dom.undo(0)
	for _, j := range d.order(x) {
		if d.over() || !d.dom.fixed(j) && !d.place(j, x) {
			return
		}
	}
	if slices.Contains(d.m.integer, false) {
		if y, ok := d.point(); ok {
			d.finish(y)
		}
		return
	}
	d.keep(slices.Clone(d.dom.lower))
}

// order sorts the integers: whole ones above their lower bounds first, then fractional ones, the largest first, then
// the rest, by what they pay.
func (d *diver) order(x []float64) []int {
	var list []int
	class, key := make([]int8, len(x)), make([]float64, len(x))
	for j, whole := range d.m.integer {
		if !whole {
			continue
		}
		list = append(list, j)
		switch off := math.Abs(x[j] - math.Round(x[j])); {
		case off > IntegerTolerance:
			class[j], key[j] = 1, math.Floor(x[j])-x[j]
			if d.m.cost[j] == 0 {
				class[j] = 2 // it follows the others
			}
		case math.Round(x[j]) <= d.m.lower[j]:
			class[j], key[j] = 3, -math.Abs(d.m.cost[j])
		}
	}
	slices.SortFunc(list, func(a, b int) int {
		return cmp.Or(cmp.Compare(class[a], class[b]), cmp.Compare(key[a], key[b]), cmp.Compare(a, b))
	})
	return list
}

// place fixes j and the free integers of its equations. It reports false if that is impossible.
func (d *diver) place(j int, x []float64) bool {
	mark := d.dom.mark()
	down, up := math.Floor(x[j]+IntegerTolerance), math.Ceil(x[j]-IntegerTolerance)
	pays := Better(d.m, d.m.cost[j], 0) // by rising
	choices := [...]float64{down, up, d.dom.lower[j], d.dom.upper[j]}
	switch {
	case pays && down == up && down <= d.dom.lower[j]:
		choices = [...]float64{d.dom.upper[j], down, up, d.dom.lower[j]}
	case pays || x[j]-down > 0.5:
		choices[0], choices[1] = up, down
	}
	for k, v := range choices {
		if slices.Contains(choices[:k], v) || math.IsInf(v, 0) {
			continue
		}
		if d.dom.fix(j, v) && d.equations(j, x) {
			return true
		}
		d.dom.undo(mark)
	}
	return false
}

// equations fixes the free integers of j's equations.
func (d *diver) equations(j int, x []float64) bool {
	for k := d.dom.cols.Begin[j]; k < d.dom.cols.Begin[j+1]; k++ {
		if i := int(d.dom.cols.Index[k]); d.m.rowLower[i] == d.m.rowUpper[i] && !d.equation(i, x) {
			return false
		}
	}
	return true
}

// equation fixes the free integers of row i in proportion to x, the largest first.
func (d *diver) equation(i int, x []float64) bool {
	var free []int
	rest, sum := d.m.rowLower[i], 0.0
	for k := d.dom.rows.Begin[i]; k < d.dom.rows.Begin[i+1]; k++ {
		j := int(d.dom.rows.Index[k])
		switch {
		case d.dom.fixed(j) || !d.m.integer[j]:
			rest -= float64(d.dom.rows.Value[k] * d.dom.lower[j])
		default:
			free = append(free, j)
			sum += float64(d.dom.rows.Value[k] * x[j])
		}
	}
	scale := 1.0
	if ratio := rest / sum; ratio > 0 && !math.IsInf(ratio, 0) {
		scale = ratio
	}
	slices.SortStableFunc(free, func(a, b int) int { return cmp.Compare(x[b], x[a]) })
	for _, j := range free {
		v := math.Round(scale * x[j])
		v = max(d.dom.lower[j], min(v, d.dom.upper[j]))
		if !d.dom.fixed(j) && !d.try(j, v) && !d.try(j, v-1) && !d.try(j, d.dom.lower[j]) && !d.try(j, d.dom.upper[j]) {
			return false
		}
	}
	return true
}

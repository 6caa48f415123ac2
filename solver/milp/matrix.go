package milp

// Matrix has coefficients in compressed form. Those of line l, a row or a column, are Index[Begin[l]:Begin[l+1]] and
// Value[Begin[l]:Begin[l+1]]. Begin has one more entry than there are lines. In every line the indices rise, none
// occurs twice, and no value is zero.
type Matrix struct {
	Begin []int
	Index []int32
	Value []float64
}

// ByColumn is the rows' coefficients by variable, in new slices. m must be valid. Time and memory are proportional to
// the number of entries.
func (m *Model) ByColumn() Matrix {
	return m.transposed()
}

// ByRow is the rows' coefficients by row, in new slices. m must be valid.
func (m *Model) ByRow() Matrix {
	return transpose(m.transposed(), m.Rows())
}

// transposed has columns whose rows rise, since it visits rows in order. An entry in the same row as the one before it
// is a duplicate, and is added to it.
func (m *Model) transposed() Matrix {
	n := m.Vars()
	fill := make([]int, n+1)
	for _, j := range m.index {
		fill[j+1]++
	}
	for j := range n {
		fill[j+1] += fill[j]
	}
	t := Matrix{Begin: append([]int(nil), fill...), Index: make([]int32, len(m.index)),
		Value: make([]float64, len(m.index))}
	for i := range m.rowLower {
		r := m.Row(i)
		for k, j := range r.Index {
			if at := fill[j]; at > t.Begin[j] && t.Index[at-1] == int32(i) {
				t.Value[at-1] += r.Value[k]
				continue
			}
			t.Index[fill[j]], t.Value[fill[j]] = int32(i), r.Value[k]
			fill[j]++
		}
	}
	return t.squeeze(fill)
}

// squeeze removes zeros and the gaps in t, whose line l ends at end[l].
func (t Matrix) squeeze(end []int) Matrix {
	to := 0
	for l := range len(t.Begin) - 1 {
		from := t.Begin[l]
		t.Begin[l] = to
		for k := from; k < end[l]; k++ {
			if t.Value[k] != 0 {
				t.Index[to], t.Value[to] = t.Index[k], t.Value[k]
				to++
			}
		}
	}
	t.Begin[len(t.Begin)-1] = to
	t.Index, t.Value = t.Index[:to], t.Value[:to]
	return t
}

// transpose is the transpose of t, which has that number of lines.
func transpose(t Matrix, lines int) Matrix {
	begin := make([]int, lines+1)
	for _, i := range t.Index {
		begin[i+1]++
	}
	for i := range lines {
		begin[i+1] += begin[i]
	}
	fill := append([]int(nil), begin...)
	out := Matrix{Begin: begin, Index: make([]int32, len(t.Index)), Value: make([]float64, len(t.Value))}
	for l := range len(t.Begin) - 1 {
		for k := t.Begin[l]; k < t.Begin[l+1]; k++ {
			at := fill[t.Index[k]]
			out.Index[at], out.Value[at] = int32(l), t.Value[k]
			fill[t.Index[k]]++
		}
	}
	return out
}

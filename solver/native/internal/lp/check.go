package lp

import (
	"fmt"
	"math"
)

// Check recomputes where what is basic is, what each row uses and what each set gives out, and returns what is not as
// it should be. It is for tests.
func (m *Program) Check() error {
	if err := m.checkPlaces(); err != nil {
		return err
	}
	used, given := make([]float64, m.Rows), make([]float64, len(m.Key))
	for c := range m.Set {
		z := m.Weight(int32(c))
		if z < -infeasible {
			return fmt.Errorf("column %d has the value %g", c, z)
		}
		given[m.Set[c]] += z
		for i := m.off[c]; i < m.off[c+1]; i++ {
			used[m.row[i]] += float64(z * m.amt[i])
		}
	}
	for s, v := range given {
		if math.Abs(v-1) > infeasible {
			return fmt.Errorf("set %d gives out %g", s, v)
		}
	}
	for r, v := range used {
		if v > m.rhs[r]+infeasible {
			return fmt.Errorf("row %d: %g of %g is used", r, v, m.rhs[r])
		}
	}
	return nil
}

// checkPlaces holds where columns and slacks are to what is basic.
func (m *Program) checkPlaces() error {
	if len(m.Basic) != m.Rows {
		return fmt.Errorf("%d are basic of %d", len(m.Basic), m.Rows)
	}
	where, slack := make([]int32, len(m.Set)), make([]int32, m.Rows)
	for c := range where {
		where[c] = -1
	}
	for r := range slack {
		slack[r] = -1
	}
	for p, c := range m.Basic {
		if c < 0 {
			slack[-1-c] = int32(p)
		} else {
			where[c] = int32(p)
		}
	}
	for s, c := range m.Key {
		if m.Set[c] != int32(s) {
			return fmt.Errorf("the key of set %d is of set %d", s, m.Set[c])
		}
		where[c] = -2
	}
	for c, p := range where {
		if m.Where[c] != p {
			return fmt.Errorf("column %d is at %d, not %d", c, p, m.Where[c])
		}
	}
	for r, p := range slack {
		if m.Slack[r] != p {
			return fmt.Errorf("the slack of row %d is at %d, not %d", r, p, m.Slack[r])
		}
	}
	return nil
}

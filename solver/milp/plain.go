package milp

import (
	"fmt"
	"slices"
)

// plain is the result of a model that needs no solver, and nil for others. Such a model has no variables, or bounds
// that allow no number, or a violated row without entries or with zeros only. Solvers disagree about such models: some
// return errors, and some drop the rows.
func plain(m *Model, opts Options) *Result {
	r := &Result{Stop: StopInfeasible, Bound: NoBound(m), Raw: contradictory(m)}
	if len(opts.Start) > 0 {
		r.Start = StartRejected
	}
	if r.Raw != "" {
		return r
	}
	if m.Vars() > 0 {
		return nil
	}
	return &Result{Stop: StopOptimal, X: []float64{}, Objective: m.Offset, Bound: m.Offset, Raw: "no variables"}
}

// contradictory names bounds of m that no point satisfies, whatever the rest of m is; "" if there are none.
func contradictory(m *Model) string {
	lower, upper := m.WholeBounds()
	for j := range lower {
		switch v := m.Var(j); {
		case v.Lower > v.Upper:
			return fmt.Sprintf("vars[%d] (%q): bounds %v and %v cross", j, v.Name, v.Lower, v.Upper)
		case lower[j] > upper[j]:
			return fmt.Sprintf("vars[%d] (%q): no whole number is within %v and %v", j, v.Name, v.Lower, v.Upper)
		}
	}
	for i := range m.rowLower {
		r := m.Row(i)
		if r.Lower > r.Upper {
			return fmt.Sprintf("rows[%d] (%q): bounds %v and %v cross", i, r.Name, r.Lower, r.Upper)
		}
		if outside(0, r.Lower, r.Upper, 0) && !slices.ContainsFunc(r.Value, func(v float64) bool { return v != 0 }) {
			return fmt.Sprintf("rows[%d] (%q): no entries but zeros, and 0 is not within %v and %v", i, r.Name, r.Lower, r.Upper)
		}
	}
	return ""
}

package format

import (
	"math"

	"github.com/hedgesched/hedge/solver/milp"
)

// What is known of a variable besides its bounds.
const (
	givenLower = 1 << iota // a lower bound was given
	givenUpper
	binary // declared to be 0 or 1
)

// builder collects a model during reading.
type builder struct {
	note Reader
	m    milp.Model
	vars []milp.Var
	said []uint8          // by variable
	of   map[string]int32 // indices by name

	offset int32 // the variable named offsetName, -1 if there is none
	inRow  bool  // whether that variable is in a row
}

func newBuilder(note Reader) *builder {
	return &builder{note: note, of: map[string]int32{}, offset: -1}
}

// variable is the index of the variable with that name, which is created if necessary.
func (b *builder) variable(name []byte) int32 {
	if j, is := b.of[string(name)]; is {
		return j
	}
	j := int32(len(b.vars))
	own := string(name)
	b.of[own] = j
	b.vars = append(b.vars, milp.Var{Name: own, Upper: math.Inf(1)})
	b.said = append(b.said, 0)
	if own == offsetName {
		b.offset = j
	}
	return j
}

// late is variable for a name in a section after those with coefficients. A new name there is in no row and not in the
// objective. Solvers write such variables, but it may also be a mistake.
func (b *builder) late(name []byte, line int) int32 {
	if _, is := b.of[string(name)]; !is {
		b.note.warn(line, "variable %s is in no row and has no cost", quoted(name))
	}
	return b.variable(name)
}

// far warns of a bound that is a number here and for CBC, GLPK and lp_solve, but infinite for HiGHS, SCIP and CPLEX.
func (b *builder) far(line int, name string, v float64) {
	if v = math.Abs(v); v >= 1e20 && v < Infinite {
		b.note.warn(line, "a bound of variable %q is %v, which is no bound for HiGHS, SCIP and CPLEX", name, v)
	}
}

// replaced warns if later bounds have replaced v's bounds.
func (b *builder) replaced(line int, v milp.Var, lower, upper float64) {
	b.note.warn(line, "bounds %v and %v of variable %q replace %v and %v", lower, upper, v.Name, v.Lower, v.Upper)
}

// isUnit reports whether v's bounds are within 0 and 1.
func isUnit(v milp.Var) bool { return v.Lower >= 0 && v.Lower <= 1 && v.Upper >= 0 && v.Upper <= 1 }

// model is the model that was read. If the last variable is fixed and named offsetName, it becomes the offset.
func (b *builder) model() (*milp.Model, error) {
	last := len(b.vars) - 1
	if j := int(b.offset); j >= 0 && j == last && !b.inRow {
		if v := b.vars[j]; v.Lower == 1 && v.Upper == 1 && !v.Integer {
			b.m.Offset += v.Cost
			b.vars = b.vars[:last]
		}
	}
	b.m.Grow(len(b.vars), 0, 0)
	for _, v := range b.vars {
		v.Lower, v.Upper = unlimited(v.Lower, v.Upper)
		b.m.AddVar(v)
	}
	return &b.m, b.m.Validate()
}

// unlimited replaces bounds that are as large as infinity by infinite ones.
func unlimited(lower, upper float64) (float64, float64) {
	if lower <= -Infinite {
		lower = math.Inf(-1)
	}
	if upper >= Infinite {
		upper = math.Inf(1)
	}
	return lower, upper
}

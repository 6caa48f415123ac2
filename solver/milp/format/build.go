package format

import (
	"math"

	"github.com/hedgesched/hedge/solver/milp"
)

// builder collects a model while it is read.
type builder struct {
	m    milp.Model
	vars []milp.Var
	of   map[string]int32 // variables by name

	offset int32 // the variable called offsetName, -1 if there is none
	inRow  bool  // it is in a row
}

func newBuilder() *builder {
	return &builder{of: map[string]int32{}, offset: -1}
}

// variable is the one called name, which is new if there was none.
func (b *builder) variable(name []byte) int32 {
	if j, is := b.of[string(name)]; is {
		return j
	}
	j := int32(len(b.vars))
	own := string(name)
	b.of[own] = j
	b.vars = append(b.vars, milp.Var{Name: own, Upper: math.Inf(1)})
	if own == offsetName {
		b.offset = j
	}
	return j
}

// model is what was read. A fixed last variable called offsetName is the offset again.
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

// unlimited is bounds without those that are so far out that they are none.
func unlimited(lower, upper float64) (float64, float64) {
	if lower <= -Infinite {
		lower = math.Inf(-1)
	}
	if upper >= Infinite {
		upper = math.Inf(1)
	}
	return lower, upper
}

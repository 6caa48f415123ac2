package format

import (
	"io"
	"math"

	"github.com/hedgesched/hedge/solver/milp"
)

// WriteMPS writes m in free MPS. The package's documentation says what that changes, and who can read a model that
// maximises. m must not be modified meanwhile. The error is [milp.ErrInvalid] if m is not well formed, or w's own. It
// needs memory for a copy of m's coefficients, since MPS has them by column.
func WriteMPS(w io.Writer, m *milp.Model) error {
	if err := m.Validate(); err != nil {
		return err
	}
	return writeMPS(w, filled(m), false)
}

// WriteMinimized writes m in free MPS for programs, in a form that all solvers read alike. It minimises: if m
// maximises, the objective and its offset are negated. Variable j is named x<j> and row i c<i>, whatever their names.
// Bounds of integer variables are whole numbers. Errors are as in WriteMPS.
func WriteMinimized(w io.Writer, m *milp.Model) error {
	if err := m.Validate(); err != nil {
		return err
	}
	return writeMPS(w, filled(m), true)
}

func writeMPS(w io.Writer, m *milp.Model, plain bool) error {
	l := &mpsWriter{lines: newLines(w), m: m, plain: plain, sign: 1}
	var variables, rows func(int) string
	if !plain {
		variables, rows = variableName(m), rowName(m)
	} else if m.Maximize {
		l.sign = -1
	}
	var g namer
	l.vars = g.all(m.Vars(), variables, 'x')
	l.rows, l.second = rowNames(m, rows, splitMPS)
	name := m.Name
	if plain || !writable(name) {
		name = unnamed
	}
	l.text("NAME ", name, " FREE") // by this word, CBC knows that it is not fixed MPS
	if m.Maximize && !plain {
		l.text("OBJSENSE")
		l.text("    MAX")
	}
	l.kinds()
	l.columns()
	l.sides()
	l.bounds()
	l.text("ENDATA")
	return l.w.Flush()
}

// unnamed is the name of a model without a name.
const unnamed = "unnamed"

type mpsWriter struct {
	*lines
	m            *milp.Model
	plain        bool    // for WriteMinimized
	sign         float64 // of the objective: 1 or -1
	vars         []string
	rows, second []string
}

// splitMPS reports whether a row has two bounds that RANGES does not reproduce exactly.
func splitMPS(lower, upper float64) bool {
	if !splitLP(lower, upper) {
		return false
	}
	width := upper - lower
	return !(width > 0) || math.IsInf(width, 0) || lower+width != upper && upper-width != lower
}

func (l *mpsWriter) isSplit(i int) bool { return l.second != nil && l.second[i] != "" }

func (l *mpsWriter) kinds() {
	l.text("ROWS")
	l.text(" N obj")
	lower, upper := l.m.RowBounds()
	for i, name := range l.rows {
		low, high := math.IsInf(lower[i], 0), math.IsInf(upper[i], 0)
		switch {
		case l.isSplit(i):
			l.text(" G ", name)
			l.text(" L ", l.second[i])
		case low && high:
			l.text(" N ", name)
		case lower[i] == upper[i]:
			l.text(" E ", name)
		case low, !high && lower[i]+(upper[i]-lower[i]) != upper[i]:
			l.text(" L ", name)
		default:
			l.text(" G ", name)
		}
	}
}

func (l *mpsWriter) columns() {
	l.text("COLUMNS")
	by := l.m.ByColumn()
	costs := l.m.Costs()
	integer := false
	for j, name := range l.vars {
		if is := l.m.Var(j).Integer; is != integer {
			l.marker(is)
			integer = is
		}
		from, to := by.Begin[j], by.Begin[j+1]
		if costs[j] != 0 || from == to {
			l.entry(name, "obj", float64(l.sign*costs[j]))
		}
		for k := from; k < to; k++ {
			i := by.Index[k]
			l.entry(name, l.rows[i], by.Value[k])
			if l.isSplit(int(i)) {
				l.entry(name, l.second[i], by.Value[k])
			}
		}
	}
	if integer {
		l.marker(false)
	}
	if l.m.Offset != 0 {
		l.entry(offsetName, "obj", float64(l.sign*l.m.Offset))
	}
}

func (l *mpsWriter) marker(begin bool) {
	if begin {
		l.text(" MARKER 'MARKER' 'INTORG'")
	} else {
		l.text(" MARKER 'MARKER' 'INTEND'")
	}
}

// entry writes a line of two names and a number.
func (l *mpsWriter) entry(first, second string, v float64) {
	l.buf = append(append(append(append(l.buf[:0], ' '), first...), ' '), second...)
	l.buf = append(appendNumber(append(l.buf, ' '), v), '\n')
	_, _ = l.w.Write(l.buf)
}

// sides writes the right-hand sides and the ranges.
func (l *mpsWriter) sides() {
	l.text("RHS")
	lower, upper := l.m.RowBounds()
	ranges := false
	for i, name := range l.rows {
		lo, hi := lower[i], upper[i]
		side := lo
		if math.IsInf(lo, 0) || splitLP(lo, hi) && !l.isSplit(i) && lo+(hi-lo) != hi {
			side = hi
		}
		if side != 0 && !math.IsInf(side, 0) {
			l.entry("RHS", name, side)
		}
		if l.isSplit(i) && hi != 0 {
			l.entry("RHS", l.second[i], hi)
		}
		ranges = ranges || splitLP(lo, hi) && !l.isSplit(i)
	}
	if !ranges {
		return
	}
	l.text("RANGES")
	for i, name := range l.rows {
		if splitLP(lower[i], upper[i]) && !l.isSplit(i) {
			l.entry("RNG", name, upper[i]-lower[i])
		}
	}
}

func (l *mpsWriter) bounds() {
	l.text("BOUNDS")
	lower, upper := l.m.Bounds()
	if l.plain { // GLPK refuses other bounds
		lower, upper = l.m.WholeBounds()
	}
	for j, name := range l.vars {
		l.bound(name, lower[j], upper[j], l.m.Var(j).Integer)
	}
	if l.m.Offset != 0 {
		l.entry("FX BND", offsetName, 1)
	}
}

// bound writes every bound of an integer variable, since readers have different defaults. It writes the lower bound
// first, since a negative upper bound moves it for some readers.
func (l *mpsWriter) bound(name string, lower, upper float64, integer bool) {
	low, high := math.IsInf(lower, 0), math.IsInf(upper, 0)
	switch {
	case low && high:
		l.text(" FR BND ", name)
		return
	case lower == upper:
		l.entry("FX BND", name, lower)
		return
	case integer && lower == 0 && upper == 1:
		l.text(" BV BND ", name)
		return
	case low:
		l.text(" MI BND ", name)
	case lower != 0 || upper < 0:
		l.entry("LO BND", name, lower)
	}
	if !high {
		l.entry("UP BND", name, upper)
	} else if integer {
		l.text(" PL BND ", name)
	}
}

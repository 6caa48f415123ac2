package format

import (
	"io"
	"math"

	"github.com/hedgesched/hedge/solver/milp"
)

// WriteLP writes m in CPLEX's LP format. The package's documentation says what that changes. m must not be modified
// meanwhile. The error is [milp.ErrInvalid] if m is not well formed, or w's own. Apart from names, it needs memory for
// one number per variable.
func WriteLP(w io.Writer, m *milp.Model) error {
	if err := m.Validate(); err != nil {
		return err
	}
	m = filled(m)
	l := &lpWriter{lines: newLines(w), m: m, vars: Names(m), place: make([]int, m.Vars())}
	l.objective()
	l.rows()
	l.bounds()
	l.kinds()
	l.text("End")
	return l.w.Flush()
}

type lpWriter struct {
	*lines
	m    *milp.Model
	vars []string

	place []int // 1 + a variable's position in index; stale unless index has it there
	index []int32
	value []float64
}

// objective writes every variable, so that readers number them as the model does, and know those that are in no row.
func (l *lpWriter) objective() {
	if l.m.Maximize {
		l.text("Maximize")
	} else {
		l.text("Minimize")
	}
	l.word(" obj:")
	for j, c := range l.m.Costs() {
		l.term(c, l.vars[j])
	}
	if l.m.Offset != 0 {
		l.term(l.m.Offset, offsetName)
	}
	l.end()
}

func (l *lpWriter) rows() {
	l.text("Subject To")
	lower, upper := l.m.RowBounds()
	names, second := rowNames(l.m, rowName(l.m), splitLP)
	for i := range names {
		index, value := l.merged(l.m.Row(i))
		lo, hi := lower[i], upper[i]
		switch {
		case lo == hi:
			l.row(names[i], index, value, " = ", lo)
		case second != nil && second[i] != "":
			l.row(names[i], index, value, " >= ", lo)
			l.row(second[i], index, value, " <= ", hi)
		case math.IsInf(hi, 1):
			l.row(names[i], index, value, " >= ", lo)
		default:
			l.row(names[i], index, value, " <= ", hi)
		}
	}
}

// splitLP reports whether a row has two different bounds.
func splitLP(lower, upper float64) bool {
	return lower != upper && !math.IsInf(lower, 0) && !math.IsInf(upper, 0)
}

func (l *lpWriter) row(name string, index []int32, value []float64, op string, bound float64) {
	l.word(" ")
	l.word(name)
	l.word(":")
	for k, j := range index {
		l.term(value[k], l.vars[j])
	}
	if len(index) == 0 {
		l.term(0, l.vars[0])
	}
	l.word(op)
	l.number(bound)
	l.end()
}

// merged is r with duplicates added up and zeros left out. The slices are valid until the next call.
func (l *lpWriter) merged(r milp.Row) ([]int32, []float64) {
	l.index, l.value = l.index[:0], l.value[:0]
	for k, j := range r.Index {
		if at := l.place[j]; at > 0 && at <= len(l.index) && l.index[at-1] == j {
			l.value[at-1] += r.Value[k]
			continue
		}
		l.index, l.value = append(l.index, j), append(l.value, r.Value[k])
		l.place[j] = len(l.index)
	}
	to := 0
	for k, v := range l.value {
		if v != 0 {
			l.index[to], l.value[to] = l.index[k], v
			to++
		}
	}
	return l.index[:to], l.value[:to]
}

func (l *lpWriter) bounds() {
	l.text("Bounds")
	lower, upper := l.m.Bounds()
	for j, name := range l.vars {
		l.bound(name, lower[j], upper[j], l.m.Var(j).Integer)
	}
	if l.m.Offset != 0 {
		l.text(" ", offsetName, " = 1")
	}
}

func (l *lpWriter) bound(name string, lower, upper float64, integer bool) {
	low, high := math.IsInf(lower, 0), math.IsInf(upper, 0)
	switch {
	case integer && lower == 0 && upper == 1, lower == 0 && high:
		return
	case low && high:
		l.text(" ", name, " free")
		return
	case lower == upper:
		l.word(" " + name + " = ")
		l.number(lower)
	case high:
		l.word(" " + name + " >= ")
		l.number(lower)
	default:
		l.word(" ")
		if low {
			l.word("-inf")
		} else {
			l.number(lower)
		}
		l.word(" <= " + name + " <= ")
		l.number(upper)
	}
	l.end()
}

// kinds lists the integer variables. Those between 0 and 1 are binary.
func (l *lpWriter) kinds() {
	lower, upper := l.m.Bounds()
	for _, title := range []string{"General", "Binary"} {
		begun := false
		for j, name := range l.vars {
			binary := lower[j] == 0 && upper[j] == 1
			if !l.m.Var(j).Integer || binary != (title == "Binary") {
				continue
			}
			if !begun {
				l.text(title)
				begun = true
			}
			if l.at > maxLine {
				l.end()
			}
			l.word(" ")
			l.word(name)
		}
		if begun {
			l.end()
		}
	}
}

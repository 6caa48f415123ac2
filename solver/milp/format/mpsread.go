package format

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/hedgesched/hedge/solver/milp"
)

// MPS reads a model in free MPS, as CBC, GLPK, HiGHS, SCIP, lp_solve and [WriteMPS] write it: sections begin in the
// first column, names have no blanks, and sections may be left out. Where readers differ, it does this:
//
//   - A number on the right-hand side of the objective is subtracted from it, as CBC, HiGHS and SCIP have it. GLPK and
//     lp_solve add it, and so it is added in files whose first lines say that one of these has written them, but for
//     lp_solve's that maximise.
//   - The first N row is the objective; others are rows without bounds, whose right-hand sides and ranges are passed
//     over.
//   - An integer variable without any bound is 0 or 1, as CBC, GLPK, HiGHS and SCIP have it. lp_solve has no upper bound
//     for it, so that the reader warns of it.
//   - A negative upper bound on a variable whose lower bound was not given makes that -Inf.
//   - A range R on an E row is [rhs, rhs+R] for positive and [rhs+R, rhs] for negative R; on others its sign does not
//     matter.
//   - A variable that is in BOUNDS alone is one.
//   - $ begins a comment in place of a second or third name, unless something is called so.
//   - An error, since some take the first, some the last and some the sum: a second coefficient of a variable in a row,
//     a second right-hand side or range of a row, a second bound of the same kind that is another, a binary variable's
//     bound that is not within 0 and 1.
//
// GLPK and CBC do not write whether a model maximises, so that their files are read as ones that minimise.
//
// Errors are a [*SyntaxError], [milp.ErrInvalid] for a model that is not well formed, or from's own. It needs the
// memory of a second copy of the coefficients, since MPS has them by column.
func (r Reader) MPS(from io.Reader) (*milp.Model, error) {
	p := &mpsReader{input: newInput(from), builder: newBuilder(r), rowOf: map[string]int32{}, objective: -1, column: -1}
	for p.section != "ENDATA" {
		more, err := p.next()
		if err != nil {
			return nil, err
		}
		if !more {
			return nil, &SyntaxError{Line: p.line + 1, Column: 1, Found: "the end of the file", Expected: "ENDATA"}
		}
		if len(p.text) > 0 && p.text[0] == '*' {
			p.comment()
			continue
		}
		if p.split(); len(p.fields) == 0 {
			continue
		}
		if blank(p.text[0]) {
			err = p.data()
		} else {
			err = p.begin()
		}
		if err != nil {
			return nil, err
		}
	}
	return p.finish()
}

// field is a word of the current line and where it begins.
type field struct {
	text []byte
	at   int
}

type mpsReader struct {
	*input
	*builder
	fields  []field
	section string

	sensed  bool   // OBJSENSE was given
	creator string // the program that has written the file, where that makes a difference

	rows      []side
	goal      side             // the objective's row
	rowOf     map[string]int32 // the objective is -1
	objective int              // how many N rows there were, less 1
	sets      [3]string        // the names of the one set of RHS, RANGES and BOUNDS that is read

	column  int32 // the current one
	integer bool
	bounded []uint16 // by variable: the kinds of bounds that were given

	row   []int32 // entries, in the order of the file
	col   []int32
	value []float64
}

// split cuts the current line into fields, up to a comment.
func (p *mpsReader) split() {
	p.fields = p.fields[:0]
	for at := 0; at < len(p.text); {
		if blank(p.text[at]) {
			at++
			continue
		}
		from := at
		for at < len(p.text) && !blank(p.text[at]) {
			at++
		}
		if p.text[from] == '$' && p.dollar(p.text[from:at]) {
			return
		}
		p.fields = append(p.fields, field{p.text[from:at], from})
	}
}

// dollar reports whether a field that begins with $ and is the next of the line begins a comment. It does so in place
// of the names that MPS calls field 3 and 5, and behind the last field, unless a row or a variable is called so.
func (p *mpsReader) dollar(text []byte) bool {
	n := len(p.fields)
	if n == 0 || n == 1 && (p.section == "ROWS" || p.section == "BOUNDS" || !blank(p.text[0])) {
		return false
	}
	_, row := p.rowOf[string(text)]
	_, variable := p.of[string(text)]
	return p.section == "ROWS" || !row && !variable
}

// wrong is the error that field k is not what was expected; k may be one past the last.
func (p *mpsReader) wrong(k int, expected string) error {
	if k >= len(p.fields) {
		return &SyntaxError{Line: p.line, Column: len(p.text) + 1, Found: "the end of the line", Expected: expected}
	}
	return &SyntaxError{Line: p.line, Column: p.fields[k].at + 1, Found: quoted(p.fields[k].text), Expected: expected}
}

// begin is a line in the first column: a section.
func (p *mpsReader) begin() error {
	switch name := strings.ToUpper(string(p.fields[0].text)); name {
	case "NAME":
		if len(p.fields) > 1 {
			p.m.Name = string(p.fields[1].text)
		}
		if strings.EqualFold(p.m.Name, unnamed) {
			p.m.Name = ""
		}
		p.section = name
	case "OBJSENSE":
		p.section = name
		if len(p.fields) > 1 {
			return p.sense(1)
		}
	case "MAX", "MAXIMIZE", "MAXIMISE", "MIN", "MINIMIZE", "MINIMISE":
		if p.section != "OBJSENSE" { // some write it in the first column
			return p.noSection()
		}
		return p.sense(0)
	case "ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS", "ENDATA":
		p.section = name
	default:
		return p.noSection()
	}
	return nil
}

func (p *mpsReader) noSection() error {
	return p.wrong(0, "a section: NAME, OBJSENSE, ROWS, COLUMNS, RHS, RANGES, BOUNDS or ENDATA")
}

func (p *mpsReader) sense(k int) error {
	before := p.sensed && p.m.Maximize
	switch strings.ToUpper(string(p.fields[k].text)) {
	case "MAX", "MAXIMIZE", "MAXIMISE":
		p.m.Maximize = true
	case "MIN", "MINIMIZE", "MINIMISE":
		p.m.Maximize = false
	default:
		return p.wrong(k, "MIN or MAX")
	}
	if p.sensed && before != p.m.Maximize {
		p.note.warn(p.line, "OBJSENSE %s replaces the other one", p.fields[k].text)
	}
	p.sensed = true
	return nil
}

func (p *mpsReader) data() error {
	switch p.section {
	case "OBJSENSE":
		return p.sense(0)
	case "ROWS":
		return p.addRow()
	case "COLUMNS":
		return p.addColumn()
	case "RHS":
		return p.sides(0, p.setRHS)
	case "RANGES":
		return p.sides(1, p.setRange)
	case "BOUNDS":
		return p.bound()
	}
	return p.wrong(0, "a section in the first column")
}

func (p *mpsReader) addRow() error {
	if len(p.fields) != 2 {
		return p.wrong(2, "a kind of row and its name")
	}
	kind, name := strings.ToUpper(string(p.fields[0].text)), string(p.fields[1].text)
	if kind != "N" && kind != "L" && kind != "G" && kind != "E" {
		return p.wrong(0, "N, L, G or E")
	}
	if _, is := p.rowOf[name]; is {
		return p.wrong(1, "a name that no other row has")
	}
	if kind == "N" {
		p.objective++
		if p.objective == 0 {
			p.rowOf[name] = -1
			p.goal = side{name: name, kind: 'N'}
			return nil
		}
	}
	p.rowOf[name] = int32(len(p.rows))
	p.rows = append(p.rows, side{name: name, kind: kind[0]})
	return nil
}

func (p *mpsReader) addColumn() error {
	if len(p.fields) >= 3 && string(p.fields[1].text) == "'MARKER'" {
		switch string(p.fields[2].text) {
		case "'INTORG'":
			p.integer = true
		case "'INTEND'":
			p.integer = false
		default:
			return p.wrong(2, "'INTORG' or 'INTEND'")
		}
		return nil
	}
	name := p.fields[0].text
	if p.column < 0 || p.vars[p.column].Name != string(name) {
		if _, is := p.of[string(name)]; is {
			return p.wrong(0, "a new column, or the one of the line before")
		}
		p.column = p.variable(name)
		p.vars[p.column].Integer = p.integer
	}
	return p.pairs(1, p.addEntry)
}

// side is row i, -1 for the objective.
func (p *mpsReader) side(i int32) *side {
	if i < 0 {
		return &p.goal
	}
	return &p.rows[i]
}

func (p *mpsReader) addEntry(i int32, v float64, k int) error {
	if math.IsInf(v, 0) {
		return p.wrong(k, "a finite number")
	}
	row := p.side(i)
	if row.column == p.column+1 {
		return p.wrong(k-1, fmt.Sprintf("one coefficient of variable %q in row %q", p.vars[p.column].Name, row.name))
	}
	row.column = p.column + 1
	if i < 0 {
		p.vars[p.column].Cost = v
		return nil
	}
	p.inRow = p.inRow || p.column == p.offset
	p.row, p.col, p.value = append(p.row, i), append(p.col, p.column), append(p.value, v)
	return nil
}

// pairs hands on pairs of a row and a number that begin at field k, with the number's field.
func (p *mpsReader) pairs(k int, take func(i int32, v float64, k int) error) error {
	if k == len(p.fields) {
		return p.wrong(k, "a row")
	}
	for ; k < len(p.fields); k += 2 {
		i, is := p.rowOf[string(p.fields[k].text)]
		if !is {
			return p.wrong(k, "a row of the section ROWS")
		}
		v, err := p.number(k + 1)
		if err != nil {
			return err
		}
		if err := take(i, v, k+1); err != nil {
			return err
		}
	}
	return nil
}

// number is field k, which may be infinite.
func (p *mpsReader) number(k int) (float64, error) {
	if k >= len(p.fields) {
		return 0, p.wrong(k, "a number")
	}
	v, err := strconv.ParseFloat(string(p.fields[k].text), 64)
	if err != nil || math.IsNaN(v) {
		return 0, p.wrong(k, "a number")
	}
	return v, nil
}

// finish puts the entries into rows.
func (p *mpsReader) finish() (*milp.Model, error) {
	var binary []string
	for j := range p.vars {
		switch v := &p.vars[j]; {
		case j >= len(p.bounded) || p.bounded[j] == 0:
			if v.Integer {
				v.Upper = 1
				binary = append(binary, v.Name)
			}
		case v.Upper < 0 && p.bounded[j]&fixesLower == 0:
			p.note.warn(p.line, "variable %q has a negative upper bound, so that its lower bound is none", v.Name)
		}
	}
	if len(binary) > 0 {
		p.note.warn(p.line, "integer variables without bounds are 0 or 1, though lp_solve has no upper bound for them: "+
			"%d, the first is %q", len(binary), binary[0])
	}
	if p.goal.rhs != 0 {
		p.m.Offset = p.constant()
	}
	begin := make([]int, len(p.rows)+1)
	for _, i := range p.row {
		begin[i+1]++
	}
	for i := range p.rows {
		begin[i+1] += begin[i]
	}
	fill := append([]int(nil), begin...)
	index, value := make([]int32, len(p.row)), make([]float64, len(p.row))
	for k, i := range p.row {
		index[fill[i]], value[fill[i]] = p.col[k], p.value[k]
		fill[i]++
	}
	p.m.Grow(0, len(p.rows), len(index))
	for i, s := range p.rows {
		lower, upper := s.limits()
		p.m.AddRow(milp.Row{Name: s.name, Lower: lower, Upper: upper, Index: index[begin[i]:begin[i+1]], Value: value[begin[i]:begin[i+1]]})
	}
	return p.model()
}

package format

import (
	"math"
	"strconv"
	"strings"

	"github.com/hedgesched/hedge/solver/milp"
)

// maxName is the length of the longest name that is kept. CBC accepts 100 characters in LP files, and some are added to
// make names unique.
const maxName = 95

// reserved reports whether some LP reader treats name as the start of a section or as a bound.
func reserved(name string) bool {
	switch strings.ToLower(name) {
	case "max", "maximize", "maximise", "maximum", "min", "minimize", "minimise", "minimum", "subject",
		"such", "that", "to", "st", "s.t.", "st.", "bound", "bounds", "free", "inf", "infinity", "nan",
		"gen", "general", "generals", "int", "integer", "integers", "bin", "binary", "binaries", "semi",
		"semis", "sec", "sin", "sos", "sos1", "sos2", "end", "obj", "rhs", "rng", "bnd", "marker",
		"lazy", "user", "cuts", "constraints":
		return true
	}
	return false
}

// writable reports whether all readers accept name as a name.
func writable(name string) bool {
	if name == "" || len(name) > maxName || reserved(name) {
		return false
	}
	for i := range len(name) {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c != '.' && (c < '0' || c > '9')) {
			return false
		}
	}
	// After a number, a name such as e12 would be read as its exponent.
	return (name[0] != 'e' && name[0] != 'E') || len(name) > 1 && name[1] != '.' && (name[1] < '0' || name[1] > '9')
}

// namer makes unique names.
type namer struct {
	taken map[string]struct{} // nil while all names are generated, which makes them unique
}

// all returns a name for each of n things: its own if that is writable and not taken, or prefix and its number. If name
// is nil, none has a name of its own.
func (g *namer) all(n int, name func(int) string, prefix byte) []string {
	names := make([]string, n)
	for i := 0; name != nil && i < n; i++ {
		own := name(i)
		if !writable(own) {
			continue
		}
		if g.taken == nil {
			g.taken = make(map[string]struct{}, n)
		}
		if _, is := g.taken[own]; !is {
			g.taken[own] = struct{}{}
			names[i] = own
		}
	}
	buf := make([]byte, 0, 24)
	for i := range names {
		if names[i] == "" {
			buf = strconv.AppendInt(append(buf[:0], prefix), int64(i), 10)
			names[i] = g.fresh(string(buf))
		}
	}
	return names
}

// fresh is name, extended until it is unique.
func (g *namer) fresh(name string) string {
	if g.taken == nil {
		return name
	}
	for {
		if _, is := g.taken[name]; !is {
			g.taken[name] = struct{}{}
			return name
		}
		name += "_"
	}
}

// Names are the names that [WriteLP] and [WriteMPS] use for m's variables, for reading a solver's output.
func Names(m *milp.Model) []string {
	var g namer
	return g.all(m.Vars(), variableName(m), 'x')
}

func variableName(m *milp.Model) func(int) string { return func(j int) string { return m.Var(j).Name } }

func rowName(m *milp.Model) func(int) string { return func(i int) string { return m.Row(i).Name } }

// rowNames are the names of m's rows, made by all from name, and the names of the second halves of ranges that split
// says must be split.
func rowNames(m *milp.Model, name func(int) string, split func(lower, upper float64) bool) (names, second []string) {
	var g namer
	names = g.all(m.Rows(), name, 'c')
	lower, upper := m.RowBounds()
	for i := range names {
		if !split(lower[i], upper[i]) {
			continue
		}
		if second == nil {
			second = make([]string, len(names))
		}
		second[i] = g.fresh(names[i] + "_hi")
	}
	return names, second
}

// filled is m with at least a variable and a row, which some readers require.
func filled(m *milp.Model) *milp.Model {
	if m.Vars() > 0 && m.Rows() > 0 {
		return m
	}
	m = m.Clone()
	if m.Vars() == 0 {
		m.AddVar(milp.Var{})
	}
	if m.Rows() == 0 {
		m.AddRow(milp.Row{Lower: math.Inf(-1), Upper: 1})
	}
	return m
}

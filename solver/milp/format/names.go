package format

import (
	"math"
	"strconv"
	"strings"

	"github.com/hedgesched/hedge/solver/milp"
)

// maxName is the longest name kept: CBC takes 100 characters in LP files, and some are added to tell names apart.
const maxName = 95

// reserved reports whether some reader of LP files takes name for the start of a section or for a bound.
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

// writable reports whether all readers take name for one.
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
	// A name such as e12 behind a number would be read as its exponent.
	return (name[0] != 'e' && name[0] != 'E') || len(name) > 1 && name[1] != '.' && (name[1] < '0' || name[1] > '9')
}

// namer gives out names, none twice.
type namer struct {
	taken map[string]struct{} // nil as long as all names are generated ones, which differ by their numbers
}

// all has a name for each of n things: its own if it is writable and no earlier one has it, or prefix and its number.
// Without name none has one of its own.
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

// fresh is name, made longer until nothing else is called so.
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

// Names are the names by which [WriteLP] and [WriteMPS] call m's variables, for reading what a solver says of them.
func Names(m *milp.Model) []string {
	var g namer
	return g.all(m.Vars(), variableName(m), 'x')
}

func variableName(m *milp.Model) func(int) string { return func(j int) string { return m.Var(j).Name } }

func rowName(m *milp.Model) func(int) string { return func(i int) string { return m.Row(i).Name } }

// rowNames are the names of m's rows, by what all makes of name, and those of the second halves of ranges that split
// says are to be split.
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

// filled is m with a variable and a row, which not all readers can do without.
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

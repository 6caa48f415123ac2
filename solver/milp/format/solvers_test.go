package format_test

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/format"
)

// reader is a solver's executable that reads a file and prints the optimum.
type reader struct {
	name  string
	args  func(file string, lp bool) []string // what it writes to file.out is read too
	value *regexp.Regexp
	noMax bool // it does not honour OBJSENSE, and is given what WriteMinimized writes
	noLP  bool
}

const numeral = `([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)`

var readers = []reader{
	{name: "cbc", noMax: true, value: regexp.MustCompile(`objective value ` + numeral),
		args: func(file string, _ bool) []string {
			return []string{file, "-solve", "-solution", file + ".out"}
		}},
	{name: "glpsol", noMax: true, value: regexp.MustCompile(`(?m)^c Objective: .* = ` + numeral),
		args: func(file string, lp bool) []string {
			kind := "--freemps"
			if lp {
				kind = "--lp"
			}
			return []string{kind, file, "-w", file + ".out"}
		}},
	{name: "highs", value: regexp.MustCompile(`(?m)^Objective ` + numeral), args: func(file string, _ bool) []string {
		return []string{file, "--solution_file", file + ".out"}
	}},
	{name: "scip", value: regexp.MustCompile(`(?m)^objective value: +` + numeral),
		args: func(file string, _ bool) []string {
			return []string{"-c", "read " + file, "-c", "optimize", "-c", "display solution", "-c", "quit"}
		}},
	{name: "lp_solve", noLP: true, value: regexp.MustCompile(`Value of objective function: +` + numeral),
		args: func(file string, _ bool) []string {
			return []string{"-fmps", file, "-S3"}
		}},
}

// known is a model and its optimum, worked out by hand.
type known struct {
	name string
	m    *milp.Model
	want float64
}

// knownModels are read wrongly by a reader that has other defaults for bounds, signs of ranges or offsets, or order.
func knownModels() []known {
	inf := math.Inf(1)
	build := func(m milp.Model, vars []milp.Var, rows ...milp.Row) *milp.Model {
		for _, v := range vars {
			m.AddVar(v)
		}
		for _, r := range rows {
			m.AddRow(r)
		}
		return &m
	}
	xy := []int32{0, 1}
	return []known{
		{"knapsack", build(milp.Model{Maximize: true}, []milp.Var{{Upper: 1, Cost: 3, Integer: true},
			{Upper: 1, Cost: 4, Integer: true}, {Upper: 1, Cost: 5, Integer: true}},
			milp.Row{Lower: -inf, Upper: 5, Index: []int32{0, 1, 2}, Value: []float64{2, 3, 4}}), 7},
		{"offset", build(milp.Model{Offset: -7.25}, []milp.Var{{Cost: 2, Lower: 1.5, Upper: inf}},
			milp.Row{Lower: -inf, Upper: 9, Index: []int32{0}, Value: []float64{1}}), -4.25},
		{"ranges below",
			build(milp.Model{}, []milp.Var{{Lower: -inf, Upper: inf, Cost: 1}, {Lower: -inf, Upper: inf, Cost: 1}},
				milp.Row{Lower: -2, Upper: 3, Index: xy, Value: []float64{1, 2}},
				milp.Row{Lower: -5, Upper: -4, Index: xy, Value: []float64{1, -1}}), -3},
		{"ranges above", build(milp.Model{Maximize: true}, []milp.Var{{Lower: -inf, Upper: inf, Cost: 1}},
			milp.Row{Lower: -2, Upper: 3, Index: []int32{0}, Value: []float64{2}}), 1.5},
		{"integers without bounds", build(milp.Model{}, []milp.Var{{Lower: -inf, Upper: inf, Cost: 1, Integer: true},
			{Upper: inf, Integer: true, Cost: -1}, {Lower: -4, Upper: inf, Integer: true, Cost: 1}},
			milp.Row{Lower: -7.5, Upper: inf, Index: []int32{0}, Value: []float64{1}},
			milp.Row{Lower: -inf, Upper: 10.5, Index: []int32{1, 2}, Value: []float64{1, 0}}), -21},
		{"negative upper bounds", build(milp.Model{}, []milp.Var{{Lower: -9, Upper: -3, Cost: 1},
			{Lower: -inf, Upper: -2, Cost: -1}, {Lower: -8, Upper: -1, Cost: -1, Integer: true}},
			milp.Row{Lower: -20, Upper: inf, Index: xy, Value: []float64{1, 1}}), -6},
		{"no rows",
			build(milp.Model{Offset: 1}, []milp.Var{{Lower: -1, Upper: 2, Cost: 3}, {Lower: 2.5, Upper: 2.5, Cost: 2}}), 3},
		{"no objective", build(milp.Model{Offset: 5}, []milp.Var{{Upper: 1}, {Upper: 3, Integer: true}},
			milp.Row{Lower: 2, Upper: 2, Index: xy, Value: []float64{1, 1}}), 5},
		{"free and empty rows", build(milp.Model{Maximize: true}, []milp.Var{{Upper: inf, Cost: 1}},
			milp.Row{Lower: -inf, Upper: inf, Index: []int32{0}, Value: []float64{1}},
			milp.Row{Lower: -1, Upper: 1}, milp.Row{Lower: -inf, Upper: 4, Index: []int32{0}, Value: []float64{1}}), 4},
		{"digits",
			build(milp.Model{}, []milp.Var{{Lower: 123456.78901234567, Upper: inf, Cost: 1e3}, {Upper: inf, Cost: 1e-3}},
				milp.Row{Lower: 1e6, Upper: 1e6, Index: []int32{1}, Value: []float64{1}}), 123457789.01234567},
		{"names", build(milp.Model{}, []milp.Var{{Name: "free", Upper: 2, Cost: -1}, {Name: "e5", Upper: 3, Cost: -1},
			{Name: "x0", Upper: 4, Cost: -1}, {Name: "a long. name", Upper: 5, Cost: -1}},
			milp.Row{Name: "obj", Lower: -inf, Upper: 100, Index: []int32{0, 1, 2, 3}, Value: []float64{1, 1, 1, 1}}), -14},
	}
}

// find is the executable of that name. Tests that need it are skipped without it, unless HEDGE_REQUIRE_SOLVERS says
// that it must be there.
func find(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("HEDGE_REQUIRE_SOLVERS") != "" {
			t.Fatalf("HEDGE_REQUIRE_SOLVERS is set, and %s is not installed: %v", name, err)
		}
		t.Skipf("%s is not installed: %v", name, err)
	}
	return path
}

// TestSolversRead has each solver read what is written, and solve it.
func TestSolversRead(t *testing.T) {
	dir := t.TempDir()
	for _, r := range readers {
		t.Run(r.name, func(t *testing.T) {
			path := find(t, r.name)
			for _, k := range knownModels() {
				for _, lp := range []bool{true, false} {
					m, want := k.m, k.want
					if lp && r.noLP {
						continue
					}
					if !lp && r.noMax && m.Maximize {
						want = -want
					}
					file := filepath.Join(dir, "model.mps")
					if lp {
						file = filepath.Join(dir, "model.lp")
					}
					_ = os.Remove(file + ".out")
					write(t, file, m, lp, r.noMax)
					cmd := exec.Command(path, r.args(file, lp)...)
					cmd.Dir = dir // HiGHS leaves its log where it runs
					out, err := cmd.CombinedOutput()
					require.NoError(t, err, "%s", out)
					if more, err := os.ReadFile(file + ".out"); err == nil {
						out = append(out, more...)
					}
					found := r.value.FindSubmatch(out)
					text, _ := os.ReadFile(file)
					require.NotNil(t, found, "%s, lp %v: no objective in\n%s\nof\n%s", k.name, lp, out, text)
					got, err := strconv.ParseFloat(string(found[1]), 64)
					require.NoError(t, err)
					require.InDelta(t, want, got, 1e-6*math.Max(1, math.Abs(want)), "%s, lp %v:\n%s\nof\n%s", k.name, lp, out, text)
				}
			}
		})
	}
}

func write(t *testing.T, file string, m *milp.Model, lp, minimized bool) {
	t.Helper()
	f, err := os.Create(file)
	require.NoError(t, err)
	switch {
	case lp:
		err = format.WriteLP(f, m)
	case minimized:
		err = format.WriteMinimized(f, m)
	default:
		err = format.WriteMPS(f, m)
	}
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

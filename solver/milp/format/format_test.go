package format

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/milp"
)

var update = flag.Bool("update", false, "write the golden files anew")

var inf = math.Inf(1)

// codec is a format with its two functions.
type codec struct {
	name  string
	write func(io.Writer, *milp.Model) error
	read  func(io.Reader) (*milp.Model, error)
}

var codecs = []codec{{"lp", WriteLP, ReadLP}, {"mps", WriteMPS, ReadMPS}}

// everything is a model with all that a model can have.
func everything() *milp.Model {
	m := &milp.Model{Name: "everything", Maximize: true, Offset: 7.25}
	for _, v := range []milp.Var{
		{Name: "pick", Upper: 1, Cost: 3, Integer: true},
		{Upper: inf, Cost: 4, Integer: true},
		{Name: "e12", Lower: -3, Upper: 1e21, Cost: 0.1},
		{Name: "free", Lower: -inf, Upper: inf, Cost: -1},
		{Name: "pick", Lower: -inf, Upper: -2, Cost: 1.0 / 3},
		{Name: "ünïcode", Lower: 2.5, Upper: 2.5},
		{Name: "x1", Lower: -5, Upper: inf, Integer: true, Cost: -2},
		{Name: "two words", Upper: 9},
		{Name: "y.z_1", Lower: -inf, Upper: inf, Integer: true, Cost: -1e-9},
	} {
		m.AddVar(v)
	}
	m.AddRow(milp.Row{Name: "cap", Lower: -inf, Upper: 5, Index: []int32{0, 1, 0, 3}, Value: []float64{1, 3, 1, -1}})
	m.AddRow(milp.Row{Name: "range", Lower: -2, Upper: 3, Index: []int32{2, 6}, Value: []float64{1, 1e-7}})
	m.AddRow(
		milp.Row{Name: "range_hi", Lower: 1, Upper: inf, Index: []int32{8, 3}, Value: []float64{1, 12345678.901234567}})
	m.AddRow(milp.Row{Lower: 4, Upper: 4, Index: []int32{1, 7}, Value: []float64{1, 1}})
	m.AddRow(milp.Row{Name: "none", Lower: -inf, Upper: inf, Index: []int32{4}, Value: []float64{1}})
	m.AddRow(milp.Row{Name: "empty", Lower: -1, Upper: inf})
	m.AddRow(milp.Row{Name: "crossing", Lower: 2, Upper: 1, Index: []int32{0}, Value: []float64{1}})
	m.AddRow(milp.Row{Name: "inexact", Lower: -(1<<53 - 1), Upper: 1<<53 - 2, Index: []int32{0}, Value: []float64{1}})
	m.AddRow(milp.Row{Name: "fromabove", Lower: -1e16, Upper: 0.1, Index: []int32{7, 8, 7}, Value: []float64{1, 1, -1}})
	return m
}

// small is a random model: few of everything, and often the awkward.
func small(seed uint64) *milp.Model {
	r := rand.New(rand.NewPCG(seed, 1))
	number := func() float64 {
		return []float64{0, 1, -1, 0.1, -2.5, 1e-9, 3e7, 123456.78901234567, float64(r.IntN(20) - 10), r.NormFloat64(),
			math.Exp(20 * r.NormFloat64())}[r.IntN(11)]
	}
	bounds := func() (float64, float64) {
		a, b := number(), number()
		switch r.IntN(8) {
		case 0:
			return -inf, inf
		case 1:
			return -inf, a
		case 2:
			return a, inf
		case 3:
			return a, a
		case 4:
			return 0, 1
		case 5:
			return a, b
		default:
			return min(a, b), max(a, b)
		}
	}
	name := func() string {
		return []string{"", "", "x1", "x2", "c0", "c0_hi", "c1_", "a b", "e3", "E", "inf", "free", "end", "obj", "b", "b_hi",
			strings.Repeat("n", r.IntN(120))}[r.IntN(17)]
	}
	m := &milp.Model{Maximize: r.IntN(2) == 0, Offset: number()}
	for range r.IntN(8) {
		lower, upper := bounds()
		m.AddVar(milp.Var{Name: name(), Lower: lower, Upper: upper, Cost: number(), Integer: r.IntN(2) == 0})
	}
	for range r.IntN(8) {
		lower, upper := bounds()
		row := milp.Row{Name: name(), Lower: lower, Upper: upper}
		for range r.IntN(6) * min(m.Vars(), 1) {
			row.Index, row.Value = append(row.Index, int32(r.IntN(m.Vars()))), append(row.Value, number())
		}
		m.AddRow(row)
	}
	return m
}

// normal is what the package's comment says that a model becomes.
func normal(m *milp.Model, format string) *milp.Model {
	m = filled(m)
	split := splitLP
	if format == "mps" {
		split = splitMPS
	}
	out := &milp.Model{Maximize: m.Maximize, Offset: m.Offset}
	if format == "mps" && writable(m.Name) {
		out.Name = m.Name
	}
	for j, name := range Names(m) {
		v := m.Var(j)
		v.Name = name
		v.Lower, v.Upper = unlimited(v.Lower, v.Upper)
		out.AddVar(v)
	}
	names, second := rowNames(m, rowName(m), split)
	for i := range m.Rows() {
		r := m.Row(i)
		r.Name = names[i]
		r.Lower, r.Upper = unlimited(r.Lower, r.Upper)
		if second == nil || second[i] == "" {
			out.AddRow(r)
			continue
		}
		low, high := r, r
		low.Upper, high.Lower, high.Name = inf, -inf, second[i]
		out.AddRow(low)
		out.AddRow(high)
	}
	return out
}

// same compares two models in all that they have.
func same(t *testing.T, want, got *milp.Model) {
	t.Helper()
	require.NoError(t, got.Validate())
	assert.Equal(t, []any{want.Name, want.Maximize, want.Offset}, []any{got.Name, got.Maximize, got.Offset})
	require.Equal(t, want.Vars(), got.Vars())
	require.Equal(t, want.Rows(), got.Rows())
	for j := range want.Vars() {
		assert.Equal(t, want.Var(j), got.Var(j), "variable %d", j)
	}
	for i := range want.Rows() {
		w, g := want.Row(i), got.Row(i)
		assert.Equal(t, []any{w.Name, w.Lower, w.Upper}, []any{g.Name, g.Lower, g.Upper}, "row %d", i)
	}
	assert.Equal(t, want.ByRow(), got.ByRow())
}

func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	for _, c := range codecs {
		t.Run(c.name, func(t *testing.T) {
			models := []*milp.Model{everything(), {}, {Offset: -1.5, Maximize: true}}
			for seed := range uint64(400) {
				models = append(models, small(seed))
			}
			for k, m := range models {
				before := m.Clone()
				var file bytes.Buffer
				require.NoError(t, c.write(&file, m))
				assert.Equal(t, before, m.Clone(), "writing changes nothing")
				text := file.String()
				got, err := c.read(&file)
				require.NoError(t, err, "model %d:\n%s", k, text)
				same(t, normal(m, c.name), got)
				if t.Failed() {
					t.Fatalf("model %d:\n%s", k, text)
				}
			}
		})
	}
}

func TestNamesAreWritableAndUnique(t *testing.T) {
	for seed := range uint64(400) {
		m := small(seed)
		rows, second := rowNames(m, rowName(m), splitLP)
		for _, names := range [][]string{Names(m), append(rows, second...)} {
			seen := map[string]bool{}
			for _, name := range names {
				if name == "" { // no second half
					continue
				}
				assert.False(t, seen[name], "seed %d: %s", seed, name)
				seen[name] = true
				assert.Regexp(t, `^[A-Za-z_][A-Za-z0-9_.]*$`, name)
				assert.False(t, reserved(name), name)
			}
		}
	}
	m := everything()
	assert.Equal(t, []string{"pick", "x1_", "x2", "x3", "x4", "x5", "x1", "x7", "y.z_1"}, Names(m))
}

func TestLinesAreShort(t *testing.T) {
	m := &milp.Model{}
	row := milp.Row{Upper: 1e300}
	for j := range 2000 {
		m.AddVar(milp.Var{Name: strings.Repeat("v", 95) + fmt.Sprint(j), Cost: 1.0 / 3, Upper: 1.1234567890123456e-300,
			Lower: -1.1234567890123456e-300, Integer: true})
		row.Index, row.Value = append(row.Index, int32(j)), append(row.Value, -1.1234567890123456e-300)
	}
	m.AddRow(row)
	for _, c := range codecs {
		var file bytes.Buffer
		require.NoError(t, c.write(&file, m))
		for line := range strings.Lines(file.String()) {
			require.LessOrEqual(t, len(line), 255)
		}
	}
}

// TestGolden pins what is written down to the byte.
func TestGolden(t *testing.T) {
	for _, c := range codecs {
		var file bytes.Buffer
		require.NoError(t, c.write(&file, everything()))
		path := filepath.Join("testdata", "everything."+c.name)
		if *update {
			require.NoError(t, os.WriteFile(path, file.Bytes(), 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, string(want), file.String())
	}
}

// TestSolversFiles reads one small model as each solver has written it, and finds the same model.
func TestSolversFiles(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "written-by-*"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 8)
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			f, err := os.Open(path)
			require.NoError(t, err)
			defer f.Close()
			read := ReadLP
			if filepath.Ext(path) == ".mps" {
				read = ReadMPS
			}
			m, err := read(f)
			require.NoError(t, err)
			byName := map[string]milp.Var{}
			for j := range m.Vars() {
				v := m.Var(j)
				if !m.Maximize {
					v.Cost = 0 - v.Cost
				}
				byName[v.Name] = v
			}
			for _, want := range []milp.Var{
				{Name: "x", Upper: 1, Cost: 3, Integer: true}, {Name: "n", Upper: 8, Cost: 4, Integer: true},
				{Name: "k", Lower: 2, Upper: inf, Cost: -1, Integer: true}, {Name: "y", Lower: -inf, Upper: inf, Cost: 0.5},
				{Name: "z", Lower: -inf, Upper: 4, Cost: -2}, {Name: "w", Upper: inf},
			} {
				if _, is := byName["w"]; is || want.Name != "w" { // CBC writes the model without what its presolve has settled
					assert.Equal(t, want, byName[want.Name])
				}
			}
			x := map[string]float64{"x": 1, "n": 1, "k": 2, "y": 2.5, "z": -4.5, "w": 3}
			for _, name := range []string{"x", "n", "k", "y", "z"} {
				v := x[name]
				for _, off := range []float64{0, -30, 30} {
					assertPoint(t, m, x, name, v, off)
				}
			}
		})
	}
}

// assertPoint checks that x is a point of the model that the files have, and is none once one variable is moved by off.
func assertPoint(t *testing.T, m *milp.Model, x map[string]float64, name string, v, off float64) {
	t.Helper()
	point := make([]float64, m.Vars())
	slack := map[string]bool{}
	for j := range point {
		point[j] = x[m.Var(j).Name]
		if m.Var(j).Name == name {
			point[j] = v + off
		}
		if _, is := x[m.Var(j).Name]; !is {
			slack[m.Var(j).Name] = true
		}
	}
	if len(slack) > 0 { // GLPK's LP files have a variable for each range
		return
	}
	if err := milp.Check(m, point); off == 0 {
		assert.NoError(t, err)
	} else {
		assert.Error(t, err, "%s moved by %v", name, off)
	}
}

func TestMinimizedIsTheSameModel(t *testing.T) {
	for seed := range uint64(200) {
		m := small(seed)
		var file bytes.Buffer
		require.NoError(t, WriteMinimized(&file, m))
		got, err := ReadMPS(&file)
		require.NoError(t, err)
		assert.False(t, got.Maximize)
		assert.Empty(t, got.Name)
		x := make([]float64, got.Vars())
		for j := range x {
			x[j] = float64(j%3) - 0.5
			assert.Equal(t, fmt.Sprint("x", j), got.Var(j).Name)
		}
		want := m.Objective(x[:m.Vars()])
		if m.Maximize {
			want = 0 - want
		}
		assert.InDelta(t, want, got.Objective(x), 1e-9*math.Max(1, math.Abs(want)))
	}
}

func TestWritersTellOfTheirErrors(t *testing.T) {
	bad := &milp.Model{Offset: math.NaN()}
	for _, c := range codecs {
		require.ErrorIs(t, c.write(io.Discard, bad), milp.ErrInvalid)
		require.ErrorIs(t, WriteMinimized(io.Discard, bad), milp.ErrInvalid)
		require.ErrorIs(t, c.write(failing{}, everything()), errFull)
		_, err := c.read(iotest.ErrReader(errFull))
		require.ErrorIs(t, err, errFull)
	}
}

var errFull = errors.New("no room")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }

// BenchmarkFiles writes and reads a model of ten million entries.
func BenchmarkFiles(b *testing.B) {
	m := &milp.Model{}
	for range 100_000 {
		m.AddVar(milp.Var{Upper: 1, Integer: true, Cost: 1.5})
	}
	index, value := make([]int32, 1000), make([]float64, 1000)
	for i := range 10_000 {
		for k := range index {
			index[k], value[k] = int32((i*7+k*97)%100_000), float64(k%13)+0.1
		}
		m.AddRow(milp.Row{Upper: 1, Index: index, Value: value, Lower: -inf})
	}
	for _, c := range codecs {
		var file bytes.Buffer
		if err := c.write(&file, m); err != nil {
			b.Fatal(err)
		}
		b.Run("write "+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = c.write(io.Discard, m)
			}
			b.SetBytes(int64(file.Len()))
		})
		b.Run("read "+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.read(bytes.NewReader(file.Bytes())); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(file.Len()))
		})
	}
}

package format

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/milp"
)

const lpHead = "Minimize\n obj: x + y\nSubject To\n"

func TestReadLPUnderstands(t *testing.T) {
	row := func(lower, upper float64, x, y float64) *milp.Model {
		m := &milp.Model{}
		m.AddVar(milp.Var{Name: "x", Upper: inf, Cost: 1})
		m.AddVar(milp.Var{Name: "y", Upper: inf, Cost: 1})
		r := milp.Row{Name: "c", Lower: lower, Upper: upper}
		for j, v := range []float64{x, y} {
			if v != 0 {
				r.Index, r.Value = append(r.Index, int32(j)), append(r.Value, v)
			}
		}
		m.AddRow(r)
		return m
	}
	for text, want := range map[string]*milp.Model{
		"c: 2x - 3 y =< 4":                     row(-inf, 4, 2, -3),
		"c : 2 x\n + - 3 y\n < 4":              row(-inf, 4, 2, -3),
		"c: - x => -4e0":                       row(-4, inf, -1, 0),
		"c: x + 2 x - y = .5":                  row(0.5, 0.5, 3, -1),
		"c: -1 <= x + y <= 2":                  row(-1, 2, 1, 1),
		"c: 2 >= x + y >= -1":                  row(-1, 2, 1, 1),
		"c: -inf <= x + y <= 2":                row(-inf, 2, 1, 1),
		"c: 3 >= y":                            row(-inf, 3, 0, 1),
		"c: x >= -1e30":                        row(-inf, inf, 1, 0),
		"c: x <= +infinity":                    row(-inf, inf, 1, 0),
		"c: >= -1":                             row(-1, inf, 0, 0),
		"c: 0 x >= -1 \\ nothing\n\\* all *\\": row(-1, inf, 0, 0),
		"c: x <= 5\nBounds\nx >= 0\n0 <= y":    row(-inf, 5, 1, 0),
	} {
		m, err := ReadLP(strings.NewReader(lpHead + text + "\nEnd\n"))
		require.NoError(t, err, text)
		same(t, want, m)
	}
}

func TestReadLPBounds(t *testing.T) {
	m, err := ReadLP(strings.NewReader("max 3 a + b + 2 + d + e.x + 0.5 z s.t.: q + a <= 1\nsuch that\n" +
		"bounds\n-2 <= a <= 3\nb free\n 4 >= d\nd >= -inf\n e.x = 7 z <= -1\n q >= 1\nints\n"))
	require.Error(t, err)
	require.Nil(t, m)
	m, err = ReadLP(strings.NewReader("MAX 3 a + b + 2 + d\n + e.x + 0.5 z\nST\n q + a <= 1\n r - a >= 2 z >= 0\n" +
		"bounds\n-2 <= a <= 3\nb free\n 4 >= d\nd >= -inf\n e.x = 7 z <= -1\n q >= 1\nint\n a b\nBin\nr\nEND"))
	require.NoError(t, err)
	assert.True(t, m.Maximize)
	assert.Equal(t, 2.0, m.Offset)
	var got []milp.Var
	for j := range m.Vars() {
		got = append(got, m.Var(j))
	}
	assert.Equal(t, []milp.Var{
		{Name: "a", Lower: -2, Upper: 3, Cost: 3, Integer: true},
		{Name: "b", Lower: -inf, Upper: inf, Cost: 1, Integer: true},
		{Name: "d", Lower: -inf, Upper: 4, Cost: 1}, {Name: "e.x", Lower: 7, Upper: 7, Cost: 1},
		{Name: "z", Upper: -1, Cost: 0.5},
		{Name: "q", Lower: 1, Upper: inf}, {Name: "r", Upper: 1, Integer: true},
	}, got)
	assert.Equal(t, 3, m.Rows())
}

func TestReadLPNamesTheOffender(t *testing.T) {
	for text, want := range map[string]string{
		"":                                          `line 1:1: found the end of the file, expected Minimize or Maximize`,
		"x + y":                                     `line 1:1: found "x", expected Minimize or Maximize`,
		"min x\nst x <= 3":                          `line 3:1: found the end of the file, expected a section`,
		"min x\nst\n x * y <= 3\nend":               `line 3:4: found "*"`,
		"min [ x ^2 ]/2\nst\nend":                   `line 1:5: found "["`,
		"min x y\nst\nend":                          `line 1:7: found "y", expected a section`,
		"min x\nst\n x + 2 <= 3\nend":               `expected a row without constants`,
		"min x\nst\n x <= y\nend":                   `line 3:7: found "y", expected a number`,
		"min x\nst\n x\nend":                        `line 4:1: found "end", expected one of <=, = and >=`,
		"min x\nst\n 1 <= x >= 2\nend":              `line 3:9: found ">=", expected the relation`,
		"min x\nst\nbounds\n 3 >= <= y\nend":        `line 4:7: found "<=", expected a variable`,
		"min x\nst\ngenerals\n x 3\nend":            `line 4:4: found "3", expected a variable`,
		"min x\nst\nsemi-continuous\n x\nend":       `line 3:1: found "semi", expected a linear model`,
		"min x\nst\nSemis\n x\nend":                 `line 3:1: found "Semis", expected a linear model`,
		"min x\nst\nsos1\n s1: x:1\nend":            `line 3:1: found "sos1", expected a linear model`,
		"min x\nst\nuser cuts\n x <= 1\nend":        `line 3:1: found "user", expected a linear model`,
		"min x\nst\nlazy constraints\n x <= 1\nend": `line 3:1: found "lazy", expected a linear model`,
		"min x\nst\nbin\n x\nbounds\n x <= 2\nend": "line 6:2: found bounds 0 and 2 of the binary variable \"x\", " +
			"expected bounds within 0 and 1",
		"min x\nst\nbounds\n x free\nbin\n x\nend": "line 6:2: found bounds -Inf and 1 of the binary variable \"x\", " +
			"expected bounds within 0 and 1",
		"min x\nst\nbounds\n x <= -1\nbin\n x\nend": "line 6:2: found bounds 0 and -1 of the binary variable \"x\", " +
			"expected bounds within 0 and 1",
		"min x\nst\n 1e999 x <= 1\nend":    `line 3:2: found "1e999", expected a finite number`,
		"min x\nst\n x <= 1..2\nend":       `line 3:7: found "1..2", expected a finite number`,
		"min x + - \nst\n x <= 1\nend":     `line 2:1: found "st", expected a number or a variable behind the sign`,
		"min x\nsubject\n x <= 1\nend":     `line 3:2: found "x", expected "to" or "that"`,
		"min x\nst\n b = 1 -> x <= 2\nend": `line 3:9: found ">", expected a number or a variable behind the sign`,
	} {
		_, err := ReadLP(strings.NewReader(text))
		require.ErrorIs(t, err, milp.ErrInvalid, text)
		var syntax *SyntaxError
		require.ErrorAs(t, err, &syntax, text)
		assert.ErrorContains(t, err, want, text)
	}
}

const mpsHead = "NAME t\nROWS\n N obj\n N other\n L l\n G g\n E e\nCOLUMNS\n x obj 1 l 1\n x g 1 e 1\n" +
	" M 'MARKER' 'INTORG'\n n obj 1 l 2\n i l 1\n M 'MARKER' 'INTEND'\n y other 1\n z obj 0\n"

func TestReadMPSBounds(t *testing.T) {
	m, err := ReadMPS(strings.NewReader("* a comment\n\nOBJSENSE\n  MAXIMIZE\n" + mpsHead +
		"RHS\n RHS obj -3 l 4\n g -5 e 6\nRANGES\n R l 3 g -4\n R e -2\nBOUNDS\n UP x -1\n PL n\n MI B y\n UP B y 8\n UI " +
		"B z 5 \nENDATA\n"))
	require.NoError(t, err)
	want := &milp.Model{Name: "t", Maximize: true, Offset: 3}
	for _, v := range []milp.Var{
		{Name: "x", Lower: -inf, Upper: -1, Cost: 1}, {Name: "n", Upper: inf, Cost: 1, Integer: true},
		{Name: "i", Upper: 1, Integer: true},
		{Name: "y", Lower: -inf, Upper: 8}, {Name: "z", Upper: 5, Integer: true},
	} {
		want.AddVar(v)
	}
	want.AddRow(milp.Row{Name: "other", Lower: -inf, Upper: inf, Index: []int32{3}, Value: []float64{1}})
	want.AddRow(milp.Row{Name: "l", Lower: 1, Upper: 4, Index: []int32{0, 1, 2}, Value: []float64{1, 2, 1}})
	want.AddRow(milp.Row{Name: "g", Lower: -5, Upper: -1, Index: []int32{0}, Value: []float64{1}})
	want.AddRow(milp.Row{Name: "e", Lower: 4, Upper: 6, Index: []int32{0}, Value: []float64{1}})
	same(t, want, m)

	for text, want := range map[string]milp.Var{
		" FR B n\n":                {Lower: -inf, Upper: inf, Integer: true},
		" BV y\n FX B n 3\n":       {Lower: 3, Upper: 3, Integer: true},
		" BV B n 1\n":              {Upper: 1, Integer: true},
		" LI B n -2\n":             {Lower: -2, Upper: inf, Integer: true},
		" LO B n -2\n UP B n -1\n": {Lower: -2, Upper: -1, Integer: true},
		" UP B n 1e30\n":           {Upper: inf, Integer: true},
		" LO B n -Infinity\n":      {Lower: -inf, Upper: inf, Integer: true},
		" FR n 0\n":                {Lower: -inf, Upper: inf, Integer: true},
	} {
		m, err := ReadMPS(strings.NewReader(mpsHead + "BOUNDS\n" + text + "ENDATA"))
		require.NoError(t, err, text)
		want.Name, want.Cost = "n", 1
		assert.Equal(t, want, m.Var(1), text)
	}
}

// TestReadMPSRanges has the table of signs: which bounds a range makes of a right-hand side of 10.
func TestReadMPSRanges(t *testing.T) {
	for text, want := range map[string][2]float64{
		"L 3": {7, 10}, "L -3": {7, 10}, "G 3": {10, 13}, "G -3": {10, 13}, "E 3": {10, 13}, "E -3": {7, 10}, "E 0": {10, 10},
		"L 0": {10, 10},
	} {
		m, err := ReadMPS(strings.NewReader("ROWS\n N o\n " + text[:1] + " r\nCOLUMNS\n x r 1\nRHS\n r 10\nRANGES\n r " +
			text[2:] + "\nENDATA\n"))
		require.NoError(t, err)
		assert.Equal(t, want, [2]float64{m.Row(0).Lower, m.Row(0).Upper}, text)
	}
}

func TestReadMPSNamesTheOffender(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    `line 1:1: found the end of the file, expected ENDATA`,
		"NAME\n x y\n":                        `line 2:2: found "x", expected a section in the first column`,
		"SOS1\n":                              `line 1:1: found "SOS1", expected a section`,
		"OBJSENSE\n  sideways\n":              `line 2:3: found "sideways", expected MIN or MAX`,
		"ROWS\n K r\n":                        `line 2:2: found "K", expected N, L, G or E`,
		"ROWS\n L\n":                          `line 2:3: found the end of the line, expected a kind of row`,
		"ROWS\n L r\n E r\n":                  `line 3:4: found "r", expected a name that no other row has`,
		"ROWS\n L r\nCOLUMNS\n x q 1\n":       `line 4:4: found "q", expected a row`,
		"ROWS\n L r\nCOLUMNS\n x r 1x\n":      `line 4:6: found "1x", expected a number`,
		"ROWS\n L r\nCOLUMNS\n x r inf\n":     `line 4:6: found "inf", expected a finite number`,
		"ROWS\n L r\nCOLUMNS\n x r\n":         `line 4:5: found the end of the line, expected a number`,
		mpsHead + " x l 1\n":                  `line 17:2: found "x", expected a new column`,
		mpsHead + "RHS\n R nan 1\n":           `line 18:4: found "nan", expected a row`,
		mpsHead + "RHS\n R l nan\n":           `line 18:6: found "nan", expected a number`,
		mpsHead + "RHS\n R l 1\n S l 1\n":     `line 19:2: found "S", expected the set "R"`,
		mpsHead + "BOUNDS\n SC B x 1\n":       `line 18:2: found "SC", expected LO`,
		mpsHead + "BOUNDS\n UP B x\n":         `line 18:7: found "x", expected a number`,
		mpsHead + "RHS\n R l 1\n R g 2 l 1\n": `line 19:8: found "l", expected one right-hand side of row "l"`,
		mpsHead + "RHS\n R obj 1\n R obj 1\n": `line 19:4: found "obj", expected one right-hand side of row "obj"`,
		mpsHead + "RANGES\n R l 1 l 2\n":      `line 18:8: found "l", expected one range of row "l"`,
		mpsHead + " q l 1 g 2\n q l 1\n":      `line 18:4: found "l", expected one coefficient of variable "q" in row "l"`,
		mpsHead +
			" q obj 1 obj 2\n": `line 17:10: found "obj", expected one coefficient of variable "q" in row "obj"`,
		mpsHead + "BOUNDS\n UP x 1\n UP x 2\n": `line 19:2: found "UP", expected one bound UP of variable "x"`,
		mpsHead +
			"BOUNDS\n BV x\n UP x 2\n": `line 19:2: found "UP", expected bounds of the binary variable "x" within 0 and 1`,
		mpsHead +
			"BOUNDS\n BV x\n LO x -1\n": `line 19:2: found "LO", expected bounds of the binary variable "x" within 0 and 1`,
		mpsHead +
			"BOUNDS\n BV x\n FR x\n": `line 19:2: found "FR", expected bounds of the binary variable "x" within 0 and 1`,
		"NAME\nMAX\n":                         `line 2:1: found "MAX", expected a section`,
		mpsHead + "BOUNDS\n UP x\n":           `line 18:6: found the end of the line, expected a bound's`,
		mpsHead + "BOUNDS\n M 'MARKER' 'X'\n": `found "M"`,
	} {
		_, err := ReadMPS(strings.NewReader(text))
		require.ErrorIs(t, err, milp.ErrInvalid, text)
		var syntax *SyntaxError
		require.ErrorAs(t, err, &syntax, text)
		assert.ErrorContains(t, err, want, text)
	}
}

func FuzzReadLP(f *testing.F)  { fuzz(f, codecs[0]) }
func FuzzReadMPS(f *testing.F) { fuzz(f, codecs[1]) }

// fuzz: whatever is read can be written, and is then read as what the writer says that it becomes.
func fuzz(f *testing.F, c codec) {
	files, _ := filepath.Glob(filepath.Join("testdata", "*."+c.name))
	cases, _ := filepath.Glob(filepath.Join("testdata", "cases", "*."+c.name))
	files = append(files, cases...)
	for _, path := range files {
		text, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(text)
	}
	for seed := range uint64(20) {
		var file bytes.Buffer
		require.NoError(f, c.write(&file, small(seed)))
		f.Add(file.Bytes())
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := c.read(bytes.NewReader(text))
		if err != nil {
			require.ErrorIs(t, err, milp.ErrInvalid)
			return
		}
		var file bytes.Buffer
		require.NoError(t, c.write(&file, m))
		got, err := c.read(bytes.NewReader(file.Bytes()))
		require.NoError(t, err, "%s", file.Bytes())
		same(t, normal(m, c.name), got)
	})
}

// TestReadLPTellsNamesFromTitles has one objective and row, in which names are keywords; what it wants are the
// variables and the rows.
func TestReadLPTellsNamesFromTitles(t *testing.T) {
	for text, want := range map[string]string{
		"max\n 2 st + end\nst\n st + end <= 3\nend":                       "st end|:3",
		"max 2 st + end\nst\n st: st + 2\n end <= 3\n end: end <= 4\nEND": "st end|st:3 end:4",
		"min obj: int\n + bounds\nsubject to\n bounds + int >= 1\nbounds\n bounds <= 4\n 1 <= int <= 2\nint\n int\n " +
			"bounds\nend": "int! bounds!|:Inf",
		"min obj: free\nst\n c: free >= 1\nbounds\n free free\nend":  "free|c:Inf",
		"min bounds\nst\n c: bounds >= 1\nbounds\n bounds free\nend": "bounds|c:Inf",
		"min inf\nst\n - inf <= 3\n -infinity <= x + inf <= 3\n y + inf <= 4\n" +
			"bounds\n 0 <= inf\n y <= inf\nend": "inf x y|:3 :3 :4",
		"min semi + sos1\nst\n semi - sos1 >= 1\nbounds\n semi <= 3\ngen\n semi\nsos1\nsemi\nend": "semi! sos1!|:Inf",
		"min obj:\nst\n c: x >= 1\nbin\ngen\nsemi\nend":                                           "x|c:Inf",
		"min obj: 1x + 2 1x + 3 2y\nst\n c: x >= 1\nbounds\n 2y <= 3\n 0 <= 1x\ngen\n 1x\nend":    "x 1x! 2y|c:Inf",
		"max a subject to -a >= -1 bounds -1 <= a <= 5 end":                                       "a|:Inf",
		"max 2 a + 3 st st c: a <= 2 st <= 3 end":                                                 "a st|c:2 :3",
		"min x subject to x >= 1 bounds x <= 4 int x end":                                         "x!|:Inf",
		"Minimize:\n x\nSubject To:\n x >= 1\nend":                                                "x|:Inf",
	} {
		m, err := ReadLP(strings.NewReader(text))
		require.NoError(t, err, text)
		var vars, rows []string
		for j := range m.Vars() {
			v := m.Var(j)
			if v.Integer {
				v.Name += "!"
			}
			vars = append(vars, v.Name)
		}
		for i := range m.Rows() {
			rows = append(rows, fmt.Sprint(m.Row(i).Name, ":", m.Row(i).Upper))
		}
		got := strings.Join(vars, " ") + "|" + strings.Join(rows, " ")
		assert.Equal(t, want, strings.ReplaceAll(got, "+Inf", "Inf"), text)
	}
}

// TestReadMPSDollars: a comment begins with $ in place of a name, but names may begin with it where there are such.
func TestReadMPSDollars(t *testing.T) {
	m, err := ReadMPS(
		strings.NewReader(
			"NAME $t $ a\nROWS $ b\n N obj $ c\n L $r $ d\n L r$\nCOLUMNS\n x obj 1 $ e\n x $r 2 r$ 3 $f\n $y $r 4 $g h i\n" +
				"RHS\n R $r 5 $ j\nBOUNDS\n UP B $y 7 $ k\n UP B x$ 8\n UP $y 7 $ l\nENDATA\n"))
	require.NoError(t, err)
	want := &milp.Model{Name: "$t"}
	want.AddVar(milp.Var{Name: "x", Upper: inf, Cost: 1})
	want.AddVar(milp.Var{Name: "$y", Upper: 7})
	want.AddVar(milp.Var{Name: "x$", Upper: 8})
	want.AddRow(milp.Row{Name: "$r", Lower: -inf, Upper: 5, Index: []int32{0, 1}, Value: []float64{2, 4}})
	want.AddRow(milp.Row{Name: "r$", Lower: -inf, Upper: 0, Index: []int32{0}, Value: []float64{3}})
	same(t, want, m)
}

package dist_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
)

// TestForms pins the documented form of every kind: a file of today must be readable tomorrow.
func TestForms(t *testing.T) {
	exponential := need[dist.Exponential](t)(dist.NewExponential(30))
	lognormal := need[dist.Lognormal](t)(dist.NewLognormal(5, 0.8))
	a := need[dist.Distribution](t)
	for want, d := range map[string]dist.Distribution{
		`{"kind":"point","v":7}`: need[dist.Point](t)(
			dist.NewPoint(7)),
		`{"kind":"point","v":0}`: dist.Point{},
		`{"kind":"uniform","lo":2,"hi":9.5}`: need[dist.Uniform](t)(
			dist.NewUniform(2, 9.5)),
		`{"kind":"uniform","lo":0,"hi":0}`: dist.Uniform{},
		`{"kind":"normal","mu":-1,"sigma":20}`: need[dist.Normal](t)(
			dist.NewNormal(-1, 20)),
		`{"kind":"normal","mu":0,"sigma":0}`:      dist.Normal{},
		`{"kind":"lognormal","mu":5,"sigma":0.8}`: lognormal,
		`{"kind":"lognormal","mu":0,"sigma":0}`:   dist.Lognormal{},
		`{"kind":"exponential","mean":30}`:        exponential,
		`{"kind":"exponential","mean":0}`:         dist.Exponential{},
		`{"kind":"histogram","x":[1,2],"cum":[0,1]}`: need[*dist.Histogram](t)(
			dist.FromKnots([]float64{1, 2}, []float64{0, 1})),
		`{"kind":"conditioned","of":{"kind":"lognormal","mu":5,"sigma":0.8},"elapsed":60}`: a(dist.Condition(lognormal, 60)),
		`{"kind":"affine","of":{"kind":"exponential","mean":30},"mul":1,"add":60}`: a(
			dist.Condition(exponential, 60)),
		`{"kind":"affine","of":{"kind":"lognormal","mu":0,"sigma":0},"mul":3,"add":0}`: a(dist.Scale(dist.Lognormal{}, 3)),
		`{"kind":"maximum","of":{"kind":"exponential","mean":30},"n":5}`:               a(dist.MaxOf(exponential, 5)),
		`{"kind":"mixture","parts":[{"weight":0.25,"of":{"kind":"exponential","mean":30}},{"weight":0.75,"of":{"kind":"point","v":0}}]}`: a(
			dist.NewMixture([]dist.Component{{1, exponential}, {3, dist.Point{}}})),
	} {
		got, err := dist.Marshal(d)
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
		back, err := dist.Unmarshal(got)
		require.NoError(t, err, want)
		assert.Equal(t, d, back)
	}
}

// grown is a distribution made by random constructors on top of one another.
func grown(rng *rand.Rand, base []named, depth int) (dist.Distribution, error) {
	if depth == 0 {
		return base[rng.IntN(len(base))].d, nil
	}
	d, err := grown(rng, base, depth-1)
	if err != nil {
		return nil, err
	}
	switch rng.IntN(6) {
	case 0:
		return dist.Scale(d, math.Exp(4*rng.NormFloat64()))
	case 1:
		lo, _ := d.Bounds()
		return dist.Shift(d, 100*rng.Float64()-lo*rng.Float64())
	case 2:
		return dist.Condition(d, d.Quantile(0.999*rng.Float64()))
	case 3:
		return dist.MaxOf(d, 1+rng.IntN(9))
	case 4:
		return dist.Sum(d, base[rng.IntN(len(base))].d)
	default:
		return dist.NewMixture([]dist.Component{{rng.Float64(), d}, {rng.Float64(), base[rng.IntN(len(base))].d}})
	}
}

func TestWhateverIsGrownIsReadBack(t *testing.T) {
	base := all(t)
	rng := rand.New(rand.NewPCG(41, 42))
	for trial := range 400 {
		d, err := grown(rng, base, 1+rng.IntN(5))
		require.NoError(t, err)
		data, err := dist.Marshal(d)
		require.NoError(t, err, "trial %d", trial)
		back, err := dist.Unmarshal(data)
		require.NoError(t, err, "trial %d: %.300s", trial, data)
		require.Equal(t, d, back, "trial %d: %.300s", trial, data)
	}
}

func TestExtremesAreReadBack(t *testing.T) {
	a := need[dist.Distribution](t)
	tiny := math.SmallestNonzeroFloat64
	for name, d := range map[string]dist.Distribution{
		"smallest":              need[dist.Point](t)(dist.NewPoint(tiny)),
		"largest":               need[dist.Uniform](t)(dist.NewUniform(tiny, math.MaxFloat64)),
		"minus zero":            need[dist.Point](t)(dist.NewPoint(math.Copysign(0, -1))),
		"normal scaled away":    a(dist.Scale(need[dist.Normal](t)(dist.NewNormal(-30, 1)), 1e-323)),
		"lognormal scaled away": a(dist.Scale(need[dist.Lognormal](t)(dist.NewLognormal(-300, 1)), 1e-300)),
		"exponential gone":      a(dist.Scale(need[dist.Exponential](t)(dist.NewExponential(1e-300)), 1e-300)),
		"masses that round to one": need[*dist.Histogram](t)(dist.NewHistogram(
			[]float64{0, 1, 2, 3, 4}, []float64{1e-320, 1, 1e-17, 1e-17})),
		"jumps that round away": need[*dist.Histogram](t)(dist.NewHistogram(
			[]float64{1, 1, 1, 1, 2, 2, 2}, []float64{3, 1e-17, 1, 1, 1e-18, 7})),
		"many draws": a(dist.MaxOf(need[dist.Exponential](t)(dist.NewExponential(1)), 1<<30)),
	} {
		data, err := dist.Marshal(d)
		require.NoError(t, err, name)
		back, err := dist.Unmarshal(data)
		require.NoError(t, err, "%s: %s", name, data)
		assert.Equal(t, d, back, name)
		p := math.Float64bits(d.Quantile(0.5))
		assert.Equal(t, p, math.Float64bits(back.Quantile(0.5)), name)
	}
}

func TestMarshalRefuses(t *testing.T) {
	_, err := dist.Marshal(foreign{dist.Point{}})
	require.ErrorIs(t, err, dist.ErrForeign)
	assert.ErrorContains(t, err, "dist_test.foreign")
	mix, err := dist.NewMixture([]dist.Component{{1, foreign{dist.Point{}}},
		{1, need[dist.Exponential](t)(dist.NewExponential(1))}})
	require.NoError(t, err)
	_, err = dist.Marshal(mix)
	require.ErrorIs(t, err, dist.ErrForeign, "inside another")
	for name, d := range map[string]dist.Distribution{
		"nil": nil, "nil histogram": (*dist.Histogram)(nil), "histogram of nothing": &dist.Histogram{},
		"mixture of nothing": dist.Mixture{},
	} {
		_, err := dist.Marshal(d)
		var p *dist.ParamError
		require.ErrorAs(t, err, &p, name)
	}
	var deep dist.Distribution = need[dist.Exponential](t)(dist.NewExponential(1))
	for range 31 {
		deep, err = dist.MaxOf(deep, 2)
		require.NoError(t, err)
	}
	data, err := dist.Marshal(deep)
	require.NoError(t, err)
	_, err = dist.Unmarshal(data)
	require.NoError(t, err)
	deep, err = dist.MaxOf(deep, 2)
	require.NoError(t, err)
	_, err = dist.Marshal(deep)
	require.ErrorIs(t, err, dist.ErrInvalid)
	_, err = dist.Unmarshal([]byte(`{"kind":"maximum","n":2,"of":` + string(data) + `}`))
	require.ErrorIs(t, err, dist.ErrFormat)
}

func TestUnmarshalRefuses(t *testing.T) {
	const point, exponential = `{"kind":"point","v":1}`, `{"kind":"exponential","mean":1}`
	for in, field := range map[string]string{
		``:                          "",
		`null`:                      "",
		`[1]`:                       "",
		point + point:               "",
		"{\"kind\":\"point\xff\"}":  "kind",
		`{}`:                        "kind",
		`{"kind":7,"v":1}`:          "kind",
		`{"kind":"dirac","v":1}`:    "kind",
		`{"Kind":"point","v":1}`:    "Kind",
		`{"kind":"point"}`:          "v",
		`{"kind":"point","v":null}`: "v",
		`{"kind":"histogram","x":[1,null],"cum":[0,1]}`: "x[1]",
		`{"kind":"histogram","x":null,"cum":[0,1]}`:     "x",
		`{"kind":"maximum","of":null,"n":1}`:            "of",
		`{"kind":"point","v":1,"mean":1}`:               "mean",
		`{"kind":"maximum","n":1}`:                      "of",
		`{"kind":"point","V":1}`:                        "V",
		`{"kind":"mixture","parts":[null]}`:             "parts[0]",
		`{"kind":"mixture","parts":[{"weight":1}]}`:     "parts[0].of",
		`{"kind":"mixture","parts":[{"weight":1,"of":` + point +
			`,"weight":1}]}`: "parts[0].weight",
		`{"kind":"point","v":"1"}`:                                                                     "v",
		`{"kind":"point","v":-1}`:                                                                      "v",
		`{"kind":"point","v":1e999}`:                                                                   "v",
		`{"kind":"point","v":NaN}`:                                                                     "v",
		`{"kind":"point","v":1,"w":1}`:                                                                 "w",
		`{"kind":"point","v":1,"v":1}`:                                                                 "v",
		`{"kind":"point","v":1,"\u0076":1}`:                                                            "v",
		`{"kind":"uniform","lo":2,"hi":1}`:                                                             "hi",
		`{"kind":"normal","mu":0,"sigma":-1}`:                                                          "sigma",
		`{"kind":"normal","mu":1,"sigma":0}`:                                                           "sigma",
		`{"kind":"lognormal","mu":1e3,"sigma":1}`:                                                      "exp(mu+sigma²/2)",
		`{"kind":"exponential","mean":-1}`:                                                             "mean",
		`{"kind":"histogram","x":[],"cum":[]}`:                                                         "len(x)",
		`{"kind":"histogram","x":[1],"cum":[1]}`:                                                       "len(x)",
		`{"kind":"histogram","x":[1,2,3],"cum":[0,1]}`:                                                 "len(x)",
		`{"kind":"histogram","x":[2,1],"cum":[0,1]}`:                                                   "x[1]",
		`{"kind":"histogram","x":[1,2],"cum":[0,0.5]}`:                                                 "cum[1]",
		`{"kind":"histogram","x":[1,true],"cum":[0,1]}`:                                                "x[1]",
		`{"kind":"histogram","x":{"0":1},"cum":[0,1]}`:                                                 "x",
		`{"kind":"conditioned","of":` + exponential + `,"elapsed":-1}`:                                 "elapsed",
		`{"kind":"conditioned","of":[],"elapsed":1}`:                                                   "of",
		`{"kind":"conditioned","elapsed":1}`:                                                           "of",
		`{"kind":"affine","of":` + exponential + `,"mul":0,"add":0}`:                                   "mul",
		`{"kind":"affine","of":` + exponential + `,"mul":1,"add":-1}`:                                  "add",
		`{"kind":"affine","of":{"kind":"exponential","mean":1e308},"mul":10,"add":0}`:                  "mul",
		`{"kind":"affine","of":{"kind":"exponential","mean":1,"b":2},"mul":1,"add":0}`:                 "of.b",
		`{"kind":"maximum","of":` + exponential + `,"n":0}`:                                            "n",
		`{"kind":"maximum","of":` + exponential + `,"n":9007199254740993}`:                             "n",
		`{"kind":"maximum","of":` + exponential + `,"n":2.5}`:                                          "n",
		`{"kind":"maximum","of":` + exponential + `,"n":99999999999999999999}`:                         "n",
		`{"kind":"mixture","parts":[]}`:                                                                "parts",
		`{"kind":"mixture","parts":[{"weight":1,"of":` + point + `}]}`:                                 "parts",
		`{"kind":"mixture","parts":[{"weight":1,"of":` + point + `},{"weight":1,"of":` + point + `}]}`: "parts",
		`{"kind":"mixture","parts":[{"weight":1,"of":` + point + `},{"weight":0,"of":` + point +
			`}]}`: "parts[1].weight",
		`{"kind":"mixture","parts":[{"weight":1,"of":` + point + `,"x":0},{"weight":0,"of":` + point + `}]}`: "parts[0].x",
		`{"kind":"mixture","parts":[{"weight":1,"of":{"kind":"point","v":-1}}]}`:                             "parts[0].of.v",
		`{"kind":"mixture","parts":[1]}`: "parts[0]",
		strings.Repeat(`{"kind":"maximum","n":2,"of":`, 40) + point + strings.Repeat("}", 40): strings.Repeat("of.", 31) +
			"of",
	} {
		d, err := dist.Unmarshal([]byte(in))
		var f *dist.FormatError
		require.ErrorAs(t, err, &f, in)
		require.ErrorIs(t, err, dist.ErrFormat)
		assert.Nil(t, d)
		assert.Equal(t, field, f.Field, "%s: %v", in, err)
		assert.NotEmpty(t, f.Problem)
	}
	_, err := dist.Unmarshal([]byte(`{"kind":"uniform","lo":2,"hi":1}`))
	require.ErrorIs(t, err, dist.ErrInvalid, "the cause is there too")
}

// What is wrong is said in the words of the document.
func TestProblems(t *testing.T) {
	for in, want := range map[string]string{
		`7`:               "found a number, expected an object",
		`[`:               "found an array, expected an object",
		`{"kind":"point"`: "found the end of the data after byte 15, expected the rest of it",
		`{"kind":"point"]`: "found invalid character ']' after object value (expecting ',' or '}') after " +
			"byte 15, expected JSON",
		"{\"kind\":\"\xff\"}":              "kind: found invalid UTF-8 after byte 9, expected JSON",
		`{"kind":"point","v":1} 2`:         "found invalid character '2' after top-level value after byte 23, expected JSON",
		`{"kind":true}`:                    "kind: found a boolean, expected a string",
		`{"kind":"point","v":1e999}`:       "v: found 1e999, expected a number in range",
		`{"kind":"point","v":{}}`:          "v: found an object, expected a number",
		`{"kind":"point","v":null}`:        "v: found null, expected a number",
		`{"kind":"maximum","n":2.5}`:       "n: found 2.5, expected a whole number in digits only",
		`{"kind":"histogram","x":[1,"2"]}`: "x[1]: found a string, expected a number",
		`{"kind":"histogram","x":7}`:       "x: found a number, expected an array",
		`{"kind":"point","v":1,"v":1}`:     "v: found twice, expected once",
		`{"kind":"point","w":1}`:           "w: found an unknown field, expected a known one",
		`{"kind":"point","v":1,"lo":1}`:    "lo: found an unknown field, expected a known one",
		``:                                 "found nothing, expected JSON",
		`{"kind":"point","lo":1}`:          "v: found nothing, expected a number",
		`{"kind":"mixture","parts":[{}]}`:  "parts[0].weight: found nothing, expected a number",
	} {
		_, err := dist.Unmarshal([]byte(in))
		assert.EqualError(t, err, "dist.Unmarshal: invalid encoding: "+want, in)
	}
}

func FuzzUnmarshal(f *testing.F) {
	for _, c := range all(f) {
		for _, make := range []func() (dist.Distribution, error){
			func() (dist.Distribution, error) { return c.d, nil },
			func() (dist.Distribution, error) { return dist.Condition(c.d, c.d.Quantile(0.5)) },
			func() (dist.Distribution, error) { return dist.MaxOf(c.d, 3) },
			func() (dist.Distribution, error) { return dist.Shift(c.d, 1) },
		} {
			d, err := make()
			require.NoError(f, err)
			if data, err := dist.Marshal(d); err == nil && len(data) < 2000 {
				f.Add(data)
			}
		}
	}
	f.Add([]byte(`{"kind":"mixture","parts":[{"of":{"kind":"point","\u0076":1e-400},"weight":1}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := dist.Unmarshal(data)
		if err != nil {
			var format *dist.FormatError
			require.True(t, errors.As(err, &format), err)
			return
		}
		written, err := dist.Marshal(d)
		require.NoError(t, err)
		back, err := dist.Unmarshal(written)
		require.NoError(t, err, "%s", written)
		require.Equal(t, d, back)
		lo, hi := d.Bounds()
		require.LessOrEqual(t, lo, hi)
		require.False(t, math.IsNaN(d.CDF(lo)) || math.IsNaN(d.Quantile(0.5)) || math.IsNaN(d.Mean()), "%s", written)
	})
}

func ExampleMarshal() {
	runtime, _ := dist.NewLognormal(5, 0.8)
	left, _ := dist.Condition(runtime, 60)
	data, err := dist.Marshal(left)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(data))
	back, err := dist.Unmarshal(data)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(back.Mean() == left.Mean())
	_, err = dist.Unmarshal([]byte(`{"kind":"uniform","lo":0,"hi":-600}`))
	fmt.Println(err)
	// Output:
	// {"kind":"conditioned","of":{"kind":"lognormal","mu":5,"sigma":0.8},"elapsed":60}
	// true
	// dist.Unmarshal: invalid encoding: hi: found -600, expected a finite number >= lo
}

func BenchmarkMarshal(b *testing.B) {
	h := sketched(b)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = dist.Marshal(h)
	}
}

func BenchmarkUnmarshal(b *testing.B) {
	data, err := dist.Marshal(sketched(b))
	require.NoError(b, err)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = dist.Unmarshal(data)
	}
}

package utility_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/utility"
)

// randomCurve has up to eight points, with jumps, levels and negative values.
func randomCurve(t testing.TB, rng *rand.Rand) *utility.Curve {
	t.Helper()
	points := make([]utility.Point, 0, 8)
	at := 0.0
	for range 1 + rng.IntN(8) {
		n := len(points)
		if jump := n > 0 && rng.IntN(3) == 0 && (n < 2 || points[n-2].T != at); !jump {
			at += 300 * rng.Float64()
		}
		points = append(points, utility.Point{T: at, V: 10 * rng.NormFloat64()})
	}
	c, err := utility.Piecewise(points)
	require.NoError(t, err)
	return c
}

func TestCurvesAreReadBack(t *testing.T) {
	cs := curves(t)
	rng := rand.New(rand.NewPCG(3, 3))
	for i := range 200 {
		cs[fmt.Sprint("random ", i)] = randomCurve(t, rng)
	}
	extreme, err := utility.Piecewise([]utility.Point{
		{T: math.Copysign(0, -1), V: math.SmallestNonzeroFloat64}, {T: 1e300, V: -math.MaxFloat64 / 4}})
	require.NoError(t, err)
	cs["extreme"] = extreme
	for _, name := range names(cs) {
		data, err := utility.Marshal(cs[name])
		require.NoError(t, err, name)
		back, err := utility.Unmarshal(data)
		require.NoError(t, err, "%s: %s", name, data)
		assert.Equal(t, cs[name], back, name)
		for i, p := range cs[name].Points() {
			q := back.(*utility.Curve).Points()[i]
			assert.Equal(t, [2]uint64{math.Float64bits(p.T), math.Float64bits(p.V)},
				[2]uint64{math.Float64bits(q.T), math.Float64bits(q.V)}, name)
		}
	}
}

func TestMarshalRefuses(t *testing.T) {
	_, err := utility.Marshal(opaque{})
	require.ErrorIs(t, err, dist.ErrForeign)
	assert.ErrorContains(t, err, "utility_test.opaque")
	for _, u := range []utility.Utility{nil, (*utility.Curve)(nil), &utility.Curve{}} {
		_, err := utility.Marshal(u)
		require.ErrorIs(t, err, dist.ErrInvalid)
	}
}

func TestUnmarshalRefuses(t *testing.T) {
	for in, field := range map[string]string{
		``:                                 "",
		`7`:                                "",
		`{}`:                               "kind",
		`{"kind":"step","points":[]}`:      "kind",
		`{"kind":"piecewise"}`:             "points",
		`{"kind":"piecewise","points":[]}`: "len(points)",
		`{"kind":"piecewise","points":{}}`: "points",
		`{"kind":"piecewise","points":[{"t":1}]}`:                                   "points[0].v",
		`{"kind":"piecewise","points":[{"t":1,"v":"1"}]}`:                           "points[0].v",
		`{"kind":"piecewise","points":[{"t":1,"v":1e400}]}`:                         "points[0].v",
		`{"kind":"piecewise","points":[{"t":1,"v":1,"T":1}]}`:                       "points[0].T",
		`{"kind":"piecewise","points":[{"t":-1,"v":1}]}`:                            "points[0].t",
		`{"kind":"piecewise","points":[{"t":1,"v":1},{"t":0,"v":1}]}`:               "points[1].t",
		`{"kind":"piecewise","points":[{"t":1,"v":1},{"t":1,"v":2},{"t":1,"v":3}]}`: "points[2].t",
		`{"kind":"piecewise","points":[{"t":0,"v":1e308},{"t":1e-9,"v":0}]}`:        "points[0].v",
		`{"kind":"piecewise","points":[{"t":0,"v":1}],"weight":2}`:                  "weight",
		`{"kind":"piecewise","kind":"piecewise","points":[{"t":0,"v":1}]}`:          "kind",
	} {
		u, err := utility.Unmarshal([]byte(in))
		var f *dist.FormatError
		require.ErrorAs(t, err, &f, in)
		assert.Nil(t, u)
		assert.Equal(t, field, f.Field, "%s: %v", in, err)
	}
}

func FuzzUnmarshal(f *testing.F) {
	cs := curves(f)
	for _, name := range names(cs) {
		data, err := utility.Marshal(cs[name])
		require.NoError(f, err)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		u, err := utility.Unmarshal(data)
		if err != nil {
			require.ErrorIs(t, err, dist.ErrFormat)
			return
		}
		written, err := utility.Marshal(u)
		require.NoError(t, err)
		back, err := utility.Unmarshal(written)
		require.NoError(t, err)
		require.Equal(t, u, back)
		require.False(t, math.IsNaN(u.At(1)))
	})
}

func ExampleMarshal() {
	slo, _ := utility.DeadlineTail(15*time.Minute, 30*time.Minute, 100, 25)
	data, err := utility.Marshal(slo)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(data))
	back, err := utility.Unmarshal(data)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(back.At(900), back.At(1800))
	// Output:
	// {"kind":"piecewise","points":[{"t":900,"v":100},{"t":900,"v":25},{"t":2700,"v":0}]}
	// 100 12.5
}

package strictjson_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/internal/strictjson"
)

func fail(field, problem string, _ error) error { return fmt.Errorf("%s: %s", field, problem) }

func parse(t testing.TB, text string) *strictjson.Object {
	t.Helper()
	o, err := strictjson.Parse([]byte(text), fail)
	require.NoError(t, err)
	return o
}

func TestEveryKindOfField(t *testing.T) {
	o := parse(t, ` { "n" : -1.5e3 , "i":7,"s":"a\"}\\", "yes":true,"no":false, "ns":[ 1 , 2],"none":[], "ss":["[","]"],
		"o":{"x":{"\u0061":{}}}, "os":[{"v":1},{"v":2}], "raws":[[1,"]"],{"k":"}"},null] } `)
	assert.Equal(t, -1500.0, o.Number("n"))
	assert.Equal(t, 7, o.Int("i"))
	assert.Equal(t, `a"}\`, o.Text("s"))
	assert.True(t, o.Flag("yes"))
	assert.False(t, o.Flag("no"))
	assert.Equal(t, []float64{1, 2}, o.Numbers("ns"))
	assert.Equal(t, []float64{}, o.Numbers("none"))
	assert.Equal(t, []string{"[", "]"}, o.Texts("ss"))
	x := o.Object("o").Object("x")
	assert.Equal(t, []string{"a"}, x.Keys())
	require.NoError(t, x.Object("a").Close())
	for i, e := range o.Objects("os") {
		assert.Equal(t, i+1, e.Int("v"))
	}
	assert.Equal(t, [][]byte{[]byte(`[1,"]"]`), []byte(`{"k":"}"}`), []byte("null")}, o.Raws("raws"))
	require.NoError(t, o.Close())
}

func TestTheFirstRefusalCounts(t *testing.T) {
	o := parse(t, `{"a":{"b":[{"c":"x"}]},"d":1}`)
	b := o.Object("a").Objects("b")[0]
	assert.Zero(t, b.Number("c"))
	want := errors.New("a.b[0].c: found a string, expected a number")
	require.Equal(t, want.Error(), o.Err().Error())
	assert.Zero(t, o.Int("d"), "nothing more is read")
	o.Refuse("d", "late", nil)
	require.EqualError(t, o.Close(), want.Error())
}

// FuzzParse holds Parse to what encoding/json makes of the same text.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{}`, ` {"a":1} `, `{"a":[1,"\\"],"b":{"c":null}}`, `{"a":1,"a":2}`, `[]`, `{"a":tru}`, `{"\u0000":"\ud800"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var want map[string]json.RawMessage
		valid := json.Unmarshal(data, &want) == nil && want != nil
		o, err := strictjson.Parse(data, fail)
		if err != nil {
			return // duplicates and text that is not UTF-8 are refused here only
		}
		require.True(t, valid)
		require.Len(t, o.Keys(), len(want))
		for _, k := range o.Keys() {
			require.JSONEq(t, string(want[k]), string(o.Raw(k)))
		}
		require.NoError(t, o.Close())
	})
}

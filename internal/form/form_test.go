package form_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/internal/form"
)

// job has a field of every type that forms have.
type job struct {
	ID     string             `json:"id"`
	Tasks  int                `json:"tasks"`
	Seed   int64              `json:"seed"`
	Value  *float64           `json:"value"`
	Yes    bool               `json:"yes"`
	At     time.Time          `json:"at"`
	Usage  []float64          `json:"usage"`
	Demand map[string]float64 `json:"demand"`
	Next   *job               `json:"next"`
	Nodes  []struct {
		Name string `json:"name"`
	} `json:"nodes"`
}

func TestExplain(t *testing.T) {
	for _, c := range []struct {
		in     string
		kind   form.Kind
		offset int64
		says   string
	}{
		{``, form.CutShort, 0, `found nothing, expected JSON`},
		{" \n", form.CutShort, 2, `found nothing after byte 2, expected JSON`},
		{`{"nodes":[{},{"name":"a`, form.CutShort, 23,
			`nodes[1].name: found the end of the data after byte 23, expected the rest of it`},
		{`{"id":"a";`, form.NotJSON, 9,
			`found invalid character ';' after object value (expecting ',' or '}') after byte 9, expected JSON`},
		{`{"nodes":[{"name":"a"};`, form.NotJSON, 22,
			`nodes: found invalid character ';' after array element (expecting ',' or ']') after byte 22, expected JSON`},
		{"{\"id\":\"\xff\"}", form.NotJSON, 7, `id: found invalid UTF-8 after byte 7, expected JSON`},
		{`{"id":"\x"}`, form.NotJSON, 7, "id: found invalid escape sequence `\\x` in string after byte 7, expected JSON"},
		{`{7:1}`, form.NotJSON, 1, `found what is not JSON (object member name must be a string) after byte 1, expected JSON`},
		{`job`, form.NotJSON, 0, `found invalid character 'j' at start of value, expected JSON`},
		{`{} {}`, form.NotJSON, 3, `found invalid character '{' after top-level value after byte 3, expected JSON`},
		{`{"id":"a","id":"b"}`, form.Twice, 10, `id: found twice, expected once`},
		{`{"demand":{"a b/c":1,"a b\/c":2}}`, form.Twice, 21, `demand.a b/c: found twice, expected once`},
		{`{"ID":"a"}`, form.Unknown, 1, `ID: found an unknown field, expected a known one`},
		{`{"nodes":[{"name":"a"},{"nam":1}]}`, form.Unknown, 24,
			`nodes[1].nam: found an unknown field, expected a known one`},
		{`[]`, form.WrongType, 0, `found an array, expected an object`},
		{`{"id":{}}`, form.WrongType, 6, `id: found an object, expected a string`},
		{`{"id":7}`, form.WrongType, 6, `id: found a number, expected a string`},
		{`{"tasks":true}`, form.WrongType, 9, `tasks: found a boolean, expected a whole number`},
		{`{"seed":"1"}`, form.WrongType, 8, `seed: found a string, expected a whole number`},
		{`{"tasks":2.0}`, form.WrongType, 9, `tasks: found 2.0, expected a whole number in digits only`},
		{`{"tasks":1e99}`, form.WrongType, 9, `tasks: found 1e99, expected a whole number in digits only`},
		{`{"tasks":9223372036854775808}`, form.OutOfRange, 9,
			`tasks: found 9223372036854775808, expected a whole number in range`},
		{`{"value":1e999}`, form.OutOfRange, 9, `value: found 1e999, expected a number in range`},
		{`{"value":1` + strings.Repeat("0", 400) + `}`, form.OutOfRange, 9,
			`value: found a number, expected a number in range`},
		{`{"yes":0}`, form.WrongType, 7, `yes: found a number, expected a boolean`},
		{`{"at":"noon"}`, form.WrongType, 6, `at: found a string, expected a time as 2018-04-23T00:16:40Z`},
		{`{"usage":{}}`, form.WrongType, 9, `usage: found an object, expected an array`},
		{`{"usage":[1,"2"]}`, form.WrongType, 12, `usage[1]: found a string, expected a number`},
		{`{"demand":[]}`, form.WrongType, 10, `demand: found an array, expected an object`},
		{`{"demand":{"7":"cpu"}}`, form.WrongType, 15, `demand[7]: found a string, expected a number`},
		{`{"next":{"next":5}}`, form.WrongType, 16, `next.next: found a number, expected an object`},
	} {
		err := json.Unmarshal([]byte(c.in), new(job), json.RejectUnknownMembers(true))
		require.Error(t, err, c.in)
		f := form.Explain([]byte(c.in), err)
		assert.EqualError(t, f, c.says, c.in)
		assert.Equal(t, c.kind, f.Kind, c.in)
		assert.Equal(t, c.offset, f.Offset, c.in)
		assert.Equal(t, f.Error(), strings.TrimPrefix(f.Path+": "+f.Problem(), ": "), c.in)
		assert.Equal(t, c.kind == form.CutShort, errors.Is(f, io.ErrUnexpectedEOF), "the cause is there: %s", c.in)
	}
	assert.EqualError(t, form.Explain(nil, errors.New("odd")), "found what cannot be read (odd), expected JSON")
}

// However long the names and however deep the objects, a fault is a line.
func TestFaultsAreShort(t *testing.T) {
	long := strings.Repeat("wörter", 1000)
	for _, in := range []string{
		`{"` + long + `":1}`,
		`{"demand":{"` + long + `":""}}`,
		strings.Repeat(`{"next":`, 200) + `[]` + strings.Repeat(`}`, 200),
		strings.Repeat(`{"next":`, 20_000),
		`{"new\n\u001b[31m":1}`,
		`{"id":` + strings.Repeat("[", 20_000),
	} {
		f := form.Explain([]byte(in), json.Unmarshal([]byte(in), new(job), json.RejectUnknownMembers(true)))
		assert.Less(t, len(f.Error()), 250, f)
		assert.True(t, utf8.ValidString(f.Error()), f)
		assert.NotContains(t, f.Error(), "\n")
		assert.NotContains(t, f.Error(), "\x1b")
	}
	assert.Equal(t, strings.Repeat("of.", 33)+"o…", form.Stray(strings.Repeat("of.", 50)).Path)
	assert.Equal(t, `new\n\u200b`, form.Stray("new\n\u200b").Path)
}

func TestJoin(t *testing.T) {
	assert.Equal(t, "parts[1].of", form.Join("parts[1]", "of"))
	assert.Equal(t, "parts[1].of", form.Join("parts", "[1].of"))
	assert.Equal(t, "of", form.Join("", "of"))
	assert.Equal(t, "of", form.Join("of", ""))
}

// refusal is an error of a package's own.
func refusal(path, problem string, cause error) error {
	return fmt.Errorf("own: %s: %s: %w", path, problem, cause)
}

type row struct {
	At    *time.Time     `json:"at"`
	Yes   bool           `json:"yes,omitempty"`
	Rest  jsontext.Value `json:"rest,omitempty"`
	Whole jsontext.Value `json:"whole"`
	Of    []row          `json:"of,omitempty"`
}

func TestUnmarshal(t *testing.T) {
	var rows []row
	require.NoError(t, form.Unmarshal([]byte(`[{"at":"2020-02-29T01:02:03.4Z","whole":[1, 2],"rest":null},
		{"at":"2020-02-29T01:02:03Z","yes":true,"whole":null,"of":[]}]`), &rows, refusal))
	assert.Equal(t, "null", string(rows[0].Rest))
	assert.Equal(t, "[1, 2]", string(rows[0].Whole))
	assert.True(t, rows[1].Yes)
	for in, want := range map[string]struct {
		kind       form.Kind
		path, says string
	}{
		`[{}]`:                      {form.Missing, "[0].at", "found nothing, expected a time as 2018-04-23T00:16:40Z"},
		`[{"at":"noon"}]`:           {form.WrongType, "[0].at", "found a string, expected a time as 2018-04-23T00:16:40Z"},
		`[{"at":null}]`:             {form.WrongType, "[0].at", "found null, expected a time as 2018-04-23T00:16:40Z"},
		`[{"yes":null}]`:            {form.WrongType, "[0].yes", "found null, expected a boolean"},
		`[{"yes":1}]`:               {form.WrongType, "[0].yes", "found a number, expected a boolean"},
		`[{"Yes":true}]`:            {form.Unknown, "[0].Yes", "found an unknown field, expected a known one"},
		`[{"yes":true,"yes":true}]`: {form.Twice, "[0].yes", "found twice, expected once"},
		`[null]`:                    {form.WrongType, "[0]", "found null, expected an object"},
		`null`:                      {form.WrongType, "", "found null, expected an array"},
		`{"at":"noon"}`:             {form.WrongType, "", "found an object, expected an array"},
		`[`:                         {form.CutShort, "", "found the end of the data after byte 1, expected the rest of it"},
		`[{"at":` + now + `}]`:      {form.Missing, "[0].whole", "found nothing, expected a value"},
		inside(`{"whole":1}`): {form.Missing, "[0].of[1].at",
			"found nothing, expected a time as 2018-04-23T00:16:40Z"},
		inside(`{"of":[],"of":[]}`): {form.Twice, "[0].of[1].of", "found twice, expected once"},
		inside(`{"whole":{"a":1,}}`): {form.NotJSON, "[0].of[1].whole",
			"found invalid character '}' at start of string (expecting '\"') after byte 102, expected JSON"},
		inside(`{"whole":{"a":1},}`): {form.NotJSON, "[0].of[1]",
			"found invalid character ',' at start of value after byte 102, expected JSON"},
		inside(`{"at":"2020-13-01"}`): {form.WrongType, "[0].of[1].at",
			"found a string, expected a time as 2018-04-23T00:16:40Z"},
	} {
		rows = nil
		err := form.Unmarshal([]byte(in), &rows, refusal)
		var f *form.Fault
		require.ErrorAs(t, err, &f, in)
		assert.Equal(t, want.path, f.Path, in)
		assert.Equal(t, want.says, f.Problem(), in)
		assert.Equal(t, want.kind, f.Kind, in)
		assert.EqualError(t, err, fmt.Sprintf("own: %s: %s: %s", f.Path, f.Problem(), f), in)
	}
}

const now = `"2020-02-29T01:02:03Z"`

// inside puts a row into another, after one that is whole.
func inside(row string) string {
	return `[{"at":` + now + `,"whole":1,"of":[{"at":` + now + `,"whole":1},` + row + `]}]`
}

// Whatever does not parse has a fault that is a line, within the text.
func FuzzExplain(f *testing.F) {
	f.Add([]byte(`{"id":"a","tasks":1.5,"usage":[1,true],"demand":{"a b":null},"at":"` + "\n"))
	f.Add([]byte(`{"nodes":[{"name":"\ud800"}],"next":{"seed":99999999999999999999}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		err := json.Unmarshal(data, new(job), json.RejectUnknownMembers(true))
		if err == nil {
			return
		}
		fault := form.Explain(data, err)
		require.NotZero(t, fault.Kind)
		require.LessOrEqual(t, fault.Offset, int64(len(data)))
		require.Less(t, len(fault.Error()), 700)
		require.True(t, utf8.ValidString(fault.Error()), "%q", fault)
		require.NotContains(t, fault.Error(), "\n")
		require.NotContains(t, fault.Error(), "form_test")
	})
}

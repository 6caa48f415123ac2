package jsonkeys_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/internal/jsonkeys"
)

func TestDuplicate(t *testing.T) {
	for _, c := range []struct {
		json, key string
		offset    int
	}{
		{json: `{"a":1,"b":{"a":2},"c":[{"a":1},{"a":1}],"d":"a"}`},
		{json: `["a","a",{"a":"a"}]`},
		{json: `{"x":{"u":1,"U":2}}`},
		{json: `"a"`},
		{`{"a":1,"a":2}`, "a", 7},
		{`{"a":1,"A":2}`, "A", 7},
		{`{"a":1,"\u0061" : 2}`, "a", 7},
		{`{"a\"":1,"b":"x\\","a\"":1}`, `a"`, 19},
		{`{"x":[{"b":{"k":1,"k":2}}]}`, "k", 18},
		{`{"x":{"u":[{},[]],"u":2}}`, "u", 18},
	} {
		key, offset, found := jsonkeys.Duplicate([]byte(c.json), 1)
		assert.Equal(t, c.key, key, c.json)
		assert.Equal(t, c.offset, offset, c.json)
		assert.Equal(t, c.key != "", found, c.json)
	}
}

func FuzzDuplicate(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":[{"a":2}]}`))
	f.Add([]byte(`{"a\\`))
	f.Add([]byte(strings.Repeat("]}", 9)))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _, found := jsonkeys.Duplicate(data, 0)
		var flat map[string]json.RawMessage
		if json.Unmarshal(data, &flat) != nil || len(flat) == 0 || found {
			return
		}
		// What is said to have no key twice still has every key once it is written again.
		again, err := json.Marshal(flat)
		assert.NoError(t, err)
		_, _, found = jsonkeys.Duplicate(again, 0)
		assert.False(t, found)
	})
}

func TestDuplicateAmongMany(t *testing.T) {
	many := map[string]int{}
	for i := range 5000 {
		many[strconv.Itoa(i)] = i
	}
	data, err := json.Marshal(many)
	require.NoError(t, err)
	_, _, found := jsonkeys.Duplicate(data, 1)
	assert.False(t, found)
	for _, key := range []string{"0", "4999"} {
		_, _, found = jsonkeys.Duplicate([]byte(strings.TrimSuffix(string(data), "}")+`,"`+key+`":1}`), 1)
		assert.True(t, found)
	}
}

func TestDuplicateOfDeepNesting(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 200_000) + "1" + strings.Repeat("}", 200_000)
	_, _, found := jsonkeys.Duplicate([]byte(deep), 1)
	assert.False(t, found)
}

func BenchmarkDuplicate(b *testing.B) {
	line := []byte(`{"id":"17","submit_s":12.5,"runtime_s":100,"tasks":3,"demand":{"cpu":1,"memory":2},"attributes":{"user":"u1","name":"n2"}}`)
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		jsonkeys.Duplicate(line, 1)
	}
}

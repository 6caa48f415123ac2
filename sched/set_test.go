package sched_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
)

func TestEquivalenceSet(t *testing.T) {
	r1 := map[string]string{"rack": "r1", "gpu": "a100"}
	r2 := map[string]string{"rack": "r2"}
	for _, tt := range []struct {
		set      sched.EquivalenceSet
		text     string
		in1, in2 bool
	}{
		{sched.AnyNode(), "any", true, true},
		{sched.EquivalenceSet{}, "any", true, true},
		{sched.NodesWith("rack", "r2", "r1", "r2"), "rack=r1|r2", true, true},
		{sched.NodesWith("rack", "r1"), "rack=r1", true, false},
		{sched.NodesWith("gpu"), "gpu=*", true, false},
		{sched.NodesWith("rack", "r1", "r2").And(sched.NodesWith("gpu")), "gpu=*&rack=r1|r2", true, false},
		{sched.NodesWith("gpu").And(sched.NodesWith("rack", "r1", "r2")), "gpu=*&rack=r1|r2", true, false},
		{sched.NodesWith("rack", "r1").And(sched.NodesWith("rack", "r2")), "rack=!", false, false},
		{sched.NodesWith("rack").And(sched.NodesWith("rack", "r2")), "rack=r2", false, true},
		{sched.AnyNode().And(sched.NodesWith("rack", "r2")), "rack=r2", false, true},
		{sched.NodesWith("rack", "r2").And(sched.AnyNode()), "rack=r2", false, true},
		{sched.NodesWith("rack", "a|b", "*", ""), `rack=""|"*"|"a|b"`, false, false},
	} {
		assert.Equal(t, tt.text, tt.set.String())
		assert.Equal(t, tt.in1, tt.set.Matches(r1), tt.text)
		assert.Equal(t, tt.in2, tt.set.Matches(r2), tt.text)
		assert.Equal(t, tt.text == "any", tt.set.IsAny())

		data, err := json.Marshal(tt.set)
		require.NoError(t, err)
		var back sched.EquivalenceSet
		require.NoError(t, json.Unmarshal(data, &back))
		assert.Equal(t, tt.set.String(), back.String(), "%s", data)
	}
}

func TestEquivalenceSetTextsDiffer(t *testing.T) {
	// Texts are map keys: sets that differ must not share one.
	sets := []sched.EquivalenceSet{
		sched.AnyNode(), sched.NodesWith("any"), sched.NodesWith("a", "*"), sched.NodesWith("a"),
		sched.NodesWith("a", "b|c"), sched.NodesWith("a", "b", "c"), sched.NodesWith("a", "b&c=d"),
		sched.NodesWith("a", "b").And(sched.NodesWith("c", "d")), sched.NodesWith("a", "!"),
		sched.NodesWith("a", "x").And(sched.NodesWith("a", "y")), sched.NodesWith("a", ""), sched.NodesWith("a", `""`),
	}
	seen := map[string]int{}
	for i, s := range sets {
		before, twice := seen[s.String()]
		assert.False(t, twice, "sets %d and %d are both %s", before, i, s)
		seen[s.String()] = i
	}
}

func TestEquivalenceSetBadJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{`:                       "found an object, expected an array",
		`"any"`:                   "found a string, expected an array",
		`[{"key":"a"},{"key":7}]`: "[1].key: found a number, expected a string",
		`[{"key":"a","values":["x"],"has":true}]`: `label "a" has both values and has`,
	} {
		var s sched.EquivalenceSet
		assert.EqualError(t, s.UnmarshalJSON([]byte(text)), "equivalence set: "+want, text)
	}
}

func FuzzEquivalenceSetJSON(f *testing.F) {
	f.Add(`[]`)
	f.Add(`[{"key":"rack","values":["r1","r2"]}]`)
	f.Add(`[{"key":"gpu","has":true},{"key":"gpu","values":[]}]`)
	f.Fuzz(func(t *testing.T, text string) {
		var s sched.EquivalenceSet
		if s.UnmarshalJSON([]byte(text)) != nil {
			return
		}
		data, err := json.Marshal(s)
		require.NoError(t, err)
		var back sched.EquivalenceSet
		require.NoError(t, json.Unmarshal(data, &back))
		assert.Equal(t, s.String(), back.String())
	})
}

func ExampleNodesWith() {
	fast := sched.NodesWith("gpu", "h100", "a100").And(sched.NodesWith("rack", "r1"))
	fmt.Println(fast)
	fmt.Println(fast.Matches(map[string]string{"gpu": "a100", "rack": "r1"}))
	// Output:
	// gpu=a100|h100&rack=r1
	// true
}

package sched_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
)

// parseSet reads a set from its text.
func parseSet(text string) (set sched.EquivalenceSet, err error) {
	err = set.UnmarshalText([]byte(text))
	return set, err
}

func TestParseSet(t *testing.T) {
	odd := sched.NodesWith("a b", `x"|y`, "any", "").And(sched.NodesWith("any", "*")).And(sched.NodesWith("gpu"))
	empty := sched.NodesWith("rack", "r0").And(sched.NodesWith("rack", "r1"))
	for _, want := range []sched.EquivalenceSet{
		sched.AnyNode(), sched.NodesWith("rack", "r1", "r0"), sched.NodesWith("gpu"), odd, empty, empty.And(odd),
	} {
		got, err := parseSet(want.String())
		require.NoError(t, err, want.String())
		text, err := want.MarshalText()
		require.NoError(t, err)
		assert.Equal(t, want.String(), string(text))
		assert.Equal(t, want.String(), got.String())
		assert.Equal(t, want, got)
	}
	got, err := parseSet("gpu=*&rack=r1|r0|r1")
	require.NoError(t, err)
	assert.Equal(t, sched.NodesWith("rack", "r0", "r1").And(sched.NodesWith("gpu")), got)
}

func TestParseSetRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":            `found "", expected a label or a value`,
		"rack":        `found "rack", expected LABEL=VALUE`,
		"rack=":       `found "", expected a label or a value`,
		"rack=r0|":    `found "", expected a label or a value`,
		"rack=r0&":    `found "", expected a label or a value`,
		"rack=*r0":    `found "r0", expected & or | before it`,
		`rack="r0`:    `found "\"r0", which has no closing quote`,
		"rack=r0 gpu": `found " gpu", expected & or | before it`,
	} {
		_, err := parseSet(text)
		require.Error(t, err, text)
		assert.ErrorContains(t, err, want, text)
	}
}

func TestSetParts(t *testing.T) {
	set := sched.NodesWith("rack", "r1", "r0").And(sched.NodesWith("gpu"))
	assert.Equal(t, []string{"r0", "r1"}, set.Values("rack"))
	assert.Empty(t, set.Values("gpu"))
	assert.Empty(t, set.Values("zone"))
	assert.Equal(t, sched.NodesWith("gpu"), set.Without("rack"))
	assert.Equal(t, set, set.Without("zone"))
	assert.True(t, set.Without("rack").Without("gpu").IsAny())
}

func FuzzParseSet(f *testing.F) {
	f.Add(`rack=r1|"r 2"&gpu=*`)
	f.Add(`a=!&"any"="any"`)
	f.Fuzz(func(t *testing.T, text string) {
		set, err := parseSet(text)
		if err != nil {
			return
		}
		again, err := parseSet(set.String())
		require.NoError(t, err)
		require.Equal(t, set, again)
	})
}

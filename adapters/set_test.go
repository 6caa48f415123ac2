package adapters_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

func TestParseSet(t *testing.T) {
	for text, want := range map[string]sched.EquivalenceSet{
		"rack=r1":                       sched.NodesWith("rack", "r1"),
		" rack = r1 | r2 & gpu = * ":    sched.NodesWith("rack", "r1", "r2").And(sched.NodesWith("gpu")),
		"rack=r1|r2 & rack=r2|r3":       sched.NodesWith("rack", "r2"),
		"rack=r1|r2, gpu=*":             sched.NodesWith("rack", "r1", "r2").And(sched.NodesWith("gpu")),
		"expression=a=b":                sched.NodesWith("expression", "a=b"),
		"node.class=fast & meta.x=/y/z": sched.NodesWith("node.class", "fast").And(sched.NodesWith("meta.x", "/y/z")),
	} {
		got, err := adapters.ParseSet(text, "")
		require.NoError(t, err, text)
		assert.Equal(t, want.String(), got.String(), text)
	}
	for text, want := range map[string]string{
		"":            `"", expected labels like "a=b"`,
		"fast":        `"fast", expected labels like "a=b"`,
		"=fast":       `"=fast", expected labels like "a=b"`,
		"rack=r1&gpu": `"gpu", expected labels like "a=b"`,
		"cpu=A, Inc":  `" Inc", expected labels like "a=b"`,
		"rack=r1,":    `"", expected labels like "a=b"`,
		"rack=":       `"rack=", expected labels like "a=b"`,
		"rack=|":      `"rack=|": expected values that are not empty, like a100|h100`,
		"rack=a| |b":  `"rack=a| |b": expected values that are not empty, like a100|h100`,
		"rack=r1|":    `"rack=r1|": expected values that are not empty, like a100|h100`,
	} {
		_, err := adapters.ParseSet(text, "a=b")
		require.EqualError(t, err, want)
		require.ErrorAs(t, err, new(adapters.Expected))
	}
}

// FuzzParseSet: any text names labels, or is refused with what was expected.
func FuzzParseSet(f *testing.F) {
	f.Add("rack=r1|r2 & gpu=*")
	f.Fuzz(func(t *testing.T, text string) {
		set, err := adapters.ParseSet(text, "a=b")
		if err != nil {
			require.ErrorAs(t, err, new(adapters.Expected))
			assert.True(t, set.IsAny(), "it is of no use")
			return
		}
		assert.NotEmpty(t, set.Keys())
	})
}

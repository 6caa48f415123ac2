package keys_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/examples/internal/keys"
)

type config struct {
	Cycle time.Duration `yaml:"cycle"`
	URLs  []string      `yaml:"urls"`
	File  string        `yaml:"file"`
	Inner inner         `yaml:"inner"`
}

type inner struct{ Name string }

const page = "Text.\n\n| key | default | what |\n| --- | --- | --- |\n| `cycle` | `2m` | time |\n| `urls` | `[a b]` " +
	"| where |\n| `file` | none | of `it` |\n| `inner.name` | `n` | whose |\n"

func Example() {
	type config struct {
		Parallel int `yaml:"parallel"`
	}
	fmt.Println(keys.Check("| `parallel` | `16` | calls at a time |", config{Parallel: 16}))
	fmt.Println(keys.Check("| `parallel` | `16` | calls at a time |", config{Parallel: 8}))
	// Output:
	// <nil>
	// keys: the page has `16` for parallel, which is 8
}

func TestCheck(t *testing.T) {
	good := config{Cycle: 2 * time.Minute, URLs: []string{"a", "b"}, Inner: inner{"n"}}
	require.NoError(t, keys.Check(page, good))
	require.NoError(t, keys.Check(page, &good))
	require.ErrorContains(t, keys.Check(page+"| `more` | none | nothing |\n", good), "the page has more")
	require.ErrorContains(t, keys.Check("", good), "does not have cycle")
	for want, change := range map[string]func(*config){
		"cycle":      func(c *config) { c.Cycle++ },
		"urls":       func(c *config) { c.URLs = nil },
		"file":       func(c *config) { c.File = "f" },
		"inner.name": func(c *config) { c.Inner.Name = "" },
	} {
		c := good
		change(&c)
		require.ErrorContains(t, keys.Check(page, c), want)
	}
	assert.Equal(t, map[string]string{"cycle": "`2m`", "urls": "`[a b]`", "file": "none", "inner.name": "`n`"},
		keys.Table(page))
}

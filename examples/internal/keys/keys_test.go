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
	Common `yaml:",inline"`
	Cycle  time.Duration `yaml:"cycle"`
	URLs   []string      `yaml:"urls"`
	File   string        `yaml:"file"`
	Inner  inner         `yaml:"inner"`
}

type inner struct{ Name string }

// Common are keys of the page as they are, without a name before them.
type Common struct {
	Port int `yaml:"port"`
}

const page = "Text.\n\n| key | default | what |\n| --- | --- | --- |\n| `cycle` | `2m` | time |\n| `urls` | `[a b]` " +
	"| where |\n| `port` | `80` | which |\n| `file` | none | of `it` |\n| `inner.name` | `n` | whose |\n"

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
	good := config{Common: Common{80}, Cycle: 2 * time.Minute, URLs: []string{"a", "b"}, Inner: inner{"n"}}
	require.NoError(t, keys.Check(page, good))
	require.NoError(t, keys.Check(page, &good))
	require.ErrorContains(t, keys.Check(page+"| `more` | none | nothing |\n", good), "the page has more")
	require.ErrorContains(t, keys.Check("", good), "does not have port")
	for want, change := range map[string]func(*config){
		"cycle":      func(c *config) { c.Cycle++ },
		"urls":       func(c *config) { c.URLs = nil },
		"file":       func(c *config) { c.File = "f" },
		"port":       func(c *config) { c.Port = 8080 },
		"inner.name": func(c *config) { c.Inner.Name = "" },
	} {
		c := good
		change(&c)
		require.ErrorContains(t, keys.Check(page, c), want)
	}
	assert.Equal(t, map[string]string{
		"cycle": "`2m`", "urls": "`[a b]`", "port": "`80`", "file": "none", "inner.name": "`n`"},
		keys.Table(page))
}

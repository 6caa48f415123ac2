package adapters

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNewHolder: names differ, and each contains the host's name.
func TestNewHolder(t *testing.T) {
	host, err := os.Hostname()
	require.NoError(t, err)
	a, b := NewHolder(), NewHolder()
	assert.NotEqual(t, a, b)
	for _, name := range []string{a, b} {
		at, random, _ := strings.Cut(strings.TrimPrefix(name, host), "_")
		assert.Empty(t, at, name)
		assert.GreaterOrEqual(t, len(random), 26, name)
	}
}

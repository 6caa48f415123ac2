package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMayImport(t *testing.T) {
	for _, c := range []struct {
		file, path string
		ok         bool
	}{
		{"sched/loop.go", "time", true},
		{"sched/loop.go", "encoding/json", true},
		{"sched/loop.go", "github.com/hedgesched/hedge/dist", true},
		{"sched/loop.go", "github.com/go-json-experiment/json", true},
		{"sched/loop.go", "github.com/go-json-experiment/json/jsontext", true},
		{"sched/loop.go", "github.com/go-json-experiment/json/v1", false},
		{"sched/loop.go", "github.com/go-json-experiment/jsonbench", false},
		{"sched/loop.go", "github.com/hedgesched/hedgerow", false},
		{"sched/loop.go", "github.com/stretchr/testify/assert", false},
		{"sched/loop.go", "gonum.org/v1/gonum/stat", false},
		{"sched/loop.go", "C", false},
		{"sched/loop.go", "github.com/hedgesched/hedge/dist/disttest", false},
		{"sched/loop_test.go", "github.com/stretchr/testify/assert", true},
		{"sched/loop_test.go", "github.com/hedgesched/hedge/dist/disttest", true},
		{"sched/loop_test.go", "gonum.org/v1/gonum/stat", false},
		{"dist/disttest/disttest.go", "github.com/stretchr/testify/require", true},
		{"dist/disttest/disttest.go", "github.com/davecgh/go-spew/spew", false},
	} {
		assert.Equal(t, c.ok, mayImport(c.file, c.path), "%s imports %s", c.file, c.path)
	}
}

// TestDependenciesStayShort asks the go command what whoever imports the library gets: itself and the
// standard library, the JSON reader, and testify's packages with the conformance suites.
func TestDependenciesStayShort(t *testing.T) {
	list := func(args ...string) []string {
		cmd := exec.Command("go", append([]string{"list"}, args...)...)
		cmd.Dir = "../.."
		out, err := cmd.Output()
		require.NoError(t, err)
		return strings.Fields(string(out))
	}
	var library []string
	for _, path := range list("./...") {
		if !strings.HasSuffix(path, "test") {
			library = append(library, path)
		}
	}
	require.Greater(t, len(library), 10)
	for _, path := range list(append([]string{"-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}"},
		library...)...) {
		ok := path == root || strings.HasPrefix(path, root+"/") || path == reader || strings.HasPrefix(path, reader+"/")
		assert.True(t, ok, "the library depends on %s", path)
	}
}

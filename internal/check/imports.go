package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// root is the root module, which whoever imports hedge gets.
const root = "github.com/hedgesched/hedge"

// reader is the one library the root module takes: encoding/json/v2 until the standard library has it. The package
// encoding/json lets pass what a plan must not be made of: names that come twice, or in another case.
const reader = "github.com/go-json-experiment/json"

// suite tells whether a file may import testify: tests, and the conformance suites, whose
// directories end in "test".
func suite(file string) bool {
	return strings.HasSuffix(file, "_test.go") || strings.HasSuffix(filepath.Dir(file), "test")
}

// nested tells whether dir is in a module of its own.
func nested(dir string) bool {
	for ; dir != "."; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return true
		}
	}
	return false
}

// forbidden lists the imports of a package of the root module that are not allowed.
func forbidden(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	return unwanted(files, func(file, path string) string {
		if mayImport(file, path) {
			return ""
		}
		return fmt.Sprintf("imports %s; the root module takes the standard library and %s only, testify for tests",
			path, reader)
	})
}

// unwanted lists the imports of files that a look finds something wrong with; it says nothing of the others.
func unwanted(files []string, look func(file, path string) string) ([]string, error) {
	var faults []string
	fset := token.NewFileSet()
	for _, file := range files {
		f, err := parser.ParseFile(fset, file, nil, parser.ImportsOnly)
		if err != nil {
			return nil, err
		}
		for _, spec := range f.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return nil, err
			}
			if fault := look(file, path); fault != "" {
				faults = append(faults, fmt.Sprintf("%s: %s", fset.Position(spec.Pos()), fault))
			}
		}
	}
	return faults, nil
}

// mayImport tells whether a file may import a package. Since every import of every package is looked at,
// what is reached through them is allowed as well.
func mayImport(file, path string) bool {
	first, _, _ := strings.Cut(path, "/")
	switch {
	case path == "C" || path == "unsafe" || path == "plugin":
		return false
	case !strings.Contains(first, "."):
		return true // the standard library
	case path == reader || path == reader+"/jsontext":
		return true
	case path == root || strings.HasPrefix(path, root+"/"):
		// A package that imports a suite would bring its testify to whoever imports the package.
		return suite(file) || !strings.HasSuffix(path, "test")
	case path == "github.com/stretchr/testify/assert" || path == "github.com/stretchr/testify/require":
		return suite(file)
	}
	return false
}

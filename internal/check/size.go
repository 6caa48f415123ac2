package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// The house is small: these are its limits.
const (
	mostColumns = 120 // of a line of Go; a tab is one column
	mostLines   = 500 // of a production file
	mostNames   = 45  // exported by a package, as go doc -short lists them: methods and constructors are their types'
)

// excused has the packages with more exported names than the limit, and why.
var excused = map[string]string{
	"adapters": "what drivers, leases and hints of every cluster share; each cluster's package uses nearly all of it",
	"sched":    "the vocabulary that hosts and policies share: what policies alone use is in sched/place already",
}

// large lists what is above the limits in a folder. Generated files are passed over.
func large(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var faults []string
	var parsed []*ast.File
	fset := token.NewFileSet()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(fset, file, text, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		if ast.IsGenerated(f) {
			continue
		}
		faults = append(faults, wide(fset, f, text)...)
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		if n := bytes.Count(text, []byte("\n")); n > mostLines {
			faults = append(faults, fmt.Sprintf("%s: %d lines, expected at most %d", file, n, mostLines))
		}
		parsed = append(parsed, f)
	}
	names, err := exported(fset, parsed)
	if err != nil {
		return nil, err
	}
	if n := len(names); n > mostNames && excused[filepath.ToSlash(dir)] == "" {
		faults = append(faults, fmt.Sprintf("%s: %d exported names, expected at most %d", dir, n, mostNames))
	}
	return faults, nil
}

// wide lists the lines of a file that have too many columns. The text of a literal between back quotes is data, which
// cannot be broken, and so is not looked at.
func wide(fset *token.FileSet, f *ast.File, text []byte) []string {
	data := map[int]bool{} // lines that such a literal is on
	ast.Inspect(f, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && l.Value[0] == '`' {
			for line := fset.Position(l.Pos()).Line; line <= fset.Position(l.End()).Line; line++ {
				data[line] = true
			}
		}
		return true
	})
	file := fset.Position(f.Pos()).Filename
	var faults []string
	for n, line := range bytes.Split(text, []byte("\n")) {
		if c := utf8.RuneCount(line); c > mostColumns && !data[n+1] {
			faults = append(faults, fmt.Sprintf("%s:%d: %d columns, expected at most %d", file, n+1, c, mostColumns))
		}
	}
	return faults
}

// exported lists the names that go doc -short has a line for.
func exported(fset *token.FileSet, files []*ast.File) ([]string, error) {
	if len(files) == 0 || files[0].Name.Name == "main" {
		return nil, nil
	}
	p, err := doc.NewFromFiles(fset, files, root)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, values := range [][]*doc.Value{p.Consts, p.Vars} {
		for _, v := range values {
			names = append(names, v.Names...)
		}
	}
	for _, t := range p.Types {
		names = append(names, t.Name)
	}
	for _, f := range p.Funcs {
		names = append(names, f.Name)
	}
	return names, nil
}

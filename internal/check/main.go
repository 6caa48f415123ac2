// Command check fails when a Markdown file links to a file of the repository that does not exist, when an exported name
// or a package has no comment, when a package of the root module imports what it may not (imports.go), when a package
// imports one of a room further down in doc.go's list (rooms.go), or when a line, a file or a package is too large
// (size.go).
//
//	go run ./internal/check
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var link = regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)|(?:src|href|srcset)="([^"#]+)"`)

func main() {
	var faults []string
	rooms, err := readRooms()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "bin"):
			return filepath.SkipDir
		case d.IsDir():
			found, err := ofFolder(rooms, path)
			faults = append(faults, found...)
			return err
		case strings.HasSuffix(path, ".md"):
			found, err := deadLinks(path)
			faults = append(faults, found...)
			return err
		}
		return nil
	})
	if err != nil {
		faults = append(faults, err.Error())
	}
	for _, f := range faults {
		fmt.Fprintln(os.Stderr, f)
	}
	if len(faults) > 0 {
		os.Exit(1)
	}
	fmt.Println("links, comments, imports, rooms and sizes: ok")
}

// ofFolder lists the faults of a folder's Go files.
func ofFolder(rooms [][]string, dir string) ([]string, error) {
	faults, err := undocumented(dir)
	if err != nil {
		return faults, err
	}
	looks := []func(string) ([]string, error){
		large, func(dir string) ([]string, error) { return downwards(rooms, dir) },
	}
	if !nested(dir) {
		looks = append(looks, forbidden)
	}
	for _, look := range looks {
		found, err := look(dir)
		faults = append(faults, found...)
		if err != nil {
			return faults, err
		}
	}
	return faults, nil
}

// deadLinks lists the links of a Markdown file to files that are not there.
func deadLinks(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var faults []string
	for n, line := range strings.Split(string(text), "\n") {
		for _, m := range link.FindAllStringSubmatch(line, -1) {
			to := m[1] + m[3]
			if to == "" || strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), to)); err != nil {
				faults = append(faults, fmt.Sprintf("%s:%d: dead link to %s", path, n+1, to))
			}
		}
	}
	return faults, nil
}

// undocumented lists a package's exported names without a comment, and the package if it has none.
func undocumented(dir string) ([]string, error) {
	files, err := production(dir)
	if err != nil {
		return nil, err
	}
	var faults []string
	fset := token.NewFileSet()
	seen, documented := false, false
	for _, file := range files {
		f, err := parser.ParseFile(fset, file, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		if ast.IsGenerated(f) {
			continue
		}
		seen = true
		documented = documented || f.Doc != nil
		for _, d := range f.Decls {
			for _, name := range bare(d) {
				faults = append(faults, fmt.Sprintf("%s: %s has no comment", fset.Position(d.Pos()), name))
			}
		}
	}
	if seen && !documented {
		faults = append(faults, dir+": the package has no comment")
	}
	return faults, nil
}

// bare lists the exported names that a declaration leaves without a comment.
func bare(d ast.Decl) []string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d))) {
			return []string{d.Name.Name}
		}
	case *ast.GenDecl:
		return bareSpecs(d)
	}
	return nil
}

func bareSpecs(d *ast.GenDecl) []string {
	var names []string
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
				names = append(names, s.Name.Name)
			}
		case *ast.ValueSpec:
			for _, n := range s.Names {
				if n.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
					names = append(names, n.Name)
				}
			}
		}
	}
	return names
}

func receiver(d *ast.FuncDecl) string {
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

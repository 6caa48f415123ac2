package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// room is a line of the list of rooms in doc.go: a tab after the comment's sign, the folder, two blanks, what it is
// for.
var room = regexp.MustCompile(`^//\t([a-z][a-z/]*)  +\S`)

// readRooms reads the rooms from doc.go, lowest first.
func readRooms() ([]string, error) {
	f, err := os.Open("doc.go")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var rooms []string
	lines := bufio.NewScanner(f)
	for inside := false; lines.Scan(); {
		switch text := lines.Text(); {
		case strings.HasPrefix(text, "// # "):
			inside = text == "// # Rooms"
		case inside:
			if m := room.FindStringSubmatch(text); m != nil {
				rooms = append(rooms, m[1])
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(rooms) == 0 {
		return nil, fmt.Errorf("doc.go: no list of rooms")
	}
	return rooms, nil
}

// floor is the place of a package's room in the list, and -1 for a package in none: such are below all rooms.
func floor(rooms []string, dir string) int {
	return slices.IndexFunc(rooms, func(r string) bool { return dir == r || strings.HasPrefix(dir, r+"/") })
}

// downwards lists the imports of a package's production files that point to a room further down in doc.go's list.
func downwards(rooms []string, dir string) ([]string, error) {
	files, err := production(dir)
	if err != nil {
		return nil, err
	}
	return unwanted(files, func(_, path string) string {
		to, ours := strings.CutPrefix(path, root+"/")
		if !ours || floor(rooms, to) <= floor(rooms, filepath.ToSlash(dir)) {
			return ""
		}
		return fmt.Sprintf("imports %s, which is further down in doc.go's list of rooms", to)
	})
}

// production lists the Go files of a folder that are not tests.
func production(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	return slices.DeleteFunc(files, func(file string) bool { return strings.HasSuffix(file, "_test.go") }), err
}

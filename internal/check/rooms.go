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

// room is a line of a list of rooms in doc.go: a tab after the comment's sign, the folder, two blanks, what it is
// for.
var room = regexp.MustCompile(`^//\t([a-z][a-z/]*)  +\S`)

// readRooms reads the lists of rooms from doc.go, each lowest first: that of the house, and behind it those of single
// packages, whose headings go on.
func readRooms() ([][]string, error) {
	f, err := os.Open("doc.go")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var rooms [][]string
	lines := bufio.NewScanner(f)
	for inside := false; lines.Scan(); {
		switch text := lines.Text(); {
		case strings.HasPrefix(text, "// # "):
			if inside = text == "// # Rooms" || strings.HasPrefix(text, "// # Rooms "); inside {
				rooms = append(rooms, nil)
			}
		case inside:
			if m := room.FindStringSubmatch(text); m != nil {
				rooms[len(rooms)-1] = append(rooms[len(rooms)-1], m[1])
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(rooms) == 0 || slices.ContainsFunc(rooms, func(list []string) bool { return len(list) == 0 }) {
		return nil, fmt.Errorf("doc.go: no list of rooms, or an empty one")
	}
	return rooms, nil
}

// floor is the place of a package's room in a list, and -1 for a package in none. In the list of the house, such are
// below all rooms.
func floor(rooms []string, dir string) int {
	at, longest := -1, 0
	for i, r := range rooms {
		if (dir == r || strings.HasPrefix(dir, r+"/")) && len(r) > longest {
			at, longest = i, len(r)
		}
	}
	return at
}

// downwards lists the imports of a package's production files that point to a room further down in one of doc.go's
// lists. The lists of single packages are about the rooms in them alone.
func downwards(lists [][]string, dir string) ([]string, error) {
	files, err := production(dir)
	if err != nil {
		return nil, err
	}
	return unwanted(files, func(_, path string) string {
		to, ours := strings.CutPrefix(path, root+"/")
		for i, rooms := range lists {
			here := floor(rooms, filepath.ToSlash(dir))
			if ours && floor(rooms, to) > here && (i == 0 || here >= 0) {
				return fmt.Sprintf("imports %s, which is further down in doc.go's list of rooms", to)
			}
		}
		return ""
	})
}

// production lists the Go files of a folder that are not tests.
func production(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	return slices.DeleteFunc(files, func(file string) bool { return strings.HasSuffix(file, "_test.go") }), err
}

package testservers

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrNotBuilt is the sentinel of programs that are not in the cache.
var ErrNotBuilt = errors.New("testservers: not built")

// Built tells whether programs are in the cache, without building them; a folder with a Maven project stands for that
// project's jar. The error is [ErrNotBuilt], with the command that builds them, or what keeps the cache from being
// read.
func Built(names ...string) error {
	var missing []string
	for _, name := range names {
		name, path, err := place(name)
		if err != nil {
			return err
		}
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, name)
		} else if err != nil {
			return fmt.Errorf("testservers: %w", err)
		}
	}
	if len(missing) > 0 {
		list := strings.Join(missing, " ")
		return fmt.Errorf("%w: %s: `go run ./cmd/servers %s` in adapters/testservers builds what is missing", ErrNotBuilt,
			list, list)
	}
	return nil
}

// place is where a program is once it was built, or YARN's jars are, or a project's jar is, and its name in any folder.
func place(name string) (full, path string, err error) {
	full = name
	if _, none := os.Stat(filepath.Join(name, "pom.xml")); none == nil {
		full, path, err = jarPlace(name)
	} else if name == "yarn" {
		path, err = yarnPlace()
	} else {
		var p *program
		if p, err = find(name); err != nil {
			return "", "", err
		}
		path, _, _, err = p.place()
	}
	if err != nil {
		return "", "", fmt.Errorf("testservers: %s: %w", name, err)
	}
	return full, path, nil
}

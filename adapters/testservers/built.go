package testservers

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrNotBuilt means that a program is not in the cache.
var ErrNotBuilt = errors.New("testservers: not built")

// Built checks that programs are in the cache, without building them. A folder with a Maven project stands for that
// project's jar. The error is [ErrNotBuilt] with the command that builds them, or the reason why the cache cannot be
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

// place is the path of a built program, of YARN's jars, or of a project's jar, and its name in any folder.
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

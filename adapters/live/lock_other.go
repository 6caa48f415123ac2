//go:build !unix

package live

import (
	"fmt"
	"os"
	"path/filepath"
)

// lockFolder refuses a folder that does not exist. It cannot tell whether another process uses it.
func lockFolder(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%w: folder: %w", ErrConfig, err)
	}
	return f, nil
}

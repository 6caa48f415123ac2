//go:build unix

package live

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// lockFolder locks a folder, and refuses one that another process uses.
func lockFolder(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%w: folder: %w", ErrConfig, err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("%w: folder %s is in use: %w", ErrConfig, dir, err)
	}
	return f, nil
}

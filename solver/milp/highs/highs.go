package highs

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/hedgesched/hedge/solver/milp"
)

// Version is the version of HiGHS that [Install] downloads and that the package is tested with. Open accepts this minor
// version and later ones of the same major version, which keep the C API. Earlier ones share threads between solves.
const Version = "1.15.1"

// LibraryVariable is the environment variable that names the library's file.
const LibraryVariable = "HEDGE_HIGHS_LIBRARY"

// Config says where the library is.
type Config struct {
	// Library is the file of the shared library. If it is empty, Open uses the file named by the environment variable
	// [LibraryVariable]; if that is not set, the one in [Dir]; and if that does not exist, what the system's loader finds.
	Library string
}

// Dir is the default folder for [Install]: hedge/highs/ and the version, in the user's cache folder.
func Dir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("highs: cache folder: %w", err)
	}
	return filepath.Join(cache, "hedge", "highs", Version), nil
}

// fileName is the library's file in Dir and in the Python package.
func fileName() string {
	if runtime.GOOS == "darwin" {
		return "libhighs.1.dylib"
	}
	return "libhighs.so.1"
}

// candidates are the files to try, in order; the first that exists counts. A name without a folder is for the system's
// loader.
func (c Config) candidates() []string {
	if c.Library != "" {
		return []string{c.Library}
	}
	if named := os.Getenv(LibraryVariable); named != "" {
		return []string{named}
	}
	names := []string{fileName()}
	if runtime.GOOS == "darwin" {
		names = append(names, "libhighs.dylib")
	} else {
		names = append(names, "libhighs.so")
	}
	if dir, err := Dir(); err == nil {
		installed := filepath.Join(dir, fileName())
		if _, err := os.Stat(installed); err == nil {
			return append([]string{installed}, names...)
		}
	}
	return names
}

const installHint = "go run github.com/hedgesched/hedge/solver/milp/highs/install fetches it; " +
	LibraryVariable + " names one that is elsewhere"

// unavailable is the error for a library that cannot be loaded.
func unavailable(format string, args ...any) error {
	return fmt.Errorf("highs: %w: %w (%s)", milp.ErrUnavailable, fmt.Errorf(format, args...), installHint)
}

package highs

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
)

// Install downloads HiGHS [Version] from PyPI's package highspy, and puts its shared library into dir, or into [Dir] if
// dir is empty. It returns the library's file. A valid file that already exists is kept.
//
// It runs `python3 -m pip download` with the user's settings of pip. It needs no compiler and no virtual environment:
// it unpacks the package itself, and installs nothing into Python. The error is [milp.ErrUnavailable] if there is no
// package for this platform, or the download fails.
func Install(ctx context.Context, dir string) (string, error) {
	if dir == "" {
		var err error
		if dir, err = Dir(); err != nil {
			return "", err
		}
	}
	library := filepath.Join(dir, fileName())
	if good(library) == nil {
		return library, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("highs: install: %w", err)
	}
	fetched, err := os.MkdirTemp(dir, "fetch-")
	if err != nil {
		return "", fmt.Errorf("highs: install: %w", err)
	}
	defer func() { _ = os.RemoveAll(fetched) }() // leftovers in the cache do no harm
	wheel, err := download(ctx, fetched)
	if err != nil {
		return "", err
	}
	unpacked := filepath.Join(fetched, fileName())
	if err := unpack(wheel, unpacked); err != nil {
		return "", fmt.Errorf("highs: install: %s: %w", filepath.Base(wheel), err)
	}
	if err := good(unpacked); err != nil {
		return "", err
	}
	// Rename is atomic: a process that has loaded the old file keeps it.
	if err := os.Rename(unpacked, library); err != nil {
		return "", fmt.Errorf("highs: install: %w", err)
	}
	return library, nil
}

// good returns an error unless file is a library of the right version.
func good(file string) error {
	b, err := Open(Config{Library: file})
	if err != nil {
		return err
	}
	if found := b.Caps().Version; found != Version {
		return unavailable("%s: found version %s, expected %s", file, found, Version)
	}
	return nil
}

// download lets pip put the package into dir, and returns its file. The library in it is the same for all versions of
// Python. So a version that certainly exists is named, and not the one that runs pip.
func download(ctx context.Context, dir string) (string, error) {
	command := exec.CommandContext(ctx, "python3", "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
		"--no-deps",
		"--only-binary=:all:", "--python-version=3.11", "--implementation=cp", "--abi=cp311", "--dest", dir,
		"highspy=="+Version)
	if said, err := command.CombinedOutput(); err != nil {
		return "", unavailable("%s: %w\n%s", command, err, said)
	}
	wheels, err := filepath.Glob(filepath.Join(dir, "highspy-*.whl"))
	if err != nil || len(wheels) != 1 {
		return "", unavailable("%s: found %d packages, expected one", command, len(wheels))
	}
	return wheels[0], nil
}

// unpack copies the library from a wheel, which is a zip file.
func unpack(wheel, to string) error {
	archive, err := zip.OpenReader(wheel)
	if err != nil {
		return err
	}
	defer func() { _ = archive.Close() }() // it was only read
	for _, f := range archive.File {
		if path.Base(f.Name) != fileName() {
			continue
		}
		from, err := f.Open()
		if err != nil {
			return err
		}
		defer from.Close()
		return write(to, from)
	}
	return fmt.Errorf("no %s in it", fileName())
}

func write(file string, from io.Reader) error {
	to, err := os.Create(file)
	if err != nil {
		return err
	}
	if _, err := io.Copy(to, from); err != nil {
		to.Close()
		return err
	}
	return to.Close()
}

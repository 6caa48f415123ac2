package serve

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/ortools/service"
)

// Prepare makes the virtual environment for Run if it does not exist yet, so that Run starts at once and without a
// network. It writes pip's output to w, which may be nil. Errors are milp.ErrUnavailable, or ctx's.
func Prepare(ctx context.Context, w io.Writer) error {
	_, err := prepare(ctx, "", "", &tail{to: w})
	return err
}

// prepared is what there is to run.
type prepared struct {
	python  string // of the virtual environment
	program string // the folder of server.py
}

const requirements = "requirements.txt"

// prepare makes what is missing in folders beside the cache's, and renames them when they are complete. So several
// processes can prepare at once, and a process that dies leaves nothing that looks complete.
func prepare(ctx context.Context, python, cache string, w *tail) (prepared, error) {
	var p prepared
	if python == "" {
		python = "python3"
	}
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return p, fmt.Errorf("%w: no folder for the virtual environment: %w", milp.ErrUnavailable, err)
		}
		cache = filepath.Join(user, "hedge")
	}
	which, err := interpreter(ctx, python)
	if err != nil {
		return p, settle(ctx, err)
	}
	wanted, err := service.Files.ReadFile(requirements)
	if err != nil {
		return p, err
	}
	venv := filepath.Join(cache, "ortools-"+hash(wanted, []byte(which)))
	err = once(venv, func(dir string) error { return install(ctx, python, dir, wanted, w) })
	if err != nil {
		return p, settle(ctx, err)
	}
	all, err := contents()
	if err != nil {
		return p, err
	}
	p.python = filepath.Join(venv, filepath.FromSlash(interpreterPath()))
	p.program = filepath.Join(cache, "ortools-service-"+hash(all))
	err = once(p.program, func(dir string) error { return os.CopyFS(dir, service.Files) })
	return p, settle(ctx, err)
}

func interpreterPath() string {
	if runtime.GOOS == "windows" {
		return "Scripts/python.exe"
	}
	return "bin/python"
}

func settle(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%w: %w", milp.ErrUnavailable, err)
}

func hash(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write(p)
		h.Write([]byte{0})
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// contents is all of the program.
func contents() ([]byte, error) {
	var all []byte
	err := fs.WalkDir(service.Files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := service.Files.ReadFile(path)
		all = append(append(append(all, path...), 0), b...)
		return err
	})
	return all, err
}

// once lets fill make dir, unless it exists.
func once(dir string, fill func(dir string) error) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	temporary, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".part-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	if err := fill(temporary); err != nil {
		return err
	}
	if err := os.Rename(temporary, dir); err != nil {
		if _, there := os.Stat(dir); there == nil {
			return nil // another process was faster
		}
		return err
	}
	return nil
}

// interpreter identifies the Python version: another version needs another virtual environment.
func interpreter(ctx context.Context, python string) (string, error) {
	path, err := exec.LookPath(python)
	if err != nil {
		return "", fmt.Errorf("%w; Python 3.11 or later is needed, on Debian: apt-get install python3 python3-venv", err)
	}
	out, err := exec.CommandContext(ctx, path, "-c",
		"import sys; print(sys.version_info >= (3, 11), sys.version, sys.base_prefix)").Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	enough, which, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if enough != "True" {
		return "", fmt.Errorf("%s: found Python %s, expected 3.11 or later", path, which)
	}
	return which, nil
}

// install makes a virtual environment in dir with the wanted packages.
func install(ctx context.Context, python, dir string, wanted []byte, w *tail) error {
	fmt.Fprintf(w, "making a virtual environment for OR-Tools in %s\n", filepath.Dir(dir))
	if err := run(ctx, w, python, "-m", "venv", dir); err != nil {
		if strings.Contains(err.Error(), "ensurepip") || strings.Contains(err.Error(), "No module named venv") {
			return errors.New("python's module venv is missing, on Debian: apt-get install python3-venv")
		}
		return err
	}
	list := filepath.Join(dir, requirements)
	if err := os.WriteFile(list, wanted, 0o644); err != nil {
		return err
	}
	return run(ctx, w, filepath.Join(dir, filepath.FromSlash(interpreterPath())), "-m", "pip", "install",
		"--disable-pip-version-check", "--no-input", "--progress-bar", "off", "--only-binary", ":all:", "-r", list)
}

func run(ctx context.Context, w *tail, name string, args ...string) error {
	said := &tail{to: w}
	cmd := exec.CommandContext(ctx, name, args...)
	ownGroup(cmd)
	cmd.Cancel = func() error { return killGroup(cmd) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w%s", filepath.Base(name), strings.Join(args, " "), err, said.last())
	}
	return nil
}

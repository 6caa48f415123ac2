package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// proxy writes the checkout's modules into a folder that the go command takes for a proxy: what
// https://go.dev/ref/mod#goproxy-protocol asks for, as files.
func (r *repo) proxy(ctx context.Context, to string) error {
	version, err := r.version()
	if err != nil {
		return err
	}
	files, err := r.files(ctx)
	if err != nil {
		return err
	}
	for _, folder := range r.folders {
		if err := r.publish(to, folder, version, files); err != nil {
			return fmt.Errorf("%s: %w", folder, err)
		}
	}
	return nil
}

// files are the paths that git knows of in the checkout, and those that it would take.
func (r *repo) files(ctx context.Context) ([]string, error) {
	out, err := r.git(ctx, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
	if err != nil {
		return nil, err
	}
	names := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	return slices.DeleteFunc(names, func(name string) bool { // of a file that was removed and not yet committed
		_, err := os.Lstat(filepath.Join(r.dir, name))
		return errors.Is(err, os.ErrNotExist)
	}), nil
}

// publish writes one module: its list of versions, info, go.mod and zip.
func (r *repo) publish(to, folder, version string, files []string) error {
	dir := filepath.Join(to, filepath.FromSlash(modulePath(folder)), "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(r.dir, folder, "go.mod"))
	if err != nil {
		return err
	}
	var archive bytes.Buffer
	of := module.Version{Path: modulePath(folder), Version: version}
	if err := zip.Create(&archive, of, r.content(folder, files)); err != nil {
		return err
	}
	info := fmt.Appendf(nil, `{"Version":%q,"Time":%q}`, version, time.Unix(0, 0).UTC().Format(time.RFC3339))
	for name, data := range map[string][]byte{
		"list": []byte(version + "\n"), version + ".info": info, version + ".mod": mod, version + ".zip": archive.Bytes(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// content are a module's files. The zip leaves out those of modules below it. A module without a licence of its own has
// the repository's, as it would from a version control system.
func (r *repo) content(folder string, files []string) []zip.File {
	var content []zip.File
	licensed := false
	for _, name := range files {
		inside := name
		if folder != "." {
			var ok bool
			if inside, ok = strings.CutPrefix(name, folder+"/"); !ok {
				continue
			}
		}
		licensed = licensed || inside == "LICENSE"
		content = append(content, file{inside, filepath.Join(r.dir, filepath.FromSlash(name))})
	}
	if !licensed {
		content = append(content, file{"LICENSE", filepath.Join(r.dir, "LICENSE")})
	}
	return content
}

// file is one of a module: its path there and on the disk.
type file struct{ inside, disk string }

func (f file) Path() string                 { return path.Clean(f.inside) }
func (f file) Lstat() (os.FileInfo, error)  { return os.Lstat(f.disk) }
func (f file) Open() (io.ReadCloser, error) { return os.Open(f.disk) }

// outside is the environment in which the go command knows nothing of the checkout but what the proxy in dir has: it
// keeps its own module cache in cache, and gets what others have published from the machine's module cache, or from
// where it usually would.
func outside(ctx context.Context, dir, cache string) ([]string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	usual := strings.Fields(string(out))
	if len(usual) != 2 {
		return nil, fmt.Errorf("go env GOMODCACHE GOPROXY printed %q", out)
	}
	proxies := []string{"file://" + filepath.ToSlash(dir),
		"file://" + filepath.ToSlash(filepath.Join(usual[0], "cache", "download")), usual[1]}
	return append(os.Environ(), "GOWORK=off", "GOMODCACHE="+cache, "GOPROXY="+strings.Join(proxies, ","),
		// the checkout is in no checksum database, and what others have published is not what is looked at here
		"GOSUMDB=off",
		// with -trimpath what is compiled does not depend on the module cache's place, and is there the next time
		"GOFLAGS=-modcacherw -trimpath -buildvcs=false"), nil
}

// tidy runs go mod tidy in every module, by a proxy of the checkout. The sums of the checkout's own modules are left
// out of go.sum: they change with every file.
func (r *repo) tidy(ctx context.Context) (err error) {
	tmp, err := os.MkdirTemp("", "hedge-release-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	proxy := filepath.Join(tmp, "proxy")
	if err := r.proxy(ctx, proxy); err != nil {
		return err
	}
	env, err := outside(ctx, proxy, filepath.Join(tmp, "cache"))
	if err != nil {
		return err
	}
	for _, folder := range r.folders {
		cmd := exec.CommandContext(ctx, "go", "mod", "tidy")
		cmd.Dir, cmd.Env = filepath.Join(r.dir, folder), env
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: go mod tidy: %w\n%s", folder, err, out)
		}
		if err := forget(filepath.Join(cmd.Dir, "go.sum")); err != nil {
			return err
		}
	}
	return nil
}

// forget takes the lines of the repository's modules out of a go.sum.
func forget(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var kept []byte
	for line := range bytes.Lines(text) {
		if module, _, _ := bytes.Cut(line, []byte(" ")); !ours(string(module)) {
			kept = append(kept, line...)
		}
	}
	return os.WriteFile(name, kept, 0o644)
}

// git runs git in the checkout and returns what it prints.
func (r *repo) git(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = r.dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(exit.Stderr))
	}
	return out, err
}

package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// tool is the program that compares APIs. No module requires it, since its own requirements would be everybody's in
// the workspace.
const tool = "golang.org/x/exp/cmd/apidiff@v0.0.0-20261113113407-e3970619a1a4"

// errIncompatible is an API that breaks programs without the changelog saying so.
var errIncompatible = errors.New("there are incompatible changes; CHANGELOG.md has to tell of them, " +
	`in a section "### Incompatible" of what is unreleased`)

// apidiff writes how the API of every module has changed since the last tag of the root module. It leaves out packages
// named internal. It is an error if programs break and the changelog does not warn of it.
func (r *repo) apidiff(ctx context.Context, out io.Writer) (err error) {
	tag, err := r.lastTag(ctx)
	if err != nil {
		return err
	}
	if tag == "" {
		_, err := fmt.Fprintln(out, "apidiff: no release has been tagged yet, so there is nothing to compare with")
		return err
	}
	tmp, err := os.MkdirTemp("", "hedge-apidiff-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	old := filepath.Join(tmp, "old")
	if err := r.checkout(ctx, tag, old); err != nil {
		return err
	}
	before, err := open(old)
	if err != nil {
		return fmt.Errorf("%s: %w", tag, err)
	}
	if err := install(ctx, tmp); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "apidiff: against %s\n", tag); err != nil {
		return err
	}
	broken := false
	for _, folder := range r.folders {
		if !public(folder) || !slices.Contains(before.folders, folder) {
			continue
		}
		changes, err := change(ctx, tmp, before, r, folder)
		if err != nil {
			return err
		}
		broken = broken || bytes.Contains(changes, []byte("Incompatible changes:"))
		if _, err := fmt.Fprintf(out, "%s\n%s", modulePath(folder), changes); err != nil {
			return err
		}
	}
	changelog, err := os.ReadFile(filepath.Join(r.dir, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	if broken && !warned(string(changelog)) {
		return errIncompatible
	}
	return nil
}

// public tells whether a folder's module is there to be imported.
func public(folder string) bool {
	first, _, _ := strings.Cut(folder, "/")
	return first != "cmd" && first != "examples" && first != "internal"
}

// change is what the tool in tmp says of a folder's module in two checkouts.
func change(ctx context.Context, tmp string, before, after *repo, folder string) ([]byte, error) {
	api := filepath.Join(tmp, "api")
	if _, err := before.compare(ctx, tmp, folder, "-w", api, modulePath(folder)); err != nil {
		return nil, err
	}
	return after.compare(ctx, tmp, folder, api, modulePath(folder))
}

// lastTag is the root module's newest version that HEAD comes from, or "".
func (r *repo) lastTag(ctx context.Context) (string, error) {
	out, err := r.git(ctx, "tag", "--list", "v*", "--merged", "HEAD")
	if err != nil {
		return "", err
	}
	last := ""
	for tag := range strings.FieldsSeq(string(out)) {
		if semver.IsValid(tag) && (last == "" || semver.Compare(tag, last) > 0) {
			last = tag
		}
	}
	return last, nil
}

// warned tells whether what a changelog has as unreleased tells of incompatible changes.
func warned(changelog string) bool {
	_, text, _ := strings.Cut(changelog, "\n## [Unreleased]")
	text, _, _ = strings.Cut(text, "\n## ")
	return strings.Contains(text, "\n### Incompatible\n")
}

// install builds the tool into a folder.
func install(ctx context.Context, folder string) error {
	cmd := exec.CommandContext(ctx, "go", "install", tool)
	cmd.Env = append(os.Environ(), "GOBIN="+folder, "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go install %s: %w\n%s", tool, err, out)
	}
	return nil
}

// compare runs the tool in tmp in a checkout, and returns what it prints. The go command there uses the folder's module
// alone: the tool would take the modules below it for a part of it.
func (r *repo) compare(ctx context.Context, tmp, folder string, args ...string) ([]byte, error) {
	dir, err := filepath.Abs(r.dir)
	if err != nil {
		return nil, err
	}
	version, err := r.version()
	if err != nil {
		return nil, err
	}
	mod, err := r.modFile(folder)
	if err != nil {
		return nil, err
	}
	work := filepath.Join(tmp, "go.work")
	text := r.work(mod.Go.Version, version, filepath.ToSlash(dir), []string{folder})
	if err := os.WriteFile(work, text, 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(tmp, "apidiff"), append([]string{"-m"}, args...)...)
	cmd.Dir = filepath.Join(dir, folder)
	// With -trimpath what is compiled does not depend on the checkout's place.
	cmd.Env = append(os.Environ(), "GOWORK="+work, "GOFLAGS=-trimpath")
	var failed bytes.Buffer
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("apidiff: %s: %w: %s", folder, err, bytes.TrimSpace(failed.Bytes()))
	}
	return out, nil
}

// checkout writes the files of a tag into a folder.
func (r *repo) checkout(ctx context.Context, tag, to string) error {
	archive, err := r.git(ctx, "archive", "--format=tar", tag)
	if err != nil {
		return err
	}
	files := tar.NewReader(bytes.NewReader(archive))
	for {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(files)
		if err != nil {
			return err
		}
		name := filepath.Join(to, filepath.FromSlash(h.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, data, 0o644); err != nil {
			return err
		}
	}
}

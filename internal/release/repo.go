package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// root is the path of the root module.
const root = "github.com/hedgesched/hedge"

// repo is a checkout.
type repo struct {
	dir     string
	folders []string // of the modules, "." first
}

// open reads which modules a checkout has.
func open(dir string) (*repo, error) {
	list, err := os.ReadFile(filepath.Join(dir, "allmodules"))
	if err != nil {
		return nil, err
	}
	folders := strings.Fields(string(list))
	if len(folders) == 0 || folders[0] != "." {
		return nil, fmt.Errorf("allmodules begins with %.1q, expected the root module, %q", folders, ".")
	}
	return &repo{dir: dir, folders: folders}, nil
}

// modulePath is the module path of a folder.
func modulePath(folder string) string {
	if folder == "." {
		return root
	}
	return root + "/" + folder
}

// ours tells whether a module is one of the repository.
func ours(module string) bool { return module == root || strings.HasPrefix(module, root+"/") }

// tagName is how a version of a folder's module is tagged, as the go command looks for it.
func tagName(folder, version string) string {
	if folder == "." {
		return version
	}
	return folder + "/" + version
}

// version is the one that every module requires of its neighbours. It is an error that names the module if one
// requires another version, replaces a neighbour, or is not called by its folder.
func (r *repo) version() (string, error) {
	var version string
	for _, folder := range r.folders {
		f, err := r.modFile(folder)
		if err != nil {
			return "", err
		}
		if f.Module.Mod.Path != modulePath(folder) {
			return "", fmt.Errorf("%s/go.mod is of %s, expected %s", folder, f.Module.Mod.Path, modulePath(folder))
		}
		if len(f.Replace) > 0 {
			return "", fmt.Errorf("%s/go.mod replaces %s, which go.work should do", folder, f.Replace[0].Old.Path)
		}
		for _, q := range f.Require {
			if !ours(q.Mod.Path) {
				continue
			}
			if version == "" {
				version = q.Mod.Version
			}
			if q.Mod.Version != version {
				return "", fmt.Errorf("%s/go.mod requires %s %s, expected %s", folder, q.Mod.Path, q.Mod.Version, version)
			}
		}
	}
	return version, nil
}

func (r *repo) modFile(folder string) (*modfile.File, error) {
	name := filepath.Join(r.dir, folder, "go.mod")
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return modfile.Parse(name, text, nil)
}

// set writes a version into every go.mod and into go.work.
func (r *repo) set(version string) error {
	if !semver.IsValid(version) || semver.Canonical(version) != version {
		return fmt.Errorf("version %q, expected one like v0.1.0", version)
	}
	for _, folder := range r.folders {
		f, err := r.modFile(folder)
		if err != nil {
			return err
		}
		for _, q := range f.Require {
			if ours(q.Mod.Path) {
				if err := f.AddRequire(q.Mod.Path, version); err != nil {
					return err
				}
			}
		}
		text, err := f.Format()
		if err != nil {
			return err
		}
		if err := os.WriteFile(f.Syntax.Name, text, 0o644); err != nil {
			return err
		}
	}
	return r.setWork(version)
}

// setWork has go.work use every module, in the place of the version that the others require.
func (r *repo) setWork(version string) error {
	name := filepath.Join(r.dir, "go.work")
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	w, err := modfile.ParseWork(name, text, nil)
	if err != nil {
		return err
	}
	if w.Go == nil {
		return fmt.Errorf("%s: no go version", name)
	}
	return os.WriteFile(name, r.work(w.Go.Version, version, ".", r.folders), 0o644)
}

// work is a go.work that uses some folders and has all of them in the place of a version. The paths in it begin with
// dir.
func (r *repo) work(language, version, dir string, used []string) []byte {
	var use, replace strings.Builder
	for _, folder := range used {
		fmt.Fprintf(&use, "\t%s\n", strings.TrimSuffix(dir+"/"+folder, "/."))
	}
	for _, folder := range r.folders {
		fmt.Fprintf(&replace, "\t%s %s => %s\n", modulePath(folder), version, strings.TrimSuffix(dir+"/"+folder, "."))
	}
	return fmt.Appendf(nil, "go %s\n\nuse (\n%s)\n\nreplace (\n%s)\n", language, &use, &replace)
}

// untagged is an error if some module has a tag of the version.
func (r *repo) untagged(ctx context.Context, version string) error {
	for _, folder := range r.folders {
		out, err := r.git(ctx, "tag", "--list", tagName(folder, version))
		if err != nil {
			return err
		}
		if len(out) > 0 {
			return fmt.Errorf("there is a tag %s already", tagName(folder, version))
		}
	}
	return nil
}

// tag tags every module at HEAD, and says how to publish the tags. It makes all tags or none.
func (r *repo) tag(ctx context.Context, out io.Writer) error {
	version, err := r.version()
	if err != nil {
		return err
	}
	dirty, err := r.git(ctx, "status", "--porcelain", "--untracked-files=no")
	if err != nil {
		return err
	}
	if len(dirty) > 0 {
		return fmt.Errorf("not committed yet:\n%s", dirty)
	}
	if err := r.untagged(ctx, version); err != nil {
		return err
	}
	made := []string{"tag", "-d"}
	for _, folder := range r.folders {
		name := tagName(folder, version)
		if _, err := r.git(ctx, "tag", "-a", "-m", modulePath(folder)+" "+version, name); err != nil {
			if len(made) > 2 {
				_, undo := r.git(context.WithoutCancel(ctx), made...)
				err = errors.Join(err, undo)
			}
			return err
		}
		made = append(made, name)
	}
	_, err = fmt.Fprintf(out, "%d tags at HEAD; publish them: git push origin main --tags\n", len(r.folders))
	return err
}

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// checkout is this repository, which has the folders in allmodules.
func checkout(t *testing.T) *repo {
	t.Helper()
	r, err := open("../..")
	require.NoError(t, err)
	return r
}

// TestVersions: every module requires its neighbours at one version and replaces nothing, and go.work has them all.
func TestVersions(t *testing.T) {
	r := checkout(t)
	version, err := r.version()
	require.NoError(t, err)
	assert.NotEmpty(t, version)
	found, err := r.files(t.Context())
	require.NoError(t, err)
	var folders []string
	for _, name := range found {
		if filepath.Base(name) == "go.mod" && !strings.Contains(name, "testdata/") {
			folders = append(folders, filepath.Dir(name))
		}
	}
	assert.ElementsMatch(t, folders, r.folders, "allmodules lists every go.mod")
	work, err := os.ReadFile("../../go.work")
	require.NoError(t, err)
	same := &repo{dir: t.TempDir(), folders: r.folders}
	require.NoError(t, os.WriteFile(filepath.Join(same.dir, "go.work"), work, 0o600))
	require.NoError(t, same.setWork(version))
	again, err := os.ReadFile(filepath.Join(same.dir, "go.work"))
	require.NoError(t, err)
	assert.Equal(t, string(again), string(work), "go run ./internal/release set %s", version)
}

// user is an empty module that knows of the checkout only what a proxy has.
type user struct {
	dir, version string
	env          []string
}

func newUser(t *testing.T) *user {
	t.Helper()
	r, proxy := checkout(t), t.TempDir()
	version, err := r.version()
	require.NoError(t, err)
	require.NoError(t, r.proxy(t.Context(), proxy))
	env, err := outside(t.Context(), proxy, t.TempDir())
	require.NoError(t, err)
	u := &user{dir: t.TempDir(), version: version, env: append(env, "CGO_ENABLED=0")}
	u.run(t, "go", "mod", "init", "example.com/user")
	return u
}

// run runs a command there, which has to succeed, and returns what it prints.
func (u *user) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = u.dir, u.env
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s %s\n%s", name, strings.Join(args, " "), out)
	return string(out)
}

// TestReadme: what README.md says to type gets the module from a proxy, and its program runs.
func TestReadme(t *testing.T) {
	page, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	programs := blocks(string(page), "go")
	require.Len(t, programs, 3, "Go in README.md is a function, a program and how to open engines; all are tried here")
	get := ""
	for _, block := range blocks(string(page), "sh") {
		if strings.HasPrefix(block, "go get ") {
			get = block
		}
	}
	u := newUser(t)
	require.NotEmpty(t, get)
	u.run(t, "go", strings.Fields(get)[1:]...)
	require.NoError(t, os.WriteFile(filepath.Join(u.dir, "main.go"), []byte(programs[1]), 0o600))
	out := ""
	for _, command := range strings.Split("go mod tidy && go run .", " && ") {
		words := strings.Fields(command)
		out = u.run(t, words[0], words[1:]...)
	}
	assert.Contains(t, string(page), "`go mod tidy && go run .` prints `train-42 start [{n1 8}]`")
	assert.True(t, strings.HasPrefix(out, "train-42 start [{n1 8}] "), out)
	require.NoError(t, os.Mkdir(filepath.Join(u.dir, "first"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(u.dir, "first", "main.go"), []byte(first(programs[0])), 0o600))
	out = u.run(t, "go", "run", "./first")
	assert.True(t, strings.HasPrefix(out, "report [{laptop 1}] "), out)
	modules := u.run(t, "go", "list", "-m", "-f", "{{.Path}} {{.Version}}", "all")
	assert.Contains(t, modules, root+" "+u.version+"\n")
}

// first is a program that calls the function on README.md's first screen.
func first(function string) string {
	var imports strings.Builder
	for _, name := range []string{"context", "fmt", "time"} {
		fmt.Fprintf(&imports, "\t%q\n", name)
	}
	for _, name := range []string{"dist", "predict", "sched", "sched/threesigma", "utility"} {
		fmt.Fprintf(&imports, "\t%q\n", modulePath(name))
	}
	return fmt.Sprintf("package main\n\nimport (\n%s)\n\n%s\nfunc main() {\n"+
		"\tif err := plan(context.Background(), time.Now()); err != nil {\n\t\tpanic(err)\n\t}\n}\n", &imports, function)
}

// TestReadmeEngines: what README.md says of engines compiles, with a module beside the root module from the proxy.
func TestReadmeEngines(t *testing.T) {
	page, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	all := blocks(string(page), "go")
	require.Len(t, all, 3)
	u := newUser(t)
	var imports strings.Builder
	for _, name := range []string{"sched/threesigma", "solver/engines", "solver/milp/ortools"} {
		fmt.Fprintf(&imports, "\t%q\n", modulePath(name))
	}
	program := fmt.Sprintf("package main\n\nimport (\n%s)\n\nfunc main() {\n%s_, _ = policy, err\n}\n", &imports, all[2])
	require.NoError(t, os.WriteFile(filepath.Join(u.dir, "main.go"), []byte(program), 0o600))
	u.run(t, "go", "mod", "tidy")
	u.run(t, "go", "build", "-o", "program", ".")
	assert.Contains(t, u.run(t, "go", "list", "-m", "all"), modulePath("solver/milp/ortools")+" "+u.version+"\n")
}

// TestInstall: the command is installed by its version, which the go command refuses where a go.mod replaces anything.
func TestInstall(t *testing.T) {
	u := newUser(t)
	bin := t.TempDir()
	u.env = append(u.env, "GOBIN="+bin)
	u.run(t, "go", "install", modulePath("cmd/hedge")+"@"+u.version)
	assert.Contains(t, u.run(t, filepath.Join(bin, "hedge"), "--version"), u.version)
}

// TestGetAll: every module can be required together by its version.
func TestGetAll(t *testing.T) {
	u := newUser(t)
	args := []string{"mod", "edit"}
	for _, folder := range checkout(t).folders {
		args = append(args, "-require="+modulePath(folder)+"@"+u.version)
	}
	u.run(t, "go", args...)
	modules := u.run(t, "go", "list", "-mod=mod", "-m", "-f", "{{.Path}} {{.Version}}{{with .Replace}} replaced{{end}}",
		"all")
	for _, folder := range checkout(t).folders {
		assert.Contains(t, modules, modulePath(folder)+" "+u.version+"\n")
	}
}

// blocks are the pieces of code of a Markdown page that are said to be in a language.
func blocks(page, language string) []string {
	var all []string
	for {
		_, rest, ok := strings.Cut(page, "\n```"+language+"\n")
		if !ok {
			return all
		}
		var block string
		block, page, _ = strings.Cut(rest, "\n```\n")
		all = append(all, block+"\n")
	}
}

// made is a repository of two modules, committed, that requires v0.1.0 of itself.
func made(t *testing.T) *repo {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"allmodules":    ".\nnested\n",
		"LICENSE":       "licence\n",
		"CHANGELOG.md":  "# Changelog\n\n## [Unreleased]\n\n### Added\n",
		"go.work":       "go 1.26.0\n\nuse (\n\t.\n\t./nested\n)\n",
		"go.mod":        "module " + root + "\n\ngo 1.26\n",
		"p/p.go":        "// Package p is small.\npackage p\n\n// F does nothing.\nfunc F() {}\n",
		"nested/go.mod": "module " + root + "/nested\n\ngo 1.26\n\nrequire " + root + " v0.1.0\n",
		"nested/n.go":   "package nested\n\nimport \"" + root + "/p\"\n\nfunc G() { p.F() }\n",
	} {
		write(t, dir, name, text)
	}
	r, err := open(dir)
	require.NoError(t, err)
	for _, args := range [][]string{{"init", "-q"}, {"config", "user.name", "n"},
		{"config", "user.email", "n@example.com"}} {
		_, err := r.git(t.Context(), args...)
		require.NoError(t, err)
	}
	require.NoError(t, r.set("v0.1.0"))
	commit(t, r)
	return r
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o750))
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
}

func commit(t *testing.T, r *repo) {
	t.Helper()
	for _, args := range [][]string{{"add", "-A"}, {"commit", "-q", "-m", "all"}} {
		_, err := r.git(t.Context(), args...)
		require.NoError(t, err)
	}
}

// TestSet: the version stands in every go.mod and in go.work, and nothing else than a version does.
func TestSet(t *testing.T) {
	r := made(t)
	require.NoError(t, r.set("v0.2.0"))
	version, err := r.version()
	require.NoError(t, err)
	assert.Equal(t, "v0.2.0", version)
	work, err := os.ReadFile(filepath.Join(r.dir, "go.work"))
	require.NoError(t, err)
	assert.Equal(t, "go 1.26.0\n\nuse (\n\t.\n\t./nested\n)\n\nreplace (\n\t"+root+" v0.2.0 => ./\n\t"+root+
		"/nested v0.2.0 => ./nested\n)\n", string(work))
	for _, bad := range []string{"", "0.2.0", "v0.2", "v0.2.0+more", "latest"} {
		assert.Error(t, r.set(bad), bad)
	}
}

// TestVersionErrors: what would not work outside is refused, by name.
func TestVersionErrors(t *testing.T) {
	for want, text := range map[string]string{
		"nested/go.mod replaces " + root: "module " + root + "/nested\nrequire " + root +
			" v0.1.0\nreplace " + root + " => ../\n",
		"nested/go.mod is of other": "module other\n",
		"nested/go.mod requires " + root + "/p v0.3.0, expected v0.1.0": "module " + root + "/nested\nrequire " + root +
			" v0.1.0\nrequire " + root + "/p v0.3.0\n",
	} {
		r := made(t)
		write(t, r.dir, "nested/go.mod", text)
		_, err := r.version()
		assert.ErrorContains(t, err, want)
		assert.ErrorContains(t, r.proxy(t.Context(), t.TempDir()), want)
	}
}

// TestTag: each module gets the tag that the go command looks for, of what is committed.
func TestTag(t *testing.T) {
	r := made(t)
	write(t, r.dir, "LICENSE", "another\n")
	require.ErrorContains(t, r.tag(t.Context(), new(bytes.Buffer)), "LICENSE")
	commit(t, r)
	require.NoError(t, r.tag(t.Context(), new(bytes.Buffer)))
	tags, err := r.git(t.Context(), "tag")
	require.NoError(t, err)
	assert.Equal(t, "nested/v0.1.0\nv0.1.0\n", string(tags))
}

// TestApidiff: without a tag it says so; an API that grows is listed, and one that breaks programs needs a warning.
func TestApidiff(t *testing.T) {
	r := made(t)
	said := func() (string, error) {
		var out bytes.Buffer
		err := r.apidiff(t.Context(), &out)
		return out.String(), err
	}
	out, err := said()
	require.NoError(t, err)
	assert.Contains(t, out, "no release has been tagged yet")

	require.NoError(t, r.tag(t.Context(), new(bytes.Buffer)))
	write(t, r.dir, "p/more.go", "package p\n\n// More is new.\nconst More = 1\n")
	out, err = said()
	require.NoError(t, err)
	assert.Contains(t, out, "against v0.1.0")
	assert.Contains(t, out, "More: added")

	write(t, r.dir, "p/p.go", "package p\n\nfunc F(int) {}\n")
	write(t, r.dir, "nested/n.go", "package nested\n")
	out, err = said()
	require.ErrorIs(t, err, errIncompatible)
	assert.Contains(t, out, "F: changed from func() to func(int)")
	assert.Contains(t, out, "G: removed", "nested modules are looked at too")

	write(t, r.dir, "CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n\n### Incompatible\n\n- F takes a number.\n\n## "+
		"[0.1.0]\n")
	_, err = said()
	require.NoError(t, err)
	write(t, r.dir, "CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n\n## [0.1.0]\n\n### Incompatible\n\n- Long ago.\n")
	_, err = said()
	require.ErrorIs(t, err, errIncompatible)
}

func TestUsage(t *testing.T) {
	t.Chdir("../..")
	for _, args := range [][]string{nil, {"set"}, {"proxy"}, {"tag", "now"}, {"other"}} {
		assert.ErrorIs(t, run(context.Background(), args, new(bytes.Buffer)), errUsage)
	}
}

// TestTagAllOrNone: a tag that is there already, or cannot be made, leaves no tags of this run.
func TestTagAllOrNone(t *testing.T) {
	r := made(t)
	tags := func() string {
		out, err := r.git(t.Context(), "tag")
		require.NoError(t, err)
		return string(out)
	}
	_, err := r.git(t.Context(), "tag", "nested/v0.1.0")
	require.NoError(t, err)
	require.ErrorContains(t, r.tag(t.Context(), new(bytes.Buffer)), "nested/v0.1.0 already")
	assert.Equal(t, "nested/v0.1.0\n", tags())
	_, err = r.git(t.Context(), "tag", "-d", "nested/v0.1.0")
	require.NoError(t, err)
	_, err = r.git(t.Context(), "tag", "nested/v0.1.0/taken") // a folder in the place of the tag
	require.NoError(t, err)
	require.Error(t, r.tag(t.Context(), new(bytes.Buffer)))
	assert.Equal(t, "nested/v0.1.0/taken\n", tags())
}

// TestLastTag: a release is above its candidates.
func TestLastTag(t *testing.T) {
	r := made(t)
	for _, tag := range []string{"v0.2.0", "v0.2.0-rc1", "v0.10.0-rc2", "v0.9.0", "v0.10.0", "vain"} {
		_, err := r.git(t.Context(), "tag", tag)
		require.NoError(t, err)
	}
	last, err := r.lastTag(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "v0.10.0", last)
}

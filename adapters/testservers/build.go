package testservers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// modules are go.mod and go.sum of what is built, by name.
//
//go:embed servers
var modules embed.FS

// kubernetesVersion is Kubernetes' version. The linker sets a variable to it.
const kubernetesVersion = "v1.36.3"

// program is a server's program: its package, the module it is built in and what the linker sets.
type program struct {
	name, module, pkg, ldflags string
}

func programs() []program {
	const strip = "-s -w"
	version := "-X k8s.io/component-base/version."
	kubernetes := strip + " " + version + "gitVersion=" + kubernetesVersion + " " + version + "gitMajor=1 " + version +
		"gitMinor=36"
	return []program{
		{"etcd", "etcd", "go.etcd.io/etcd/server/v3", strip},
		{"kube-apiserver", "kubernetes", "k8s.io/kubernetes/cmd/kube-apiserver", kubernetes},
		{"kube-controller-manager", "kubernetes", "k8s.io/kubernetes/cmd/kube-controller-manager", kubernetes},
		{"kube-scheduler", "kubernetes", "k8s.io/kubernetes/cmd/kube-scheduler", kubernetes},
		{"kwok", "kwok", "sigs.k8s.io/kwok/cmd/kwok", strip},
		{"nomad", "nomad", "github.com/hashicorp/nomad", strip},
	}
}

// Program returns the path of a server's program: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kwok
// or nomad. For yarn it is the folder of its jars, with archives of their classes beside it. If it is not in the cache
// yet, it is built, which takes up to some minutes and 2 GB of memory. The error has the compiler's output. Several
// processes may call it at the same time.
func Program(ctx context.Context, name string) (string, error) {
	if name == "yarn" {
		path, err := yarnJars(ctx)
		if err != nil {
			return "", fmt.Errorf("testservers: fetching YARN: %w", err)
		}
		if err := archiveServers(ctx, path); err != nil {
			return "", fmt.Errorf("testservers: archiving the classes of YARN: %w", err)
		}
		return path, nil
	}
	p, err := find(name)
	if err != nil {
		return "", err
	}
	path, err := p.get(ctx)
	if err != nil {
		return "", fmt.Errorf("testservers: building %s: %w", name, err)
	}
	return path, nil
}

func find(name string) (*program, error) {
	all := programs()
	i := slices.IndexFunc(all, func(p program) bool { return p.name == name })
	if i < 0 {
		return nil, fmt.Errorf("testservers: unknown program %q", name)
	}
	return &all[i], nil
}

// place is the path of the built program, and the module from which it is built.
func (p *program) place() (out string, mod, sum []byte, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", nil, nil, err
	}
	if mod, sum, err = p.files(); err != nil {
		return "", nil, nil, err
	}
	key := sha256.New()
	for _, part := range [][]byte{mod, sum, []byte(p.pkg), []byte(p.ldflags), []byte(runtime.Version())} {
		fmt.Fprintf(key, "%d ", len(part))
		key.Write(part)
	}
	return filepath.Join(cache, "hedge", "testservers", fmt.Sprintf("%s-%x", p.name, key.Sum(nil)[:6])), mod, sum, nil
}

func (p *program) get(ctx context.Context) (string, error) {
	out, mod, sum, err := p.place()
	if err != nil {
		return "", err
	}
	dir := filepath.Dir(out)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	unlock, err := lock(ctx, filepath.Join(dir, p.module+".lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
		return out, err
	}
	return out, p.build(ctx, mod, sum, out)
}

func (p *program) files() (mod, sum []byte, err error) {
	mod, err = modules.ReadFile(path.Join("servers", p.module+".mod"))
	if err == nil {
		sum, err = modules.ReadFile(path.Join("servers", p.module+".sum"))
	}
	return mod, sum, err
}

// build builds p in a module of its own in a temporary folder.
func (p *program) build(ctx context.Context, mod, sum []byte, out string) error {
	dir, remove, err := workspace(mod, sum)
	if err != nil {
		return err
	}
	defer remove()
	made := filepath.Join(dir, "program")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags="+p.ldflags, "-o", made, p.pkg)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOFLAGS=-p=2 -mod=readonly -buildvcs=false")
	if p.module == "nomad" {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=1") // its client needs the C library's user look-ups
	}
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(text))
	}
	return move(made, out)
}

// workspace is a temporary folder with a go.mod and a go.sum.
func workspace(mod, sum []byte) (dir string, remove func(), err error) {
	if dir, err = os.MkdirTemp("", "hedge-testservers"); err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) } // what stays is in the temporary folder
	err = errors.Join(os.WriteFile(filepath.Join(dir, "go.mod"), mod, 0o644),
		os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o644))
	if err != nil {
		remove()
	}
	return dir, remove, err
}

// move moves a file to its place atomically, even from another file system.
func move(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	part := to + ".part"
	if err := os.WriteFile(part, data, 0o755); err != nil {
		return err
	}
	return os.Rename(part, to)
}

// lock waits until this process alone holds the file's lock, or the context is done.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil // which ends the lock
		}
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ctx.Err()
		}
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(fmt.Errorf("locking %s: %w", path, err), f.Close())
		}
		select {
		case <-ctx.Done():
		case <-again.C:
		}
	}
}

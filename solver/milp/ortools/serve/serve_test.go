//go:build unix

package serve_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/ortools/serve"
)

// hang is how long a test waits for what must come.
const hang = 2 * time.Minute

// fake is a Python that is none: what it does as each of the programs that serve runs is up to the test. $0 is its own
// path.
func fake(t *testing.T, version, venv, pip, server string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "python3")
	script := "#!/bin/sh\ncase \"$1 $2\" in\n" +
		"-c*) " + version + ";;\n" +
		"'-m venv') " + venv + ";;\n" +
		"'-m pip') " + pip + ";;\n" +
		"*) " + server + ";;\nesac\n"
	require.NoError(t, os.WriteFile(path, []byte(script), 0o755))
	return path
}

const (
	recent = "echo True 3.12.1 /usr"
	makes  = `mkdir -p "$3/bin" && cp "$0" "$3/bin/python"`
	serves = `echo "listening on here:1"; cat >/dev/null`
)

func run(t *testing.T, c serve.Config) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	c.Ready = func(string) { cancel() }
	return serve.Run(ctx, c)
}

func TestRunUntilTheContextEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	var address string
	cache := t.TempDir()
	python := fake(t, recent, makes, "echo pip says", `echo "$@" >&2; `+serves)
	var log bytes.Buffer
	c := serve.Config{Python: python, Cache: cache, Log: &log, Ready: func(a string) {
		address = a
		cancel()
	}, Listen: "there:2", MaxSolves: 3, MaxMessage: 4, Grace: time.Second, Cert: "c", Key: "k", ClientCA: "a"}
	require.NoError(t, serve.Run(ctx, c))
	assert.Equal(t, "here:1", address)
	assert.Contains(t, log.String(), "making a virtual environment")
	assert.Contains(t, log.String(), "pip says")
	assert.Contains(t, log.String(),
		"server.py --until-eof --grace 1 --listen there:2 --tls-cert c --tls-key k --tls-client-ca a --max-solves 3 "+
			"--max-message 4")
	programs, err := filepath.Glob(filepath.Join(cache, "*", "server.py"))
	require.NoError(t, err)
	assert.Len(t, programs, 1)

	log.Reset()
	require.NoError(t, run(t, serve.Config{Python: python, Cache: cache, Log: &log}))
	assert.NotContains(t, log.String(), "making a virtual environment", "it is there already")
}

func TestPythonThatWillNotDo(t *testing.T) {
	for want, python := range map[string]string{
		"apt-get install python3 python3-venv":     filepath.Join(t.TempDir(), "none"),
		"found Python 3.9.2 /usr, expected 3.11":   fake(t, "echo False 3.9.2 /usr", makes, "", ""),
		"on Debian: apt-get install python3-venv":  fake(t, recent, "echo ensurepip is not available; exit 1", "", ""),
		"module venv is missing":                   fake(t, recent, "echo No module named venv >&2; exit 1", "", ""),
		"no such package":                          fake(t, recent, makes, "echo no such package; exit 1", ""),
		"the service: exit status 3: it cannot be": fake(t, recent, makes, "", "echo it cannot be >&2; exit 3"),
		"the service: it stopped by itself":        fake(t, recent, makes, "", "exit 0"),
		"exit status 7":                            fake(t, "exit 7", "", "", ""),
	} {
		cache := t.TempDir()
		err := serve.Run(t.Context(), serve.Config{Python: python, Cache: cache})
		require.ErrorIs(t, err, milp.ErrUnavailable, want)
		assert.ErrorContains(t, err, want)
		left, globErr := filepath.Glob(filepath.Join(cache, "*.part-*"))
		require.NoError(t, globErr)
		assert.Empty(t, left)
	}
}

func TestPreparingAtTheSameTime(t *testing.T) {
	cache := t.TempDir()
	// Each waits in pip until there are several folders, so that they are at it together.
	together := `while [ "$(ls -d "` + cache + `"/*.part-* | wc -l)" -lt 4 ] && ! ls -d "` + cache +
		`"/*-service-* >/dev/null 2>&1; do sleep 0.02; done`
	python := fake(t, recent, makes, together, serves)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), hang)
			defer cancel()
			assert.NoError(t, serve.Run(ctx, serve.Config{Python: python, Cache: cache, Ready: func(string) { cancel() }}))
		})
	}
	all.Wait()
	left, err := os.ReadDir(cache)
	require.NoError(t, err)
	assert.Len(t, left, 2, "one virtual environment and one program")
}

func TestCanceledWhileItPrepares(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cache, pids := t.TempDir(), filepath.Join(t.TempDir(), "pids")
	python := fake(t, recent, makes,
		`echo started; sleep 1000 & echo $$ $! > `+pids+`.new; mv `+pids+`.new `+pids+`; wait`, serves)
	done := make(chan error, 1)
	go func() { done <- serve.Run(ctx, serve.Config{Python: python, Cache: cache}) }()
	var text []byte
	require.Eventually(t, func() bool {
		var err error
		text, err = os.ReadFile(pids)
		return err == nil
	}, hang, 10*time.Millisecond)
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	for _, word := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(word)
		require.NoError(t, err)
		require.Eventually(t, func() bool { return dead(pid) }, hang, 10*time.Millisecond, "a process is left behind")
	}
	left, err := os.ReadDir(cache)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// dead reports whether a process has ended, though nobody may have asked for its status.
func dead(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return syscall.Kill(pid, 0) != nil || err == nil && strings.Contains(string(stat), ") Z ")
}

//go:build linux

package process_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/live"
	"github.com/hedgesched/hedge/adapters/live/process"
)

// mother is the variable that makes this program an executor that is killed.
const mother = "HEDGE_TEST_MOTHER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(mother); dir != "" {
		e, err := process.New(dir)
		if err == nil {
			_, err = e.Start(shell("sleep 600 & echo $! >child; sleep 600"))
		}
		fmt.Println(err)
		select {} // until it is killed
	}
	os.Exit(m.Run())
}

func shell(script string) live.Attempt {
	return live.Attempt{Job: "a/b", Task: 2, Worker: 7, Command: live.Command{Args: []string{"/bin/sh", "-c", script}}}
}

func newExecutor(t *testing.T) (*process.Executor, string) {
	t.Helper()
	dir := t.TempDir()
	e, err := process.New(dir)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, e.Close()) })
	return e, dir
}

// state is that of the process whose number is in a file, as the kernel has it; X if it is not there.
func state(file string) string {
	content, err := os.ReadFile(file)
	pid := strings.TrimSpace(string(content))
	if err != nil || pid == "" {
		return "?" // it is not written yet
	}
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return "X"
	}
	_, after, _ := strings.Cut(string(text), ") ")
	if after == "" {
		return "?"
	}
	return after[:1]
}

func eventually(t *testing.T, file, want string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(want, state(file)) }, 10*time.Second,
		5*time.Millisecond, "%s is %s, not %s", file, state(file), want)
}

func TestACommandIsToldWhatItIs(t *testing.T) {
	e, dir := newExecutor(t)
	a := shell("echo $HEDGE_JOB $HEDGE_TASK $HEDGE_WORKER $MINE >told; pwd >>told")
	a.Env, a.Dir = []string{"MINE=x"}, dir
	r, err := e.Start(a)
	require.NoError(t, err)
	require.NoError(t, r.Wait())
	require.NoError(t, r.Wait(), "it may be asked again")
	told, err := os.ReadFile(filepath.Join(dir, "told"))
	require.NoError(t, err)
	assert.Equal(t, "a/b 2 7 x\n"+dir+"\n", string(told))
	require.NoError(t, r.Pause())
	require.NoError(t, r.Resume())
	require.NoError(t, r.Kill(), "nothing is left to do anything to")
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	require.NoError(t, err)
	assert.Empty(t, logs)
}

func TestAFailureKeepsItsOutput(t *testing.T) {
	e, dir := newExecutor(t)
	r, err := e.Start(shell("echo out; echo wrong >&2; exit 3"))
	require.NoError(t, err)
	err = r.Wait()
	require.ErrorIs(t, err, process.ErrFailed)
	require.ErrorContains(t, err, "exit status 3")
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	require.NoError(t, err)
	require.Len(t, logs, 1)
	text, err := os.ReadFile(logs[0])
	require.NoError(t, err)
	assert.Equal(t, "out\nwrong\n", string(text))
}

// All that a command has started stops, goes on and ends with it.
func TestGroups(t *testing.T) {
	e, dir := newExecutor(t)
	child := filepath.Join(dir, "child")
	a := shell("sleep 600 & echo $! >child; wait")
	a.Dir = dir
	r, err := e.Start(a)
	require.NoError(t, err)
	eventually(t, child, "S")
	require.NoError(t, r.Pause())
	eventually(t, child, "T")
	require.NoError(t, r.Resume())
	eventually(t, child, "S")
	require.NoError(t, r.Pause())
	require.NoError(t, r.Kill(), "also when it is stopped")
	require.ErrorIs(t, r.Wait(), process.ErrFailed)
	eventually(t, child, "XZ")
}

// What a command leaves running is killed when it ends.
func TestNothingIsLeftOfAnEndedCommand(t *testing.T) {
	e, dir := newExecutor(t)
	a := shell("sleep 600 & echo $! >child")
	a.Dir = dir
	r, err := e.Start(a)
	require.NoError(t, err)
	require.NoError(t, r.Wait())
	eventually(t, filepath.Join(dir, "child"), "XZ")
}

func TestCloseEndsAll(t *testing.T) {
	dir := t.TempDir()
	e, err := process.New(dir)
	require.NoError(t, err)
	r, err := e.Start(shell("sleep 600"))
	require.NoError(t, err)
	require.NoError(t, e.Close())
	require.NoError(t, e.Close())
	require.ErrorIs(t, r.Wait(), process.ErrFailed)
	_, err = e.Start(shell("true"))
	require.ErrorIs(t, err, process.ErrStart)
}

func TestWhatCannotBeStarted(t *testing.T) {
	e, dir := newExecutor(t)
	for _, a := range []live.Attempt{{Job: "a"}, {Job: "a", Command: live.Command{Args: []string{"/no/such/program"}}},
		{Job: "a", Command: live.Command{Args: []string{"/bin/true"}, Dir: "/no/such/folder"}}} {
		_, err := e.Start(a)
		require.ErrorIs(t, err, process.ErrStart)
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, entries)
	_, err = process.New(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, process.ErrStart)
}

// An executor's process is killed: its commands end with it, and what these had started when there is another executor
// of the folder.
func TestTasksDoNotOutliveTheirAgent(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), mother+"="+dir)
	require.NoError(t, cmd.Start())
	child := filepath.Join(dir, "child")
	eventually(t, child, "S")
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	e, err := process.New(dir)
	require.NoError(t, err)
	eventually(t, child, "XZ")
	require.NoError(t, e.Close())
}

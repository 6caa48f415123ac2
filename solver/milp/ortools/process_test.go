package ortools_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// processOf is the number of the process that has the text in its command line.
func processOf(t *testing.T, text string) int {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc, to find the service's processes")
	}
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, path := range lines {
		line, err := os.ReadFile(path)
		if pid, numberErr := strconv.Atoi(strings.Split(path, "/")[2]); err == nil && numberErr == nil &&
			pid != os.Getpid() && strings.Contains(string(line), text) {
			return pid
		}
	}
	require.FailNow(t, "no process has "+text)
	return 0
}

// children are the processes that a process has started.
func children(pid int) []int {
	var all []int
	lists, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	for _, path := range lists {
		list, _ := os.ReadFile(path)
		for _, word := range strings.Fields(string(list)) {
			if child, err := strconv.Atoi(word); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}

// files is how many files a process has open.
func files(t *testing.T, pid int) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/fd")
	require.NoError(t, err)
	return len(entries)
}

// gone reports whether processes have ended, though nobody may have asked for their status yet.
func gone(pids ...int) bool {
	for _, pid := range pids {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err == nil && !strings.Contains(string(stat), ") Z ") {
			return false
		}
	}
	return true
}

// eventually waits for what must come true.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(hang); !holds(); time.Sleep(10 * time.Millisecond) {
		require.True(t, time.Now().Before(end), what)
	}
}

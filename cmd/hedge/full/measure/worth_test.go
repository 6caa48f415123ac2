//go:build unix

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fake is a program that answers like hedge compare, and fails for one engine.
const fake = `#!/bin/sh
case "$*" in *broken*) echo "hedge: boom" >&2; exit 1;; esac
echo '{"runs":[{"slo":{"miss_rate":0.125},"work_in_window_machine_hours":{"slo":1,"be":2.5},"be_latency_s":{"mean":60},"cycles":7,
"cycle_ms":{"p50":5,"p99":10,"max":12},"solver":{"gap_mean":0.01,"gap_p99":0.02,"stops":{"time":3,"gap":4}}}]}'
`

func TestWorth(t *testing.T) {
	program := filepath.Join(t.TempDir(), "hedge")
	require.NoError(t, os.WriteFile(program, []byte(fake), 0o755))
	w := worth{program: program, logs: []string{"builtin", "other=some.swf.gz --hours 2"},
		rows:  []string{"100ms=native", "1s=broken?x", "1s=greedy"},
		flags: "--nodes 64", cycle: 10 * time.Second, eachAtMost: time.Minute}
	require.NoError(t, w.run(context.Background(), func(string) {}))
	require.Len(t, w.list, 6)
	assert.Equal(t, []string{"compare", "--policies", "3sigma", "--json", "--cycle", "10s", "--work", "1000000000000",
		"--hours", "2", "--trace", "some.swf.gz",
		"--nodes", "64", "--budget", "0.01", "--engine", "native"}, w.list[3].Args)
	got := w.tables()
	assert.Contains(t, got, "| native | 0.1 | 12.5 | 3.50 | 60.0 | 7 | 5.00 | 10.0 | 12.0 | 1.00 | 2.00 | 4 gap, 3 time |")
	assert.Contains(t, got, "hedge: boom (exit status 1)")
	assert.Equal(t, []string{"'broken?x'", "plain", "'two words'", `'it'\''s'`, "''"},
		quoted([]string{"broken?x", "plain", "two words", "it's", ""}))
	assert.Contains(t, got, "| greedy | 1 | 12.5 | 3.50 | 60.0 | 7 | 5.00 | 10.0 | 12.0 | – | – |", "it has no bound")
}

// TestWorthAsItIs: the flags' defaults are such as run accepts.
func TestWorthAsItIs(t *testing.T) {
	program := filepath.Join(t.TempDir(), "hedge")
	require.NoError(t, os.WriteFile(program, []byte(fake), 0o755))
	cmd := newWorth()
	var out bytes.Buffer
	cmd.SetArgs([]string{"--program", program})
	cmd.SetOut(&out)
	cmd.SetErr(io.Discard)
	require.NoError(t, cmd.ExecuteContext(t.Context()))
	assert.Contains(t, out.String(), "| native | 0.1 | 12.5 |")
}

func TestWorthRefuses(t *testing.T) {
	for _, row := range []string{"native", "x=native", "0s=native", "11s=native"} {
		w := worth{program: "hedge", logs: []string{"builtin"}, rows: []string{row}, cycle: 10 * time.Second}
		assert.ErrorContains(t, w.run(context.Background(), func(string) {}), "--row: found", row)
	}
	w := worth{program: "hedge", logs: []string{" "}, cycle: 10 * time.Second}
	assert.ErrorContains(t, w.run(context.Background(), func(string) {}), "--trace: found nothing")
}

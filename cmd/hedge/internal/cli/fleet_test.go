package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/live"
	"github.com/hedgesched/hedge/sched/systems"
	"github.com/hedgesched/hedge/solver/engines"
)

// A fleet of each kind of system runs a job, tells how far it is, and ends when it is told to.
func TestFleet(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("agents are for Unix")
	}
	for _, system := range []string{"eagle", "hawk", "pigeon", "siding", "kairos", "big-c", "yarn-fifo", "gs-slearn",
		"gs-las", "gs-joint", "gs-point"} {
		t.Run(system, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			require.NoError(t, l.Close())
			to, dir := l.Addr().String(), t.TempDir()
			common := []string{"--fleet", to, "--system", system, "--workers", "2", "--short-share", "50", "--group-size", "2",
				"--reserved", "1", "--interval", "10ms", "--quantum", "100ms", "--train", googleTasks, "--dir"}
			ctx, cancel := context.WithCancel(t.Context())
			codes := make(chan int, 3)
			begin := func(name string, args ...string) {
				args = append(append(args, common...), filepath.Join(dir, name))
				go func() {
					codes <- Main(ctx, args, Host{In: strings.NewReader(""), Out: t.Output(), Err: t.Output(),
						Engines: engines.Builtin()})
				}()
			}
			begin("dispatch", "dispatch")
			begin("a", "agent", "--name", "a")
			begin("b", "agent", "--name", "b")
			r := hedge(t, "", "dispatch", "submit", "--to", to, "--name", "j", "--tasks", "3", "--attribute", "user=u1,name=n1",
				"--wait", "--", "/bin/sh", "-c",
				"touch "+dir+"/done$HEDGE_TASK")
			require.Zero(t, r.code, r.err)
			assert.Contains(t, r.out, "j: done after ")
			for i := range 3 {
				assert.FileExists(t, fmt.Sprint(dir, "/done", i))
			}
			r = hedge(t, "", "dispatch", "status", "--to", to, "j", "--json")
			require.Zero(t, r.code, r.err)
			var d map[string]any
			require.NoError(t, json.Unmarshal([]byte(r.out), &d))
			assert.Equal(t, true, d["done"])
			assert.Equal(t, "dispatch status", d["command"])
			assert.Equal(t, 0.0, d["failed_tasks"])
			r = hedge(t, "", "dispatch", "submit", "--to", to, "--name", "bad", "--wait", "--", "/bin/sh", "-c", "exit 3")
			assert.Equal(t, exitFailed, r.code)
			assert.Contains(t, r.err, "job bad: 1 tasks failed")
			r = hedge(t, "", "dispatch", "status", "--to", to, "none")
			assert.Equal(t, exitFailed, r.code)
			assert.Contains(t, r.err, "none")
			cancel()
			for range cap(codes) {
				assert.Zero(t, <-codes)
			}
		})
	}
}

func TestFleetUsage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	good := func(more ...string) []string {
		return append([]string{"--fleet", "127.0.0.1:1", "--system", "kairos", "--workers", "2", "--dir", t.TempDir()},
			more...)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"agent"}, "--fleet: found none"},
		{[]string{"agent", "--fleet", "x"}, `--fleet: found "x"`},
		{[]string{"agent", "--fleet", "h:1", "--workers", "60"}, "--tls-cert: found none with address h:1"},
		{append([]string{"agent"}, good("--system", "3sigma")...), "3sigma"},
		{append([]string{"agent"}, good("--system", "none")...), "none"},
		{append([]string{"agent"}, good("--system", "gs-oracle")...), "no truth"},
		{append([]string{"agent"}, good("--system", "gs-point", "--train", "nowhere")...), "--train: "},
		{append([]string{"agent"}, good("--system", "gs-joint", "--features", "user+")...), `--features: found "user+"`},
		{append([]string{"agent"}, good("--workers", "0")...), "the number of workers is 0"},
		{append([]string{"agent"}, good("--tls-cert", file)...), "--tls-cert: found 1"},
		{append([]string{"agent"}, good("--tls-cert", file, "--tls-key", file, "--tls-ca", file)...), file},
		{append([]string{"agent"}, good("--take", "3")...), "Workers of 3"},
		{append([]string{"agent"}, good("--dir", "")...), "--dir: found none"},
		{append([]string{"agent"}, good("more")...), `unexpected argument "more"`},
		{append([]string{"dispatch"}, good("--place", "1")...), "--place: found 1, expected 0 to 0"},
		{append([]string{"dispatch"}, good("--dir", file+"/x")...), "--dir: "},
		{append([]string{"dispatch"}, good("--system", "eagle", "--short-share", "100")...), "the short share is 100"},
		{[]string{"dispatch", "submit"}, "found no command"},
		{[]string{"dispatch", "submit", "--to", "h:1", "--", "true"}, "--tls-cert: found none"},
		{[]string{"dispatch", "submit", "--", "true"}, `--name: found "", expected a name`},
		{[]string{"dispatch", "submit", "--name", "a", "--tasks", "0", "--", "true"}, "--tasks: found 0, expected 1 or more"},
		{[]string{"dispatch", "submit", "--name", "a", "--estimate", "-1s", "--", "true"}, "--estimate: found -1s"},
		{[]string{"dispatch", "status"}, "found 0 jobs"},
	} {
		r := hedge(t, "", c.args...)
		assert.Equal(t, exitUsage, r.code, c.args)
		assert.Contains(t, r.err, c.want, c.args)
	}
}

// A dispatch refuses the folder of one with another history: its journal would mean something else.
func TestFleetsDifferByHistory(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("agents are for Unix")
	}
	dir := t.TempDir()
	begin := func(train string) error {
		f := fleetFlags{addresses: []string{"127.0.0.1:1"}, system: "gs-point", workers: 2, slots: 1, train: train,
			features: gsFeatures}
		s, fleet, _, err := f.open(&Host{Err: t.Output(), Systems: systems.Builtin()})
		require.NoError(t, err)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		return live.RunDispatch(ctx, live.DispatchConfig{System: s, Fleet: fleet, Dir: dir, Listener: l})
	}
	require.NoError(t, begin(googleTasks))
	require.NoError(t, begin(googleTasks))
	require.ErrorIs(t, begin(""), live.ErrFleet)
}

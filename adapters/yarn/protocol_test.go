package yarn

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
)

func testdata(t testing.TB, parts ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{"testdata"}, parts...)...))
	require.NoError(t, err)
	return data
}

// readGang reads an unpacked gang as strictly as the ApplicationMaster.
func readGang(data []byte) (*gang, error) {
	g := &gang{}
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(g); err != nil {
		return nil, err
	}
	return g, g.check()
}

// TestGangEncoding: the encoded gang equals the one in the testdata of both sides.
func TestGangEncoding(t *testing.T) {
	var used packers
	for _, name := range []string{"gang", "gang-wide"} {
		want, err := readGang(testdata(t, "protocol", name+".json"))
		require.NoError(t, err)
		got, err := decodeGang(string(testdata(t, "protocol", name+".env")))
		require.NoError(t, err)
		assert.Equal(t, want, got)

		text, err := new(packers).pack(want)
		require.NoError(t, err)
		assert.NotContains(t, text, "\n")
		for range 3 {
			same, err := used.pack(want)
			require.NoError(t, err)
			assert.Equal(t, text, same, "a writer that was used before packs the same")
		}
		again, err := decodeGang(text)
		require.NoError(t, err)
		assert.Equal(t, want, again)
		assert.LessOrEqual(t, len(text), 8<<10, "a thousand tasks fit easily")
	}
}

// TestBadGangs: the ApplicationMaster refuses the same files.
func TestBadGangs(t *testing.T) {
	paths, err := filepath.Glob("testdata/protocol/bad-*.json")
	require.NoError(t, err)
	require.Len(t, paths, 8)
	for _, path := range paths {
		_, err := readGang(testdata(t, "protocol", filepath.Base(path)))
		assert.Error(t, err, path)
	}
	g, err := readGang(testdata(t, "protocol", "gang.json"))
	require.NoError(t, err)
	g.Script = strings.Repeat("x", MaxScript+1)
	_, err = new(packers).pack(g)
	assert.ErrorContains(t, err, "65537 bytes")
}

// TestGangOfPlan: a node that a plan names twice is one node of the gang.
func TestGangOfPlan(t *testing.T) {
	p := parse("a",
		[]byte(
			"tasks: 4\nresources: {memory-mb: 64, vcores: 2}\ncommand: run me\nenvironment: {B: \"it's $HOME\", A: "+
				"'1'}\nlabel: x"))
	require.NoError(t, p.problem)
	g := gangOf(p, 2, []sched.NodeTasks{{Node: "h:1", Tasks: 1}, {Node: "h:2", Tasks: 2}, {Node: "h:1", Tasks: 1}},
		time.Minute)
	assert.Equal(t, &gang{
		Protocol: 1, Job: "a", Attempt: 2, Nodes: []gangNode{{"h:1", 2}, {"h:2", 2}}, MemoryMB: 64, VCores: 2, Label: "x",
		TimeoutMS: 60000,
		Script:    "export A='1'\nexport B='it'\\''s $HOME'\nrun me\n",
	}, g)
}

// TestStatus: the ApplicationMaster's status is understood, whatever text surrounds it.
func TestStatus(t *testing.T) {
	running := status{Protocol: 1, Tasks: 3, State: "running", Allocated: 3, StartedMS: 1700000000123,
		Failed: []failedTask{}}
	for _, tt := range []struct {
		file   string
		change func(*status)
	}{
		{"running", func(*status) {}},
		{"succeeded", func(s *status) { s.State, s.EndedMS = "succeeded", 1700000005123 }},
		{"failed", func(s *status) {
			s.State, s.Cause, s.EndedMS = "failed", "task", 1700000004000
			s.Failed = []failedTask{{1, "127.0.0.1:8188", 3, "Exception from container-launch: ü \"quoted\"\n"}}
		}},
		{"short", func(s *status) {
			s.State, s.Cause, s.Allocated, s.StartedMS = "failed", causeShort, 2, 0
			s.Failed = []failedTask{{2, "127.0.0.1:8198", -1, "not allocated"}}
		}},
	} {
		want := running
		tt.change(&want)
		data := testdata(t, "protocol", "status-"+tt.file+".json")
		for _, text := range []string{string(data), "Attempt recovered after RM restart" + string(data) + " and more {}"} {
			got, err := parseStatus([]byte(text))
			require.NoError(t, err, tt.file)
			assert.Equal(t, &want, got)
		}
	}
	for _, text := range []string{"", "{}", `{"protocol":`, `{"protocol":2}`, `{"protocol":1,"started-ms":-5}`,
		`{"protocol":1,"ended-ms":9223372036854775807}`, `{"protocol":"1"}`} {
		_, err := parseStatus([]byte(text))
		assert.ErrorIs(t, err, errStatus, text)
	}
	s, err := parseStatus(testdata(t, "protocol", "status-failed.json"))
	require.NoError(t, err)
	assert.EqualError(t, s.why(),
		`yarn: gang failed: task (3 of 3 containers): task 1 on 127.0.0.1:8188: exit 3: Exception from container-launch: `+
			`ü "quoted"`)
}

func FuzzParseStatus(f *testing.F) {
	for _, name := range []string{"running", "succeeded", "failed", "short"} {
		f.Add(testdata(f, "protocol", "status-"+name+".json"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parseStatus(data)
		if err != nil {
			require.ErrorIs(t, err, errStatus)
			return
		}
		require.False(t, milliseconds(s.StartedMS).Before(time.Time{}))
		_ = s.why()
	})
}

package yarn

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
)

const simple = "resources: {memory-mb: 64}\ncommand: sleep 1\n"

var at = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)

func TestDescribe(t *testing.T) {
	job, err := Describe("train", []byte(`
tasks: 8
resources: {memory-mb: 512, vcores: 2}
command: ./train
label: gpu
queue: root.research
priority: 3
deadline: 2h30m
speeds: rack=/r1|/r2 & host=* 1; other 0.5
checkpoint: true
attributes: {user: u7}
`), at)
	require.NoError(t, err)
	assert.Equal(t, "train", job.ID)
	assert.Equal(t, 8, job.Tasks)
	assert.Equal(t, sched.Resources{Memory: 512, VCores: 2}, job.Demand)
	assert.Equal(t, 150*time.Minute, job.Deadline)
	assert.Equal(t, map[string]string{"name": "train", "queue": "root.research", "user": "u7"}, job.Attributes)
	assert.True(t, job.Checkpoint)
	require.NotNil(t, job.Utility)
	assert.GreaterOrEqual(t, job.Utility.At(60*24*3600), 1.0, "it is worth doing however late it is")
	assert.True(t, job.Required.Matches(map[string]string{LabelPartition: "gpu", LabelKind: KindNode}))
	assert.False(t, job.Required.Matches(map[string]string{LabelPartition: "", LabelKind: KindNode}))
	assert.InDelta(t, 1, job.Speeds.On(map[string]string{LabelRack: "/r2", LabelHost: "a"}), 0)
	assert.InDelta(t, 0.5, job.Speeds.On(map[string]string{LabelRack: "/r3", LabelHost: "a"}), 0)

	job, err = Describe("any", []byte(simple), at)
	require.NoError(t, err)
	assert.True(t, job.Required.Matches(map[string]string{LabelPartition: "", LabelKind: KindNode}))
	_, err = Describe("any", []byte("---\n"+simple+"---\n"), at)
	require.NoError(t, err, "nothing follows")
	job, err = Describe("spark",
		[]byte(
			`{"tasks": 5, "resources": {"memory-mb": 1024}, "label": "pool", "application": {"application-type": "SPARK", `+
				`"am-container-spec": {}}}`), at)
	require.NoError(t, err)
	assert.True(t, job.Required.Matches(map[string]string{LabelPartition: "pool", LabelKind: KindPool}))
}

// TestDeadlineAtATime: the deadline counts from the submission, whose time may become known only later.
func TestDeadlineAtATime(t *testing.T) {
	for _, text := range []string{"deadline: 2026-01-02T15:34:05Z\n", `deadline: "2026-01-02T16:34:05+01:00"` + "\n"} {
		job, err := Describe("a", []byte(simple+text), at)
		require.NoError(t, err)
		assert.Equal(t, 30*time.Minute, job.Deadline)
		assert.Greater(t, job.Utility.At(1799), job.Utility.At(1801)+50, "its utility goes by it")
		assert.Equal(t, at, job.Submitted)

		late := parse("a", []byte(simple+text)).dated(at.Add(time.Hour))
		require.ErrorIs(t, late.problem, ErrJob)
		require.ErrorContains(t, late.problem, "expected a time after the submission at 2026-01-02T16:04:05Z")
		again := late.dated(at)
		require.NoError(t, again.problem, "its record says that it was submitted before")
		assert.Equal(t, 30*time.Minute, again.spec.Deadline)
		assert.Equal(t, at.Add(time.Hour), late.spec.Submitted, "what was told stays as it is")
	}
}

// TestMalformed: the error names what is wrong.
func TestMalformed(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", "resources.memory-mb is 0"},
		{"[1]", "fields of a job"},
		{"a: b: c", "expected YAML or JSON"},
		{simple + "nice: 1", "nice"},
		{simple + "command: twice", "already set"},
		{simple + "tasks: 1001", "tasks is 1001, expected 1 to 1000"},
		{simple + "tasks: -1", "tasks is -1"},
		{simple + "tasks: 1.5", "tasks"},
		{simple + "deadline: tomorrow", `deadline is "tomorrow", expected a duration of at least 1s`},
		{simple + "deadline: -5m", `deadline is "-5m"`},
		{simple + "label: a b", `label is "a b"`},
		{simple + "priority: -1", "priority is -1"},
		{simple + "retries: -1", "retries is -1"},
		{simple + "speeds: rack=/r1 1.5", "expected a speed from 1e-6 to 1"},
		{simple + "speeds: rack=/r1", `speeds is "rack=/r1": "rack=/r1", expected nodes and speeds`},
		{simple + "speeds: rack=/r1| 1", "expected values that are not empty"},
		{simple + "deadline: 1ns", "expected a duration of at least 1s"},
		{simple + "utility: {kind: piecewise, points: [{t: 0, v: -5}]}", "expected a utility that is above 0"},
		{simple + "queue: a b", `queue is "a b"`},
		{simple + "preferred: rack", `field "preferred" is unknown`},
		{simple + "required: =x", `required is "=x"`},
		{simple + "utility: {a: 1}", "utility"},
		{simple + "environment: {1A: x}", `environment has "1A"`},
		{simple + "environment: {HEDGE_RANK: x}", `environment has "HEDGE_RANK"`},
		{simple + "environment: {A: \"\\0\"}", "environment.A has a zero byte"},
		{simple + "application: {am-container-spec: {}}", "expected one of them"},
		{"resources: {memory-mb: 64}", "neither a command nor an application"},
		{"resources: {memory-mb: 64, cpu: 1}\ncommand: x", "cpu"},
		{"resources: {memory-mb: -64}\ncommand: x", "resources.memory-mb is -64"},
		{"resources: {memory-mb: 64, vcores: -1}\ncommand: x", "resources.vcores is -1"},
		{"resources: {memory-mb: 64}\napplication: [1]", "application is no object"},
		{"resources: {memory-mb: 64}\napplication: {}", `no "am-container-spec"`},
		{"resources: {memory-mb: 64}\napplication: {am-container-spec: {}, queue: x}", `application has "queue"`},
		{"resources: {memory-mb: 64}\napplication: {am-container-spec: {}, application-tags: {tag: [1]}}",
			"application-tags"},
		{"resources: {memory-mb: 64}\ncommand: " + strings.Repeat("x", MaxScript), "65537 bytes"},
		{strings.Repeat("#", MaxFile+1), "expected at most 262144"},
		{bomb(), ""},
		{simple + "---\n" + simple, "more than one document"},
		{simple + "---\n[", "expected YAML or JSON"},
		{`{"resources": {"memory-mb": 64}, "command": "x"} {"tasks": 2}`, "expected YAML or JSON"},
		{simple + `queue: "a\0b"`, `queue is "a\x00b"`},
		{"resources: {memory-mb: 64}\napplication: {am-container-spec: {}, application-tags: {tag: [ü]}}", `the tag "ü"`},
	} {
		job, err := Describe("a", []byte(tt.text), at)
		require.ErrorIs(t, err, ErrJob, "%.80s", tt.text)
		assert.ErrorContains(t, err, tt.want, "%.80s", tt.text)
		assert.Equal(t, "a", job.ID)
	}
}

// bomb is a short text that expands to a very long one.
func bomb() string {
	text := "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 12; i++ {
		a := string(rune('a' + i))
		text += a + ": &" + a + " [" + strings.TrimSuffix(strings.Repeat("*"+prev(i)+",", 9), ",") + "]\n"
	}
	return text
}

func prev(i int) string {
	if i == 1 {
		return "a0"
	}
	return string(rune('a' + i - 1))
}

// TestDigest: a job is what its file says, in whatever form.
func TestDigest(t *testing.T) {
	a := parse("a", []byte("tasks: 2\nresources: {memory-mb: 64}\ncommand: x\n"))
	b := parse("a", []byte("{\"command\": \"x\",\n\n \"resources\": {\"memory-mb\": 64}, \"tasks\": 2}"))
	c := parse("a", []byte("tasks: 3\nresources: {memory-mb: 64}\ncommand: x\n"))
	assert.Equal(t, a.digest, b.digest)
	assert.NotEqual(t, a.digest, c.digest)
}

func FuzzDescribe(f *testing.F) {
	f.Add(
		[]byte(simple +
			"tasks: 3\ndeadline: 1h\nspeeds: rack=/r1|/r2 1; other 0.5\nenvironment: {A: b}\nutility: {}\nattributes: {a: b}"))
	f.Add(
		[]byte(
			`{"tasks": 5, "resources": {"memory-mb": 1024}, "label": "pool", "application": {"application-type": "SPARK", ` +
				`"am-container-spec": {}}}`))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		job, err := Describe("a", data, at)
		require.NotNil(t, job)
		if err != nil {
			require.ErrorIs(t, err, ErrJob)
			return
		}
		require.NoError(t, job.Validate())
		p := parse("a", data)
		if p.gang() {
			g := gangOf(p, 1, []sched.NodeTasks{{Node: "h:1", Tasks: job.Tasks}}, time.Minute)
			require.NoError(t, g.check())
		}
	})
}

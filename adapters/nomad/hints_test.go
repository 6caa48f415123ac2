package nomad

import (
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
)

func ptr[T any](v T) *T { return &v }

// heldJob is a job as its user registers it.
func heldJob(meta map[string]string) *api.Job {
	j := api.NewBatchJob("a", "nightly", "global", 60)
	j.Namespace, j.SubmitTime, j.CreateIndex, j.JobModifyIndex = ptr("prod"), ptr(int64(5e9)), ptr(uint64(10)),
		ptr(uint64(20))
	j.Meta = map[string]string{KeyMark: "true", "team": "x"}
	for k, v := range meta {
		j.Meta[k] = v
	}
	j.Datacenters = []string{"dc1", "dc2"}
	task := api.NewTask("main", "raw_exec").Require(&api.Resources{CPU: ptr(500), MemoryMB: ptr(64)})
	return j.AddTaskGroup(api.NewTaskGroup("work", 0).AddTask(task))
}

func TestDescribe(t *testing.T) {
	got, err := Describe(heldJob(map[string]string{
		KeyTasks: "4", KeyDeadline: "2h", KeySpeeds: "node.class=fast|big & meta.gpu=* 1; other 0.5",
		KeyCheckpoint: "true", KeyAfter: "fetch, split",
	}))
	require.NoError(t, err)
	assert.Equal(t, "prod/a", got.ID)
	assert.Equal(t, []string{"prod/fetch", "prod/split"}, got.After)
	assert.Equal(t, 4, got.Tasks)
	assert.Equal(t, sched.Resources{CPU: 500, Memory: 64}, got.Demand)
	assert.Equal(t, map[string]string{"team": "x", "name": "nightly", "namespace": "prod", "tasks": "4"}, got.Attributes)
	assert.Equal(t, 2*time.Hour, got.Deadline)
	assert.Equal(t, 60, got.Priority)
	assert.Equal(t, "meta.gpu=*&node.class=big|fast 1; other 0.5", got.Speeds.String())
	assert.True(t, got.Checkpoint)
	assert.Equal(t, time.Unix(5, 0).UTC(), got.Submitted)
	assert.InDelta(t, 105, got.Utility.At(0), 0.1)
	assert.InDelta(t, 5, got.Utility.At(7201), 0.1, "late work is worth doing")
	assert.GreaterOrEqual(t, got.Utility.At(60*24*3600), 1.0, "however late it is")
	assert.Equal(t, "driver.raw_exec=true&node.datacenter=dc1|dc2&node.pool=default", got.Required.String())
}

// TestDeadlineAsTime: a deadline may be a time, too.
func TestDeadlineAsTime(t *testing.T) {
	got, err := Describe(heldJob(map[string]string{KeyDeadline: "1970-01-01T00:01:05Z"}))
	require.NoError(t, err)
	assert.Equal(t, time.Minute, got.Deadline)
}

// TestProblems: a problem names the key, what was found and what was expected.
func TestProblems(t *testing.T) {
	for _, tt := range []struct {
		name   string
		meta   map[string]string
		change func(*api.Job)
		want   string
	}{
		{"tasks", map[string]string{KeyTasks: "0"}, nil, `hedge_tasks = "0", expected a number from 1 to 1000`},
		{"many tasks", map[string]string{KeyTasks: "1001"}, nil, `out of range`},
		{"text for tasks", map[string]string{KeyTasks: "four"}, nil, `hedge_tasks = "four"`},
		{"deadline", map[string]string{KeyDeadline: "tomorrow"}, nil, `hedge_deadline = "tomorrow", expected a duration`},
		{"negative deadline", map[string]string{KeyDeadline: "-2h"}, nil,
			`hedge_deadline = "-2h", expected a duration of at least 1s`},
		{"deadline in the past", map[string]string{KeyDeadline: "1970-01-01T00:00:05Z"}, nil,
			`expected a time after the submission at 1970-01-01T00:00:05Z`},
		{"utility of nothing", map[string]string{KeyUtility: `{"kind":"piecewise","points":[{"t":0,"v":-5}]}`}, nil,
			`expected a utility that is above 0`},
		{"speed of nothing", map[string]string{KeySpeeds: "2"}, nil, `hedge_speeds = "2", "2", expected nodes and speeds`},
		{"empty values", map[string]string{KeySpeeds: "a=| 1"}, nil, `expected values that are not empty`},
		{"utility", map[string]string{KeyUtility: "{"}, nil, `hedge_utility = "{"`},
		{"speeds", map[string]string{KeySpeeds: "fast 1"}, nil, `"fast", expected labels`},
		{"speed above 1", map[string]string{KeySpeeds: "other 1.5"}, nil, `expected a speed from 1e-6 to 1`},
		{"no number", map[string]string{KeySpeeds: "other NaN"}, nil, `expected a speed from 1e-6 to 1`},
		{"checkpoint", map[string]string{KeyCheckpoint: "maybe"}, nil, `expected true or false`},
		{"retries", map[string]string{KeyRetries: "-1"}, nil, `out of range`},
		{"unknown key", map[string]string{"hedge_dealine": "2h"}, nil, `meta key "hedge_dealine" is unknown`},
		{"type", nil, func(j *api.Job) { j.Type = ptr("service") }, `type is "service", expected "batch"`},
		{"dispatched", nil, func(j *api.Job) { j.Dispatched = true }, "dispatched"},
		{"no group", nil, func(j *api.Job) { j.TaskGroups = nil }, "there is no group"},
		{"two groups", nil, func(j *api.Job) { j.AddTaskGroup(api.NewTaskGroup("more", 0)) }, `groups "work" and "more"`},
		{"not held", nil, func(j *api.Job) {
			j.TaskGroups[0].Count = ptr(3)
		}, `group "work" has count 3, expected 0, and hedge_tasks = "3" for a gang of as many; Nomad itself runs it`},
		{"not held, and another fault", map[string]string{KeyTasks: "0"}, func(j *api.Job) {
			j.TaskGroups[0].Count = ptr(1)
		}, `stop it and register it again with count = 0`},
		{"mark", map[string]string{KeyMark: "yes"}, nil, `meta hedge = "yes", expected true or false`},
		{"mark of another kind", map[string]string{KeyMark: "1"}, nil, `meta hedge = "1", expected true or false`},
		{"checkpoint of another kind", map[string]string{KeyCheckpoint: "T"}, nil,
			`meta hedge_checkpoint = "T", expected true or false`},
		{"empty mark", map[string]string{KeyMark: ""}, nil, `meta hedge = "", expected true or false`},
		{"no demand", nil, func(j *api.Job) { j.TaskGroups[0].Tasks[0].Resources = nil }, "Demand"},
		{"cores", nil, func(j *api.Job) { j.TaskGroups[0].Tasks[0].Resources.Cores = ptr(2) }, "2 cores"},
		{"distinct hosts", nil, func(j *api.Job) {
			j.Constrain(api.NewConstraint("", "distinct_hosts", "true"))
		}, "not supported"},
		{"expression", nil, func(j *api.Job) {
			j.Constrain(api.NewConstraint("${attr.x}", "regexp", "("))
		}, "missing closing )"},
		{"version", nil, func(j *api.Job) {
			j.Constrain(api.NewConstraint("${attr.x}", "version", ">= new"))
		}, `">= new" is no version constraint`},
		{"version that is interpolated", nil, func(j *api.Job) {
			j.Constrain(api.NewConstraint("${attr.x}", "version", "${meta.x}"))
		}, "is no version constraint"},
		{"semver", nil, func(j *api.Job) {
			j.Constrain(api.NewConstraint("${attr.x}", "semver", "~> 1.8"))
		}, "it is no semver constraint"},
		{"semver of packages", nil, func(j *api.Job) {
			j.Constrain(api.NewConstraint("${attr.x}", "semver", ">= 1.0beta1"))
		}, "it is no semver constraint"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := heldJob(tt.meta)
			if tt.change != nil {
				tt.change(j)
			}
			spec, err := Describe(j)
			require.ErrorIs(t, err, ErrJob)
			assert.ErrorContains(t, err, tt.want)
			assert.Equal(t, "prod/a", spec.ID, "it has a name all the same")
		})
	}
}

// TestMarked: a job with a mark that makes no sense counts as hedge's, so that its user is told. An unmarked job does
// not.
func TestMarked(t *testing.T) {
	for mark, want := range map[string]bool{"true": true, "1": true, "yes": true, "": true, "false": false, "0": true} {
		assert.Equal(t, want, marked(map[string]string{KeyMark: mark}), mark)
	}
	assert.False(t, marked(nil))
}

// TestHeldByItsUser: if Nomad does not run a job, or its user has stopped it, its problem does not say that Nomad runs
// it.
func TestHeldByItsUser(t *testing.T) {
	held := heldJob(map[string]string{KeyTasks: "0"})
	_, err := Describe(held)
	require.ErrorIs(t, err, ErrJob)
	assert.NotContains(t, err.Error(), "Nomad itself")
	held.TaskGroups[0].Count, held.Stop = ptr(1), ptr(true)
	_, err = Describe(held)
	require.ErrorIs(t, err, ErrJob)
	assert.NotContains(t, err.Error(), "Nomad itself")
	placed := placedJob(t).Job
	placed.Type = ptr("service")
	assert.NotContains(t, read(placed).problem.Error(), "Nomad itself", "what hedge has started")
}

// TestPlacedBefore: hints that an earlier hedge accepted are no problem while the job runs. It is reported with its
// tasks like any other. Once it waits, its problem is reported.
func TestPlacedBefore(t *testing.T) {
	for k, v := range map[string]string{
		KeySpeeds: "a=|", KeyDeadline: "500ms", KeyUtility: `{"kind":"piecewise","points":[{"t":0,"v":-5}]}`,
		KeyTasks: "two", KeyRetries: "many",
		KeyCheckpoint: "1", KeyMark: "1", "hedge_dealine": "2h",
	} {
		t.Run(k, func(t *testing.T) {
			j := placedJob(t)
			was := *j.spec
			j.Meta[k] = v
			placed := &job{j.Job, read(j.Job)}
			require.NoError(t, placed.problem)
			if k != KeyTasks { // an attribute, too
				assert.Equal(t, was, *placed.spec, "as if there were no such hint")
			}
			assert.Equal(t, 2, placed.spec.Tasks)
			assert.Equal(t, 3, placed.retries)
			d, err := New(nil, Options{})
			require.NoError(t, err)
			told, placing := d.tell(key{"prod", "a"}, placed)
			assert.Len(t, told.Tasks, 2)
			assert.True(t, placing)

			next := placed.changed(1, "preempted")
			require.ErrorIs(t, read(next).problem, ErrJob)
		})
	}
	j := placedJob(t).Job
	j.Meta[KeyTasks] = "1001"
	j.TaskGroups[1].Count = ptr(1001)
	require.ErrorIs(t, read(j).problem, ErrJob, "it cannot be described")
}

// TestDemand: what runs before and after the work does not add to it; what runs beside it does.
func TestDemand(t *testing.T) {
	g := api.NewTaskGroup("g", 0)
	for _, one := range []struct {
		life *api.TaskLifecycle
		cpu  int
	}{
		{nil, 100}, {nil, 50}, {&api.TaskLifecycle{Hook: "prestart"}, 400},
		{&api.TaskLifecycle{Hook: "prestart", Sidecar: true}, 10}, {&api.TaskLifecycle{Hook: "poststop"}, 120},
		{&api.TaskLifecycle{Hook: "poststart"}, 30},
	} {
		task := api.NewTask("t", "raw_exec").Require(&api.Resources{CPU: ptr(one.cpu), MemoryMB: ptr(1)})
		task.Lifecycle = one.life
		g.AddTask(task)
	}
	g.EphemeralDisk = &api.EphemeralDisk{SizeMB: ptr(300)}
	assert.Equal(t, sched.Resources{CPU: 410, Memory: 4, Disk: 300}, demand(g))
}

// TestNoted: hedge's notes count in versions that it has written, and not in copies under other names.
func TestNoted(t *testing.T) {
	own := map[string]string{keyOrigin: "12", keyStart: "15", keyAttempt: "2", keyFailures: "1", keyDone: "3000000000",
		keySubmitted: "1000000000", keyOver: "no"}
	h := read(heldJob(own))
	require.NoError(t, h.problem)
	assert.Equal(t, uint64(12), h.origin)
	assert.Equal(t, uint64(15), h.start)
	assert.Equal(t, 2, h.attempt)
	assert.Equal(t, 1, h.failures)
	assert.Equal(t, 3*time.Second, h.done)
	assert.Equal(t, time.Unix(1, 0).UTC(), h.spec.Submitted)
	assert.Equal(t, "no", h.over)
	for _, origin := range []string{"9", "20", "21", "x", "", "-1", "99999999999999999999999"} {
		own[keyOrigin] = origin
		h = read(heldJob(own))
		require.NoError(t, h.problem, origin)
		assert.Equal(t, uint64(20), h.origin, "%q is no version of this job's user", origin)
		assert.Zero(t, h.attempt)
		assert.Equal(t, time.Unix(5, 0).UTC(), h.spec.Submitted)
	}
}

func TestGroupNames(t *testing.T) {
	assert.Equal(t, uint64(17), startOf(groupName("my-work-at3-4", 17, 2)))
	for _, name := range []string{"", "work", "work-at17", "work-at-1", "at17-1", "work-17-1", "work-at17-x",
		"work-at1x-1"} {
		assert.Zero(t, startOf(name), name)
	}
}

func TestConstraints(t *testing.T) {
	labels := map[string]string{
		"attr.cpu.numcores": "16", "meta.tags": "a, b,c", "attr.os.version": "12.4", "node.class": "fast", "meta.empty": "",
		"driver.docker":      "true",
		"attr.nomad.version": "1.7.0-beta1", "meta.pattern": "^f.*t$", "meta.broken": "(", "meta.first": "b",
		"meta.big": "9007199254740993", "meta.word": "eight",
	}
	for _, tt := range []struct {
		left, operand, right string
		want                 bool
	}{
		{"${node.class}", "", "fast", true},
		{"${node.class}", "=", "slow", false},
		{"${node.class}", "is", "fast", true},
		{"${node.class}", "!=", "slow", true},
		{"${meta.none}", "!=", "slow", true},
		{"${meta.none}", "!=", "", false}, // a missing side counts as an empty text for != only
		{"${meta.none}", "not", "${meta.none2}", false},
		{"${meta.none}", "!=", "${node.class}", true},
		{"${meta.none}", "=", "", false},
		{"${meta.none}", "=", "${meta.none}", false},
		{"${meta.empty}", "=", "", true},
		{"${node.class}", "not", "fast", false},
		{"fast", "=", "${node.class}", true},
		{"${driver.docker}", "=", "true", false}, // Nomad has no such interpolation
		{"${driver.docker}", "is_set", "", false},
		{"${node.region}", "is_not_set", "", true},
		{"${meta.first}x", "!=", "${meta.first}x", false},
		{"${node.class", "=", "${node.class", false}, // it begins like an interpolation, and is none
		{"${attr.cpu.numcores}", ">", "9", true},
		{"${attr.cpu.numcores}", "<", "9", false},
		{"${attr.cpu.numcores}", ">=", "16", true},
		{"${attr.cpu.numcores}", "<=", "15.5", false},
		{"${attr.cpu.numcores}", ">", "${meta.none}", false},
		{"${meta.big}", ">", "9007199254740992", true}, // integers are compared as integers
		{"${meta.word}", "<", "10", false},             // and otherwise as texts
		{"${node.class}", "<", "g", true},
		{"${node.class}", ">=", "NaN", true},
		{"${attr.cpu.numcores}", ">=", "NaN", false},
		{"${node.class}", "regexp", "^f.*t$", true},
		{"${node.class}", "regexp", "^a", false},
		{"${node.class}", "regexp", "as", true},
		{"${node.class}", "regexp", "${meta.pattern}", true},
		{"${meta.first}", "regexp", "${meta.pattern}", false},
		{"${node.class}", "regexp", "${meta.broken}", false},
		{"${node.class}", "regexp", "${meta.none}", false},
		{"fast", "regexp", "${meta.pattern}", true},
		{"${attr.os.version}", "version", ">= 12, < 13", true},
		{"${attr.os.version}", "version", "~> 12.1", true},
		{"${attr.os.version}", "version", ">= 13", false},
		{"${attr.nomad.version}", "version", ">= 1.6.0", false}, // that operand leaves out pre-releases
		{"${node.class}", "version", ">= 1", false},
		{"${attr.os.version}", "semver", ">= 12.1.0", true},
		{"${attr.nomad.version}", "semver", ">= 1.6.0", true},
		{"${attr.nomad.version}", "semver", ">= 1.7.0", false},
		{"${node.class}", "semver", ">= 1.0.0", false},
		{"${meta.none}", "semver", ">= 1.0.0", false},
		{"${meta.tags}", "set_contains", "a,c", true},
		{"${meta.tags}", "set_contains", "${meta.first}", true},
		{"${meta.tags}", "set_contains", "${meta.none}", false},
		{"${meta.tags}", "set_contains_all", "a,d", false},
		{"${meta.tags}", "set_contains_any", "d,b", true},
		{"${meta.tags}", "set_contains_any", "d,e", false},
		{"${meta.none}", "is_set", "", false},
		{"${meta.empty}", "is_set", "", true},
		{"${meta.none}", "is_not_set", "", true},
		{"${meta.tags}", "is_not_set", "", false},
		{"${meta.none}", ">", "1", false},
		{"", "distinct_hosts", "false", true},
	} {
		h := &hints{}
		set, err := h.constraint(api.NewConstraint(tt.left, tt.operand, tt.right))
		require.NoError(t, err)
		on := map[string]string{}
		for k, v := range labels {
			on[k] = v
		}
		for _, p := range h.predicate {
			if p.meets(labels) {
				on[p.label()] = "true"
			}
		}
		assert.Equal(t, tt.want, set.Matches(on), "%s %s %s", tt.left, tt.operand, tt.right)
	}
}

// TestSemver: the answers are those of package helper/constraints/semver of Nomad 1.6.1.
func TestSemver(t *testing.T) {
	for _, tt := range []struct {
		constraint, version string
		want                bool
	}{
		{">= 1.6.0", "1.7.0-beta1", true},
		{">= 0.6.1", "1.3.0-beta1+ent", true},
		{">= 1.6.0-beta1", "1.7.0-alpha1", true},
		{"= 1.3.0-beta1", "1.3.0-beta1+ent", true},
		{"> 2.1.0-a", "2.1.0-beta", true},
		{"> 2.0", "2.1.0-beta", true},
		{"<= 2.1.0-a", "2.1.0", false},
		{"> 1.0-beta1", "1.0-rc1", true},
		{"> 10", "8", false},
		{">= 1.0, < 1.4", "1.2.3", true},
		{">= 1.0, < 1.4", "1.4", false},
		{" >1.0.0 , != 1.2.3", "1.2.3", false},
		{"1.6", "1.6.0", true}, // without an operator it means equality, of as many numbers as it has
		{"v1.6.0", "1.7.0-beta1", false},
		{"!= 1.7.0", "1.7.0-beta1", true},
	} {
		check, err := semver(tt.constraint)
		require.NoError(t, err, tt.constraint)
		assert.Equal(t, tt.want, versions(check)(tt.version), "%s %s", tt.version, tt.constraint)
	}
	for _, text := range []string{"~> 1.8", "", " ", "1.6.0-", "==1.6.0", "=> 1.6.0", "<> 1.6.0", "1.6.x", ">= 1.x",
		">= 1.0beta1", "11387778780781445675529500000000000000000", ">= 1.0.0,", "${meta.x}"} {
		_, err := semver(text)
		require.Error(t, err, "%q", text)
	}
}

func TestRequired(t *testing.T) {
	j := heldJob(nil)
	j.NodePool, j.Datacenters = ptr("gpu"), []string{"eu-*"}
	h := read(j)
	require.NoError(t, h.problem)
	require.Len(t, h.predicate, 1)
	assert.True(t, h.predicate[0].meets(map[string]string{"node.datacenter": "eu-1"}))
	assert.False(t, h.predicate[0].meets(map[string]string{"node.datacenter": "us-1"}))
	assert.Contains(t, h.spec.Required.Keys(), "node.pool")

	j.NodePool, j.Datacenters = ptr("all"), []string{"*"}
	h = read(j)
	assert.Equal(t, []string{"driver.raw_exec"}, h.spec.Required.Keys())
}

// FuzzHints: any text in a job's meta is understood, or refused with a reason.
func FuzzHints(f *testing.F) {
	for _, k := range known {
		f.Add(k, "2", "a=b & c=* 1; other 0.5")
	}
	f.Fuzz(func(t *testing.T, k, v, speeds string) {
		spec, err := Describe(heldJob(map[string]string{k: v, KeySpeeds: speeds}))
		if err != nil {
			assert.ErrorIs(t, err, ErrJob)
			return
		}
		require.NoError(t, spec.Validate())
	})
}

func FuzzGroupName(f *testing.F) {
	f.Add("work", uint64(1), 2)
	f.Fuzz(func(t *testing.T, template string, start uint64, i int) {
		if i < 0 {
			return
		}
		assert.Equal(t, start, startOf(groupName(template, start, i)))
	})
}

func TestNotePath(t *testing.T) {
	assert.Equal(t, "hedge/jobs/a-b_C9", NotePath("a-b_C9"))
	assert.Equal(t, "hedge/jobs/a~2fb~2e~7e", NotePath("a/b.~"))
	long := strings.Repeat("x", 500)
	assert.Len(t, NotePath(long), 128)
	assert.NotEqual(t, NotePath(long), NotePath(long+"y"))
}

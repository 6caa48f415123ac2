package yarn

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/adaptertest"
	"github.com/hedgesched/hedge/sched"
)

// realWorld is the real cluster with a driver, for tests beyond the suite.
func realWorld(t *testing.T, nodes int) (*world, *Driver) {
	t.Parallel()
	w := makeWorld(t, adaptertest.Shape{Nodes: nodes, Slots: 2}, steady)
	o := w.options(w.spool)
	o.Instance = w.tag
	d, err := New(o)
	require.NoError(t, err)
	return w, d
}

// until observes until a job meets the condition.
func (w *world) until(t testing.TB, d *Driver, name, what string, is func(*adapters.Job) bool) *adapters.Job {
	var found *adapters.Job
	w.wait(t, what, func() bool {
		v, err := d.Observe(context.Background(), true)
		require.NoError(t, err)
		i := slices.IndexFunc(v.Jobs, func(j adapters.Job) bool { return j.Spec.ID == name })
		if i < 0 {
			return false
		}
		found = &v.Jobs[i]
		return is(found)
	})
	return found
}

func in(state adapters.TaskState) func(*adapters.Job) bool {
	return func(j *adapters.Job) bool { return len(j.Tasks) > 0 && j.Tasks[0].State == state }
}

// shell is a submission context of YARN's own distributed shell, with containers that each run a script. The shell
// reads its command from two files in a Java format: two bytes of length, and the text.
func shell(t testing.TB, classpath, script string, containers int) json.RawMessage {
	require.Less(t, len(script), 256)
	text, err := json.Marshal(map[string]any{
		"application-type": "SHELL", "max-app-attempts": 1, "resource": map[string]any{"memory": 100, "vCores": 1},
		"am-container-spec": map[string]any{
			"commands": map[string]any{
				"command": fmt.Sprintf(`printf '\000\002sh' > shellCommands; printf '\000\%03o%%s' '%s' > shellArgs; `+
					`java -Xmx64m -cp "$CLASSPATH" org.apache.hadoop.yarn.applications.distributedshell.ApplicationMaster `+
					`--num_containers %d --container_memory 100 --container_vcores 1 --priority 0 1><LOG_DIR>/stdout `+
					`2><LOG_DIR>/stderr`, len(script), script, containers)},
			"environment": map[string]any{"entry": []map[string]string{{"key": "CLASSPATH", "value": classpath}}},
		},
	})
	require.NoError(t, err)
	return text
}

// TestPoolReal: a user's own application is kept until hedge starts it. Then it goes to YARN with its queue, its
// priority and its label. Its containers run in the pool, and its end is observed.
func TestPoolReal(t *testing.T) {
	w, d := realWorld(t, 3)
	ctx := context.Background()
	require.NoError(t, w.Label(ctx, "n2", "pool"))
	script := filepath.Join(w.dir, "where.sh")
	require.NoError(t,
		os.WriteFile(script, fmt.Appendf(nil, "echo $NM_HOST:$NM_PORT > %s/$CONTAINER_ID\nsleep 2\n", w.logs), 0o600))
	text, err := json.Marshal(&File{
		Tasks: 3, Resources: TaskResources{MemoryMB: 100}, Label: "pool", Queue: "root.default", Priority: 4,
		Application: shell(t, w.Classpath(), script, 2),
	})
	require.NoError(t, err)
	require.NoError(t, Submit(w.spool, "shell", text))
	job := w.until(t, d, "shell", "it waits", func(j *adapters.Job) bool { return len(j.Tasks) == 0 })
	require.NoError(t, job.Problem)
	v, err := d.Observe(ctx, true)
	require.NoError(t, err)
	i := slices.IndexFunc(v.Nodes, func(n adapters.Node) bool { return n.Name == poolNode("pool") })
	require.GreaterOrEqual(t, i, 0)
	assert.True(t, job.Spec.Required.Matches(v.Nodes[i].Labels))
	known, err := w.allApps(w.tag)
	require.NoError(t, err)
	require.Empty(t, known, "YARN knows nothing of it")

	require.NoError(t,
		d.Start(ctx, &adapters.Start{Job: job, Nodes: []sched.NodeTasks{{Node: poolNode("pool"), Tasks: 3}}}))
	done := w.until(t, d, "shell", "it finishes", in(adapters.Finished))
	assert.True(t, done.Tasks[0].Ended.After(done.Tasks[0].Started))
	var told struct {
		App struct {
			Queue, ApplicationType, AppNodeLabelExpression, Name string
			Priority                                             number
		}
	}
	require.NoError(t, w.client.call(ctx, http.MethodGet, apps+"/"+done.Ref.(*ref).rec.App, nil, nil, &told))
	assert.Equal(t, "default", strings.TrimPrefix(told.App.Queue, "root."))
	assert.Equal(t, "SHELL", told.App.ApplicationType)
	assert.Equal(t, "pool", told.App.AppNodeLabelExpression)
	assert.Equal(t, "shell", told.App.Name)
	assert.Equal(t, number(4), told.App.Priority)
	files, err := filepath.Glob(filepath.Join(w.logs, "container_*"))
	require.NoError(t, err)
	require.Len(t, files, 2)
	for _, f := range files {
		where, err := os.ReadFile(f)
		require.NoError(t, err)
		assert.Equal(t, w.NodeID("n2"), strings.TrimSpace(string(where)))
	}
}

// TestSignalReal: if an operator stops a task by YARN's signal to its container, the whole gang is stopped. That counts
// as the task's failure, and the error names the task.
func TestSignalReal(t *testing.T) {
	w, d := realWorld(t, 2)
	ctx := context.Background()
	j := adaptertest.Job{Spec: sched.Job{ID: "a", Tasks: 2, Demand: w.traits.Slot}, Runtime: 60 * w.traits.Unit}
	w.Submit(t, j)
	job := w.until(t, d, "a", "it waits", func(j *adapters.Job) bool { return len(j.Tasks) == 0 })
	require.NoError(t, d.Start(ctx, &adapters.Start{Job: job,
		Nodes: []sched.NodeTasks{{Node: w.traits.Nodes[0], Tasks: 1}, {Node: w.traits.Nodes[1], Tasks: 1}}}))
	w.until(t, d, "a", "it runs", in(adapters.Running))
	var files []string
	require.Eventually(t, func() bool { // a container that runs may not have begun its command
		files, _ = filepath.Glob(filepath.Join(w.logs, "a.1.1.*"))
		return len(files) == 1
	}, time.Minute, 50*time.Millisecond)
	container := strings.TrimPrefix(filepath.Base(files[0]), "a.1.1.")
	require.NoError(t, w.client.call(ctx, http.MethodPost,
		"/ws/v1/cluster/containers/"+container+"/signal/GRACEFUL_SHUTDOWN", nil, nil, nil))
	failed := w.until(t, d, "a", "it has failed", in(adapters.Failed))
	require.ErrorContains(t, failed.Tasks[0].Err, "task 1 on "+w.traits.Nodes[1]+": exit 143")
	w.wait(t, "no task is left", func() bool {
		return !slices.ContainsFunc(w.Records(t), func(r adaptertest.Record) bool { return r.Ended.IsZero() })
	})
	require.NoError(t, d.Stop(ctx, &adapters.Stop{Job: failed, Cause: adapters.CauseFailed}))
	again := w.until(t, d, "a", "it waits again", func(j *adapters.Job) bool { return len(j.Tasks) == 0 })
	assert.Equal(t, 1, again.Ref.(*ref).rec.Failures)
}

// TestManagerGone: if a gang's ApplicationMaster has given up because the ResourceManager was gone for long, the gang
// starts again, even without retries.
func TestManagerGone(t *testing.T) {
	w, d := realWorld(t, 2)
	ctx := context.Background()
	jars, before, _ := strings.Cut(w.Classpath(), ":")
	own, err := os.ReadFile(filepath.Join(before, "yarn-site.xml"))
	require.NoError(t, err)
	conf := t.TempDir()
	const soon = "<property><name>yarn.resourcemanager.connect.max-wait.ms</name>" +
		"<value>3000</value></property></configuration>"
	require.NoError(t, os.WriteFile(filepath.Join(conf, "yarn-site.xml"),
		[]byte(strings.Replace(string(own), "</configuration>", soon, 1)), 0o600))
	jar, _, _ := strings.Cut(w.am.Classpath, ":")
	// whose archive is of another class path
	d.opt.AM.Classpath, d.opt.AM.Archive = strings.Join([]string{jar, jars, conf, before}, ":"), ""

	j := adaptertest.Job{Spec: sched.Job{ID: "a", Tasks: 2, Demand: w.traits.Slot}, Runtime: 60 * w.traits.Unit}
	text := document(&j, w.command(&j))
	require.Contains(t, text, "\nretries: 20\n")
	require.NoError(t, Submit(w.spool, "a", []byte(strings.Replace(text, "\nretries: 20\n", "\nretries: 0\n", 1))))
	job := w.until(t, d, "a", "it waits", func(j *adapters.Job) bool { return len(j.Tasks) == 0 })
	require.NoError(t, job.Problem)
	plan := []sched.NodeTasks{{Node: w.traits.Nodes[0], Tasks: 1}, {Node: w.traits.Nodes[1], Tasks: 1}}
	require.NoError(t, d.Start(ctx, &adapters.Start{Job: job, Nodes: plan}))
	w.until(t, d, "a", "it runs", in(adapters.Running))
	w.Do(t, adaptertest.Deed{Do: adaptertest.StopServer})
	wait(t, "no task is left", func() bool {
		return !slices.ContainsFunc(w.Records(t), func(r adaptertest.Record) bool { return r.Ended.IsZero() })
	})
	w.Do(t, adaptertest.Deed{Do: adaptertest.StartServer})
	failed := w.until(t, d, "a", "that is known", func(j *adapters.Job) bool { return j.Over || in(adapters.Failed)(j) })
	require.False(t, failed.Over, "%v", failed.Err)
	require.ErrorContains(t, failed.Tasks[0].Err, "exitCode: 4")
	require.NoError(t, d.Stop(ctx, &adapters.Stop{Job: failed, Cause: adapters.CauseFailed}))
	again := w.until(t, d, "a", "it waits again", func(j *adapters.Job) bool { return len(j.Tasks) == 0 })
	require.NoError(t, d.Start(ctx, &adapters.Start{Job: again, Nodes: plan}))
	w.until(t, d, "a", "it runs again", in(adapters.Running))
}

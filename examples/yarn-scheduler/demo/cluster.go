package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"time"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/testservers"
	"github.com/hedgesched/hedge/adapters/yarn"
	"github.com/hedgesched/hedge/examples/internal/demo"
	"github.com/hedgesched/hedge/utility"
)

const (
	slotsPerNode = 4
	slotMB       = 1000
	masterMB     = 100
	// masters is the label of the node for ApplicationMasters, and how many it has room for.
	masters     = "masters"
	mostAtATime = 1000
	// urgent is the priority of jobs with a deadline for the capacity scheduler; others have 0.
	urgent = 5
)

// patience is how long the servers may take for what they are waited for.
const patience = 10 * time.Minute

// field is a cluster under one of the schedulers.
type field struct {
	demo.Turn
	dir       string
	scheduler string // hedge's program
	jar       string // of hedge's ApplicationMaster
	archive   string // of its classes
	out       io.Writer
	servers   *testservers.YARN
	user      string
	tasks     map[string]int // of the jobs that were handed in
}

// field brings a cluster up, runs the workload there, and takes it down.
func (s *settings) field(ctx context.Context, w *demo.Workload, f *field) (*demo.Result, error) {
	me, err := user.Current()
	if err != nil {
		return nil, err
	}
	f.user, f.tasks = me.Username, map[string]int{}
	if err := os.MkdirAll(f.records(), 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(f.script(), fmt.Appendf(nil, script, f.records()), 0o600); err != nil {
		return nil, err
	}
	config := testservers.YARNConfig{Dir: f.dir, Labels: []string{masters},
		Nodes: []testservers.YARNNode{{Name: masters, MemoryMB: masterMB * mostAtATime, VCores: mostAtATime}}}
	for left := s.options.Nodes; left > 0; left -= slotsPerNode {
		n := min(left, slotsPerNode)
		config.Nodes = append(config.Nodes,
			testservers.YARNNode{Name: fmt.Sprint("n", len(config.Nodes)-1), MemoryMB: slotMB * n, VCores: n})
	}
	fmt.Fprintf(f.out, "%s: starting a ResourceManager and %d NodeManagers\n", f.Name, len(config.Nodes))
	if f.servers, err = testservers.StartYARN(ctx, config); err != nil {
		return nil, err
	}
	defer f.servers.Stop()
	if err := f.servers.Label(ctx, masters, masters); err != nil {
		return nil, err
	}
	if f.Policy == "" {
		return f.run(ctx, w)
	}
	h, err := f.start(ctx, w, s.compare.Cycle)
	if err != nil {
		return nil, err
	}
	defer h.Stop()
	r, err := f.run(ctx, w)
	return r, errors.Join(err, h.Err())
}

func (f *field) run(ctx context.Context, w *demo.Workload) (*demo.Result, error) {
	return demo.Run(ctx, w, f, demo.RunOptions{Name: f.Name, Poll: time.Second,
		OnProgress: demo.Progress(f.out, f.Name)})
}

func (f *field) spool() string   { return filepath.Join(f.dir, "spool") }
func (f *field) records() string { return filepath.Join(f.dir, "records") }
func (f *field) script() string  { return filepath.Join(f.dir, "task.sh") }

// script is a task: it writes down when it began and ended. A container's name has its application's.
const script = `f=%s/$1.${HEDGE_ATTEMPT:-1}.$CONTAINER_ID
echo began $(date +%%s%%N) > $f
sleep $2
echo ended $(date +%%s%%N) >> $f
`

// Submit hands in a job of processes that sleep: to hedge's spool, or to YARN at once.
func (f *field) Submit(ctx context.Context, j *sim.Job) error {
	f.tasks[j.ID] = j.Tasks
	seconds := fmt.Sprintf("%.3f", j.Work.Runtime().Seconds())
	if f.Policy == "" {
		return f.submitShell(ctx, j, seconds)
	}
	worth, err := utility.Marshal(j.Utility)
	if err != nil {
		return err
	}
	file := map[string]any{
		"tasks": j.Tasks, "resources": yarn.TaskResources{MemoryMB: slotMB, VCores: 1},
		"command": fmt.Sprintf("sh %s %s %s", f.script(), j.ID, seconds),
		"utility": json.RawMessage(worth), "attributes": j.Attributes, "priority": j.Priority,
	}
	if j.Deadline > 0 {
		file["deadline"] = j.Deadline.String()
	}
	text, err := json.Marshal(file)
	if err != nil {
		return err
	}
	return yarn.Submit(f.spool(), j.ID, text)
}

// submitShell hands in an application of YARN's distributed shell, which takes its command and the command's arguments
// from two files in a form of Java's: two bytes of length, and the text.
func (f *field) submitShell(ctx context.Context, j *sim.Job, seconds string) error {
	arguments := fmt.Sprintf("%s %s %s", f.script(), j.ID, seconds)
	if len(arguments) > 255 {
		return fmt.Errorf("the folder's name is too long: %s", f.dir)
	}
	command := fmt.Sprintf(`printf '\000\002sh' > shellCommands; printf '\000\%03o%%s' '%s' > shellArgs; `+
		`java -Xmx64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData -cp "$CLASSPATH" `+
		`org.apache.hadoop.yarn.applications.distributedshell.ApplicationMaster `+
		`--num_containers %d --container_memory %d --container_vcores 1 --priority 0 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr`,
		len(arguments), arguments, j.Tasks, slotMB)
	priority := 0
	if j.Deadline > 0 {
		priority = urgent
	}
	return f.post(ctx, "/ws/v1/cluster/apps", map[string]any{
		"application-id": fmt.Sprintf("application_%d_%04d", time.Now().UnixMilli(), len(f.tasks)), "application-name": j.ID,
		"priority": priority, "max-app-attempts": 1,
		"resource": map[string]any{"memory": masterMB, "vCores": 1}, "am-container-node-label-expression": masters,
		"am-container-spec": map[string]any{
			"commands":    map[string]any{"command": command},
			"environment": map[string]any{"entry": []map[string]string{{"key": "CLASSPATH", "value": f.servers.Classpath()}}},
		},
	})
}

func (f *field) post(ctx context.Context, path string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.servers.URL()+path+"?user.name="+f.user,
		bytes.NewReader(text))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusAccepted {
		err = fmt.Errorf("%s: %s: %s", path, resp.Status, said)
	}
	return err
}

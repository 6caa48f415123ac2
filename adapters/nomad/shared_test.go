package nomad_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/nomad"
	"github.com/hedgesched/hedge/adapters/testservers"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/distsched"
)

var placements = flag.Int("placements", 0, "number of jobs of TestSharedMachines; 0 skips it")

const (
	kinds      = 6    // of jobs, by name
	sharedMiB  = 1600 // memory of the node
	risk       = 0.05 // ε: the bound of the probability that the node's memory runs short
	confidence = 0.95
	// workMs is how long a task works after it has taken its memory. That is long beside what starts take, which would
	// limit how many run at once.
	workMs = 4000
	step   = 100 * time.Millisecond // between cycles
)

// meanOf is the average use of the tasks of a kind, in MiB. They use up to two fifths more or less.
func meanOf(kind int) float64 { return 22 + float64(8*kind) }

// TestSharedMachines runs real processes, limited by control groups, on a node that they share. They ask for four times
// the memory that they use on average. Once the predictor has seen some, at least three times as many run at once as
// have room by what they ask for, and few are killed for want of memory.
func TestSharedMachines(t *testing.T) {
	if *placements == 0 {
		t.Skip("no -placements")
	}
	s := newSharing(t, 11)
	s.run(t, *placements)
	s.judge(t)
}

// sharing is a cluster of one node that tasks share, and its scheduler.
type sharing struct {
	*rig
	rng     *rand.Rand
	driver  *nomad.Driver
	cluster *adapters.Cluster
	loop    *sched.Loop
	use     map[string]int // MiB, by job
	learnt  int            // completions
	history *predict.History
	taught  time.Time // when all kinds of jobs were known well enough to be resized
}

func newSharing(t *testing.T, seed uint64) *sharing {
	need(t)
	s := &sharing{rng: rand.New(rand.NewPCG(seed, 2)), use: map[string]int{}}
	s.rig = &rig{dir: t.TempDir()}
	eater := filepath.Join(s.dir, "eater")
	build := exec.Command("go", "build", "-o", eater, "./testdata/eater")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	dir := filepath.Join(s.dir, "nomad")
	require.NoError(t, os.Mkdir(dir, 0o700))
	files := map[string]string{eater: "/eater", "/etc/passwd": "/etc/passwd", "/etc/group": "/etc/group"}
	s.Nomad, err = testservers.StartNomad(context.Background(), testservers.NomadConfig{
		Dir: dir, Oversubscription: true, Grace: patience, Clients: []testservers.NomadClient{{Name: "n0", CPU: 100_000,
			MemoryMB: sharedMiB, Class: "standard", Chroot: files}}})
	require.NoError(t, err)
	t.Cleanup(s.Stop)
	s.client, err = api.NewClient(&api.Config{Address: s.URL()})
	require.NoError(t, err)
	s.ready(t, "n0")
	s.history, err = predict.NewHistory(&predict.HistoryOptions{
		Quantities: []predict.Quantity{predict.CPU, predict.Memory, predict.MemoryMax}})
	require.NoError(t, err)
	s.driver, err = nomad.New(&api.Config{Address: s.URL()}, nomad.Options{})
	require.NoError(t, err)
	t.Cleanup(s.driver.Close)
	s.cluster, err = adapters.New(s.driver, adapters.Options{
		Measure: 500 * time.Millisecond, Parallel: 8, Resize: &adapters.Resizing{Predictor: s.history}})
	require.NoError(t, err)
	policy, err := distsched.New(distsched.Config{WholeLife: true, MemoryRisk: risk})
	require.NoError(t, err)
	s.loop, err = sched.NewLoop(s.cluster, policy, s.cluster.Predictor(), sched.WithFreshPredictions(),
		sched.WithCycle(step), sched.WithErrorHandler(adapters.Unavailable), sched.WithObserver(s.learn))
	require.NoError(t, err)
	return s
}

// submit registers a job of one task, whose use is drawn.
func (s *sharing) submit(t *testing.T, i int) {
	mean := meanOf(i % kinds)
	name, id := fmt.Sprint("kind-", i%kinds), fmt.Sprint("job-", i)
	s.use[id] = int(math.Round(mean * (0.6 + 0.8*s.rng.Float64())))
	job := api.NewBatchJob(id, name, "global", 50)
	job.Datacenters = []string{"*"}
	job.Meta = map[string]string{nomad.KeyMark: "true", nomad.KeyResize: "true"}
	g := api.NewTaskGroup("work", 0)
	g.EphemeralDisk = &api.EphemeralDisk{SizeMB: ptr(10)}
	task := api.NewTask("main", "exec")
	task.Config = map[string]any{"command": "/eater", "args": []string{strconv.Itoa(s.use[id]), strconv.Itoa(workMs)}}
	task.LogConfig = &api.LogConfig{MaxFiles: ptr(1), MaxFileSizeMB: ptr(1), Disabled: ptr(true)}
	g.AddTask(task.Require(&api.Resources{CPU: ptr(200), MemoryMB: ptr(asked(i % kinds))}))
	s.register(t, job.AddTaskGroup(g))
}

// asked is the memory that jobs of a kind ask for, in MiB.
func asked(kind int) int { return int(4 * meanOf(kind)) }

func (s *sharing) learn(c *sched.Cycle) {
	s.learnt += len(c.Learnt)
	if !s.taught.IsZero() || len(c.Learnt) == 0 {
		return
	}
	for kind := range kinds {
		job := predict.Job{Attributes: map[string]string{"name": fmt.Sprint("kind-", kind), "namespace": "default"}}
		if m, _ := s.history.Predict(job).Usage.Of(predict.MemoryMax); m.Samples < 5 {
			return
		}
	}
	s.taught = time.Now()
}

// queue is the number of jobs that are not over, as long as there are others to submit.
const queue = 80

// run submits jobs and makes cycles until all jobs are over.
func (s *sharing) run(t *testing.T, jobs int) {
	ctx := context.Background()
	for s.learnt < jobs { // until the test's own timeout
		for len(s.use) < jobs && len(s.use) < s.learnt+queue {
			s.submit(t, len(s.use))
		}
		if _, err := s.loop.Step(ctx, time.Now()); err != nil {
			require.ErrorIs(t, err, adapters.ErrUnavailable)
		}
		time.Sleep(step)
	}
}

// placed is a task as Nomad's server has it.
type placed struct {
	asked, use, limit float64
	from, to          time.Time
	killed            bool
}

// placed reads all tasks from the server.
func (s *sharing) placed(t *testing.T) []placed {
	list, _, err := s.client.Allocations().List(&api.QueryOptions{Params: map[string]string{"resources": "true"}})
	require.NoError(t, err)
	var out []placed
	for _, a := range list {
		i, err := strconv.Atoi(a.JobID[len("job-"):])
		require.NoError(t, err)
		p := placed{asked: float64(asked(i % kinds)), use: float64(s.use[a.JobID]), from: time.Unix(0, a.CreateTime),
			limit: float64(cmp.Or(a.AllocatedResources.Tasks["main"].Memory.MemoryMaxMB,
				a.AllocatedResources.Tasks["main"].Memory.MemoryMB))}
		state := a.TaskStates["main"]
		require.NotNil(t, state)
		p.to, p.killed = state.FinishedAt, a.ClientStatus == api.AllocClientStatusFailed
		if p.killed {
			assert.True(t, slices.ContainsFunc(state.Events, func(e *api.TaskEvent) bool {
				return e.Type == api.TaskTerminated && e.Details["exit_code"] == "137"
			}), "only the kernel ends tasks: %+v", state.Events[len(state.Events)-1])
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b placed) int { return a.from.Compare(b.from) })
	return out
}

// judge compares what ran at once with what would by what jobs ask for. It counts the tasks that were killed, and those
// beside which the node's memory did not suffice.
func (s *sharing) judge(t *testing.T) {
	require.NotZero(t, s.taught)
	all := s.placed(t)
	var density []float64
	short, killed := 0, 0
	last := all[len(all)-1].from
	for i := range all {
		asks, uses := 0.0, 0.0
		for _, o := range all[:i+1] {
			if o.to.After(all[i].from) {
				asks += o.asked
				uses += o.use
			}
		}
		switch {
		case all[i].killed:
			killed++
		case uses > sharedMiB:
			short++
		}
		if all[i].from.After(s.taught) && all[i].from.Before(last) {
			density = append(density, asks/sharedMiB)
		}
	}
	slices.Sort(density)
	require.NotEmpty(t, density)
	bound := upper(killed+short, len(all))
	t.Logf("%d tasks placed for %d jobs, %d killed at their limit, %d with which the node was short; upper bound %.3f",
		len(all), len(s.use), killed, short, bound)
	t.Logf("%d placed since all kinds are known; what they ask for over what there is: median %.2f, tenth %.2f, most %.2f",
		len(density), density[len(density)/2], density[len(density)/10], density[len(density)-1])
	t.Logf("measured: %+v", s.cluster.Measured())
	assert.GreaterOrEqual(t, density[len(density)/2], 3.0)
	assert.LessOrEqual(t, bound, 2*risk)
	assert.Zero(t, s.cluster.Measured().Wrong)
}

// upper is the exact upper bound of a probability of which k of n trials came true (Clopper and Pearson).
func upper(k, n int) float64 {
	low, high := float64(k)/float64(n), 1.0
	for range 60 {
		p := (low + high) / 2
		if atMost(k, n, p) > 1-confidence {
			low = p
		} else {
			high = p
		}
	}
	return high
}

// atMost is the probability that at most k of n trials come true.
func atMost(k, n int, p float64) float64 {
	sum := 0.0
	for i := range k + 1 {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(i + 1))
		c, _ := math.Lgamma(float64(n - i + 1))
		sum += math.Exp(a - b - c + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return sum
}

// TestUpper: 0 of 59 bounds a probability by 5 %.
func TestUpper(t *testing.T) {
	assert.InDelta(t, 0.0495, upper(0, 59), 1e-4)
	assert.InDelta(t, 0.0975, upper(38, 505), 1e-4)
	assert.Greater(t, upper(2, 59), 0.1)
}

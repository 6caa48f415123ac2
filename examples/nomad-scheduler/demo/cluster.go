package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/hedgesched/hedge/adapters/nomad"
	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/testservers"
	"github.com/hedgesched/hedge/examples/internal/demo"
	"github.com/hedgesched/hedge/utility"
)

const (
	slotsPerClient = 8
	slotMHz        = 1000
	// urgent and ordinary are priorities of jobs with a deadline and without.
	urgent, ordinary = 70, 50
)

// patience is how long the servers may take for what they are waited for.
const patience = 5 * time.Minute

// field is a cluster under one of the schedulers.
type field struct {
	demo.Turn
	dir       string
	scheduler string // hedge's program
	out       io.Writer
	client    *api.Client
	tasks     map[string]int // of the jobs that were handed in
}

// field brings a cluster up, runs the workload there, and takes it down.
func (s *settings) field(ctx context.Context, w *demo.Workload, f *field) (*demo.Result, error) {
	if err := os.Mkdir(f.dir, 0o700); err != nil {
		return nil, err
	}
	config := testservers.NomadConfig{Dir: f.dir, Grace: time.Minute}
	for left := s.options.Nodes; left > 0; left -= slotsPerClient {
		config.Clients = append(config.Clients, testservers.NomadClient{
			Name: fmt.Sprint("n", len(config.Clients)), CPU: slotMHz * min(left, slotsPerClient), MemoryMB: 4096})
	}
	fmt.Fprintf(f.out, "%s: starting a server and %d clients (the first time Nomad is built, which takes some minutes)\n",
		f.Name, len(config.Clients))
	servers, err := testservers.StartNomad(ctx, config)
	if err != nil {
		return nil, err
	}
	defer servers.Stop()
	f.tasks = map[string]int{}
	if f.client, err = api.NewClient(&api.Config{Address: servers.URL()}); err != nil {
		return nil, err
	}
	if err := f.prepare(ctx, len(config.Clients), s.preempt); err != nil {
		return nil, err
	}
	if f.Policy == "" {
		return f.run(ctx, w)
	}
	h, err := f.start(ctx, w, servers.URL(), s.compare.Cycle)
	if err != nil {
		return nil, err
	}
	defer h.Stop()
	r, err := f.run(ctx, w)
	return r, errors.Join(err, h.Err())
}

// prepare waits for the clients.
func (f *field) prepare(ctx context.Context, clients int, preempt bool) error {
	err := demo.Until(ctx, patience, "all clients are ready", func() (bool, error) {
		nodes, _, err := f.client.Nodes().List(nil)
		ready := 0
		for _, n := range nodes {
			if d := n.Drivers["raw_exec"]; n.Status == api.NodeStatusReady && d != nil && d.Healthy {
				ready++
			}
		}
		return ready == clients, err
	})
	if err == nil && preempt {
		_, _, err = f.client.Operator().SchedulerSetConfiguration(&api.SchedulerConfiguration{
			SchedulerAlgorithm: api.SchedulerAlgorithmBinpack,
			PreemptionConfig:   api.PreemptionConfig{BatchSchedulerEnabled: true}}, nil)
	}
	return err
}

func (f *field) run(ctx context.Context, w *demo.Workload) (*demo.Result, error) {
	return demo.Run(ctx, w, f, demo.RunOptions{Name: f.Name, Poll: time.Second,
		OnProgress: demo.Progress(f.out, f.Name)})
}

// Submit registers a job of processes that sleep: held for hedge, or at its size for Nomad.
func (f *field) Submit(ctx context.Context, j *sim.Job) error {
	f.tasks[j.ID] = j.Tasks
	priority := ordinary
	if j.Deadline > 0 {
		priority = urgent
	}
	job := api.NewBatchJob(j.ID, j.Attributes["name"], "global", priority)
	job.Datacenters = []string{"*"}
	count := j.Tasks
	if f.Policy != "" {
		worth, err := utility.Marshal(j.Utility)
		if err != nil {
			return err
		}
		count = 0
		job.Meta = map[string]string{nomad.KeyMark: "true", nomad.KeyTasks: strconv.Itoa(j.Tasks),
			nomad.KeyUtility: string(worth), "user": j.Attributes["user"]}
		if j.Deadline > 0 {
			job.Meta[nomad.KeyDeadline] = j.Deadline.String()
		}
	}
	mhz, memory, disk, one := slotMHz, 16, 10, 1
	task := api.NewTask("main", "raw_exec").SetConfig("command", "/bin/sleep").SetConfig("args",
		[]string{fmt.Sprintf("%.3f", j.Work.Runtime().Seconds())})
	task.LogConfig = &api.LogConfig{MaxFiles: &one, MaxFileSizeMB: &one}
	g := api.NewTaskGroup("work", count).AddTask(task.Require(&api.Resources{CPU: &mhz, MemoryMB: &memory}))
	g.EphemeralDisk = &api.EphemeralDisk{SizeMB: &disk}
	again(g)
	_, _, err := f.client.Jobs().Register(job.AddTaskGroup(g), (&api.WriteOptions{}).WithContext(ctx))
	return err
}

// again has Nomad try tasks again that could not start, as they cannot now and then on a machine that is busy: so does
// hedge, which has its own way.
func again(g *api.TaskGroup) {
	tries, hour, soon, least, never, mode, constant := 3, time.Hour, time.Second, 5*time.Second, false, "fail", "constant"
	g.RestartPolicy = &api.RestartPolicy{Attempts: &tries, Interval: &hour, Delay: &soon, Mode: &mode}
	g.ReschedulePolicy = &api.ReschedulePolicy{Attempts: &tries, Interval: &hour, Delay: &least, DelayFunction: &constant,
		Unlimited: &never}
}

// Look makes outcomes of the server's allocations.
func (f *field) Look(ctx context.Context) (map[string]demo.Outcome, error) {
	list, _, err := f.client.Allocations().List((&api.QueryOptions{}).WithContext(ctx))
	if err != nil {
		return nil, err
	}
	of := map[string][]*api.AllocationListStub{}
	for _, a := range list {
		of[a.JobID] = append(of[a.JobID], a)
	}
	out := make(map[string]demo.Outcome, len(of))
	for id, list := range of {
		out[id] = outcome(list, f.tasks[id])
	}
	return out, nil
}

// outcome is what became of a job by its allocations: those of its last version that has any are its last attempt, as
// hedge makes a version for each start; and those that were stopped within a version were preempted by Nomad.
func outcome(list []*api.AllocationListStub, tasks int) demo.Outcome {
	last := slices.MaxFunc(list, func(a, b *api.AllocationListStub) int {
		return cmp.Compare(a.JobVersion, b.JobVersion)
	}).JobVersion
	stopped := map[uint64]bool{}
	var placed, started, done times
	evicted := 0
	for _, a := range list {
		if a.JobVersion != last {
			stopped[a.JobVersion] = true
			continue
		}
		began, ended, well := life(a.TaskStates["main"])
		if !well && (a.ClientStatus != api.AllocClientStatusPending && a.ClientStatus != api.AllocClientStatusRunning ||
			a.DesiredStatus != api.AllocDesiredStatusRun) {
			evicted++
			continue
		}
		placed = append(placed, time.Unix(0, a.CreateTime))
		started = append(started, began)
		done = append(done, ended)
	}
	return demo.Outcome{Placed: placed.last(tasks), Started: started.last(tasks), Finished: done.last(tasks),
		Stops: len(stopped) + evicted}
}

// life is when a task started and ended, and whether it has done its work.
func life(s *api.TaskState) (began, ended time.Time, well bool) {
	if s == nil {
		return began, ended, false
	}
	for _, e := range s.Events {
		if e.Type == api.TaskKilling {
			break
		}
		well = well || e.Type == api.TaskTerminated
	}
	if well = well && !s.Failed; well {
		ended = s.FinishedAt
	}
	return s.StartedAt, ended, well
}

// times are those of a gang's tasks; zero where there is none yet.
type times []time.Time

// last is the latest of n times, and zero if not all are there.
func (t times) last(n int) time.Time {
	if len(t) < n || slices.ContainsFunc(t, time.Time.IsZero) {
		return time.Time{}
	}
	return slices.MaxFunc(t, time.Time.Compare)
}

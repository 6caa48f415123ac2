package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	client "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/hedgesched/hedge/adapters/kubernetes"
	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/examples/internal/demo"
)

const (
	jobLabel, taskLabel = "hedge.test/job", "hedge.test/task"
	urgent              = "urgent" // the priority class of jobs with a deadline
)

// patience is how long the servers may take for what they are waited for.
const patience = 15 * time.Minute

// room is how many nodes there are and how many tasks each runs at a time.
type room struct{ nodes, slots int }

// cluster is the control plane.
type cluster struct{ client client.Interface }

// prepare makes nodes, a priority class and the namespace of the lease.
func (c *cluster) prepare(ctx context.Context, r room) error {
	if err := c.namespace(ctx, "hedge-system"); err != nil {
		return err
	}
	_, err := c.client.SchedulingV1().PriorityClasses().Create(ctx,
		&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: urgent}, Value: 1}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	holds := corev1.ResourceList{"cpu": *resource.NewQuantity(int64(r.slots), resource.DecimalSI),
		"memory": resource.MustParse("64Gi"), "pods": resource.MustParse("110")}
	err = each(0, r.nodes, func(i int) error {
		_, err := c.client.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName(i)},
			Status: corev1.NodeStatus{Capacity: holds, Allocatable: holds}}, metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return err
	}
	return demo.Until(ctx, patience, "all nodes are ready", func() (bool, error) {
		begun := time.Now()
		list, err := c.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		ready := 0
		for i := range list.Items {
			for _, k := range list.Items[i].Status.Conditions {
				if k.Type == corev1.NodeReady && k.Status == corev1.ConditionTrue {
					ready++
				}
			}
		}
		if ready < r.nodes {
			time.Sleep(4 * time.Since(begun)) // so that looking is not what keeps the servers from it
		}
		return ready == r.nodes, nil
	})
}

// each does something for all numbers from one to another, several at a time, and tells what failed.
func each(from, to int, do func(int) error) error {
	const atATime = 32
	next := make(chan int)
	var all sync.WaitGroup
	errs := make([]error, atATime)
	for k := range errs {
		all.Go(func() {
			for i := range next {
				if err := do(i); err != nil {
					errs[k] = err
				}
			}
		})
	}
	for i := from; i < to; i++ {
		next <- i
	}
	close(next)
	all.Wait()
	return errors.Join(errs...)
}

func nodeName(i int) string { return fmt.Sprintf("n%04d", i) }

func (c *cluster) namespace(ctx context.Context, name string) error {
	_, err := c.client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}},
		metav1.CreateOptions{})
	return err
}

// field is a scheduler, the namespace of its jobs, and how they are handed in.
type field struct {
	title, name, scheduler string
	priority               bool
}

// run runs the workload in a namespace of its own, and leaves no pod behind.
func (c *cluster) run(ctx context.Context, w *demo.Workload, f field, out io.Writer) (*demo.Result, error) {
	if err := c.namespace(ctx, f.name); err != nil {
		return nil, err
	}
	owner, err := c.client.CoreV1().ConfigMaps(f.name).Create(ctx,
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "demo"}}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	n := &namespace{cluster: c, field: f, owner: owner.UID, jobs: map[string]*job{}}
	if err := n.watch(ctx); err != nil {
		return nil, err
	}
	defer n.close()
	r, err := demo.Run(ctx, w, n, demo.RunOptions{Name: f.title, OnProgress: demo.Progress(out, f.title)})
	if err != nil {
		return nil, err
	}
	zero := int64(0)
	return r, c.client.CoreV1().Pods(f.name).DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &zero},
		metav1.ListOptions{})
}

// namespace is where one run happens. It is the controller of the jobs' pods, too: a pod that was evicted is replaced
// at once, where the Job controller would wait for longer and longer.
type namespace struct {
	*cluster
	field
	owner types.UID
	end   context.CancelFunc
	all   informers.SharedInformerFactory

	mu   sync.Mutex
	jobs map[string]*job
	made int
}

// job is a job that was handed in.
type job struct {
	*sim.Job
	tasks []task
	stops int
}

// task is a task and its pod, which is "" if it needs another.
type task struct {
	pod                    string
	placed, started, ended time.Time
	lost                   int
}

// watch follows the namespace's pods.
func (n *namespace) watch(ctx context.Context) error {
	ctx, n.end = context.WithCancel(ctx)
	n.all = informers.NewSharedInformerFactoryWithOptions(n.client, 0, informers.WithNamespace(n.name))
	pods := n.all.Core().V1().Pods().Informer()
	see := func(o any, gone bool) {
		if d, ok := o.(cache.DeletedFinalStateUnknown); ok {
			o = d.Obj
		}
		if p, ok := o.(*corev1.Pod); ok {
			n.see(p, gone, time.Now())
		}
	}
	_, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(o any) { see(o, false) },
		UpdateFunc: func(_, o any) { see(o, false) }, DeleteFunc: func(o any) { see(o, true) }})
	if err != nil {
		return err
	}
	n.all.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), pods.HasSynced) {
		return errors.New("the watch of pods does not come up")
	}
	return nil
}

func (n *namespace) close() {
	n.end()
	n.all.Shutdown()
}

// see takes in a pod as it is told of.
func (n *namespace) see(p *corev1.Pod, gone bool, now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	j := n.jobs[p.Labels[jobLabel]]
	i, err := strconv.Atoi(p.Labels[taskLabel])
	if j == nil || err != nil || i < 0 || i >= len(j.tasks) || j.tasks[i].pod != p.Name {
		return
	}
	t := &j.tasks[i]
	set := func(at *time.Time, is bool) {
		if is && at.IsZero() {
			*at = now
		}
	}
	done := p.Status.Phase == corev1.PodSucceeded
	if !done && (gone || p.DeletionTimestamp != nil || p.Status.Phase == corev1.PodFailed) {
		if !t.placed.IsZero() {
			t.lost++
			j.stops = max(j.stops, t.lost)
		}
		*t = task{lost: t.lost}
		return
	}
	set(&t.placed, p.Spec.NodeName != "")
	set(&t.started, done || p.Status.Phase == corev1.PodRunning)
	set(&t.ended, done)
}

// Submit makes the job's pods.
func (n *namespace) Submit(ctx context.Context, j *sim.Job) error {
	n.mu.Lock()
	n.jobs[j.ID] = &job{Job: j, tasks: make([]task, j.Tasks)}
	n.mu.Unlock()
	return n.make(ctx, j.ID)
}

// make makes the pods that a job needs.
func (n *namespace) make(ctx context.Context, id string) error {
	var again []*corev1.Pod
	n.mu.Lock()
	j := n.jobs[id]
	for i := range j.tasks {
		if t := &j.tasks[i]; t.pod == "" {
			n.made++
			t.pod = fmt.Sprintf("%s-%d-%d", id, i, n.made)
			again = append(again, n.pod(j.Job, i, t.pod))
		}
	}
	n.mu.Unlock()
	for _, p := range again {
		if _, err := n.client.CoreV1().Pods(n.name).Create(ctx, p, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// pod is a task's.
func (n *namespace) pod(j *sim.Job, i int, name string) *corev1.Pod {
	yes, one := true, int64(1)
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name,
			Labels: map[string]string{jobLabel: j.ID, taskLabel: strconv.Itoa(i),
				"scheduling.x-k8s.io/pod-group": j.ID, "scheduling.x-k8s.io/min-available": strconv.Itoa(j.Tasks)},
			Annotations: map[string]string{"hedge.test/duration": j.Work.Runtime().String(),
				kubernetes.UserAnnotation: j.Attributes["user"]},
			OwnerReferences: []metav1.OwnerReference{
				{APIVersion: "v1", Kind: "ConfigMap", Name: "demo", UID: n.owner, Controller: &yes}},
		},
		Spec: corev1.PodSpec{
			SchedulerName: n.scheduler, RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: &one,
			Containers: []corev1.Container{{Name: "c", Image: "none",
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}}}},
		},
	}
	if j.Deadline > 0 {
		p.Annotations[kubernetes.DeadlineAnnotation] = j.Deadline.String()
		if n.priority {
			p.Spec.PriorityClassName = urgent
		}
	}
	return p
}

// Look replaces what was evicted and tells how far jobs are.
func (n *namespace) Look(ctx context.Context) (map[string]demo.Outcome, error) {
	n.mu.Lock()
	out := make(map[string]demo.Outcome, len(n.jobs))
	var short []string
	for id, j := range n.jobs {
		o := demo.Outcome{Stops: j.stops}
		o.Placed = j.latest(func(t *task) time.Time { return t.placed })
		o.Started = j.latest(func(t *task) time.Time { return t.started })
		o.Finished = j.latest(func(t *task) time.Time { return t.ended })
		out[id] = o
		for i := range j.tasks {
			if j.tasks[i].pod == "" {
				short = append(short, id)
				break
			}
		}
	}
	n.mu.Unlock()
	slices.Sort(short)
	for _, id := range short {
		if err := n.make(ctx, id); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// latest is when the last task had come so far; zero if one has not.
func (j *job) latest(when func(*task) time.Time) time.Time {
	var out time.Time
	for i := range j.tasks {
		at := when(&j.tasks[i])
		if at.IsZero() {
			return at
		}
		if at.After(out) {
			out = at
		}
	}
	return out
}

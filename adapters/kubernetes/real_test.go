package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/rest"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/adaptertest"
	"github.com/hedgesched/hedge/adapters/shadow"
	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/outlook"
	"github.com/hedgesched/hedge/sched/why"
)

const patience = 10 * time.Minute // a machine may be busy with other things for minutes

// TestRights: with its own token, the account of the manifests may do what the suite needs, and nothing else.
func TestRights(t *testing.T) {
	s := controlPlane(t)
	seconds := int64(3600)
	token, err := s.client.CoreV1().ServiceAccounts("hedge-system").CreateToken(t.Context(), "hedge",
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}},
		metav1.CreateOptions{})
	require.NoError(t, err)
	config := rest.CopyConfig(s.config)
	config.BearerToken = token.Status.Token
	client, err := Client(config)
	require.NoError(t, err)
	d, err := Open(t.Context(), client, Options{Namespace: "default"})
	require.NoError(t, err)
	d.Close()
	lease, err := NewLease(client, LeaseName{"hedge-system", "hedge"}, 0)
	require.NoError(t, err)
	_, err = lease.Acquire(t.Context())
	require.True(t, err == nil || assert.ErrorIs(t, err, adapters.ErrHeld), "%v", err)

	for what, err := range map[string]error{
		"secrets": func() error {
			_, err := client.CoreV1().Secrets("").List(t.Context(), metav1.ListOptions{})
			return err
		}(),
		"creating pods": func() error {
			_, err := client.CoreV1().Pods("default").Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}},
				metav1.CreateOptions{})
			return err
		}(),
		"changing pods": func() error {
			_, err := client.CoreV1().Pods("default").Patch(t.Context(), "p", types.MergePatchType, []byte("{}"),
				metav1.PatchOptions{})
			return err
		}(),
		"changing Jobs": func() error {
			_, err := client.BatchV1().Jobs("default").Patch(t.Context(), "j", types.MergePatchType, []byte("{}"),
				metav1.PatchOptions{})
			return err
		}(),
		"deleting nodes": client.CoreV1().Nodes().Delete(t.Context(), "n", metav1.DeleteOptions{}),
		"deleting Jobs":  client.BatchV1().Jobs("default").Delete(t.Context(), "j", metav1.DeleteOptions{}),
		"others' leases": func() error {
			_, err := client.CoordinationV1().Leases("kube-system").List(t.Context(), metav1.ListOptions{})
			return err
		}(),
		"changing leases": client.CoordinationV1().Leases("hedge-system").Delete(t.Context(), "hedge",
			metav1.DeleteOptions{}),
		"deleting claims": client.CoreV1().PersistentVolumeClaims("default").Delete(t.Context(), "c",
			metav1.DeleteOptions{}),
		"deleting in bulk": client.CoreV1().Pods("default").DeleteCollection(t.Context(), metav1.DeleteOptions{},
			metav1.ListOptions{}),
	} {
		assert.True(t, apierrors.IsForbidden(err), "%s: %v", what, err)
	}
}

// TestAccountOfOneNamespace: an account with rights to one namespace changes nothing in others, and cannot schedule
// all.
func TestAccountOfOneNamespace(t *testing.T) {
	s := controlPlane(t)
	const mine, other = "account-mine", "account-other"
	for _, name := range []string{mine, other} {
		_, err := s.client.CoreV1().Namespaces().Create(t.Context(),
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	require.NoError(t, s.loneRights(t.Context(), mine))
	client, err := Client(s.account(lone))
	require.NoError(t, err)
	_, err = Open(t.Context(), client, Options{})
	require.ErrorIs(t, err, adapters.ErrRefused)
	d, err := Open(t.Context(), client, Options{Namespace: mine})
	require.NoError(t, err)
	d.Close()
	for namespace, is := range map[string]func(error) bool{mine: apierrors.IsNotFound, other: apierrors.IsForbidden} {
		for what, err := range map[string]error{
			"delete": client.CoreV1().Pods(namespace).Delete(t.Context(), "p", metav1.DeleteOptions{}),
			"bind": client.CoreV1().Pods(namespace).Bind(t.Context(),
				&corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Target: corev1.ObjectReference{Kind: "Node", Name: "n"}},
				metav1.CreateOptions{}),
			"evict": client.PolicyV1().Evictions(namespace).Evict(t.Context(),
				&policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: namespace}}),
			"mark": func() error {
				_, err := client.CoreV1().Pods(namespace).Patch(t.Context(), "p", types.MergePatchType, []byte("{}"),
					metav1.PatchOptions{}, "status")
				return err
			}(),
		} {
			assert.True(t, is(err), "%s in %s: %v", what, namespace, err)
		}
	}
}

// TestOpenWithoutRights: a missing right is reported at once.
func TestOpenWithoutRights(t *testing.T) {
	s := controlPlane(t)
	config := rest.CopyConfig(s.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "nobody"}
	client, err := Client(config)
	require.NoError(t, err)
	_, err = Open(t.Context(), client, Options{})
	require.ErrorIs(t, err, adapters.ErrRefused)
}

// TestRestoredServer: the server's store is restored from a copy that lacks what the driver has seen since. The driver
// finds out by itself.
func TestRestoredServer(t *testing.T) {
	t.Parallel()
	haveServers(t)
	s, err := newServer() // of its own: nobody else could use what is left of it
	require.NoError(t, err)
	defer func() { assert.NoError(t, os.RemoveAll(s.dir)) }()
	defer s.Stop()
	_, err = s.client.CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}},
		metav1.CreateOptions{})
	require.NoError(t, err)
	d, err := Open(t.Context(), s.client, Options{})
	require.NoError(t, err)
	defer d.Close()
	data := filepath.Join(s.dir, "etcd")
	restart := func(change func() error) {
		s.Kill("kube-apiserver")
		s.Kill("etcd")
		require.NoError(t, change())
		require.NoError(t, s.Start(t.Context(), "etcd"))
		require.NoError(t, s.Start(t.Context(), "kube-apiserver"))
	}
	restart(func() error { return os.CopyFS(data+".saved", os.DirFS(data)) })
	for i := range 500 { // more than the servers write as they start
		_, err = s.client.CoreV1().ConfigMaps("default").Create(t.Context(),
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("c", i)}}, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	_, err = s.client.CoreV1().Nodes().Patch(t.Context(), "n", types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"new":"yes"}}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		v, err := d.Observe(t.Context(), false)
		return err == nil && slices.ContainsFunc(v.Nodes, func(n adapters.Node) bool { return n.Labels["new"] == "yes" })
	}, patience, 50*time.Millisecond)
	restart(func() error { return errors.Join(os.RemoveAll(data), os.Rename(data+".saved", data)) })
	require.Eventually(t, func() bool {
		_, err := d.Observe(t.Context(), false)
		return errors.Is(err, adapters.ErrRestored)
	}, patience, 50*time.Millisecond)
}

// placed submits a gang to a world and starts it.
func placed(t *testing.T, w *world, d *Driver, j adaptertest.Job) (string, adapters.Job) {
	t.Helper()
	id := w.Submit(t, j)
	job := observed(t, d, id, func(j *adapters.Job) bool { return j.Problem == nil && len(j.Tasks) == 0 })
	require.NoError(t, d.Start(t.Context(), &adapters.Start{Job: &job,
		Nodes: []sched.NodeTasks{{Node: w.traits.Nodes[0], Tasks: j.Spec.Tasks}}, Epoch: 1}))
	return id, observed(t, d, id, func(j *adapters.Job) bool {
		running := 0
		for _, task := range j.Tasks {
			if task.State == adapters.Running && !task.Started.IsZero() {
				running++
			}
		}
		return running == j.Spec.Tasks
	})
}

// observed is the job once it meets the condition.
func observed(t testing.TB, d *Driver, id string, is func(*adapters.Job) bool) adapters.Job {
	t.Helper()
	var found adapters.Job
	require.Eventually(t, func() bool {
		v, err := d.Observe(context.WithoutCancel(t.Context()), true)
		if err != nil {
			return false
		}
		for i := range v.Jobs {
			if v.Jobs[i].Spec.ID == id {
				found = v.Jobs[i]
				return is(&found)
			}
		}
		return false
	}, patience, 100*time.Millisecond)
	return found
}

// TestDisruptionBudget: a preemption that a budget forbids does nothing and says so.
func TestDisruptionBudget(t *testing.T) {
	w := newWorld(t, adaptertest.Shape{Nodes: 1, Slots: 2}, false)
	i := w.Open(t, adaptertest.Session{Epoch: 1})
	d := i.Driver.(*Driver)
	_, job := placed(t, w, d, adaptertest.Job{Spec: sched.Job{ID: "a", Tasks: 2}, Runtime: 100 * unit})
	all := intstr.FromInt32(2)
	_, err := w.client.PolicyV1().PodDisruptionBudgets(w.name).Create(t.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "b"},
		Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: &all,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{jobLabel: "a"}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		b, err := w.client.PolicyV1().PodDisruptionBudgets(w.name).Get(t.Context(), "b", metav1.GetOptions{})
		return err == nil && b.Status.ObservedGeneration >= b.Generation && b.Status.CurrentHealthy == 2
	}, patience, 100*time.Millisecond)
	err = d.Stop(t.Context(), &adapters.Stop{Job: &job, Epoch: 1, Cause: adapters.CausePreempted})
	require.ErrorIs(t, err, adapters.ErrRefused)
	for _, r := range w.Records(t) {
		assert.Equal(t, adapters.Running, r.State)
	}
}

// TestKeptWork: the time for which a checkpointing Job ran is written on the Job, and outlives its pods.
func TestKeptWork(t *testing.T) {
	w := newWorld(t, adaptertest.Shape{Nodes: 1, Slots: 2}, true)
	i := w.Open(t, adaptertest.Session{Epoch: 1})
	d := i.Driver.(*Driver)
	id, job := placed(t, w, d, adaptertest.Job{Spec: sched.Job{ID: "a", Tasks: 2, Checkpoint: true}, Runtime: 100 * unit})
	require.True(t, job.Spec.Checkpoint)
	begun := job.Tasks[0].Started
	time.Sleep(time.Second) // so that there is something to be kept
	require.NoError(t, d.Stop(t.Context(), &adapters.Stop{Job: &job, Epoch: 1, Cause: adapters.CausePreempted}))
	most := time.Since(begun)
	again := observed(t, d, id, func(j *adapters.Job) bool { return len(j.Tasks) == 0 })
	assert.Positive(t, again.Done)
	assert.LessOrEqual(t, again.Done, most+time.Millisecond)
	assert.Equal(t, job.UID, again.UID)
}

// TestWhyIsShown: the condition and an event of a pod that waits say when it is expected to start, what is short, who
// holds it and until when. Cycles in which nothing changes write nothing.
func TestWhyIsShown(t *testing.T) {
	w := newWorld(t, adaptertest.Shape{Nodes: 1, Slots: 2}, false)
	i := w.Open(t, adaptertest.Session{Epoch: 1})
	d := i.Driver.(*Driver)
	holder, _ := placed(t, w, d, adaptertest.Job{Spec: sched.Job{ID: "a", Tasks: 2}, Runtime: 1000 * unit})
	id := w.Submit(t, adaptertest.Job{Spec: sched.Job{ID: "b", Tasks: 2}, Runtime: unit})
	observed(t, d, id, func(j *adapters.Job) bool { return j.Problem == nil })
	teller := why.NewTeller(baseline.NewEDF())
	starts, err := outlook.NewTeller(teller, outlook.Config{Seed: 1})
	require.NoError(t, err)
	cluster, err := adapters.New(d, adapters.Options{Epoch: 1, Why: teller.Tell, When: starts.Tell})
	require.NoError(t, err)
	hour, err := dist.NewPoint(3600)
	require.NoError(t, err)
	guess, err := predict.NewFixed(hour)
	require.NoError(t, err)
	loop, err := sched.NewLoop(cluster, starts, guess)
	require.NoError(t, err)
	want := regexp.MustCompile(`; expected to start about \d\d:\d\d UTC \(80% sure: \d\d:\d\d to \d\d:\d\d\); room for 0 of 2 tasks: .* too little; held by ` + regexp.QuoteMeta(holder) +
		` until about \d\d:\d\d UTC; would have room with `)
	require.Eventually(t, func() bool {
		if _, err := loop.Step(context.WithoutCancel(t.Context()), time.Now()); err != nil {
			return false
		}
		pods, err := w.client.CoreV1().Pods(w.name).List(context.WithoutCancel(t.Context()),
			metav1.ListOptions{LabelSelector: jobLabel + "=b"})
		if err != nil || len(pods.Items) != 2 {
			return false
		}
		return !slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool {
			return !slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
				return c.Type == corev1.PodScheduled && want.MatchString(c.Message)
			})
		})
	}, patience, 100*time.Millisecond)
	written := w.Notes(t, id)
	assert.True(t, slices.ContainsFunc(written, want.MatchString), "the event")
	for range 20 {
		_, err := loop.Step(context.WithoutCancel(t.Context()), time.Now())
		require.NoError(t, err)
	}
	assert.Equal(t, written, w.Notes(t, id), "the words have not changed")
}

// TestShadow: a policy that watches sees a gang wait and start, would have started it, and does nothing itself.
func TestShadow(t *testing.T) {
	w := newWorld(t, adaptertest.Shape{Nodes: 1, Slots: 2}, false)
	acts := w.Open(t, adaptertest.Session{Epoch: 1}).Driver.(*Driver)
	sees := w.Open(t, adaptertest.Session{Epoch: 1}).Driver.(*Driver)
	real, err := adapters.New(shadow.ReadOnly(sees), adapters.Options{})
	require.NoError(t, err)
	hour, err := dist.NewPoint(3600)
	require.NoError(t, err)
	guess, err := predict.NewFixed(hour)
	require.NoError(t, err)
	watched := shadow.New(real)
	loop, err := sched.NewLoop(watched, baseline.NewEDF(), guess, sched.WithObserver(watched.Observe))
	require.NoError(t, err)
	reported := func(is func(j shadow.Job) bool) {
		require.Eventually(t, func() bool {
			ctx := context.WithoutCancel(t.Context())
			if _, err := loop.Step(ctx, time.Now()); err != nil {
				return false
			}
			r, err := watched.Report(ctx, func() (sched.Policy, error) { return baseline.NewEDF(), nil })
			return err == nil && len(r.Jobs) == 1 && is(r.Jobs[0])
		}, patience, 100*time.Millisecond)
	}
	id := w.Submit(t, adaptertest.Job{Spec: sched.Job{ID: "a", Tasks: 2}, Runtime: 1000 * unit})
	reported(func(j shadow.Job) bool { return j.ID == id && !j.Would.IsZero() && !j.PolicyStart.IsZero() })
	job := observed(t, acts, id, func(j *adapters.Job) bool { return j.Problem == nil })
	assert.Empty(t, job.Tasks, "the shadow has started nothing")
	assert.Empty(t, w.Notes(t, id), "and has said nothing")
	require.NoError(t, acts.Start(t.Context(), &adapters.Start{Job: &job, Epoch: 1,
		Nodes: []sched.NodeTasks{{Node: w.traits.Nodes[0], Tasks: 2}}}))
	reported(func(j shadow.Job) bool { return !j.Started.IsZero() })
}

// TestBadInput: every pod that cannot be scheduled gets a reason, and the others run.
func TestBadInput(t *testing.T) {
	w := newWorld(t, adaptertest.Shape{Nodes: 1, Slots: 2}, false)
	i := w.Open(t, adaptertest.Session{Epoch: 1})
	d := i.Driver.(*Driver)
	bad := map[string]func(*corev1.Pod){
		"deadline": func(p *corev1.Pod) { p.Annotations[DeadlineAnnotation] = "-5m" },
		"misspelt": func(p *corev1.Pod) { p.Annotations[prefix+"dedline"] = "5m" },
		"size": func(p *corev1.Pod) {
			p.Labels["scheduling.x-k8s.io/pod-group"], p.Labels["scheduling.x-k8s.io/min-available"] = "g", "many"
		},
		"thousand": func(p *corev1.Pod) {
			p.Labels["scheduling.x-k8s.io/pod-group"], p.Labels["scheduling.x-k8s.io/min-available"] = "h", "1000"
		},
		"spread": func(p *corev1.Pod) {
			p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{
				{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule}}
		},
		"speeds": func(p *corev1.Pod) { p.Annotations[SpeedsAnnotation] = "-1" },
		"devices": func(p *corev1.Pod) {
			claim := "none"
			p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: &claim}}
		},
		"claim":     mounts("none"),
		"epoch":     func(p *corev1.Pod) { p.Annotations[epochAnnotation] = "7" },
		"cleared":   func(p *corev1.Pod) { p.Annotations[clearedAnnotation] = "true" },
		"gang-size": func(p *corev1.Pod) { p.Annotations[sizeAnnotation] = "50000000" },
	}
	for name, change := range bad {
		template := w.template(&submitted{Job: adaptertest.Job{Runtime: unit}}, "1s")
		p := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
		p.Name = "bad-" + name
		change(p)
		_, err := w.client.CoreV1().Pods(w.name).Create(t.Context(), p, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	_, good := placed(t, w, d, adaptertest.Job{Spec: sched.Job{ID: "a", Tasks: 2}, Runtime: 100 * unit})
	require.NoError(t, good.Problem)
	v, err := d.Observe(t.Context(), true)
	require.NoError(t, err)
	problems := 0
	for _, j := range v.Jobs {
		if j.Problem != nil {
			problems++
		}
	}
	assert.Equal(t, len(bad), problems)
}

// TestLeases uses a clock of its own, so that no lease expires because the machine is slow.
func TestLeases(t *testing.T) {
	s := controlPlane(t)
	var offices atomic.Int64
	adaptertest.RunLease(t, func(testing.TB) adaptertest.Office {
		name, now := LeaseName{"hedge-system", fmt.Sprint("office-", offices.Add(1))}, time.Now()
		calls := &stoppable{}
		config := rest.CopyConfig(s.config)
		config.Wrap(func(rt http.RoundTripper) http.RoundTripper {
			return roundTrip(func(r *http.Request) (*http.Response, error) {
				if err := calls.wait(r.Context()); err != nil {
					return nil, err
				}
				return rt.RoundTrip(r)
			})
		})
		return adaptertest.Office{
			Open: func(t testing.TB) adapters.Lease {
				client, err := Client(config)
				require.NoError(t, err)
				l, err := NewLease(client, name, 10*time.Minute)
				require.NoError(t, err)
				l.now = func() time.Time { return now }
				return l
			},
			Pass:     func(testing.TB) { now = now.Add(time.Minute) },
			Patience: 30,
			Hang:     func(testing.TB) func() { return calls.stop() },
			Delete: func(t testing.TB) {
				require.NoError(t,
					s.client.CoordinationV1().Leases(name.Namespace).Delete(t.Context(), name.Name, metav1.DeleteOptions{}))
				time.Sleep(2 * time.Second) // epochs of a Lease that is made anew begin with its second
			},
		}
	})
}

// stoppable makes calls wait while it is stopped.
type stoppable struct{ stopped atomic.Pointer[chan struct{}] }

func (s *stoppable) stop() (resume func()) {
	on := make(chan struct{})
	s.stopped.Store(&on)
	return func() {
		s.stopped.Store(nil)
		close(on)
	}
}

func (s *stoppable) wait(ctx context.Context) error {
	if on := s.stopped.Load(); on != nil {
		select {
		case <-*on:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestLeaseAndFence: actions of an earlier epoch are refused, also after the Lease was deleted.
func TestLeaseAndFence(t *testing.T) {
	s := controlPlane(t)
	name := LeaseName{"default", fmt.Sprint("lease-", time.Now().UnixNano())}
	a, err := NewLease(s.client, name, 0)
	require.NoError(t, err)
	b, err := NewLease(s.client, name, 0)
	require.NoError(t, err)
	first, err := a.Acquire(t.Context())
	require.NoError(t, err)
	_, err = b.Acquire(t.Context())
	require.ErrorIs(t, err, adapters.ErrHeld)
	again, err := a.Renew(t.Context(), first)
	require.NoError(t, err)
	assert.Equal(t, first, again)
	require.NoError(t, a.Release(t.Context(), first))
	second, err := b.Acquire(t.Context())
	require.NoError(t, err)
	assert.Greater(t, second.Epoch, first.Epoch)
	_, err = a.Renew(t.Context(), first)
	require.ErrorIs(t, err, adapters.ErrFenced)
	require.NoError(t, a.Release(t.Context(), first), "it is another's")
	d := &Driver{client: s.client, opt: Options{Lease: name, Timeout: 10 * time.Second}}
	d.leads = d.newFence()
	require.NoError(t, d.fence(t.Context(), second.Epoch))
	require.ErrorIs(t, d.fence(t.Context(), first.Epoch), adapters.ErrFenced)

	time.Sleep(3 * time.Second) // epochs of a new Lease begin with its second, and there were two
	require.NoError(t,
		s.client.CoordinationV1().Leases(name.Namespace).Delete(t.Context(), name.Name, metav1.DeleteOptions{}))
	require.ErrorIs(t, d.fence(t.Context(), second.Epoch), adapters.ErrFenced, "there is none")
	third, err := a.Acquire(t.Context())
	require.NoError(t, err)
	assert.Greater(t, third.Epoch, second.Epoch)
	_, err = b.Renew(t.Context(), second)
	require.ErrorIs(t, err, adapters.ErrFenced)
	require.NoError(t, d.fence(t.Context(), third.Epoch))
	require.ErrorIs(t, d.fence(t.Context(), second.Epoch), adapters.ErrFenced)
}

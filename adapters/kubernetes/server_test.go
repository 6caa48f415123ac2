package kubernetes

import (
	"context"
	"errors"
	"flag"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/hedgesched/hedge/adapters/testservers"
)

// server is a real control plane. All tests of the package share it.
type server struct {
	*testservers.Kubernetes
	dir    string
	config *rest.Config
	client kubernetes.Interface // the administrator's
	worlds atomic.Int64
}

var shared struct {
	once sync.Once
	*server
	err error
}

// spare are control planes besides the shared one, for worlds that stop theirs.
var spare struct {
	mu        sync.Mutex
	idle, all []*server
}

// sideBySide is the number of cases that run concurrently: a case mostly waits.
const sideBySide = 8

func TestMain(m *testing.M) {
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen {
		if err := flag.Set("test.parallel", strconv.Itoa(sideBySide)); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	all := spare.all
	if s := shared.server; s != nil {
		all = append(all, s)
	}
	for _, s := range all {
		s.Stop()
		if err := os.RemoveAll(s.dir); err != nil && code == 0 {
			code = 1
		}
	}
	os.Exit(code)
}

// controlPlane is the control plane, which starts at its first use. Its programs are built first, which takes some
// minutes. With -short they are not built: without them the test is skipped, or fails with HEDGE_REQUIRE_SERVERS=1.
func controlPlane(t testing.TB) *server {
	t.Helper()
	haveServers(t)
	shared.once.Do(func() { shared.server, shared.err = newServer() })
	require.NoError(t, shared.err)
	return shared.server
}

// ownPlane is a control plane that no other test uses until this one is over.
func ownPlane(t testing.TB) *server {
	t.Helper()
	haveServers(t)
	spare.mu.Lock()
	defer spare.mu.Unlock()
	var s *server
	if n := len(spare.idle); n > 0 {
		s, spare.idle = spare.idle[n-1], spare.idle[:n-1]
	} else {
		var err error
		s, err = newServer()
		require.NoError(t, err)
		spare.all = append(spare.all, s)
	}
	t.Cleanup(func() {
		spare.mu.Lock()
		defer spare.mu.Unlock()
		spare.idle = append(spare.idle, s)
	})
	return s
}

func haveServers(t testing.TB) {
	t.Helper()
	if testing.Short() {
		switch err := testservers.Built("etcd", "kwok", "kube-apiserver", "kube-controller-manager"); {
		case err == nil:
		case errors.Is(err, testservers.ErrNotBuilt) && os.Getenv("HEDGE_REQUIRE_SERVERS") != "1":
			t.Skip("-short, and without HEDGE_REQUIRE_SERVERS=1: ", err)
		default:
			t.Fatal(err)
		}
	}
}

// lone is the user of worlds that have rights to their own namespace only, by overlays/one-namespace.
const lone = "hedge-lone"

// leaseRights gives an account the same rights to the lease of a world as the manifest does for its own lease.
func (s *server) leaseRights(ctx context.Context, user, namespace string) error {
	role, err := s.client.RbacV1().Roles("hedge-system").Get(ctx, "hedge-lease", metav1.GetOptions{})
	if err != nil {
		return err
	}
	binding, err := s.client.RbacV1().RoleBindings("hedge-system").Get(ctx, "hedge-lease", metav1.GetOptions{})
	if err != nil {
		return err
	}
	role.ObjectMeta, binding.ObjectMeta = metav1.ObjectMeta{Name: role.Name}, metav1.ObjectMeta{Name: binding.Name}
	binding.Subjects[0].Name = user
	if _, err = s.client.RbacV1().Roles(namespace).Create(ctx, role, metav1.CreateOptions{}); err == nil {
		_, err = s.client.RbacV1().RoleBindings(namespace).Create(ctx, binding, metav1.CreateOptions{})
	}
	return err
}

// loneRights gives the account of that name the rights to work in a namespace, as its manifest does.
func (s *server) loneRights(ctx context.Context, namespace string) error {
	data, err := os.ReadFile("overlays/one-namespace/binding.yaml")
	if err != nil {
		return err
	}
	return create(string(data), func(b *rbacv1.RoleBinding) error {
		b.Namespace, b.Subjects[0].Name = namespace, lone
		_, err := s.client.RbacV1().RoleBindings(namespace).Create(ctx, b, metav1.CreateOptions{})
		return err
	})
}

// loneReads gives the account of that name the other account's rights to read the cluster.
func (s *server) loneReads(ctx context.Context) error {
	b, err := s.client.RbacV1().ClusterRoleBindings().Get(ctx, "hedge-scheduler", metav1.GetOptions{})
	if err == nil {
		b.ObjectMeta, b.Subjects[0].Name = metav1.ObjectMeta{Name: lone}, lone
		_, err = s.client.RbacV1().ClusterRoleBindings().Create(ctx, b, metav1.CreateOptions{})
	}
	return err
}

func newServer() (*server, error) {
	dir, err := os.MkdirTemp("", "hedge-kubernetes")
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir}
	s.Kubernetes, err = testservers.StartKubernetes(context.Background(), testservers.KubernetesConfig{
		Dir: dir, Controllers: "job-controller,garbage-collector-controller,disruption-controller",
	})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if s.config, err = clientcmd.BuildConfigFromFlags("", s.Kubeconfig()); err == nil {
		s.client, err = Client(s.config)
	}
	if err == nil {
		err = s.apply("manifests/account.yaml")
	}
	if err == nil {
		err = s.loneReads(context.Background())
	}
	if err == nil {
		err = s.controlled()
	}
	if err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// controlled waits until the Job controller works. The controllers say that they are healthy before they have reached
// the API server, and end if that takes too long. Then they are started again.
func (s *server) controlled() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	probe := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "probe"},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			SchedulerName: "none", RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{Name: "c", Image: "none"}}}}}}
	if _, err := s.client.BatchV1().Jobs("default").Create(ctx, probe, metav1.CreateOptions{}); err != nil {
		return err
	}
	for {
		if err := s.Start(ctx, "kube-controller-manager"); err != nil {
			return err
		}
		list, err := s.client.CoreV1().Pods("default").List(ctx,
			metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=probe"})
		if err != nil {
			return err
		}
		if len(list.Items) > 0 {
			background := metav1.DeletePropagationBackground
			return s.client.BatchV1().Jobs("default").Delete(ctx, "probe", metav1.DeleteOptions{PropagationPolicy: &background})
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// apply creates the objects of a manifest.
func (s *server) apply(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	ctx, o := context.Background(), metav1.CreateOptions{}
	for text := range strings.SplitSeq(string(data), "\n---\n") {
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal([]byte(text), &kind); err != nil {
			return err
		}
		switch kind.Kind {
		case "Namespace":
			err = create(text, func(x *corev1.Namespace) error {
				_, err := s.client.CoreV1().Namespaces().Create(ctx, x, o)
				return err
			})
		case "ServiceAccount":
			err = create(text, func(x *corev1.ServiceAccount) error {
				_, err := s.client.CoreV1().ServiceAccounts(x.Namespace).Create(ctx, x, o)
				return err
			})
		case "ClusterRole":
			err = create(text, func(x *rbacv1.ClusterRole) error {
				_, err := s.client.RbacV1().ClusterRoles().Create(ctx, x, o)
				return err
			})
		case "ClusterRoleBinding":
			err = create(text, func(x *rbacv1.ClusterRoleBinding) error {
				_, err := s.client.RbacV1().ClusterRoleBindings().Create(ctx, x, o)
				return err
			})
		case "Role":
			err = create(text, func(x *rbacv1.Role) error {
				_, err := s.client.RbacV1().Roles(x.Namespace).Create(ctx, x, o)
				return err
			})
		case "RoleBinding":
			err = create(text, func(x *rbacv1.RoleBinding) error {
				_, err := s.client.RbacV1().RoleBindings(x.Namespace).Create(ctx, x, o)
				return err
			})
		default:
			err = errors.New("unknown kind " + kind.Kind)
		}
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

func create[T any](text string, make func(*T) error) error {
	x := new(T)
	if err := yaml.UnmarshalStrict([]byte(text), x); err != nil {
		return err
	}
	return make(x)
}

// account is the client configuration of one of the scheduler's accounts.
func (s *server) account(user string) *rest.Config {
	c := rest.CopyConfig(s.config)
	c.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:hedge-system:" + user,
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:hedge-system", "system:authenticated"}}
	return c
}

// line is a scheduler's connection. It can be cut, and it asks a gate.
type line struct {
	mu    sync.Mutex
	conns map[net.Conn]bool
	gate  func(string, bool) error
	dead  error
}

// through routes a configuration's calls through the line.
func (l *line) through(c *rest.Config) *rest.Config {
	c = rest.CopyConfig(c)
	c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, network, address)
		if err == nil {
			l.mu.Lock()
			l.conns[conn] = true
			l.mu.Unlock()
		}
		return conn, err
	}
	c.Wrap(func(next http.RoundTripper) http.RoundTripper { return &gated{l, next} })
	return c
}

// cut breaks all connections.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		_ = c.Close() // it may have been closed
	}
	clear(l.conns)
}

func (l *line) pass(call string, done bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead == nil && l.gate != nil && call != "" {
		l.dead = l.gate(call, done)
	}
	return l.dead
}

// gated asks the line's gate before and after each call that changes something, except notes: events, and conditions,
// which are a different kind of patch than marks.
type gated struct {
	*line
	next http.RoundTripper
}

func (g *gated) RoundTrip(r *http.Request) (*http.Response, error) {
	call := ""
	if r.Method != http.MethodGet && !strings.HasSuffix(r.URL.Path, "/events") &&
		r.Header.Get("Content-Type") != string(types.StrategicMergePatchType) {
		call = r.Method + " " + r.URL.Path
	}
	if err := g.pass(call, false); err != nil {
		return nil, err
	}
	resp, err := g.next.RoundTrip(r)
	if dead := g.pass(call, true); dead != nil {
		if err == nil {
			_ = resp.Body.Close()
		}
		return nil, dead
	}
	return resp, err
}

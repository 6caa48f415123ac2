package testservers

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	_ "embed"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// stages are what kwok does: nodes are ready and pods run at once, pods that are deleted fail first, as a kubelet has
// it, and at once unless the annotation hedge.test/stop says after how long. A pod with the annotation
// hedge.test/duration ends after that, badly if its annotation hedge.test/exit-code is not 0.
//
//go:embed servers/stages.yaml
var stages []byte

// KubernetesConfig describes a control plane.
type KubernetesConfig struct {
	// Dir has its state and logs. It must exist, and its path must be absolute.
	Dir string
	// Controllers are those of kube-controller-manager to run, in the form of its flag; "" runs none.
	Controllers string
	// Scheduler runs kube-scheduler.
	Scheduler bool
}

// Kubernetes is a control plane with simulated nodes. Its methods are not safe for concurrent use.
type Kubernetes struct {
	cfg    KubernetesConfig
	ports  []int // etcd client, etcd peer, API server, kwok, controllers, scheduler
	parts  map[string]*process
	client *http.Client
}

// patience is how long a server may take to start on a busy machine.
const patience = 10 * time.Minute

// The users whose tokens the API server knows, all of them administrators.
const (
	// AdminToken is a test's own.
	AdminToken = "hedge-token"
	kwokToken  = "kwok-token"
	kcmToken   = "kcm-token"
	schedToken = "sched-token"
)

// StartKubernetes starts a control plane and waits until it answers. Missing programs are built first.
func StartKubernetes(ctx context.Context, cfg KubernetesConfig) (*Kubernetes, error) {
	var err error
	if cfg.Dir, err = folder(cfg.Dir); err != nil {
		return nil, err
	}
	k := &Kubernetes{cfg: cfg, parts: map[string]*process{}}
	k.client = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		// the certificate is one that the server made for itself
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	if k.ports, err = ports(6); err != nil {
		return nil, fmt.Errorf("testservers: %w", err)
	}
	if err := k.prepare(); err != nil {
		return nil, fmt.Errorf("testservers: %w", err)
	}
	for _, name := range k.names() {
		if err := k.Start(ctx, name); err != nil {
			k.Stop()
			return nil, err
		}
	}
	return k, nil
}

// names are the parts in the order in which they start.
func (k *Kubernetes) names() []string {
	names := []string{"etcd", "kube-apiserver", "kwok"}
	if k.cfg.Controllers != "" {
		names = append(names, "kube-controller-manager")
	}
	if k.cfg.Scheduler {
		names = append(names, "kube-scheduler")
	}
	return names
}

// URL is the address of the API server.
func (k *Kubernetes) URL() string { return fmt.Sprintf("https://127.0.0.1:%d", k.ports[2]) }

// Kubeconfig is the path of a configuration file for the administrator. The cluster's certificate is not checked.
func (k *Kubernetes) Kubeconfig() string { return k.path("hedge.kubeconfig") }

func (k *Kubernetes) path(name string) string { return filepath.Join(k.cfg.Dir, name) }

// prepare writes keys, tokens and configuration files.
func (k *Kubernetes) prepare() error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return err
	}
	files := map[string][]byte{
		"sa.key": pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}),
		"sa.pub": pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}),
		"tokens.csv": []byte(AdminToken + ",hedge,1,\"system:masters\"\n" + kwokToken + ",kwok,2,\"system:masters\"\n" +
			kcmToken + ",system:kube-controller-manager,3,\"system:masters\"\n" + schedToken +
			",system:kube-scheduler,4,\"system:masters\"\n"),
		"kwok.yaml":        k.kwokConfig(),
		"hedge.kubeconfig": k.kubeconfig(AdminToken), "kwok.kubeconfig": k.kubeconfig(kwokToken),
		"kcm.kubeconfig": k.kubeconfig(kcmToken), "sched.kubeconfig": k.kubeconfig(schedToken),
	}
	var errs []error
	for name, data := range files {
		errs = append(errs, os.WriteFile(k.path(name), data, 0o600))
	}
	return errors.Join(errs...)
}

func (k *Kubernetes) kubeconfig(token string) []byte {
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: %q, insecure-skip-tls-verify: true}}]
users: [{name: u, user: {token: %s}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`, k.URL(), token)
}

// kwokConfig makes kwok work without leases of nodes. Nothing here reads them. With them, kwok neglects a recreated
// node for a quarter of the lease's time: it renews the old node's lease, which the garbage collector then deletes.
func (k *Kubernetes) kwokConfig() []byte {
	const head = `apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokConfiguration
options:
  manageAllNodes: true
  podPlayStageParallelism: 16
  nodePlayStageParallelism: 16
  podsOnNodeSyncParallelism: 16
---
`
	return append([]byte(head), stages...)
}

// Start starts a part that is not running: etcd, kube-apiserver, kwok, kube-controller-manager or kube-scheduler. It
// waits until the part answers.
func (k *Kubernetes) Start(ctx context.Context, name string) error {
	if p := k.parts[name]; p != nil && !p.ended() {
		return nil
	}
	path, err := Program(ctx, name)
	if err != nil {
		return err
	}
	for tries := 1; ; tries++ {
		p, err := start(k.cfg.Dir, name, path, nil, k.args(name)...)
		if err != nil {
			return fmt.Errorf("testservers: %w", err)
		}
		k.parts[name] = p
		err = p.ready(ctx, patience, func() error { return k.healthy(name) })
		switch {
		case err == nil:
			return nil
		case tries == most || !p.ended() || ctx.Err() != nil:
			return fmt.Errorf("testservers: %w", err)
		}
	}
}

// most is the maximum number of starts of a part that ends by itself while it starts: the API server and the
// controllers give up if a busy machine makes them wait.
const most = 5

func (k *Kubernetes) args(name string) []string {
	client, peer := fmt.Sprintf("http://127.0.0.1:%d", k.ports[0]), fmt.Sprintf("http://127.0.0.1:%d", k.ports[1])
	switch name {
	case "etcd":
		return []string{"--name=t", "--data-dir=" + k.path("etcd"), "--listen-client-urls=" + client,
			"--advertise-client-urls=" + client,
			"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=t=" + peer,
			"--unsafe-no-fsync"}
	case "kube-apiserver":
		return []string{"--etcd-servers=" + client, "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", k.ports[2]),
			"--advertise-address=127.0.0.1", "--cert-dir=" + k.path("pki"),
			"--service-account-issuer=https://kubernetes.default.svc",
			"--service-account-key-file=" + k.path("sa.pub"), "--service-account-signing-key-file=" + k.path("sa.key"),
			"--token-auth-file=" + k.path("tokens.csv"), "--authorization-mode=RBAC", "--service-cluster-ip-range=10.0.0.0/24",
			"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition", "--endpoint-reconciler-type=none",
			"--profiling=false"}
	case "kwok":
		return []string{"--kubeconfig=" + k.path("kwok.kubeconfig"), "--config=" + k.path("kwok.yaml"),
			fmt.Sprintf("--server-address=127.0.0.1:%d", k.ports[3]), fmt.Sprintf("--node-port=%d", k.ports[3])}
	case "kube-controller-manager":
		return []string{"--kubeconfig=" + k.path("kcm.kubeconfig"), "--bind-address=127.0.0.1",
			fmt.Sprintf("--secure-port=%d", k.ports[4]),
			"--cert-dir=" + k.path("pki-kcm"), "--leader-elect=false", "--controllers=" + k.cfg.Controllers,
			"--use-service-account-credentials=false"}
	default:
		return []string{"--kubeconfig=" + k.path("sched.kubeconfig"), "--bind-address=127.0.0.1",
			fmt.Sprintf("--secure-port=%d", k.ports[5]),
			"--cert-dir=" + k.path("pki-sched"), "--leader-elect=false"}
	}
}

// healthy asks a part whether it is healthy.
func (k *Kubernetes) healthy(name string) error {
	switch name {
	case "etcd":
		return k.get(fmt.Sprintf("http://127.0.0.1:%d/health", k.ports[0]), "true")
	case "kube-apiserver":
		return k.get(k.URL()+"/readyz", "ok")
	case "kwok":
		return k.get(fmt.Sprintf("http://127.0.0.1:%d/healthz", k.ports[3]), "")
	case "kube-controller-manager":
		return k.get(fmt.Sprintf("https://127.0.0.1:%d/healthz", k.ports[4]), "ok")
	default:
		return k.get(fmt.Sprintf("https://127.0.0.1:%d/healthz", k.ports[5]), "ok")
	}
}

func (k *Kubernetes) get(url, want string) error {
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+AdminToken)
	resp, err := k.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	if err == nil && (resp.StatusCode != http.StatusOK || !strings.Contains(string(body), want)) {
		err = fmt.Errorf("%s: %s: %s", url, resp.Status, body)
	}
	return err
}

// Kill ends a part like a crash.
func (k *Kubernetes) Kill(name string) {
	if p := k.parts[name]; p != nil {
		p.kill()
	}
}

// Log is the end of a part's log.
func (k *Kubernetes) Log(name string) string {
	if p := k.parts[name]; p != nil {
		return p.tail()
	}
	return ""
}

// Stop ends all parts, clients first: an API server without etcd does not stop by itself.
func (k *Kubernetes) Stop() {
	names := k.names()
	for i := len(names) - 1; i >= 0; i-- {
		if p := k.parts[names[i]]; p != nil {
			p.stop(5 * time.Second)
		}
	}
}

package testservers

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// NomadConfig describes a Nomad cluster.
type NomadConfig struct {
	// Dir has its state and logs. It must exist and be empty, and its path must be absolute. Processes that work in it are
	// killed at the end. Clients of root mount file systems under it, which Stop unmounts. Both also happen if this
	// process ends without a Stop.
	Dir string
	// Clients are the nodes; their names must differ.
	Clients []NomadClient
	// ACL turns access control on; tests bootstrap it themselves.
	ACL bool
	// Oversubscription lets tasks use more memory than they reserve, up to their memory_max.
	Oversubscription bool
	// Grace is how late a client's heartbeat may be before the client is lost, in whole seconds; 0 means 15 s. On a busy
	// machine, clients stall for seconds.
	Grace time.Duration
}

// NomadClient is a node that runs real processes of this machine (raw_exec).
type NomadClient struct {
	Name string
	// Class, Pool and Meta are Nomad's own; Pool "" is default.
	Class, Pool string
	Meta        map[string]string
	// CPU is the node's MHz and MemoryMB its memory, whatever the machine has.
	CPU, MemoryMB int
	// Chroot, if not empty, turns the driver exec on, which limits tasks by control groups of this machine. Its keys are
	// files of this machine, its values where tasks find them; tasks find nothing else.
	Chroot map[string]string
}

// Nomad is a server and its clients. Its methods are not safe for concurrent use.
type Nomad struct {
	cfg   NomadConfig
	ports map[string][]int // http, rpc, serf
	parts map[string]*process
	http  *http.Client
	rest  *reaper
}

// Server is the server's name among the parts. The others have their clients' names.
const Server = "server"

// StartNomad starts a server and its clients, and waits until the server knows them all. If the program is not built
// yet, it is built first.
func StartNomad(ctx context.Context, cfg NomadConfig) (*Nomad, error) {
	var err error
	if cfg.Dir, err = emptyFolder(cfg.Dir); err != nil {
		return nil, err
	}
	cfg.Clients = slices.Clone(cfg.Clients)
	if cfg.Grace == 0 {
		cfg.Grace = 15 * time.Second
	}
	n := &Nomad{cfg: cfg, ports: map[string][]int{}, parts: map[string]*process{},
		http: &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}}
	for _, name := range n.names() {
		found, err := ports(3)
		if err != nil {
			return nil, fmt.Errorf("testservers: %w", err)
		}
		n.ports[name] = found
	}
	if n.rest, err = newReaper(cfg.Dir); err != nil {
		return nil, fmt.Errorf("testservers: %w", err)
	}
	for _, name := range n.names() {
		if err := n.Start(ctx, name); err != nil {
			n.Stop()
			return nil, err
		}
	}
	return n, nil
}

// Add starts another client.
func (n *Nomad) Add(ctx context.Context, c NomadClient) error {
	found, err := ports(3)
	if err != nil {
		return fmt.Errorf("testservers: %w", err)
	}
	n.cfg.Clients = append(n.cfg.Clients, c)
	n.ports[c.Name] = found
	return n.Start(ctx, c.Name)
}

func (n *Nomad) names() []string {
	names := []string{Server}
	for _, c := range n.cfg.Clients {
		names = append(names, c.Name)
	}
	return names
}

// URL is the address of the server's API.
func (n *Nomad) URL() string { return fmt.Sprintf("http://127.0.0.1:%d", n.ports[Server][0]) }

// Start starts a part that is not running, the server or a client, and waits until its own API answers.
func (n *Nomad) Start(ctx context.Context, name string) error {
	if p := n.parts[name]; p != nil && !p.ended() {
		return nil
	}
	path, err := Program(ctx, "nomad")
	if err != nil {
		return err
	}
	file := filepath.Join(n.cfg.Dir, name+".json")
	text, err := json.MarshalIndent(n.config(name), "", " ")
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("testservers: %w", err)
	}
	env, err := n.environment()
	if err != nil {
		return fmt.Errorf("testservers: %w", err)
	}
	p, err := start(n.cfg.Dir, name, path, env, "agent", "-config="+file)
	if err != nil {
		return fmt.Errorf("testservers: %w", err)
	}
	n.parts[name] = p
	if err := p.ready(ctx, patience, func() error { return n.healthy(name) }); err != nil {
		return fmt.Errorf("testservers: %w", err)
	}
	return nil
}

// environment has the cluster's folder for agents and what they start, so that processes that outlive them are found.
// It also makes them put their sockets into the folder, if that path is not too long for sockets.
func (n *Nomad) environment() ([]string, error) {
	const longest = 108 - len("/plugin12345678901") - 1
	env := []string{marker + "=" + n.cfg.Dir + "/"}
	dir := filepath.Join(n.cfg.Dir, "tmp")
	if len(dir) > longest {
		return env, nil
	}
	return append(env, "TMPDIR="+dir), os.MkdirAll(dir, 0o700)
}

// healthy asks a part whether it is healthy. An agent that wants a token is.
func (n *Nomad) healthy(name string) error {
	url := fmt.Sprintf("http://127.0.0.1:%d/v1/agent/health", n.ports[name][0])
	resp, err := n.http.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, resp.Status)
	}
	return nil
}

// config is a part's configuration, in Nomad's JSON form.
func (n *Nomad) config(name string) map[string]any {
	own := n.ports[name]
	c := map[string]any{
		"name": name, "data_dir": filepath.Join(n.cfg.Dir, "data-"+name), "bind_addr": "127.0.0.1", "log_level": "INFO",
		"disable_update_check": true, "leave_on_terminate": false,
		"ports":     map[string]any{"http": own[0], "rpc": own[1], "serf": own[2]},
		"advertise": map[string]any{"http": "127.0.0.1", "rpc": "127.0.0.1", "serf": "127.0.0.1"},
		"consul":    map[string]any{"auto_advertise": false, "server_auto_join": false, "client_auto_join": false},
		"acl":       map[string]any{"enabled": n.cfg.ACL},
	}
	if name == Server {
		c["server"] = map[string]any{"enabled": true, "bootstrap_expect": 1, "heartbeat_grace": n.cfg.Grace.String(),
			"min_heartbeat_ttl":      "2s",
			"failover_heartbeat_ttl": (20*time.Second + n.cfg.Grace).String(), "job_gc_threshold": "240h",
			"default_scheduler_config": map[string]any{"scheduler_algorithm": "binpack",
				"memory_oversubscription_enabled": n.cfg.Oversubscription}}
		return c
	}
	i := slices.IndexFunc(n.cfg.Clients, func(c NomadClient) bool { return c.Name == name })
	one := &n.cfg.Clients[i]
	// An agent with more than gc_max_allocs allocations, 50 by default, forgets ended ones: after a restart, in no
	// particular order. Test clusters have many.
	client := map[string]any{"enabled": true, "servers": []string{fmt.Sprintf("127.0.0.1:%d", n.ports[Server][1])},
		"network_interface": "lo",
		"node_class":        one.Class, "cpu_total_compute": one.CPU, "memory_total_mb": one.MemoryMB,
		"disk_total_mb": 20000, "disk_free_mb": 20000, "gc_interval": "10m", "gc_max_allocs": 100_000,
		"bridge_network_name": "nomadnone", "no_host_uuid": true,
		"options": map[string]string{
			"fingerprint.denylist": "env_aws,env_gce,env_azure,env_digitalocean,consul,vault,cni,bridge,plugins_cni,landlock",
			"driver.denylist":      "docker,java,qemu,exec"}}
	if len(one.Chroot) > 0 {
		client["options"].(map[string]string)["driver.denylist"] = "docker,java,qemu"
		client["chroot_env"] = one.Chroot
	}
	if one.Pool != "" {
		client["node_pool"] = one.Pool
	}
	if len(one.Meta) > 0 { // Nomad refuses null
		client["meta"] = one.Meta
	}
	c["client"] = client
	c["plugin"] = map[string]any{"raw_exec": map[string]any{"config": map[string]any{"enabled": true}}}
	return c
}

// Kill ends a part like a crash. A client's tasks go on.
func (n *Nomad) Kill(name string) {
	if p := n.parts[name]; p != nil {
		p.kill()
	}
}

// Gone are the parts that have ended and that nobody here has ended. Nomad's own agents may have killed them. An agent
// that restarts kills by process number what was running when it ended and no longer answers (go-plugin 1.4.10 of Nomad
// 1.6.1, Client.reattach). If the machine's process numbers have wrapped around since, these are other processes.
func (n *Nomad) Gone() []string { return gone(n.parts) }

// Log is the end of a part's log.
func (n *Nomad) Log(name string) string {
	if p := n.parts[name]; p != nil {
		return p.tail()
	}
	return ""
}

// Stop ends all parts and what they ran, and unmounts what the clients have mounted.
func (n *Nomad) Stop() {
	names := n.names()
	for i := len(names) - 1; i >= 0; i-- {
		if p := n.parts[names[i]]; p != nil {
			p.stop(5 * time.Second)
		}
	}
	killUnder(n.cfg.Dir, marker) // tasks outlive their client
	n.unmount()
	n.rest.dismiss()
}

// unmount ends the mounts under the cluster's folder, the deepest first.
func (n *Nomad) unmount() {
	f, err := os.Open("/proc/mounts")
	if err != nil {
		return
	}
	defer f.Close()
	var under []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) > 1 && strings.HasPrefix(fields[1], n.cfg.Dir+"/") {
			under = append(under, fields[1])
		}
	}
	slices.Sort(under)
	for _, path := range slices.Backward(under) {
		_ = syscall.Unmount(path, syscall.MNT_DETACH) // what cannot be unmounted stays visible there
	}
}

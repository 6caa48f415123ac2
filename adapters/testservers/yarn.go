package testservers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"time"
)

// YARNConfig says what a YARN cluster is made of.
type YARNConfig struct {
	// Dir holds its state and logs; it must exist, and its path be absolute. Processes that work in the folders of its
	// nodes, NAME.d/local, are killed at the end.
	Dir string
	// Nodes are the NodeManagers; their names must differ.
	Nodes []YARNNode
	// Labels are the node labels that there are. Queue root.default may use all of each.
	Labels []string
	// Site are properties of yarn-site.xml and Scheduler of capacity-scheduler.xml, which replace those that are set
	// otherwise.
	Site, Scheduler map[string]string
}

// YARNNode is a NodeManager that runs containers as processes of this machine.
type YARNNode struct {
	// Name is what the methods of [YARN] know it by. For YARN it is [YARN.NodeID].
	Name string
	// MemoryMB and VCores are what it has, whatever the machine has; 0 means 8192 and 100.
	MemoryMB, VCores int
}

// YARN is a ResourceManager and its NodeManagers. Its methods are not safe for concurrent use.
type YARN struct {
	cfg  YARNConfig
	user string
	jars string
	// of the ResourceManager: REST, nodes, ApplicationMasters, clients, administrators; of nodes: containers, localizer,
	// REST
	ports map[string][]int
	parts map[string]*process
	ids   map[string]string
	host  string // in the ids of nodes
	http  *http.Client
	// archives are of the classes of ResourceManagers and NodeManagers, which then start in two thirds of the time; makes
	// says that they are made when these end.
	archives yarnArchives
	makes    bool
}

// yarnArchives are the paths of archives of classes.
type yarnArchives struct{ manager, node string }

// ResourceManager is the name of the ResourceManager among the parts; the others have their nodes' names.
const ResourceManager = "resourcemanager"

// The programs of both.
const (
	managerClass = "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager"
	nodeClass    = "org.apache.hadoop.yarn.server.nodemanager.NodeManager"
)

// tries is how often a part is given other ports when someone else has taken one of its ports before it did.
const tries = 5

// StartYARN starts a ResourceManager and its NodeManagers and waits until all are registered. It needs the programs
// java and mvn; jars that are not in the cache yet are fetched first.
func StartYARN(ctx context.Context, cfg YARNConfig) (*YARN, error) {
	var err error
	if cfg.Dir, err = folder(cfg.Dir); err != nil {
		return nil, err
	}
	jars, err := Program(ctx, "yarn")
	if err != nil {
		return nil, err
	}
	archives, err := archivesOf(jars)
	if err != nil {
		return nil, fmt.Errorf("testservers: %w", err)
	}
	y := &YARN{cfg: cfg, jars: jars, archives: archives}
	if err := y.start(ctx); err != nil {
		y.Stop()
		return nil, err
	}
	return y, nil
}

func (y *YARN) start(ctx context.Context) error {
	y.host, y.ports, y.parts, y.ids = "localhost", map[string][]int{}, map[string]*process{}, map[string]string{}
	y.http = &http.Client{Timeout: 2 * time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	nodes := y.cfg.Nodes
	y.cfg.Nodes = nil
	me, err := user.Current()
	if err != nil {
		return fmt.Errorf("testservers: %w", err)
	}
	y.user = me.Username
	if err := y.first(ctx, ResourceManager); err != nil {
		return err
	}
	if err := y.labels(ctx); err != nil {
		return err
	}
	return y.Add(ctx, nodes...)
}

// Reserve chooses the id of a node that is to be added later. It fails to be added then if something else has taken its
// ports.
func (y *YARN) Reserve(name string) (id string, err error) {
	found, err := ports(5)
	if err != nil {
		return "", fmt.Errorf("testservers: %w", err)
	}
	y.ports[name] = found
	y.ids[name] = fmt.Sprintf("%s:%d", y.host, found[0])
	return y.ids[name], nil
}

// Add starts more NodeManagers and waits until they are registered. They come up at the same time.
func (y *YARN) Add(ctx context.Context, nodes ...YARNNode) error {
	var names []string
	for _, n := range nodes {
		if n.MemoryMB == 0 {
			n.MemoryMB = 8192
		}
		if n.VCores == 0 {
			n.VCores = 100
		}
		y.cfg.Nodes = append(y.cfg.Nodes, n)
		names = append(names, n.Name)
	}
	return y.first(ctx, names...)
}

// first starts parts that never ran, at ports that are free, and again at others when those were not.
func (y *YARN) first(ctx context.Context, names ...string) error {
	for try := 1; ; try++ {
		var taken []string
		for _, name := range names {
			if err := y.launch(name, y.ids[name] == ""); err != nil {
				return err
			}
		}
		for _, name := range names {
			err := y.await(ctx, name)
			switch {
			case err == nil:
			case try < tries && y.ids[name] == "" && y.parts[name].ended() &&
				strings.Contains(y.parts[name].written(), "Address already in use"):
				taken = append(taken, name)
			default:
				return err
			}
		}
		if names = taken; len(names) == 0 {
			return nil
		}
	}
}

// Start starts a part that is not running, the ResourceManager or a NodeManager, and waits until it answers; a
// NodeManager is registered then, unless the ResourceManager is not running.
func (y *YARN) Start(ctx context.Context, name string) error {
	if p := y.parts[name]; p != nil && !p.ended() {
		return nil
	}
	if err := y.Begin(name); err != nil {
		return err
	}
	return y.await(ctx, name)
}

// Begin starts a part that is not running and does not wait for it.
func (y *YARN) Begin(name string) error { return y.launch(name, false) }

// Ready tells why a NodeManager that was started is not what [YARN.Start] waits for, nil if it is.
func (y *YARN) Ready(ctx context.Context, name string) error { return y.nodeReady(ctx, name) }

// launch starts a part's process, at other ports than it had if fresh.
func (y *YARN) launch(name string, fresh bool) error {
	java, home, err := javaTools("java")
	if err == nil && fresh {
		y.ports[name], err = ports(5)
	}
	if err == nil {
		err = y.configure(name)
	}
	if err != nil {
		return fmt.Errorf("testservers: %w", err)
	}
	class, heap, archive := nodeClass, "-Xmx256m", y.archives.node
	if name == ResourceManager {
		class, heap, archive = managerClass, "-Xmx512m", y.archives.manager
	}
	how := "-XX:SharedArchiveFile="
	if y.makes {
		how = "-XX:ArchiveClassesAtExit="
	}
	logs, temporary := y.path(name, "logs"), y.path(name, "tmp")
	if err := os.MkdirAll(temporary, 0o755); err != nil {
		return fmt.Errorf("testservers: %w", err)
	}
	// The shells that write down how containers end are in the group of their NodeManager.
	p, err := (&process{name: name, alone: true}).start(y.cfg.Dir, java,
		[]string{"JAVA_HOME=" + home, "MALLOC_ARENA_MAX=2"}, heap, how+archive, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		"-Djava.io.tmpdir="+temporary, "-XX:-UsePerfData", // or a crash leaves files in /tmp
		"-Djava.net.preferIPv4Stack=true", "--add-opens=java.base/java.lang=ALL-UNNAMED", // which Guice needs
		"-Dyarn.log.dir="+logs, "-Dhadoop.log.dir="+logs, "-cp", filepath.Join(y.jars, "*")+":"+y.path(name, "conf"), class)
	if err != nil {
		return fmt.Errorf("testservers: %w", err)
	}
	y.parts[name] = p
	return nil
}

// await waits until a part that was started answers.
func (y *YARN) await(ctx context.Context, name string) error {
	is := y.nodeReady
	if name == ResourceManager {
		is = y.managerReady
	}
	p := y.parts[name]
	if err := p.ready(ctx, patience, func() error { return is(ctx, name) }); err != nil {
		return fmt.Errorf("testservers: %w", err)
	}
	return nil
}

func (y *YARN) managerReady(ctx context.Context, _ string) error {
	var answer struct {
		ClusterInfo struct{ State, HaState string }
	}
	if err := y.get(ctx, y.URL()+"/ws/v1/cluster/info", &answer); err != nil {
		return err
	}
	if answer.ClusterInfo.State != "STARTED" || answer.ClusterInfo.HaState != "ACTIVE" {
		return fmt.Errorf("the ResourceManager is %s and %s, expected STARTED and ACTIVE", answer.ClusterInfo.State,
			answer.ClusterInfo.HaState)
	}
	return nil
}

func (y *YARN) nodeReady(ctx context.Context, name string) error {
	var answer struct{ NodeInfo struct{ ID string } }
	if err := y.get(ctx, fmt.Sprintf("http://127.0.0.1:%d/ws/v1/node/info", y.ports[name][2]), &answer); err != nil {
		return err
	}
	if want := y.ids[name]; want != "" && want != answer.NodeInfo.ID {
		return fmt.Errorf("node %s was to be %s", answer.NodeInfo.ID, want)
	}
	y.ids[name] = answer.NodeInfo.ID
	y.host, _, _ = strings.Cut(answer.NodeInfo.ID, ":")
	if rm := y.parts[ResourceManager]; rm == nil || rm.ended() {
		return nil
	}
	if !strings.Contains(y.parts[name].written(), "Registered with ResourceManager as") {
		return fmt.Errorf("node %s has not registered", answer.NodeInfo.ID)
	}
	return nil
}

// URL is where the ResourceManager answers. Calls that change something must have the parameter user.name.
func (y *YARN) URL() string { return fmt.Sprintf("http://127.0.0.1:%d", y.ports[ResourceManager][0]) }

// NodeID is what YARN calls a node, host:port, and "" where it was neither added nor reserved.
func (y *YARN) NodeID(name string) string { return y.ids[name] }

// Classpath has the jars of Hadoop and, behind them, as class archives need it, the configuration; for
// ApplicationMasters.
func (y *YARN) Classpath() string {
	return filepath.Join(y.jars, "*") + ":" + y.path(ResourceManager, "conf")
}

// Label gives a node a label, one of those of the configuration, instead of the one it had; "" takes that away.
func (y *YARN) Label(ctx context.Context, name, label string) error {
	entry := map[string]any{"nodeId": y.ids[name]}
	if label != "" {
		entry["labels"] = []string{label}
	}
	return y.send(ctx, http.MethodPost, "/replace-node-to-labels", map[string]any{"nodeToLabels": []any{entry}})
}

// Resize has a node have other amounts than it had, until the ResourceManager or the NodeManager is started again.
func (y *YARN) Resize(ctx context.Context, name string, memoryMB, vcores int) error {
	return y.send(ctx, http.MethodPost, "/nodes/"+y.ids[name]+"/resource",
		map[string]any{"resource": map[string]any{"memory": memoryMB, "vCores": vcores}, "overCommitTimeout": -1})
}

// labels tells the cluster of its labels, and lets queues use them.
func (y *YARN) labels(ctx context.Context) error {
	if len(y.cfg.Labels) == 0 {
		return nil
	}
	var infos, entries []any
	for _, label := range y.cfg.Labels {
		infos = append(infos, map[string]string{"name": label, "exclusivity": "true"})
		entries = append(entries, map[string]string{"key": "accessible-node-labels." + label + ".capacity", "value": "100"},
			map[string]string{"key": "accessible-node-labels." + label + ".maximum-am-resource-percent", "value": "1"})
	}
	entries = append(entries, map[string]string{"key": "accessible-node-labels", "value": strings.Join(y.cfg.Labels, ",")})
	if err := y.send(ctx, http.MethodPost, "/add-node-labels", map[string]any{"nodeLabelInfo": infos}); err != nil {
		return err
	}
	queue := func(name string) any {
		return map[string]any{"queue-name": name, "params": map[string]any{"entry": entries}}
	}
	return y.send(ctx, http.MethodPut, "/scheduler-conf",
		map[string]any{"update-queue": []any{queue("root"), queue("root.default")}})
}

func (y *YARN) get(ctx context.Context, url string, answer any) error {
	text, err := y.call(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, answer)
}

// send makes a call that changes something in the cluster.
func (y *YARN) send(ctx context.Context, method, path string, body any) error {
	text, err := json.Marshal(body)
	if err == nil {
		_, err = y.call(ctx, method, y.URL()+"/ws/v1/cluster"+path+"?user.name="+y.user, text)
	}
	if err != nil {
		return fmt.Errorf("testservers: %w", err)
	}
	return nil
}

func (y *YARN) call(ctx context.Context, method, url string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := y.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s: %s", method, url, resp.Status, text)
	}
	return text, err
}

// Kill ends a part as a crash would. A NodeManager's containers run on.
func (y *YARN) Kill(name string) {
	if p := y.parts[name]; p != nil {
		p.kill()
	}
}

// Terminate asks a part to end, and waits until it has. A NodeManager ends its containers first.
func (y *YARN) Terminate(name string) {
	if p := y.parts[name]; p != nil {
		p.stop(patience)
	}
}

// Gone are the parts that have ended though nobody here has ended them. Programs of others may kill them: those that
// kill by the number of a process that has ended long ago, which is another's by now, or that of a thread of another's;
// a Java program has a hundred.
func (y *YARN) Gone() []string { return gone(y.parts) }

// containerMarker is the variable by which what a NodeManager has started is known, which gives its own environment to
// none: it holds the container's folder.
const containerMarker = "LOCAL_DIRS"

// Cut ends a NodeManager and all that it runs, as a loss of power does.
func (y *YARN) Cut(name string) {
	if p := y.parts[name]; p != nil && !p.ended() {
		p.told = true
		p.killGroup() // the containers' shells, too, or they would write down how those end
	}
	y.Kill(name)
	killUnder(y.path(name, "local"), containerMarker)
}

// Log is the end of what a part has written.
func (y *YARN) Log(name string) string {
	if p := y.parts[name]; p != nil {
		return p.tail()
	}
	return ""
}

// Stop ends all parts and what they ran.
func (y *YARN) Stop() {
	for _, p := range y.parts {
		p.kill()
	}
	for _, n := range y.cfg.Nodes { // when none is left that could start another
		killUnder(y.path(n.Name, "local"), containerMarker)
	}
}

// path is that of a file of a part.
func (y *YARN) path(name string, parts ...string) string {
	return filepath.Join(append([]string{y.cfg.Dir, name + ".d"}, parts...)...)
}

// Set gives yarn-site.xml other properties, beside those that the cluster was started with, for the parts that are
// started from now on.
func (y *YARN) Set(site map[string]string) {
	own := maps.Clone(y.cfg.Site)
	if own == nil {
		own = map[string]string{}
	}
	maps.Copy(own, site)
	y.cfg.Site = own
}

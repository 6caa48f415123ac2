package yarn

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

// protocol is the version of the protocol between the driver and the ApplicationMaster.
const protocol = 1

// maxGang is the maximum size in bytes of a gang in one environment variable.
const maxGang = 96 << 10

// gangNode is a node of a gang with its number of tasks, in the order of their ranks.
type gangNode struct {
	Node  string `json:"node"`
	Tasks int    `json:"tasks"`
}

// gang is the description of a gang for its ApplicationMaster.
type gang struct {
	Protocol  int        `json:"protocol"`
	Job       string     `json:"job"`
	Attempt   int        `json:"attempt"`
	Nodes     []gangNode `json:"nodes"`
	MemoryMB  int        `json:"memory-mb"`
	VCores    int        `json:"vcores"`
	Label     string     `json:"label"`
	TimeoutMS int64      `json:"timeout-ms"`
	Script    string     `json:"script"`
}

// check is an error if something is wrong with a gang. The ApplicationMaster makes the same checks.
func (g *gang) check() error {
	if g.Protocol != protocol {
		return fmt.Errorf("protocol %d, expected %d", g.Protocol, protocol)
	}
	tasks, seen := 0, map[string]bool{}
	for _, n := range g.Nodes {
		if n.Node == "" || n.Tasks < 1 || seen[n.Node] {
			return fmt.Errorf("node %q with %d tasks, expected each node once, with one task or more", n.Node, n.Tasks)
		}
		tasks += n.Tasks
		seen[n.Node] = true
	}
	switch {
	case tasks < 1 || tasks > adapters.MaxTasks:
		return fmt.Errorf("%d tasks, expected 1 to %d", tasks, adapters.MaxTasks)
	case g.MemoryMB < 1 || g.VCores < 1 || g.TimeoutMS < 1:
		return fmt.Errorf("memory-mb %d, vcores %d, timeout-ms %d, expected at least 1", g.MemoryMB, g.VCores, g.TimeoutMS)
	case g.Job == "" || g.Script == "":
		return errors.New("no job or no script")
	case len(g.Script) > MaxScript:
		return fmt.Errorf("script of %d bytes, expected at most %d", len(g.Script), MaxScript)
	}
	return nil
}

// packers are the writers that pack a driver's gangs. They are reused, since each takes most of a megabyte.
type packers struct{ free sync.Pool }

// pack encodes a gang as an environment variable's value.
func (p *packers) pack(g *gang) (string, error) {
	if err := g.check(); err != nil {
		return "", err
	}
	var b bytes.Buffer
	base := base64.NewEncoder(base64.StdEncoding, &b)
	z, kept := p.free.Get().(*gzip.Writer)
	if kept {
		z.Reset(base)
	} else {
		z = gzip.NewWriter(base)
	}
	defer p.free.Put(z)
	err := json.MarshalWrite(z, g)
	if err = cmp.Or(err, z.Close(), base.Close()); err != nil {
		return "", err
	}
	if b.Len() > maxGang {
		return "", fmt.Errorf("the gang has %d bytes when it is packed, expected at most %d", b.Len(), maxGang)
	}
	return b.String(), nil
}

// script is what a task's shell runs.
func script(f *File) string {
	var b strings.Builder
	for _, k := range sortedKeys(f.Environment) {
		fmt.Fprintf(&b, "export %s=%s\n", k, quote(f.Environment[k]))
	}
	b.WriteString(f.Command)
	b.WriteByte('\n')
	return b.String()
}

// quote makes a text one word for a shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// status is what the ApplicationMaster reports about its gang.
type status struct {
	Protocol  int          `json:"protocol"`
	Tasks     int          `json:"tasks"`
	State     string       `json:"state"`
	Allocated int          `json:"allocated"`
	StartedMS int64        `json:"started-ms"`
	EndedMS   int64        `json:"ended-ms"`
	Cause     string       `json:"cause"`
	Failed    []failedTask `json:"failed"`
}

// failedTask is a task that failed.
type failedTask struct {
	Rank int    `json:"rank"`
	Node string `json:"node"`
	Exit int    `json:"exit"`
	Why  string `json:"why"`
}

// The causes of failed gangs.
const (
	causeShort = "short" // not all containers were allocated in time
	causeStart = "start" // a NodeManager did not start a task, or not in time
	causeLost  = "lost"  // a node went away
)

// errStatus is a text without a status.
var errStatus = errors.New("yarn: no status of a gang")

// parseStatus finds the status in a text, such as an application's diagnostics, in which others may have written, too.
func parseStatus(text []byte) (*status, error) {
	at := bytes.Index(text, []byte(`{"protocol":`))
	if at < 0 {
		return nil, errStatus
	}
	s := &status{}
	if err := stdjson.NewDecoder(bytes.NewReader(text[at:])).Decode(s); err != nil {
		return nil, fmt.Errorf("%w: %w", errStatus, err)
	}
	if s.Protocol != protocol || s.StartedMS < 0 || s.StartedMS > latest || s.EndedMS < 0 || s.EndedMS > latest {
		return nil, fmt.Errorf("%w: protocol %d, started-ms %d, ended-ms %d", errStatus, s.Protocol, s.StartedMS, s.EndedMS)
	}
	return s, nil
}

// why says what went wrong, as far as the status knows.
func (s *status) why() error {
	var parts []string
	for i, f := range s.Failed {
		if i == 3 {
			parts = append(parts, fmt.Sprintf("and %d more", len(s.Failed)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("task %d on %s: exit %d: %s", f.Rank, f.Node, f.Exit, strings.TrimSpace(f.Why)))
	}
	return fmt.Errorf("yarn: gang failed: %s (%d of %d containers): %s", s.Cause, s.Allocated, s.Tasks,
		strings.Join(parts, "; "))
}

// gangOf is a job's gang on the plan's nodes.
func gangOf(p *parsed, attempt int, nodes []sched.NodeTasks, timeout time.Duration) *gang {
	f := &p.file
	g := &gang{
		Protocol: protocol, Job: p.spec.ID, Attempt: attempt, MemoryMB: f.Resources.MemoryMB, VCores: f.Resources.VCores,
		Label:     f.Label,
		TimeoutMS: max(1, timeout.Milliseconds()), Script: script(f),
	}
	for _, nt := range nodes {
		i := slices.IndexFunc(g.Nodes, func(n gangNode) bool { return n.Node == nt.Node })
		if i < 0 {
			i = len(g.Nodes)
			g.Nodes = append(g.Nodes, gangNode{Node: nt.Node})
		}
		g.Nodes[i].Tasks += nt.Tasks
	}
	return g
}

// digest is a short identifier of a content.
func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// latest is the largest accepted time of YARN in milliseconds, some 278 years from 1970.
const latest = 1 << 43

// milliseconds converts a time of YARN. 0, and values that make no sense, give the zero time.
func milliseconds(ms int64) time.Time {
	if ms <= 0 || ms > latest {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

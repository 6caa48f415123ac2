package yarn

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hedgesched/hedge/adapters/adaptertest"
)

// squeeze makes starts fail on the real cluster: when the gang is submitted, after its scheduler has seen that there is
// room, the last of its nodes shrinks to nothing, as if others had been faster. The nodes get their room back when the
// gang's ApplicationMaster has given up.
type squeeze struct {
	mu    sync.Mutex
	jobs  map[string]adaptertest.Job
	taken map[string]string // nodes, by the application that was not to start
}

// shortly is how long ApplicationMasters of gangs that are not to start wait for them.
const shortly = 2 * time.Second

var (
	gangOfApp = regexp.MustCompile(`"key":"HEDGE_GANG","value":"([^"]*)"`)
	idOfApp   = regexp.MustCompile(`"application-id":"([^"]*)"`)
)

// alter lets a call through unchanged, except for submissions that are not to start.
func (w *world) alter(r *http.Request) error {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, apps) {
		return nil
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	found, id := gangOfApp.FindSubmatch(text), idOfApp.FindSubmatch(text)
	if found != nil && id != nil {
		packed, err := w.spoil(r.Context(), string(id[1]), string(found[1]))
		if err != nil {
			return err
		}
		text = bytes.Replace(text, found[1], []byte(packed), 1)
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	return nil
}

// spoil takes room from a gang that is not to start, and returns the description for its ApplicationMaster.
func (w *world) spoil(ctx context.Context, id, packed string) (string, error) {
	g, err := decodeGang(packed)
	if err != nil {
		return "", err
	}
	w.squeeze.mu.Lock()
	defer w.squeeze.mu.Unlock()
	if g.Attempt > w.squeeze.jobs[g.Job].FailStarts {
		return packed, nil
	}
	node := g.Nodes[len(g.Nodes)-1].Node
	w.squeeze.taken[id] = node
	w.small[node] = true
	body := map[string]any{"resource": map[string]any{"memory": 1, "vCores": 1}, "overCommitTimeout": never}
	if err := w.client.call(ctx, http.MethodPost, "/ws/v1/cluster/nodes/"+node+"/resource", nil, body, nil); err != nil {
		return "", fmt.Errorf("squeezing %s: %w", node, err)
	}
	g.TimeoutMS = shortly.Milliseconds()
	return new(packers).pack(g)
}

// release gives nodes their room back.
func (w *world) release(t testing.TB) {
	for _, id := range sortedKeys(w.squeeze.taken) {
		a, err := w.client.app(context.Background(), id)
		if err != nil || a != nil && !a.over() {
			continue
		}
		node := w.squeeze.taken[id]
		delete(w.squeeze.taken, id)
		delete(w.small, node)
		w.resize(t, node, nodeMB, nodeVCores, never)
	}
}

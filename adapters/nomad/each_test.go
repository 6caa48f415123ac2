package nomad

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
)

// TestEach: after the first call that fails no other is begun. The error is that call's.
func TestEach(t *testing.T) {
	require.NoError(t, each(context.Background(), 0, nil))
	bad := errors.New("bad")
	var begun atomic.Int64
	err := each(context.Background(), 1000, func(ctx context.Context, i int) error {
		if begun.Add(1); i == 3 {
			return bad
		}
		<-ctx.Done() // the others are cut short
		return ctx.Err()
	})
	require.ErrorIs(t, err, bad)
	assert.LessOrEqual(t, begun.Load(), int64(atOnce))
	sum := make([]int, 1000)
	require.NoError(t, each(context.Background(), len(sum), func(_ context.Context, i int) error {
		sum[i]++
		return nil
	}))
	for _, n := range sum {
		require.Equal(t, 1, n)
	}
}

// TestReadTogether: nodes, jobs and the evaluations of starting gangs are read with as many concurrent calls as
// allowed, and no more.
func TestReadTogether(t *testing.T) {
	const many = 3 * atOnce
	g := &together{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var list []string
		switch path := r.URL.Path; {
		case path == "/v1/nodes":
			for i := range many {
				list = append(list, fmt.Sprintf(`{"ID":"n%d","ModifyIndex":5}`, i))
			}
		case path == "/v1/jobs":
			for i := range many {
				list = append(list, fmt.Sprintf(`{"ID":"j%d","Namespace":"prod","ModifyIndex":20,"Meta":{"hedge":"true"}}`, i))
			}
		case strings.HasSuffix(path, "/evaluations"):
			g.meet()
			list = append(list, `{"Status":"blocked","JobModifyIndex":100}`)
		case strings.HasPrefix(path, "/v1/node/"):
			g.meet()
			fmt.Fprintf(w, `{"ID":%q,"Name":%q,"Status":"ready","ModifyIndex":5}`, r.URL.Path[9:], r.URL.Path[9:])
			return
		case strings.HasPrefix(path, "/v1/job/"):
			g.meet()
			fmt.Fprint(w, startedJob(t, path[8:]))
			return
		}
		fmt.Fprintf(w, "[%s]", strings.Join(list, ","))
	}))
	defer s.Close()
	d, err := New(&api.Config{Address: s.URL}, Options{Timeout: time.Minute})
	require.NoError(t, err)
	defer d.Close()
	v, err := d.Observe(context.Background(), true)
	require.NoError(t, err)
	assert.Len(t, v.Nodes, many)
	require.Len(t, v.Jobs, many)
	for i := range v.Jobs {
		require.NoError(t, v.Jobs[i].Problem)
		assert.True(t, v.Jobs[i].Short, "Nomad has no place for it")
		assert.Equal(t, adapters.Requested, v.Jobs[i].Tasks[0].State)
	}
	assert.EqualValues(t, atOnce, g.most.Load())
}

// startedJob is a gang that was started and has no allocations yet, as Nomad reports it.
func startedJob(t *testing.T, id string) string {
	j := placedJob(t).Job
	j.ID = &id
	text, err := json.Marshal(j)
	require.NoError(t, err)
	return string(text)
}

// together makes calls wait until enough of them run concurrently.
type together struct {
	mu   sync.Mutex
	here int
	full chan struct{}
	now  atomic.Int64
	most atomic.Int64
}

func (g *together) meet() {
	n := g.now.Add(1)
	defer g.now.Add(-1)
	for most := g.most.Load(); n > most && !g.most.CompareAndSwap(most, n); most = g.most.Load() {
	}
	g.mu.Lock()
	if g.full == nil {
		g.full = make(chan struct{})
	}
	full := g.full
	if g.here++; g.here == atOnce {
		close(full)
		g.here, g.full = 0, nil
	}
	g.mu.Unlock()
	<-full
}

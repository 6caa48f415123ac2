package nomad

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/nomad/api"
)

const (
	// silence is how long a stream may be silent. Nomad sends something every 10 s.
	silence = 45 * time.Second
	// reconnect is the wait before a broken stream is reopened.
	reconnect = 500 * time.Millisecond
	// backlog is the maximum number of bytes of events that wait to be taken. If it is reached, the stream is closed and
	// everything is listed again.
	backlog = 64 << 20
)

// event is an event of the stream. Its payload is decoded when it is applied, into types of our own: the client's
// decoder loses digits.
type event struct {
	Topic   api.Topic
	Type    string
	Key     string
	Index   uint64
	Payload json.RawMessage
}

// size is roughly the number of bytes that the event takes, or a little more.
func (e *event) size() int { return len(e.Payload) + len(e.Key) + 128 }

// watch follows the event stream. The first take starts its goroutine, and close ends it.
type watch struct {
	client *api.Client
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{} // closed when the goroutine has ended; nil before it began

	mu      sync.Mutex
	events  []event
	bytes   int    // of waiting events
	up      bool   // connected
	session uint64 // number of the connection
	err     error  // why the last connection ended or could not be made
	last    uint64 // the index to resume at
}

func newWatch(client *api.Client) *watch {
	w := &watch{client: client}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w
}

func (w *watch) close() {
	w.cancel()
	w.mu.Lock()
	done := w.done
	w.mu.Unlock()
	if done != nil {
		<-done
	}
}

// take returns the events since the last take and the number of their connection. Without a connection the number is 0,
// and the error says why.
func (w *watch) take() ([]event, uint64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done == nil && w.ctx.Err() == nil {
		w.done = make(chan struct{})
		go w.run(w.done)
	}
	events := w.events
	w.events, w.bytes = nil, 0
	if !w.up {
		return events, 0, w.err
	}
	return events, w.session, nil
}

func (w *watch) run(done chan struct{}) {
	defer close(done)
	for w.ctx.Err() == nil {
		err := w.follow()
		w.mu.Lock()
		w.up, w.err = false, err
		w.mu.Unlock()
		select {
		case <-w.ctx.Done():
		case <-time.After(reconnect):
		}
	}
}

// errSilent is a stream that sends nothing, not even a heartbeat.
var errSilent = fmt.Errorf("nothing was heard for %v", silence)

// follow reads one connection until it ends.
func (w *watch) follow() (err error) {
	ctx, cancel := context.WithCancelCause(w.ctx)
	defer func() {
		if cause := context.Cause(ctx); err != nil && cause != nil {
			err = cause
		}
		cancel(nil)
	}()
	watchdog := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer watchdog.Stop()
	w.mu.Lock()
	from := w.last
	w.mu.Unlock()
	path := fmt.Sprintf("/v1/event/stream?topic=Job:*&topic=Allocation:*&topic=Node:*&topic=Evaluation:*&index=%d", from)
	body, err := w.client.Raw().Response(path, (&api.QueryOptions{Namespace: api.AllNamespacesNamespace}).WithContext(ctx))
	if err != nil {
		return err
	}
	defer body.Close()
	w.mu.Lock()
	w.up = true
	w.session++
	w.mu.Unlock()
	for dec := json.NewDecoder(body); ; {
		var batch struct {
			Index  uint64
			Events []event
		}
		if err := dec.Decode(&batch); err != nil {
			return err
		}
		watchdog.Reset(silence)
		if err := w.add(batch.Index, batch.Events); err != nil {
			return err
		}
	}
}

func (w *watch) add(index uint64, events []event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range events {
		w.bytes += events[i].size()
	}
	if w.bytes > backlog {
		w.events, w.bytes = nil, 0
		return fmt.Errorf("nomad: events of more than %d bytes wait", backlog)
	}
	w.events = append(w.events, events...)
	w.last = max(w.last, index)
	return nil
}

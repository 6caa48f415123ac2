package ortools

import (
	"errors"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
)

// line keeps the connection to a service. One whose last attempt to connect has failed would fail calls without an
// attempt for a while: it is replaced, so that a service that was just started is found at once.
type line struct {
	dial func() (*grpc.ClientConn, error)

	mu     sync.Mutex
	now    *dialled
	closed bool
}

// dialled is a connection and what was learnt of its server.
type dialled struct {
	conn *grpc.ClientConn
	// unary: the server lacks the streaming call.
	unary atomic.Bool
	// calls use it; guarded by the line's mu. One that is not the line's own any more is closed with the last of them.
	calls int
	old   bool
}

var errClosed = errors.New("the backend was closed")

// take returns the connection for one call, after which it must be given back.
func (l *line) take() (*dialled, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errClosed
	}
	if l.now != nil && l.now.conn.GetState() == connectivity.TransientFailure {
		l.now.old = true
		if l.now.calls == 0 {
			_ = l.now.conn.Close()
		}
		l.now = nil
	}
	if l.now == nil {
		conn, err := l.dial()
		if err != nil {
			return nil, err
		}
		l.now = &dialled{conn: conn}
	}
	l.now.calls++
	return l.now, nil
}

func (l *line) give(d *dialled) {
	l.mu.Lock()
	defer l.mu.Unlock()
	d.calls--
	if d.calls == 0 && d.old {
		_ = d.conn.Close()
	}
}

// close closes the connection under the calls that use it.
func (l *line) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	if l.now == nil {
		return nil
	}
	return l.now.conn.Close()
}

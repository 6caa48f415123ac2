package ortools

import (
	"errors"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
)

// line keeps the connection to a service. After a failed attempt to connect, a gRPC connection fails calls without a
// new attempt for a while. So it is replaced, and a service that has just started is found at once.
type line struct {
	dial func() (*grpc.ClientConn, error)

	mu     sync.Mutex
	now    *dialled
	closed bool
}

// dialled is a connection and what is known of its server.
type dialled struct {
	conn *grpc.ClientConn
	// unary: the server lacks the streaming call.
	unary atomic.Bool
	// calls is the number of calls that use it; guarded by the line's mu. A connection that was replaced is closed with
	// the last of them.
	calls int
	old   bool
}

var errClosed = errors.New("the backend was closed")

// take returns the connection for one call. It must be given back afterwards.
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

// close closes the connection even if calls use it.
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

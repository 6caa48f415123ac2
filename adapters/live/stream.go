package live

import (
	"context"
	"sync"

	"github.com/hedgesched/hedge/adapters/live/internal/pb"
)

// mostQueued limits the envelopes and acknowledgements that wait for a slow peer. Dropped ones are sent again later.
const mostQueued = 1 << 16

// stream is one end of a connection, with a queue of frames to be written.
type stream struct {
	name   string             // the agent's name, "" for a dispatch
	mute   bool               // messages are ignored; used by the reading goroutine only
	cancel context.CancelFunc // ends the stream
	mu     sync.Mutex
	queue  []*pb.Frame
	wake   chan struct{}
}

func newStream(name string, cancel context.CancelFunc) *stream {
	return &stream{name: name, cancel: cancel, wake: make(chan struct{}, 1)}
}

func (s *stream) put(f *pb.Frame) {
	s.mu.Lock()
	if len(s.queue) < mostQueued || f.GetEnvelope() == nil && f.GetAck() == nil {
		s.queue = append(s.queue, f)
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// write sends the queued frames until ctx is done or sending fails.
func (s *stream) write(ctx context.Context, send func(*pb.Frame) error) error {
	for {
		s.mu.Lock()
		queue := s.queue
		s.queue = nil
		s.mu.Unlock()
		for _, f := range queue {
			if err := send(f); err != nil {
				return err
			}
		}
		if len(queue) > 0 {
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.wake:
		}
	}
}

// pump writes and reads until either fails or ctx is done. The reading goroutine ends a little later, when the caller's
// gRPC stream is over.
func (s *stream) pump(ctx context.Context, wg *sync.WaitGroup, wire frames, take func(*pb.Frame) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	wg.Add(1)
	go func() {
		defer wg.Done()
		for {
			f, err := wire.Recv()
			if err == nil {
				err = take(f)
			}
			if err != nil {
				cancel(err)
				return
			}
		}
	}()
	if err := s.write(ctx, wire.Send); ctx.Err() == nil {
		return err
	}
	return context.Cause(ctx)
}

// frames is either end of a gRPC stream.
type frames interface {
	Send(*pb.Frame) error
	Recv() (*pb.Frame, error)
}

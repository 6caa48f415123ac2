package live

import (
	"context"
	"crypto/tls"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hedgesched/hedge/adapters/live/internal/pb"
)

// caller is a process that connects to dispatches.
type caller interface {
	hello() *pb.Hello
	// joined puts a stream to the dispatch at a place into use.
	joined(place int, s *stream)
	// told takes a frame from the dispatch at a place.
	told(place int, f *pb.Frame) error
}

// connect keeps a stream to the dispatch at a place until ctx is done. It connects again whenever the stream is lost.
func (h *host) connect(ctx context.Context, place int, secure *tls.Config, limit int, c caller) {
	h.wg.Add(1)
	go func() {
		defer h.wg.Done()
		conn, err := grpc.NewClient(h.fleet[place].Address, dialOptions(secure, limit)...)
		if err != nil {
			h.fail(err)
			return
		}
		defer func() { _ = conn.Close() }()
		for failures := 0; ctx.Err() == nil; {
			began := h.now()
			err := h.session(ctx, conn, place, c)
			if ctx.Err() != nil {
				return
			}
			if status.Code(err) == codes.FailedPrecondition {
				h.fail(mismatch(err))
				return
			}
			h.log.Warn("disconnected", "from", h.fleet[place].Address, "error", err)
			if failures++; h.now()-began > checkAfter {
				failures = 1
			}
			select {
			case <-ctx.Done():
			case <-h.clock.After(retryAfter(failures)):
			}
		}
	}()
}

// session is one stream, from hello to its end.
func (h *host) session(ctx context.Context, conn *grpc.ClientConn, place int, c caller) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	wire, err := pb.NewFleetClient(conn).Join(ctx, grpc.WaitForReady(true))
	if err != nil {
		return err
	}
	if err := wire.Send(&pb.Frame{Of: &pb.Frame_Hello{Hello: c.hello()}}); err != nil {
		_, err = wire.Recv() // has the reason
		return err
	}
	s := newStream("", cancel)
	c.joined(place, s)
	defer h.detach(s)
	return s.pump(ctx, &h.wg, wire, func(f *pb.Frame) error { return c.told(place, f) })
}

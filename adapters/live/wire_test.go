package live_test

import (
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/hedgesched/hedge/adapters/live"
	"github.com/hedgesched/hedge/adapters/live/internal/pb"
)

// What a peer says that makes no sense ends its connection, with the reason; the dispatch goes on.
func TestBadFrames(t *testing.T) {
	ctx, s := limited(t), newSite(t)
	d, client := s.dispatch(2), s.client()
	conn, err := grpc.NewClient(s.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	require.NoError(t, client.Submit(ctx, job("a", 1, "1ms"))) // it is there
	greet := func(h *pb.Hello) *pb.Frame {
		h.System = "kairos, 2-2"
		return &pb.Frame{Of: &pb.Frame_Hello{Hello: h}}
	}
	hello := greet(&pb.Hello{Name: "x", Capacity: 1})
	holding := &pb.Frame{Of: &pb.Frame_Holding{Holding: &pb.Holding{Holds: []*pb.Life{{At: 2}}}}}
	envelope := func(from, to int32, msg ...byte) *pb.Frame {
		return &pb.Frame{Of: &pb.Frame_Envelope{Envelope: &pb.Envelope{From: from, FromLife: 1, To: to, Number: 1,
			Message: msg}}}
	}
	for name, c := range map[string]struct {
		frames []*pb.Frame
		want   string
	}{
		"no hello":        {[]*pb.Frame{envelope(0, 2)}, "no hello"},
		"no name":         {[]*pb.Frame{greet(&pb.Hello{Capacity: 1})}, "name"},
		"a dispatch":      {[]*pb.Frame{greet(&pb.Hello{Dispatch: 1})}, "dispatch"},
		"an old message":  {[]*pb.Frame{hello, nil, envelope(0, 2, 77)}, "found version 77"},
		"a cut message":   {[]*pb.Frame{hello, nil, envelope(0, 2, 1)}, "bytes left"},
		"from nowhere":    {[]*pb.Frame{hello, nil, envelope(9, 2)}, "found part 9"},
		"to nowhere":      {[]*pb.Frame{hello, nil, envelope(0, -2)}, "found part -2"},
		"an empty frame":  {[]*pb.Frame{hello, nil, {}}, "says nothing"},
		"no such workers": {[]*pb.Frame{hello, nil, holding}, "worker: found 2"},
	} {
		wire, err := pb.NewFleetClient(conn).Join(ctx)
		require.NoError(t, err)
		era := int64(0)
		for _, f := range c.frames {
			if f == nil { // when it knows the era, it is listened to
				dir, err := wire.Recv()
				require.NoError(t, err, name)
				era = dir.GetDirectory().GetEra()
				f = &pb.Frame{Of: &pb.Frame_Holding{Holding: &pb.Holding{Era: era}}}
			}
			if h := f.GetHolding(); h != nil {
				h.Era = era
			}
			require.NoError(t, wire.Send(f), name)
		}
		for err == nil {
			_, err = wire.Recv()
		}
		assert.ErrorContains(t, err, c.want, name)
		assert.NotEqual(t, codes.DeadlineExceeded, status.Code(err), name)
	}
	require.NoError(t, client.Submit(ctx, job("b", 1, "1ms")))
	large := job("large", 1, strings.Repeat("x", live.DefaultMaxMessage))
	require.ErrorContains(t, client.Submit(ctx, large), "larger than max")
	require.NoError(t, d.end())
}

func TestParameters(t *testing.T) {
	s := newSite(t)
	system, fleet := s.system("kairos", 2)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	for name, change := range map[string]func(*live.DispatchConfig){
		"no system":   func(c *live.DispatchConfig) { c.System = nil },
		"no listener": func(c *live.DispatchConfig) { c.Listener = nil },
		"no fleet":    func(c *live.DispatchConfig) { c.Fleet = nil },
		"no place":    func(c *live.DispatchConfig) { c.Place = 1 },
		"no folder":   func(c *live.DispatchConfig) { c.Dir += "/none" },
		"below 0":     func(c *live.DispatchConfig) { c.LostAfter = -1 },
		"a gap":       func(c *live.DispatchConfig) { c.Fleet = live.Fleet{{Address: "127.0.0.1:1", First: 3, End: 3}} },
	} {
		c := live.DispatchConfig{System: system, Fleet: fleet, Dir: s.dir, Listener: l}
		change(&c)
		assert.ErrorIs(t, live.RunDispatch(t.Context(), c), live.ErrConfig, name)
	}
	for name, change := range map[string]func(*live.AgentConfig){
		"no system":   func(c *live.AgentConfig) { c.System = nil },
		"no executor": func(c *live.AgentConfig) { c.Executor = nil },
		"no name":     func(c *live.AgentConfig) { c.Name = "" },
		"no fleet":    func(c *live.AgentConfig) { c.Fleet = nil },
		"too many":    func(c *live.AgentConfig) { c.Workers = 3 },
		"below 0":     func(c *live.AgentConfig) { c.Attempts = -1 },
	} {
		c := live.AgentConfig{System: system, Fleet: fleet, Name: "a", Executor: &functions{}}
		change(&c)
		assert.ErrorIs(t, live.RunAgent(t.Context(), c), live.ErrConfig, name)
	}
	_, err = live.Divide(system)
	require.ErrorIs(t, err, live.ErrConfig)
	_, err = live.Divide(system, "nowhere")
	require.ErrorIs(t, err, live.ErrConfig)
	more, err := live.Divide(system, "a:1", "b:2")
	require.NoError(t, err)
	assert.Equal(t, live.Fleet{{Address: "a:1", First: 2, End: 3}, {Address: "b:2", First: 3, End: 3}}, more)
}

package live

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hedgesched/hedge/adapters/live/internal/pb"
)

// mismatch is an [ErrFleet] with the reason that the other side gave.
func mismatch(err error) error { return fmt.Errorf("%w: %s", ErrFleet, status.Convert(err).Message()) }

// Join serves the stream of an agent, or of a later dispatch.
func (d *dispatch) Join(wire grpc.BidiStreamingServer[pb.Frame, pb.Frame]) error {
	first, err := wire.Recv()
	if err != nil {
		return err
	}
	h := first.GetHello()
	if err := d.fits(h); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(wire.Context())
	defer cancel()
	defer context.AfterFunc(d.ctx, cancel)()
	s := newStream(h.Name, cancel)
	s.mute = h.Dispatch == 0
	defer d.detach(s)
	select { // until the era is known, nothing is accepted
	case <-d.begun:
	case <-ctx.Done():
		return ctx.Err()
	}
	if h.Dispatch > 0 {
		if err := d.admit(ctx, s, h); err != nil {
			return err
		}
	} else {
		defer d.left(s)
		d.join(s, h)
	}
	err = s.pump(ctx, &d.wg, wire, func(f *pb.Frame) error { return d.hear(s, f) })
	if errors.Is(err, context.Canceled) && d.ctx.Err() != nil {
		return status.Error(codes.Unavailable, "the dispatch ends")
	}
	return err
}

// admit accepts a later dispatch. A dispatch without an era is told the era, writes it down, and connects again. A
// dispatch that had the era before and says hello without it has lost its folder, and is refused.
func (d *dispatch) admit(ctx context.Context, s *stream, h *pb.Hello) error {
	if d.registrar != nil {
		if _, err := d.await(ctx, &pb.Request{Of: &pb.Request_Join{Join: h}}); err != nil {
			return status.Error(codes.FailedPrecondition, status.Convert(err).Message())
		}
	}
	d.direct(s)
	if h.Era != 0 {
		d.attach(int(h.Dispatch)-1, s)
	}
	return nil
}

// fits refuses a process that is not of this fleet.
func (d *dispatch) fits(h *pb.Hello) error {
	wrong := func(format string, args ...any) error {
		return status.Errorf(codes.FailedPrecondition, format, args...)
	}
	switch title := d.Fleet.title(d.host.system); {
	case h == nil:
		return wrong("the first frame is no hello")
	case h.System != title:
		return wrong("system: found %q, expected %q", h.System, title)
	case h.Dispatch < 0 || int(h.Dispatch) > len(d.Fleet) || h.Dispatch > 0 && int(h.Dispatch) <= d.Place+1:
		return wrong("dispatch %d connects to dispatch %d", h.Dispatch-1, d.Place)
	case h.Dispatch > 0 && h.Era != 0 && d.era.Load() != 0 && h.Era != d.era.Load():
		return wrong("dispatch %d is of the fleet of %d, expected %d", h.Dispatch-1, h.Era, d.era.Load())
	case h.Dispatch == 0 && (h.Name == "" || h.Capacity < 1):
		return wrong("agent: found name %q and %d workers, expected a name, and 1 or more", h.Name, h.Capacity)
	}
	return d.real(h.Holds)
}

// real refuses worker addresses that do not exist.
func (d *dispatch) real(holds []*pb.Life) error {
	for _, l := range holds {
		if l.At < 0 || int(l.At) >= d.host.system.Workers() {
			return status.Errorf(codes.FailedPrecondition, "worker: found %d, expected 0 to %d", l.At,
				d.host.system.Workers()-1)
		}
	}
	return nil
}

// join accepts an agent. The stream of an earlier agent of the same name is ended.
func (d *dispatch) join(s *stream, h *pb.Hello) {
	d.known.Lock()
	defer d.known.Unlock()
	if before := d.agents[s.name]; before != nil {
		before.cancel()
	}
	d.agents[s.name] = s
	if d.registrar != nil {
		d.request(&pb.Request{Of: &pb.Request_Join{Join: h}}, nil)
	}
}

// left is called when an agent's stream has ended. If the agent does not come back, it is lost.
func (d *dispatch) left(s *stream) {
	d.known.Lock()
	gone := d.agents[s.name] == s
	if gone {
		delete(d.agents, s.name)
	}
	d.known.Unlock()
	if gone && d.registrar != nil {
		d.expect(d.ctx, s.name)
	}
}

// expect declares an agent lost if it is not connected after LostAfter.
func (d *dispatch) expect(ctx context.Context, name string) {
	d.later(ctx, func() {
		d.known.Lock()
		defer d.known.Unlock() // so that the agent cannot join in between
		if d.agents[name] == nil {
			d.request(&pb.Request{Of: &pb.Request_Lose{Lose: name}}, nil)
		}
	})
}

// later does something after LostAfter, unless ctx is done.
func (d *dispatch) later(ctx context.Context, do func()) {
	d.wg.Add(1)
	go func() {
		defer d.wg.Done()
		select {
		case <-ctx.Done():
		case <-d.host.clock.After(d.LostAfter):
			do()
		}
	}()
}

// expectAgents gives agents that were present before this process started time to come back, and new agents time to
// come. Then workers without an agent go to the agents that are present.
func (d *dispatch) expectAgents(ctx context.Context) {
	for _, name := range d.registrar.expected {
		d.expect(ctx, name)
	}
	d.later(ctx, func() { d.request(&pb.Request{Of: &pb.Request_Settle{Settle: true}}, nil) })
}

func (d *dispatch) request(r *pb.Request, reply func(answer)) {
	d.part(registrarAt).box.put(item{entry: &pb.Entry{Of: &pb.Entry_Request{Request: r}}, reply: reply})
}

// hear takes a frame from an agent or a later dispatch.
func (d *dispatch) hear(s *stream, f *pb.Frame) error {
	h := f.GetHolding()
	switch {
	case h == nil && s.mute:
		return nil
	case h == nil:
		return d.host.receive(f)
	}
	if s.mute = h.Era != d.era.Load(); s.mute {
		return nil
	}
	if err := d.real(h.Holds); err != nil {
		return err
	}
	d.claim(s, h.Holds)
	return nil
}

// publish makes the registrar's state on the disk visible to others. It is called by the registrar's goroutine.
func (d *dispatch) publish() {
	g := d.registrar
	g.publish()
	if !g.moved {
		return
	}
	g.moved = false
	lives := append([]uint32(nil), g.lives...)
	yours := map[string][]*pb.Life{}
	for _, m := range g.agents {
		yours[m.name] = g.has(m.name)
	}
	d.known.Lock()
	d.directory = &pb.Directory{Era: g.era, Lives: lives}
	d.yours = yours
	streams := make([]*stream, 0, len(d.agents))
	for _, s := range d.agents {
		streams = append(streams, s)
	}
	d.known.Unlock()
	d.host.mu.RLock()
	for _, s := range d.peers {
		if s != nil {
			streams = append(streams, s)
		}
	}
	d.host.mu.RUnlock()
	d.learn(lives)
	for _, s := range streams {
		d.direct(s)
	}
}

// direct sends a process the directory and the workers that it is to run.
func (d *dispatch) direct(s *stream) {
	d.known.Lock()
	defer d.known.Unlock()
	if dir := d.directory; dir != nil {
		s.put(&pb.Frame{Of: &pb.Frame_Directory{Directory: &pb.Directory{Era: dir.Era, Lives: dir.Lives,
			Yours: d.yours[s.name]}}})
	}
}

var errNotRegistrar = status.Error(codes.FailedPrecondition, "this dispatch is not the registrar")

// Submit implements the RPC.
func (d *dispatch) Submit(ctx context.Context, j *pb.Job) (*pb.SubmitReply, error) {
	switch {
	case d.registrar == nil:
		return nil, errNotRegistrar
	case j.Name == "" || j.Tasks < 1 || j.Estimate < 0 || len(j.GetCommand().GetArgs()) == 0:
		return nil, status.Errorf(codes.InvalidArgument, "job %q with %d tasks, an estimate of %d ns and command %q: "+
			"expected a name, 1 task or more, 0 ns or more, and a program", j.Name, j.Tasks, j.Estimate,
			j.GetCommand().GetArgs())
	}
	a, err := d.await(ctx, &pb.Request{Of: &pb.Request_Submit{Submit: j}})
	if err != nil {
		return nil, err
	}
	return &pb.SubmitReply{Id: a.id}, nil
}

// Inspect implements the RPC.
func (d *dispatch) Inspect(ctx context.Context, r *pb.InspectRequest) (*pb.JobState, error) {
	if d.registrar == nil {
		return nil, errNotRegistrar
	}
	for {
		state, changed := d.registrar.inspect(r.Name)
		if state == nil {
			return nil, status.Errorf(codes.NotFound, "job %q is not there", r.Name)
		}
		if state.Done || !r.Wait {
			return state, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, status.FromContextError(ctx.Err()).Err()
		case <-d.ctx.Done():
			return nil, status.Error(codes.Unavailable, "the dispatch ends")
		}
	}
}

// Fetch implements the RPC.
func (d *dispatch) Fetch(_ context.Context, r *pb.FetchRequest) (*pb.Job, error) {
	if d.registrar == nil {
		return nil, errNotRegistrar
	}
	if j := d.registrar.fetch(r.Id); j != nil {
		return j, nil
	}
	return nil, status.Errorf(codes.NotFound, "job %d is not there", r.Id)
}

// Leave implements the RPC: it gives an agent's workers to others.
func (d *dispatch) Leave(ctx context.Context, r *pb.LeaveRequest) (*pb.LeaveReply, error) {
	if d.registrar == nil {
		return nil, errNotRegistrar
	}
	_, err := d.await(ctx, &pb.Request{Of: &pb.Request_Lose{Lose: r.Name}})
	return &pb.LeaveReply{}, err
}

// await sends the registrar a request and waits for the answer.
func (d *dispatch) await(ctx context.Context, r *pb.Request) (answer, error) {
	got := make(chan answer, 1)
	d.request(r, func(a answer) { got <- a })
	select {
	case a := <-got:
		if a.err != nil {
			return a, status.Error(codes.InvalidArgument, a.err.Error())
		}
		return a, nil
	case <-ctx.Done():
		return answer{}, status.FromContextError(ctx.Err()).Err()
	case <-d.ctx.Done():
		return answer{}, status.Error(codes.Unavailable, "the dispatch ends")
	}
}

// Census implements the RPC.
func (d *dispatch) Census(context.Context, *pb.CensusRequest) (*pb.CensusReply, error) {
	d.host.mu.RLock()
	defer d.host.mu.RUnlock()
	return &pb.CensusReply{Workers: int32(d.host.system.Workers()), Present: int32(len(d.claims))}, nil
}

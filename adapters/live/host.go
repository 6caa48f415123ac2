package live

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hedgesched/hedge/adapters/live/internal/pb"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/agent"
)

// registrarAt is the registrar's address.
const registrarAt agent.Addr = -1

// host has the parts of a process and its streams to other processes, and carries frames between them.
type host struct {
	system   *System
	fleet    Fleet
	clock    sched.Clock
	log      *slog.Logger
	executor Executor
	attempts int
	fetch    func(ctx context.Context, job int32) (*pb.Job, error)

	mu      sync.RWMutex
	parts   map[agent.Addr]*part
	peers   []*stream // to dispatches, by place; nil if not connected
	claims  map[agent.Addr]claim
	lives   []uint32 // latest known life of each worker; 0 if unknown
	failure chan error
	wg      sync.WaitGroup
}

// claim says that a worker runs at the agent on the other end of a stream.
type claim struct {
	life uint32
	to   *stream
}

func newHost(s *System, fleet Fleet, clock sched.Clock, log *slog.Logger) *host {
	if clock == nil {
		clock = systemClock{}
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &host{system: s, fleet: fleet, clock: clock, log: log, parts: map[agent.Addr]*part{},
		peers: make([]*stream, len(fleet)), claims: map[agent.Addr]claim{}, lives: make([]uint32, s.Workers()),
		failure: make(chan error, 1)}
}

// systemClock is the machine's clock.
type systemClock struct{}

// Now implements [sched.Clock].
func (systemClock) Now() time.Time { return time.Now() }

// After implements [sched.Clock].
func (systemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// now is the time of all parts: since 1970, so that machines agree.
func (h *host) now() time.Duration { return time.Duration(h.clock.Now().UnixNano()) }

// start runs a part until it is stopped or ctx is done.
func (h *host) start(ctx context.Context, p *part) {
	ctx, p.stop = context.WithCancel(ctx)
	h.mu.Lock()
	h.parts[p.at] = p
	h.mu.Unlock()
	h.wg.Add(1)
	go func() {
		defer h.wg.Done()
		defer p.stop()
		if err := p.run(ctx); err != nil {
			h.fail(err)
		}
	}()
}

// fail ends the process's run; only the first error counts.
func (h *host) fail(err error) {
	select {
	case h.failure <- err:
	default:
	}
}

// tick makes all parts send unacknowledged envelopes again, until ctx is done.
func (h *host) tick(ctx context.Context, every time.Duration) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.clock.After(every):
			h.toParts(item{resend: true})
		}
	}
}

func (h *host) toParts(i item) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, p := range h.parts {
		p.box.put(i)
	}
}

func (h *host) part(at agent.Addr) *part {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.parts[at]
}

// route forwards a frame towards its part. If there is no way at present, the frame is dropped, and sent again later.
func (h *host) route(f *pb.Frame) {
	at, entry := h.destination(f)
	if p := h.part(at); p != nil {
		p.box.put(item{entry: entry})
		return
	}
	if s := h.way(at); s != nil {
		s.put(f)
	}
}

// destination is the part that a frame is for, and the entry that the frame becomes there.
func (h *host) destination(f *pb.Frame) (agent.Addr, *pb.Entry) {
	if a := f.GetAck(); a != nil {
		return agent.Addr(a.From), &pb.Entry{Of: &pb.Entry_Acknowledged{Acknowledged: a}}
	}
	e := f.GetEnvelope()
	return agent.Addr(e.GetTo()), &pb.Entry{Of: &pb.Entry_Received{Received: e}}
}

// way is the stream towards a part of another process: to its dispatch, to the agent that has the worker, or, from an
// agent to a worker elsewhere, to the registrar.
func (h *host) way(at agent.Addr) *stream {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if at >= 0 && int(at) < h.system.Workers() {
		if c, ok := h.claims[at]; ok {
			return c.to
		}
		if h.executor != nil {
			return h.peers[0]
		}
		return nil
	}
	return h.peers[h.fleet.of(at)]
}

// receive takes a message or an acknowledgement from a stream.
func (h *host) receive(f *pb.Frame) error {
	e := f.GetEnvelope()
	if e == nil && f.GetAck() == nil {
		return fmt.Errorf("%w: a frame says nothing that is known here", ErrFleet)
	}
	if e != nil {
		from, to := agent.Addr(e.From), agent.Addr(e.To)
		if err := h.system.checkPart(from); err != nil {
			return err
		}
		if err := h.system.checkPart(to); err != nil {
			return err
		}
		if from != registrarAt && to != registrarAt {
			if err := h.system.read(e.Message); err != nil {
				return fmt.Errorf("message of part %d to part %d: %w", from, to, err)
			}
		}
	}
	h.route(f)
	return nil
}

// attach puts a stream to a dispatch into use, and sends what waits.
func (h *host) attach(place int, s *stream) {
	h.mu.Lock()
	h.peers[place] = s
	h.mu.Unlock()
	h.toParts(item{resend: true, all: true})
}

// claim notes the workers that an agent says it has.
func (h *host) claim(s *stream, holds []*pb.Life) {
	h.mu.Lock()
	for at, c := range h.claims {
		if c.to == s {
			delete(h.claims, at)
		}
	}
	for _, l := range holds {
		if at := agent.Addr(l.At); h.claims[at].life <= l.Life {
			h.claims[at] = claim{l.Life, s}
		}
	}
	h.mu.Unlock()
	h.toParts(item{resend: true, all: true})
}

// detach forgets a stream that has ended.
func (h *host) detach(s *stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.peers {
		if h.peers[i] == s {
			h.peers[i] = nil
		}
	}
	for at, c := range h.claims {
		if c.to == s {
			delete(h.claims, at)
		}
	}
}

// learn notes the lives of workers, and tells the parts about new ones.
func (h *host) learn(lives []uint32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for at, life := range lives {
		if at >= len(h.lives) || life <= h.lives[at] {
			continue
		}
		h.lives[at] = life
		for _, p := range h.parts {
			if int(p.at) != at {
				p.box.put(item{entry: &pb.Entry{Of: &pb.Entry_Lost{Lost: &pb.Life{At: int32(at), Life: life}}}})
			}
		}
	}
}

// forgetLives is called when the fleet was begun anew: lives count from the beginning again.
func (h *host) forgetLives() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.lives)
}

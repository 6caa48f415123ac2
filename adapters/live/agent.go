package live

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/hedgesched/hedge/adapters/live/internal/pb"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/agent"
)

// AgentConfig configures an agent.
type AgentConfig struct {
	// System must be new. Fleet lists all dispatches.
	System *System
	Fleet  Fleet
	// Name is unique among the agents, for instance the machine's name. An agent that comes back under its name gets its
	// workers again.
	Name string
	// Workers is the number of workers that the agent asks for; 0 means 1.
	Workers int
	// Executor runs the tasks. Attempts is how often a command is started before the task has failed for good, which ends
	// the task; 0 means once.
	Executor Executor
	Attempts int
	// TLS, MaxMessage, Resend, Clock and Log are as in [DispatchConfig].
	TLS        *tls.Config
	MaxMessage int
	Resend     time.Duration
	Clock      sched.Clock
	Log        *slog.Logger
}

// worker is a process that runs workers.
type worker struct {
	AgentConfig
	*host
	ctx context.Context

	mu   sync.Mutex // guards the fields below, and the beginning and ending of parts
	era  int64
	jobs map[int32]*pb.Job // jobs fetched so far
}

// RunAgent runs workers until ctx is done, and then kills their tasks. Errors wrap [ErrConfig], [ErrSystem], or, if the
// dispatches run another system, [ErrFleet].
func RunAgent(ctx context.Context, c AgentConfig) error {
	if err := c.check(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := &worker{AgentConfig: c, host: newHost(c.System, c.Fleet, c.Clock, c.Log), ctx: ctx, jobs: map[int32]*pb.Job{}}
	w.executor, w.attempts = c.Executor, c.Attempts
	conn, err := grpc.NewClient(c.Fleet[0].Address, dialOptions(c.TLS, c.MaxMessage)...)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	defer func() { _ = conn.Close() }()
	w.fetch = func(ctx context.Context, id int32) (*pb.Job, error) { return w.job(ctx, conn, id) }
	w.wg.Add(1)
	go func() {
		defer w.wg.Done()
		w.tick(ctx, c.Resend)
	}()
	for place := range c.Fleet {
		w.connect(ctx, place, c.TLS, c.MaxMessage, w)
	}
	select {
	case <-ctx.Done():
	case err = <-w.failure:
	}
	cancel()
	w.endAll()
	if err == nil {
		w.leave(conn)
	}
	w.wg.Wait()
	return err
}

func (c *AgentConfig) check() error {
	if c.System == nil || c.Executor == nil || c.Name == "" {
		return fmt.Errorf("%w: no System, no Executor or no Name", ErrConfig)
	}
	if err := c.Fleet.check(c.System); err != nil {
		return err
	}
	if c.Workers == 0 {
		c.Workers = 1
	}
	if c.Attempts == 0 {
		c.Attempts = 1
	}
	if c.MaxMessage == 0 {
		c.MaxMessage = DefaultMaxMessage
	}
	if c.Resend == 0 {
		c.Resend = time.Second
	}
	if c.Workers < 0 || c.Workers > c.System.Workers() || c.Attempts < 0 || c.MaxMessage < 0 || c.Resend < 0 {
		return fmt.Errorf("%w: Workers of %d, Attempts of %d, MaxMessage of %d, Resend of %v, expected none below 0, "+
			"and workers to %d", ErrConfig, c.Workers, c.Attempts, c.MaxMessage, c.Resend, c.System.Workers())
	}
	return nil
}

// job returns a job by its number, fetched once.
func (w *worker) job(ctx context.Context, conn *grpc.ClientConn, id int32) (*pb.Job, error) {
	w.mu.Lock()
	j := w.jobs[id]
	w.mu.Unlock()
	if j != nil {
		return j, nil
	}
	ctx, cancel := context.WithTimeout(ctx, dialFor)
	defer cancel()
	j, err := pb.NewFleetClient(conn).Fetch(ctx, &pb.FetchRequest{Id: id}, grpc.WaitForReady(true))
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.jobs) > mostKnown {
		clear(w.jobs)
	}
	w.jobs[id] = j
	return j, nil
}

// mostKnown limits the jobs that an agent remembers.
const mostKnown = 10_000

func (w *worker) hello() *pb.Hello {
	w.mu.Lock()
	defer w.mu.Unlock()
	return &pb.Hello{System: w.Fleet.title(w.host.system), Era: w.era, Name: w.Name, Capacity: int32(w.Workers),
		Holds: w.holds()}
}

// holds are the workers that run here.
func (w *worker) holds() []*pb.Life {
	w.host.mu.RLock()
	defer w.host.mu.RUnlock()
	var list []*pb.Life
	for at := range agent.Addr(w.host.system.Workers()) {
		if p := w.parts[at]; p != nil {
			list = append(list, &pb.Life{At: int32(at), Life: p.life})
		}
	}
	return list
}

// joined first tells the dispatch which workers run here; follow tells all dispatches when that changes.
func (w *worker) joined(place int, s *stream) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s.put(w.holding())
	w.attach(place, s)
}

func (w *worker) holding() *pb.Frame {
	return &pb.Frame{Of: &pb.Frame_Holding{Holding: &pb.Holding{Holds: w.holds(), Era: w.era}}}
}

// told takes a frame from the dispatch at a place. The registrar's directory says which workers are to run here.
func (w *worker) told(place int, f *pb.Frame) error {
	dir := f.GetDirectory()
	switch {
	case dir == nil:
		return w.receive(f)
	case place == 0:
		w.follow(dir)
	}
	return nil
}

// follow ends and begins workers as the directory says, and tells the dispatches.
func (w *worker) follow(dir *pb.Directory) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ctx.Err() != nil || dir.Era == w.era && w.outdated(dir.Lives) {
		return
	}
	shall := map[agent.Addr]uint32{}
	for _, l := range dir.Yours {
		shall[agent.Addr(l.At)] = l.Life
	}
	for _, l := range w.holds() {
		if at := agent.Addr(l.At); dir.Era != w.era || shall[at] != l.Life {
			w.end(at)
		}
	}
	anew := w.era != 0 && dir.Era != w.era
	if anew {
		clear(w.jobs)
		w.host.forgetLives()
	}
	w.era = dir.Era
	w.learn(dir.Lives)
	for _, l := range dir.Yours {
		if at := agent.Addr(l.At); at >= 0 && int(at) < w.host.system.Workers() && w.part(at) == nil {
			w.begin(at, l.Life, anew)
		}
	}
	w.host.mu.RLock()
	peers := append([]*stream(nil), w.peers...)
	w.host.mu.RUnlock()
	for _, s := range peers {
		if s != nil {
			s.put(w.holding())
		}
	}
	w.toParts(item{resend: true, all: true})
}

// outdated reports whether a directory is older than the one followed last: lives never decrease.
func (w *worker) outdated(lives []uint32) bool {
	w.host.mu.RLock()
	defer w.host.mu.RUnlock()
	for at, life := range lives {
		if at < len(w.lives) && life < w.lives[at] {
			return true
		}
	}
	return false
}

// begin begins a worker's life; anew means that the fleet was begun anew. The system may still have the state of an
// earlier life, so any life but the first restarts the part.
func (w *worker) begin(at agent.Addr, life uint32, anew bool) {
	p := newPart(w.host, at, life, systemPart{w.host.system, at})
	w.host.mu.RLock()
	for other, l := range w.lives {
		if l > 1 && other != int(at) {
			p.views[agent.Addr(other)] = l
		}
	}
	w.host.mu.RUnlock()
	if life > 1 || anew {
		p.box.put(item{restarted: true})
	}
	w.log.Info("worker begins", "worker", at, "life", life)
	w.start(w.ctx, p)
}

// end ends a worker's life and kills its tasks.
func (w *worker) end(at agent.Addr) {
	w.host.mu.Lock()
	p := w.parts[at]
	delete(w.parts, at)
	w.host.mu.Unlock()
	p.stop()
	<-p.done
	p.halt()
	w.log.Info("worker ends", "worker", at, "life", p.life)
}

func (w *worker) endAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.holds() {
		w.end(agent.Addr(l.At))
	}
}

// leave tells the registrar, if it can be reached, that this agent ends.
func (w *worker) leave(conn *grpc.ClientConn) {
	ctx, cancel := context.WithTimeout(context.Background(), dialFor)
	defer cancel()
	_, err := pb.NewFleetClient(conn).Leave(ctx, &pb.LeaveRequest{Name: w.Name})
	w.warn(err)
}

package live

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/hedgesched/hedge/adapters/live/internal/journal"
	"github.com/hedgesched/hedge/adapters/live/internal/pb"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/agent"
)

// DispatchConfig is what a dispatch is told.
type DispatchConfig struct {
	// System is new, Fleet the list of all dispatches, and Place this one's in it, from 0.
	System *System
	Fleet  Fleet
	Place  int
	// Dir is the folder of the journals; it must exist, and no other process may use it meanwhile.
	Dir string
	// Listener is where the others connect to; the dispatch closes it.
	Listener net.Listener
	// TLS is for both ends, as [LoadTLS] makes it; nil is no TLS, for one machine only.
	TLS *tls.Config
	// MaxMessage is the largest frame in bytes; 0 is DefaultMaxMessage.
	MaxMessage int
	// LostAfter is how long an agent may be away before others get its workers; 0 is 15 s.
	LostAfter time.Duration
	// Resend is how often what is not acknowledged is sent again; 0 is a second.
	Resend time.Duration
	// Clock and Log may be nil: the machine's clock, and no log.
	Clock sched.Clock
	Log   *slog.Logger
}

// dispatch is a process of schedulers.
type dispatch struct {
	pb.UnimplementedFleetServer
	DispatchConfig
	*host
	registrar *registrar // of the first only
	ctx       context.Context

	// era is that of the registrar's journal, 0 before it is known; then begun is closed.
	era   atomic.Int64
	begun chan struct{}

	known     sync.Mutex // of what is below
	agents    map[string]*stream
	directory *pb.Directory         // the newest that is on the disk
	yours     map[string][]*pb.Life // of each agent
}

// RunDispatch runs the schedulers of a place until the context is done: it goes on where the folder's journals end. The
// errors are an [ErrConfig], an [ErrFleet], an [ErrSystem], or those of files and of the listener.
func RunDispatch(ctx context.Context, c DispatchConfig) error {
	if err := c.check(); err != nil {
		return err
	}
	lock, err := lockFolder(c.Dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d := &dispatch{DispatchConfig: c, host: newHost(c.System, c.Fleet, c.Clock, c.Log), ctx: ctx,
		agents: map[string]*stream{}, begun: make(chan struct{})}
	parts, err := d.open()
	for _, p := range parts {
		defer func() { _ = p.log.Close() }()
	}
	if err != nil {
		return err
	}
	for _, p := range parts {
		d.start(ctx, p)
	}
	return d.serve(ctx, cancel)
}

func (c *DispatchConfig) check() error {
	if c.System == nil || c.Listener == nil {
		return fmt.Errorf("%w: no System or no Listener", ErrConfig)
	}
	if err := c.Fleet.check(c.System); err != nil {
		return err
	}
	if c.Place < 0 || c.Place >= len(c.Fleet) {
		return fmt.Errorf("%w: place is %d, expected 0 to %d", ErrConfig, c.Place, len(c.Fleet)-1)
	}
	if c.MaxMessage < 0 || c.LostAfter < 0 || c.Resend < 0 {
		return fmt.Errorf("%w: MaxMessage of %d, LostAfter of %v, Resend of %v, expected none below 0", ErrConfig,
			c.MaxMessage, c.LostAfter, c.Resend)
	}
	if c.MaxMessage == 0 {
		c.MaxMessage = DefaultMaxMessage
	}
	if c.LostAfter == 0 {
		c.LostAfter = 15 * time.Second
	}
	if c.Resend == 0 {
		c.Resend = time.Second
	}
	return nil
}

// open makes the parts of their journals. The parts must be closed also after an error.
func (d *dispatch) open() (parts []*part, err error) {
	make1 := func(at agent.Addr, name string, m machine) (*part, error) {
		p := newPart(d.host, at, 0, m)
		p.log, err = journal.Open(filepath.Join(d.Dir, name), p.replay)
		if err != nil {
			return nil, fmt.Errorf("live: %w", err)
		}
		parts = append(parts, p)
		return p, nil
	}
	if err := d.own(); err != nil {
		return nil, err
	}
	if d.Place > 0 {
		if err := d.readEra(); err != nil {
			return nil, err
		}
	}
	if d.Place == 0 {
		d.registrar = newRegistrar(d.host.system)
		p, err := make1(registrarAt, "registrar.journal", d.registrar)
		if err != nil {
			return parts, err
		}
		p.committed = d.publish
		if d.registrar.era == 0 {
			p.happen(&pb.Entry{Now: int64(d.now()), Of: &pb.Entry_Request{Request: &pb.Request{
				Of: &pb.Request_Found{Found: int64(d.now())}}}})
		}
		d.registrar.expected, d.registrar.moved = d.registrar.present(), true
		if err := p.commit(); err != nil {
			return parts, err
		}
		d.isOf(d.registrar.era)
	}
	for at := d.Fleet[d.Place].First; at < d.Fleet[d.Place].End; at++ {
		if _, err := make1(at, fmt.Sprintf("part-%d.journal", at), systemPart{d.host.system, at}); err != nil {
			return parts, err
		}
	}
	return parts, nil
}

// own refuses a folder of another system or place: a journal means nothing to others.
func (d *dispatch) own() error {
	name := filepath.Join(d.Dir, "system")
	title := fmt.Sprintf("%s: %d\n", d.Fleet.title(d.host.system), d.Place)
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return os.WriteFile(name, []byte(title), 0o600)
	}
	if err == nil && string(text) != title {
		return fmt.Errorf("%w: folder %s is of %q, expected %q", ErrFleet, d.Dir, text, title)
	}
	return err
}

// systemPart is a part of the system as a machine.
type systemPart struct {
	*System
	at agent.Addr
}

func (m systemPart) step(now time.Duration, in *agent.Input[[]byte], out *agent.Output[[]byte]) {
	m.System.step(m.at, now, in, out)
}

func (systemPart) ask(time.Duration, *pb.Request, *agent.Output[[]byte]) answer {
	return answer{err: ErrSystem}
}

func (systemPart) submission(msg []byte) (*agent.Job, error) {
	var o pb.Order
	if err := proto.Unmarshal(msg, &o); err != nil {
		return nil, err
	}
	s := o.GetStart()
	if s == nil {
		return nil, fmt.Errorf("it says nothing of a start")
	}
	return &agent.Job{ID: s.Id, Of: s.Of, Tasks: s.Tasks, Estimate: time.Duration(s.Estimate), Long: s.Long}, nil
}

// serve answers the others until the context is done or a part has failed.
func (d *dispatch) serve(ctx context.Context, cancel func()) error {
	server := grpc.NewServer(serverOptions(d.TLS, d.MaxMessage)...)
	pb.RegisterFleetServer(server, d)
	d.wg.Add(2)
	go func() {
		defer d.wg.Done()
		if err := server.Serve(d.Listener); err != nil && ctx.Err() == nil {
			d.fail(fmt.Errorf("live: %w", err))
		}
	}()
	go func() {
		defer d.wg.Done()
		d.tick(ctx, d.Resend)
	}()
	if d.registrar != nil {
		d.expectAgents(ctx)
	}
	for place := range d.Place {
		d.connect(ctx, place, d.TLS, d.MaxMessage, d)
	}
	d.host.log.Info("dispatching", "at", d.Listener.Addr().String(), "parts", fmt.Sprint(d.Fleet[d.Place]))
	var err error
	select {
	case <-ctx.Done():
	case err = <-d.failure:
	}
	cancel()
	server.Stop()
	d.wg.Wait()
	return err
}

func (d *dispatch) hello() *pb.Hello {
	return &pb.Hello{System: d.Fleet.title(d.host.system), Dispatch: int32(d.Place + 1), Era: d.era.Load()}
}

func (d *dispatch) joined(place int, s *stream) { d.attach(place, s) }

// told takes a frame of a dispatch in front of this one.
func (d *dispatch) told(_ int, f *pb.Frame) error {
	if dir := f.GetDirectory(); dir != nil {
		if err := d.ofEra(dir.Era); err != nil {
			return err
		}
		d.learn(dir.Lives)
		return nil
	}
	return d.host.receive(f)
}

// eraFile is where a dispatch behind the first keeps the era.
func (d *dispatch) eraFile() string { return filepath.Join(d.Dir, "era") }

// readEra reads it, if it is known.
func (d *dispatch) readEra() error {
	text, err := os.ReadFile(d.eraFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	era, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || era == 0 {
		return fmt.Errorf("%w: file %s says %.20q", ErrFleet, d.eraFile(), text)
	}
	d.isOf(era)
	return nil
}

// isOf is called once.
func (d *dispatch) isOf(era int64) {
	d.era.Store(era)
	close(d.begun)
}

// errKnown ends the stream on which a dispatch was told the era: it comes again and says that it has it.
var errKnown = errors.New("live: the era is known now")

// ofEra refuses a registrar whose journal is another than the one before.
func (d *dispatch) ofEra(era int64) error {
	known := d.era.Load()
	if known == era {
		return nil
	}
	if known == 0 {
		if err := os.WriteFile(d.eraFile(), fmt.Appendln(nil, era), 0o600); err != nil {
			d.fail(err)
			return err
		}
		d.isOf(era)
		return errKnown
	}
	err := fmt.Errorf("%w: the registrar's journal is of %d, and folder %s of %d", ErrFleet, era, d.Dir, known)
	d.fail(err)
	return err
}

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

// DispatchConfig configures a dispatch.
type DispatchConfig struct {
	// System must be new. Fleet lists all dispatches, and Place is the index of this one in it.
	System *System
	Fleet  Fleet
	Place  int
	// Dir is the folder of the journals. It must exist, and no other process may use it at the same time.
	Dir string
	// Listener accepts the connections of the others. The dispatch closes it.
	Listener net.Listener
	// TLS is for both ends, as [LoadTLS] makes it. Nil means no TLS; use that on a single machine only.
	TLS *tls.Config
	// MaxMessage limits a frame, in bytes; 0 means [DefaultMaxMessage].
	MaxMessage int
	// LostAfter is how long an agent may be away before others get its workers; 0 means 15 s.
	LostAfter time.Duration
	// Resend is the interval at which unacknowledged messages are sent again; 0 means 1 s.
	Resend time.Duration
	// Clock and Log may be nil, which means the machine's clock and no log.
	Clock sched.Clock
	Log   *slog.Logger
}

// dispatch is a process that runs schedulers.
type dispatch struct {
	pb.UnimplementedFleetServer
	DispatchConfig
	*host
	registrar *registrar // nil unless this is the first dispatch
	ctx       context.Context

	// era identifies the registrar's journal, 0 until it is known. Begun is closed when it is known.
	era   atomic.Int64
	begun chan struct{}

	known     sync.Mutex // guards the fields below
	agents    map[string]*stream
	directory *pb.Directory         // the newest that is on the disk
	yours     map[string][]*pb.Life // workers of each agent
}

// RunDispatch runs a dispatch until ctx is done. It goes on where the journals of its folder end. Errors wrap
// [ErrConfig], [ErrFleet] or [ErrSystem], or are those of files and of the listener.
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

// open restores the parts from their journals. The caller closes the parts, after an error too.
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

// own refuses a folder of another system or place, whose journals would mean something else here.
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
	return submission(s), nil
}

// submission is what a system is told of a job.
func submission(s *pb.Start) *agent.Job {
	return &agent.Job{ID: s.Id, Of: s.Of, Tasks: s.Tasks, Estimate: time.Duration(s.Estimate), Long: s.Long,
		Submitted: time.Duration(s.Submitted), Attributes: s.Attributes}
}

// serve answers the other processes until ctx is done or a part fails.
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

// told takes a frame from a dispatch before this one.
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

// eraFile is where a dispatch other than the first keeps the era.
func (d *dispatch) eraFile() string { return filepath.Join(d.Dir, "era") }

// readEra reads the era if the file exists.
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

// isOf sets the era. It is called once.
func (d *dispatch) isOf(era int64) {
	d.era.Store(era)
	close(d.begun)
}

// errKnown ends the stream on which a dispatch learnt the era. It connects again and says hello with the era.
var errKnown = errors.New("live: the era is known now")

// ofEra takes in the registrar's era, and refuses a registrar with another journal than before.
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

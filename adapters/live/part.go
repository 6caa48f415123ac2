package live

import (
	"container/heap"
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/hedgesched/hedge/adapters/live/internal/journal"
	"github.com/hedgesched/hedge/adapters/live/internal/pb"
	"github.com/hedgesched/hedge/sched/agent"
)

// machine acts on the inputs of a part: it is a part of the system, or the registrar.
type machine interface {
	step(now time.Duration, in *agent.Input[[]byte], out *agent.Output[[]byte])
	// ask handles a request; only the registrar gets any.
	ask(now time.Duration, r *pb.Request, out *agent.Output[[]byte]) answer
	// submission decodes a job from a message of the registrar.
	submission(msg []byte) (*agent.Job, error)
}

// part is a part of the system, or the registrar: a mailbox, a goroutine and, unless it is a worker, a journal. Every
// input is a journal entry. The outputs that it causes leave only when the entry is on the disk.
type part struct {
	host    *host
	at      agent.Addr
	life    uint32 // of a worker, from 1; 0 for others
	machine machine
	box     *mailbox
	log     *journal.Journal
	// committed, if not nil, is called when a batch is on the disk.
	committed func()

	now    time.Duration
	timers timers
	seq    uint64
	links  map[agent.Addr]*agent.Link[[]byte]
	views  map[agent.Addr]uint32 // the latest known lives of workers, unless 1
	marks  map[agent.Addr]uint64 // number of the last envelope waiting at the last resend
	in     agent.Input[[]byte]
	out    agent.Output[[]byte]

	batch   pb.Batch
	urgent  bool        // the batch has more than acknowledgements
	frames  []*pb.Frame // to send when the batch is on the disk
	replies []func()
	tasks   map[agent.Task]*run
	deeds   []deed // what the executor is to do
	err     error

	stop context.CancelFunc
	done chan struct{}
}

func newPart(h *host, at agent.Addr, life uint32, m machine) *part {
	return &part{host: h, at: at, life: life, machine: m, box: newMailbox(), links: map[agent.Addr]*agent.Link[[]byte]{},
		views: map[agent.Addr]uint32{}, marks: map[agent.Addr]uint64{}, tasks: map[agent.Task]*run{},
		done: make(chan struct{})}
}

// replay applies a batch of the journal again. What it sends waits in the links.
func (p *part) replay(b []byte) error {
	var batch pb.Batch
	if err := proto.Unmarshal(b, &batch); err != nil {
		return err
	}
	for _, e := range batch.Entries {
		p.happen(e)
	}
	p.frames, p.replies = nil, nil
	p.batch.Entries = p.batch.Entries[:0]
	return p.err
}

// run is the part's goroutine.
func (p *part) run(ctx context.Context) error {
	defer close(p.done)
	var due time.Duration
	var alarm <-chan time.Time
	for {
		if len(p.timers) == 0 {
			alarm, due = nil, 0
		} else if next := p.timers[0].due; alarm == nil || next != due {
			due = next
			alarm = p.host.clock.After(max(0, due-p.host.now()))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-alarm:
			alarm = nil
		case <-p.box.wake:
		}
		for _, i := range p.box.take() {
			p.take(&i)
		}
		p.fire()
		if err := p.commit(); err != nil {
			return fmt.Errorf("part %d: %w", p.at, err)
		}
	}
}

// take handles an item.
func (p *part) take(i *item) {
	switch {
	case i.entry != nil:
		i.entry.Now = int64(p.host.now())
		if a := p.happen(i.entry); i.reply != nil {
			p.replies = append(p.replies, func() { i.reply(a) })
		}
	case i.ended != nil:
		p.taskEnded(i.ended)
	case i.restarted:
		p.clock(p.host.now())
		p.step(agent.Input[[]byte]{Kind: agent.Restarted})
	case i.resend:
		p.resend(i.all)
	}
}

// fire fires the timers that are due.
func (p *part) fire() {
	for now := p.host.now(); len(p.timers) > 0 && p.timers[0].due <= now; {
		p.happen(&pb.Entry{Now: int64(now), Of: &pb.Entry_Fired{Fired: p.timers[0].seq}})
	}
}

// clock advances the part's time, which never goes back.
func (p *part) clock(now time.Duration) { p.now = max(p.now, now) }

// happen applies an entry, and adds it to the batch if it changed anything.
func (p *part) happen(e *pb.Entry) answer {
	p.clock(time.Duration(e.Now))
	changed, reply := true, answer{}
	switch of := e.Of.(type) {
	case *pb.Entry_Received:
		changed = p.receive(of.Received)
	case *pb.Entry_Fired:
		p.fired(of.Fired)
	case *pb.Entry_Lost:
		changed = p.lost(agent.Addr(of.Lost.At), of.Lost.Life)
	case *pb.Entry_Acknowledged:
		p.acknowledged(of.Acknowledged)
	case *pb.Entry_Request:
		p.out.Reset()
		reply = p.machine.ask(p.now, of.Request, &p.out)
		p.act()
		changed = reply.err == nil
	}
	if changed {
		_, ack := e.Of.(*pb.Entry_Acknowledged)
		p.urgent = p.urgent || !ack
		if p.log != nil {
			p.batch.Entries = append(p.batch.Entries, e)
		}
	}
	return reply
}

// commit writes the batch to the journal, and then lets its outputs go. A batch of acknowledgements alone waits for the
// next one: if it is lost, some messages are sent twice at most.
func (p *part) commit() error {
	if p.err != nil {
		return p.err
	}
	if p.log != nil && p.urgent && len(p.batch.Entries) > 0 {
		b, err := proto.Marshal(&p.batch)
		if err == nil {
			err = p.log.Append(b)
		}
		if err != nil {
			return err
		}
		p.batch.Entries = p.batch.Entries[:0]
	}
	p.urgent = false
	if p.committed != nil {
		p.committed() // first, since whoever hears of a job may ask for it
	}
	for _, d := range p.deeds {
		p.execute(d)
	}
	for _, f := range p.frames {
		p.host.route(f)
	}
	for _, reply := range p.replies {
		reply()
	}
	clear(p.deeds)
	clear(p.frames)
	clear(p.replies)
	p.deeds, p.frames, p.replies = p.deeds[:0], p.frames[:0], p.replies[:0]
	return nil
}

// step gives the part one input and acts on its output.
func (p *part) step(in agent.Input[[]byte]) {
	p.in = in
	p.out.Reset()
	p.machine.step(p.now, &p.in, &p.out)
	p.act()
}

// act carries out the actions that the part asks for.
func (p *part) act() {
	for i := range p.out.Actions {
		switch a := &p.out.Actions[i]; a.Do {
		case agent.Send:
			p.send(a.To, a.Msg)
		case agent.Wake:
			p.seq++
			heap.Push(&p.timers, timer{p.now + max(0, a.After), p.seq, a.Timer})
		case agent.Done:
			p.order(&pb.Order{Of: &pb.Order_Done{Done: a.Task.Job}})
		default:
			p.deed(a.Do, a.Task)
		}
	}
}

// order sends an order to the registrar.
func (p *part) order(o *pb.Order) {
	b, err := proto.Marshal(o)
	if err != nil {
		p.fail("an order: %v", err)
		return
	}
	p.send(registrarAt, b)
}

func (p *part) fired(seq uint64) {
	for i := range p.timers {
		if t := p.timers[i]; t.seq == seq {
			heap.Remove(&p.timers, i)
			p.step(agent.Input[[]byte]{Kind: agent.Fired, Timer: t.name})
			return
		}
	}
}

func (p *part) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%w: "+format, append([]any{ErrSystem}, args...)...)
	}
}

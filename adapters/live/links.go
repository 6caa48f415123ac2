package live

import (
	"github.com/hedgesched/hedge/adapters/live/internal/pb"
	"github.com/hedgesched/hedge/sched/agent"
)

// isWorker reports whether an address is a worker's.
func (p *part) isWorker(at agent.Addr) bool { return at >= 0 && int(at) < p.host.system.Workers() }

// view is the latest life of a peer that the part knows of; 0 for parts that are not workers, which have no lives.
func (p *part) view(peer agent.Addr) uint32 {
	if !p.isWorker(peer) {
		return 0
	}
	return max(1, p.views[peer])
}

func (p *part) link(peer agent.Addr) *agent.Link[[]byte] {
	l := p.links[peer]
	if l == nil {
		l = new(agent.Link[[]byte])
		p.links[peer] = l
	}
	return l
}

// send puts a message into an envelope, which stays in the link until it is acknowledged.
func (p *part) send(to agent.Addr, msg []byte) {
	if err := p.host.system.checkPart(to); err != nil {
		p.fail("it sends to part %d", to)
		return
	}
	p.transmit(to, p.link(to).Send(msg))
}

func (p *part) transmit(to agent.Addr, e agent.Envelope[[]byte]) {
	p.frames = append(p.frames, &pb.Frame{Of: &pb.Frame_Envelope{Envelope: &pb.Envelope{From: int32(p.at),
		FromLife: p.life, To: int32(to), ToLife: p.view(to), Number: e.Number, Message: e.Msg}}})
}

// receive takes an envelope and reports whether it changed anything. Envelopes of other lives are dropped. An envelope
// from a life that is new here also means that the sender's life before has ended.
func (p *part) receive(e *pb.Envelope) (changed bool) {
	from := agent.Addr(e.From)
	if e.ToLife != p.life {
		return false
	}
	if p.isWorker(from) && e.FromLife > p.view(from) {
		changed = p.lost(from, e.FromLife)
	}
	if e.FromLife != p.view(from) {
		return changed
	}
	p.frames = append(p.frames, &pb.Frame{Of: &pb.Frame_Ack{Ack: &pb.Ack{From: e.From, FromLife: e.FromLife, To: e.To,
		ToLife: e.ToLife, Number: e.Number}}})
	if !p.link(from).Receive(e.Number) {
		return changed
	}
	in := agent.Input[[]byte]{Kind: agent.Received, From: from, Msg: e.Message}
	if from == registrarAt {
		job, err := p.machine.submission(e.Message)
		if err != nil {
			p.fail("a submission: %v", err)
			return true
		}
		in = agent.Input[[]byte]{Kind: agent.Submitted, Job: job}
	}
	p.step(in)
	return true
}

// lost notes a worker's new life. Parts that are not workers are told of every life that has ended.
func (p *part) lost(worker agent.Addr, life uint32) bool {
	known := p.view(worker)
	if life <= known {
		return false
	}
	for known < life {
		known++
		p.views[worker] = known
		delete(p.links, worker)
		delete(p.marks, worker)
		if !p.isWorker(p.at) {
			p.step(agent.Input[[]byte]{Kind: agent.Lost, From: worker})
		}
	}
	return true
}

func (p *part) acknowledged(a *pb.Ack) {
	peer := agent.Addr(a.To)
	if l := p.links[peer]; l != nil && a.FromLife == p.life && a.ToLife == p.view(peer) {
		l.Acknowledged(a.Number)
	}
}

// resend sends unacknowledged envelopes again: all of them, or those that were already sent at the last resend.
func (p *part) resend(all bool) {
	for peer, l := range p.links {
		waiting := l.Outstanding()
		if len(waiting) == 0 {
			delete(p.marks, peer)
			continue
		}
		for _, e := range waiting {
			if all || e.Number <= p.marks[peer] {
				p.transmit(peer, e)
			}
		}
		p.marks[peer] = waiting[len(waiting)-1].Number
	}
}

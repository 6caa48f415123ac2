package agenttest

import (
	"bytes"

	"github.com/hedgesched/hedge/sched/agent"
)

// session names the lives of the two ends that an envelope is between, as its sender knows them.
type session struct{ from, to uint32 }

func (w *world[M]) isWorker(at agent.Addr) bool { return int(at) < w.workers }

func (w *world[M]) lifeOf(at agent.Addr) uint32 {
	if w.isWorker(at) {
		return w.nodes[at].life
	}
	return 0
}

func (w *world[M]) isDown(at agent.Addr) bool { return w.isWorker(at) && w.nodes[at].down }

// view is the life of a peer that a part knows of: it may not have been told of the last crash. Workers are told
// nothing, but a connection to a worker that is up again is a new one.
func (w *world[M]) view(of, peer agent.Addr) uint32 {
	if w.isWorker(of) {
		return w.lifeOf(peer)
	}
	return w.views[pair{of, peer}]
}

func (w *world[M]) link(of, peer agent.Addr) *agent.Link[[]byte] {
	l := w.links[pair{of, peer}]
	if l == nil {
		l = new(agent.Link[[]byte])
		w.links[pair{of, peer}] = l
	}
	return l
}

// send encodes a message and puts it into an envelope. What takes no time is not on a network.
func (w *world[M]) send(from agent.Addr, a *agent.Action[M]) {
	if a.To < 0 || int(a.To) >= w.whole.Parts() {
		w.fail("part %d sends to part %d, which is not there", from, a.To)
		return
	}
	b := w.Codec.Append(nil, &a.Msg)
	w.checkCodec(b)
	s := session{w.lifeOf(from), w.view(from, a.To)}
	if a.Delay == agent.Instant {
		w.after(0, 2, func() { w.arrive(from, a.To, s, b) })
		return
	}
	l := w.link(from, a.To)
	w.transmit(from, a.To, s, l, l.Send(b))
}

// transmit puts an envelope on the network, and again until it is acknowledged or its session is over.
func (w *world[M]) transmit(from, to agent.Addr, s session, l *agent.Link[[]byte], e agent.Envelope[[]byte]) {
	copies := 1
	if w.chance(w.double) {
		copies++
	}
	for range copies {
		if !w.chance(w.lose) {
			w.after(delay+w.late(), 2, func() { w.receive(from, to, s, l, e) })
		}
	}
	w.after(resend+w.jitter, 5, func() {
		if _, ok := l.Waiting(e.Number); ok && w.links[pair{from, to}] == l {
			w.transmit(from, to, s, l, e)
		}
	})
}

// receive is the arrival of an envelope. A first one is delivered, every one acknowledged.
func (w *world[M]) receive(from, to agent.Addr, s session, l *agent.Link[[]byte], e agent.Envelope[[]byte]) {
	if w.isDown(to) || s.to != w.lifeOf(to) {
		return
	}
	for !w.isWorker(to) && w.isWorker(from) && w.views[pair{to, from}] < s.from {
		w.tell(to, from) // a message of a new life tells of the crash
	}
	if s.from != w.view(to, from) {
		return
	}
	if !w.chance(w.lose) {
		w.after(delay+w.late(), 2, func() { l.Acknowledged(e.Number) })
	}
	if w.link(to, from).Receive(e.Number) {
		w.arrive(from, to, s, e.Msg)
	}
}

// arrive hands a message to a part, made anew of its bytes.
func (w *world[M]) arrive(from, to agent.Addr, s session, b []byte) {
	if w.isDown(to) || s.to != w.lifeOf(to) || s.from != w.view(to, from) {
		return
	}
	m, err := w.Codec.Read(b)
	if err != nil {
		w.fail("a message of part %d cannot be read: %v", from, err)
		return
	}
	w.step(to, &agent.Input[M]{Kind: agent.Received, From: from, Msg: m})
}

// checkCodec checks that a message's bytes make the same bytes again, and that no part of them is a message.
func (w *world[M]) checkCodec(b []byte) {
	m, err := w.Codec.Read(b)
	if err != nil {
		w.fail("a message cannot be read: %v", err)
		return
	}
	if !bytes.Equal(b, w.Codec.Append(nil, &m)) {
		w.fail("a message is another after it was read: %v", m)
	}
	if _, err := w.Codec.Read(b[:w.random.Below(len(b))]); err == nil {
		w.fail("part of a message was read as one")
	}
	if _, err := w.Codec.Read(append(b[:len(b):len(b)], 0)); err == nil {
		w.fail("a message with a byte too many was read")
	}
}

// crash takes a worker away with all that is its own, for a while.
func (w *world[M]) crash() {
	at := agent.Addr(w.random.Below(w.workers))
	n := &w.nodes[at]
	if n.down {
		return
	}
	n.life++
	n.down = true
	n.used = 0
	for i := range w.jobs {
		for k := range w.jobs[i].tasks {
			if t := &w.jobs[i].tasks[k]; t.at == at && (t.state == running || t.state == paused) {
				t.state = waiting
			}
		}
	}
	for p := range w.links {
		if p.of == at || p.peer == at && w.isWorker(p.of) {
			delete(w.links, p)
		}
	}
	away := delay + w.late()
	w.after(away, 4, func() {
		n.down = false
		w.step(at, &agent.Input[M]{Kind: agent.Restarted})
	})
	for to := w.workers; to < w.whole.Parts(); to++ {
		life := n.life
		w.after(delay+w.jitter+w.late(), 4, func() {
			for w.views[pair{agent.Addr(to), at}] < life {
				w.tell(agent.Addr(to), at)
			}
		})
	}
}

// tell tells a part of a worker's crash.
func (w *world[M]) tell(to, worker agent.Addr) {
	w.views[pair{to, worker}]++
	delete(w.links, pair{to, worker})
	w.step(to, &agent.Input[M]{Kind: agent.Lost, From: worker})
}

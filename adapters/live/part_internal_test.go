package live

import (
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/hedgesched/hedge/adapters/live/internal/journal"
	"github.com/hedgesched/hedge/adapters/live/internal/pb"
	"github.com/hedgesched/hedge/sched/agent"
	"github.com/hedgesched/hedge/sched/kairos"
)

// set is a clock that stands where it is set.
type set struct{ now time.Time }

func (s *set) Now() time.Time                       { return s.now }
func (s *set) After(time.Duration) <-chan time.Time { return nil }

// central is Kairos's central scheduler with a journal, and what its workers do, which is the test's.
type central struct {
	t       *testing.T
	clock   *set
	part    *part
	sent    []*pb.Frame // what it has let out since it was looked at
	numbers map[int32]uint64
	lives   map[int32]uint32
	tasks   map[int32][]kairos.Message
	beats   map[int32]int32
	got     map[int32]int32
	jobs    int32
}

const centralWorkers = 3

func newCentral(t *testing.T, file string, clock *set) *central {
	t.Helper()
	k, err := kairos.New(kairos.Config{Workers: centralWorkers, Slots: 1, Queue: 2, Quantum: 5, Interval: 10, Seed: 7,
		Choice: kairos.Random})
	require.NoError(t, err)
	s := NewSystem("kairos", k, kairos.Codec{})
	fleet, err := Divide(s, "127.0.0.1:1")
	require.NoError(t, err)
	h := newHost(s, fleet, clock, nil)
	p := newPart(h, centralWorkers, 0, systemPart{s, centralWorkers})
	p.log, err = journal.Open(file, p.replay)
	require.NoError(t, err)
	return &central{t: t, clock: clock, part: p, numbers: map[int32]uint64{}, lives: map[int32]uint32{},
		tasks: map[int32][]kairos.Message{}, beats: map[int32]int32{}, got: map[int32]int32{}}
}

// commit lets out what the part has to say, to the test.
func (c *central) commit() {
	c.t.Helper()
	c.sent = append(c.sent, c.part.frames...)
	c.part.frames = c.part.frames[:0]
	require.NoError(c.t, c.part.commit())
}

// envelope is the next of a worker, or of the registrar.
func (c *central) envelope(from int32, msg []byte) *pb.Entry {
	c.numbers[from]++
	e := &pb.Envelope{From: from, To: centralWorkers, Number: c.numbers[from], Message: msg}
	if from >= 0 {
		e.FromLife = c.lives[from] + 1
	}
	return &pb.Entry{Of: &pb.Entry_Received{Received: e}}
}

// next is something that happens: a job comes, a worker finishes a task or crashes, an acknowledgement comes.
func (c *central) next(random *rand.Rand) []*pb.Entry {
	at := int32(random.IntN(centralWorkers))
	switch tasks := c.tasks[at]; {
	case random.IntN(12) == 0:
		delete(c.tasks, at)
		delete(c.numbers, at)
		c.beats[at], c.got[at] = 0, 0
		c.lives[at]++
		return []*pb.Entry{{Of: &pb.Entry_Lost{Lost: &pb.Life{At: at, Life: c.lives[at] + 1}}}}
	case len(tasks) > 0 && random.IntN(2) == 0:
		m := tasks[0]
		c.tasks[at] = tasks[1:]
		c.beats[at]++
		m.Kind = kairos.Finished
		beat := kairos.Message{Kind: kairos.Beat, Number: c.beats[at], Got: c.got[at],
			Load: kairos.Load{Tasks: int32(len(tasks) - 1)}}
		return []*pb.Entry{c.envelope(at, kairos.Codec{}.Append(nil, &m)), c.envelope(at, kairos.Codec{}.Append(nil, &beat))}
	case random.IntN(2) == 0:
		b, err := proto.Marshal(&pb.Order{Of: &pb.Order_Start{Start: &pb.Start{Id: c.jobs, Of: c.jobs,
			Tasks: int32(1 + random.IntN(4))}}})
		require.NoError(c.t, err)
		c.jobs++
		return []*pb.Entry{c.envelope(-1, b)}
	}
	return nil
}

// look takes what the part has sent: workers get the tasks, and acknowledge some.
func (c *central) look(random *rand.Rand) (acks []*pb.Entry) {
	for _, f := range c.sent {
		e := f.GetEnvelope()
		if e == nil || e.To < 0 || e.ToLife != c.lives[e.To]+1 {
			continue
		}
		m, err := kairos.Codec{}.Read(e.Message)
		require.NoError(c.t, err)
		c.tasks[e.To] = append(c.tasks[e.To], m)
		c.got[e.To]++
		if random.IntN(2) == 0 {
			acks = append(acks, &pb.Entry{Of: &pb.Entry_Acknowledged{Acknowledged: &pb.Ack{From: e.From, To: e.To,
				ToLife: e.ToLife, Number: e.Number}}})
		}
	}
	c.sent = nil
	return acks
}

// state is all that a part knows, but for what only its system's value has.
func (c *central) state() map[string]any {
	links := map[agent.Addr]any{}
	for peer, l := range c.part.links {
		links[peer] = append([]agent.Envelope[[]byte](nil), l.Outstanding()...)
	}
	return map[string]any{"now": c.part.now, "timers": append(timers(nil), c.part.timers...), "seq": c.part.seq,
		"links": links, "views": c.part.views, "held": c.part.host.system.parts.Held(centralWorkers)}
}

// A part that is made of its journal, at any time, is the part that wrote it, and goes on as that does.
func TestAJournalMakesThePartAgain(t *testing.T) {
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 3))
		file, clock := filepath.Join(t.TempDir(), "j"), &set{time.Unix(100, 0)}
		c := newCentral(t, file, clock)
		for step := range 120 {
			clock.now = clock.now.Add(time.Duration(random.IntN(8)))
			for _, e := range append(c.next(random), c.look(random)...) {
				e.Now = int64(c.part.host.now())
				c.part.happen(e)
			}
			c.part.fire()
			c.commit()
			if step%10 != 9 {
				continue
			}
			c.look(random)
			c.lives[0]++
			c.part.happen(&pb.Entry{Now: int64(c.part.host.now()),
				Of: &pb.Entry_Lost{Lost: &pb.Life{At: 0, Life: c.lives[0] + 1}}})
			delete(c.tasks, 0)
			delete(c.numbers, 0)
			c.beats[0], c.got[0] = 0, 0
			c.commit() // with all acknowledgements in it
			again := newCentral(t, file, clock)
			require.Equal(t, c.state(), again.state(), "seed %d, step %d", seed, step)
			require.NoError(t, c.part.log.Close())
			c.part = again.part
		}
		require.Positive(t, c.jobs)
		require.NoError(t, c.part.log.Close())
	}
}

// What is for another life, or came before, changes nothing; what is of a life that is news tells of the crash.
func TestLives(t *testing.T) {
	clock := &set{time.Unix(100, 0)}
	c := newCentral(t, filepath.Join(t.TempDir(), "j"), clock)
	beat := kairos.Codec{}.Append(nil, &kairos.Message{Kind: kairos.Beat, Number: 1})
	receive := func(fromLife, toLife uint32, number uint64) bool {
		return c.part.receive(&pb.Envelope{From: 1, FromLife: fromLife, To: centralWorkers, ToLife: toLife, Number: number,
			Message: beat})
	}
	assert.False(t, receive(1, 1, 1), "it has one life")
	assert.True(t, receive(1, 0, 1))
	assert.False(t, receive(1, 0, 1), "again")
	assert.Len(t, c.part.frames, 2, "both are acknowledged")
	assert.True(t, receive(3, 0, 1), "two crashes are news")
	assert.Equal(t, uint32(3), c.part.view(1))
	assert.False(t, receive(2, 0, 2), "of a life before")
	c.part.send(1, beat)
	c.part.acknowledged(&pb.Ack{From: centralWorkers, To: 1, ToLife: 2, Number: 1})
	assert.Len(t, c.part.links[1].Outstanding(), 1, "of a life before")
	c.part.frames = nil
	c.part.resend(false)
	assert.Empty(t, c.part.frames, "it was sent a moment ago")
	c.part.resend(false)
	assert.Len(t, c.part.frames, 1)
	c.part.acknowledged(&pb.Ack{From: centralWorkers, To: 1, ToLife: 3, Number: 1})
	assert.Empty(t, c.part.links[1].Outstanding())
	c.part.frames = nil
	c.part.send(99, beat)
	require.ErrorIs(t, c.part.commit(), ErrSystem)
	require.NoError(t, c.part.log.Close())
}

// What a worker may not ask of its slots is an error.
func TestSlots(t *testing.T) {
	c := newCentral(t, filepath.Join(t.TempDir(), "j"), &set{time.Unix(100, 0)})
	for name, ask := range map[string]func(p *part){
		"no worker": func(p *part) { p.at = centralWorkers; p.deed(agent.Launch, agent.Task{}) },
		"twice":     func(p *part) { p.deed(agent.Launch, agent.Task{}); p.deed(agent.Launch, agent.Task{}) },
		"not there": func(p *part) { p.deed(agent.Pause, agent.Task{}) },
		"was killed": func(p *part) {
			p.deed(agent.Launch, agent.Task{})
			p.deed(agent.Kill, agent.Task{})
			p.deed(agent.Resume, agent.Task{})
		},
	} {
		p := newPart(c.part.host, 0, 1, c.part.machine)
		ask(p)
		assert.ErrorIs(t, p.err, ErrSystem, name)
	}
	require.NoError(t, c.part.log.Close())
}

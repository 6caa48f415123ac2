package live

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/live/internal/pb"
	"github.com/hedgesched/hedge/sched/agent"
	"github.com/hedgesched/hedge/sched/kairos"
)

func newTestSystem(t *testing.T, workers int) *System {
	t.Helper()
	k, err := kairos.New(kairos.Config{Workers: workers, Quantum: 1, Interval: 1})
	require.NoError(t, err)
	return NewSystem("kairos", k, kairos.Codec{})
}

func (g *registrar) test(r *pb.Request) answer {
	var out agent.Output[[]byte]
	return g.ask(0, r, &out)
}

func joining(name string, capacity int, holds ...*pb.Life) *pb.Request {
	return &pb.Request{Of: &pb.Request_Join{Join: &pb.Hello{Name: name, Capacity: int32(capacity), Holds: holds}}}
}

func losing(name string) *pb.Request { return &pb.Request{Of: &pb.Request_Lose{Lose: name}} }

var settling = &pb.Request{Of: &pb.Request_Settle{Settle: true}}

// who is the workers' agents and lives, as text.
func (g *registrar) who() string {
	text := ""
	for at, o := range g.owner {
		text += fmt.Sprintf(" %s%d", o, g.lives[at])
	}
	return text
}

func TestWhoGetsWhichWorkers(t *testing.T) {
	g := newRegistrar(newTestSystem(t, 4))
	for _, step := range []struct {
		what *pb.Request
		want string
	}{
		{joining("b", 1), " b1 0 0 0"},
		{joining("a", 2), " b1 a1 a1 0"},
		{settling, " b1 a1 a1 a1"},                                  // the last goes to the first by name
		{joining("c", 1), " b1 a1 a1 c2"},                           // it takes what another had beyond its own
		{joining("c", 1, &pb.Life{At: 3, Life: 2}), " b1 a1 a1 c2"}, // it was away and still has it
		{joining("c", 1, &pb.Life{At: 3, Life: 1}), " b1 a1 a1 c3"}, // it has an older life
		{joining("c", 1), " b1 a1 a1 c4"},                           // it crashed
		{losing("a"), " b1 b2 c2 c4"},
		{losing("b"), " c2 c3 c2 c4"},
		{losing("c"), " 2 3 2 4"},
		{joining("a", 1), " a3 a4 a3 a5"}, // all is its own while there is nobody else
		{joining("d", 2), " a3 a4 d4 d6"},
	} {
		require.NoError(t, g.test(step.what).err)
		require.Equal(t, step.want, g.who())
	}
}

// Whoever comes and goes: lives do not fall, and a worker that changes its agent begins another life. Once it is
// settled, all workers are with agents that are there, if any is, and these have what they asked for where that is
// possible.
func TestWorkersAreAlwaysSomewhere(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 0))
		g := newRegistrar(newTestSystem(t, 1+random.IntN(8)))
		there := map[string]int{}
		for range 60 {
			owner, lives := append([]string(nil), g.owner...), append([]uint32(nil), g.lives...)
			name := string(rune('a' + random.IntN(5)))
			switch random.IntN(4) {
			case 0:
				delete(there, name)
				g.test(losing(name))
			case 1:
				g.test(settling)
			default:
				if _, ok := there[name]; !ok {
					there[name] = 1 + random.IntN(3)
				}
				g.test(joining(name, there[name], g.has(name)...))
			}
			for at := range owner {
				require.GreaterOrEqual(t, g.lives[at], lives[at])
				if g.owner[at] != owner[at] && g.owner[at] != "" {
					require.Greater(t, g.lives[at], lives[at])
				}
				if g.settled && len(there) > 0 {
					require.Contains(t, there, g.owner[at])
				}
			}
			wanted := 0
			for _, n := range there {
				wanted += n
			}
			for name, n := range there {
				if has := g.count(name); g.settled && wanted <= len(owner) {
					require.GreaterOrEqual(t, has, n, "seed %d: %s in%s", seed, name, g.who())
				}
			}
		}
	}
}

func TestTheRegistrarIgnoresNonsense(t *testing.T) {
	g := newRegistrar(newTestSystem(t, 1))
	var out agent.Output[[]byte]
	done := func(id int32) {
		p := &part{host: newHost(g.system, Fleet{}, nil, nil), at: 0, links: map[agent.Addr]*agent.Link[[]byte]{}}
		p.order(&pb.Order{Of: &pb.Order_Done{Done: id}})
		g.step(0, &agent.Input[[]byte]{Kind: agent.Received, Msg: p.frames[0].GetEnvelope().Message}, &out)
	}
	done(0)
	done(-1)
	g.step(0, &agent.Input[[]byte]{Kind: agent.Received, Msg: []byte{255}}, &out)
	g.step(0, &agent.Input[[]byte]{Kind: agent.Lost}, &out)
	assert.Empty(t, out.Actions)
	_, err := g.submission(nil)
	require.ErrorIs(t, err, ErrSystem)
}

// A part is told what a job's attributes are and when the registrar handed it in, in the same bytes each time.
func TestAttributesReachTheSystem(t *testing.T) {
	told := func() []byte {
		g := newRegistrar(newTestSystem(t, 1))
		var out agent.Output[[]byte]
		attributes := map[string]string{}
		for i := range 20 {
			attributes[fmt.Sprint("a", i)] = fmt.Sprint(i)
		}
		j := &pb.Job{Name: "j", Tasks: 2, Estimate: 3, Long: true, Attributes: attributes}
		require.NoError(t, g.ask(5, &pb.Request{Of: &pb.Request_Submit{Submit: j}}, &out).err)
		require.Len(t, out.Actions, 1)
		return out.Actions[0].Msg
	}
	msg := told()
	j, err := systemPart{}.submission(msg)
	require.NoError(t, err)
	assert.Len(t, j.Attributes, 20)
	assert.Equal(t, "7", j.Attributes["a7"])
	j.Attributes = nil
	assert.Equal(t, &agent.Job{Tasks: 2, Estimate: 3, Long: true, Submitted: 5}, j)
	for range 5 {
		assert.Equal(t, msg, told())
	}
}

package live

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched/agent"
	"github.com/hedgesched/hedge/sched/bigc"
	"github.com/hedgesched/hedge/sched/eagle"
	"github.com/hedgesched/hedge/sched/kairos"
	"github.com/hedgesched/hedge/sched/pigeon"
	"github.com/hedgesched/hedge/sched/slearn"
)

// Whatever message comes from whomever, a step ends without a panic, and what it sends is for parts that are there.
func TestNonsenseIsDropped(t *testing.T) {
	systems := map[string]func() (*System, error){
		"pigeon": func() (*System, error) {
			s, err := pigeon.New(pigeon.Config{Workers: 6, Group: 3, Reserved: 1})
			return NewSystem("pigeon", s, pigeon.Codec{}), err
		},
		"big-c": func() (*System, error) {
			s, err := bigc.New(bigc.Config{Workers: 6, ShortShare: 50})
			return NewSystem("big-c", s, bigc.Codec{}), err
		},
		"kairos": func() (*System, error) {
			s, err := kairos.New(kairos.Config{Workers: 6, Queue: 2, Quantum: time.Second, Interval: time.Second})
			return NewSystem("kairos", s, kairos.Codec{}), err
		},
		"gs-las": func() (*System, error) {
			c := slearn.Config{Workers: 6}
			if err := slearn.LAS.Configure(&c, &slearn.Knowledge{ThinLimit: 3}); err != nil {
				return nil, err
			}
			s, err := slearn.New(c)
			return NewSystem("gs-las", s, slearn.Codec{}), err
		},
	}
	for _, name := range eagle.Names() {
		systems[name] = func() (*System, error) {
			v, err := eagle.Named(name)
			if err != nil {
				return nil, err
			}
			s, err := eagle.New(eagle.Config{Switches: v, Workers: 6, ShortShare: 20, Heartbeat: time.Second})
			return NewSystem(name, s, eagle.Codec{}), err
		}
	}
	for name, made := range systems {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(3) {
				s, err := made()
				require.NoError(t, err)
				r := rand.New(rand.NewPCG(seed, 1))
				taken := 0
				for id := range int32(3) {
					nonsense(t, s, r, &agent.Job{ID: id, Of: id, Tasks: 4, Estimate: time.Second, Long: id == 1})
					for range 5000 {
						taken += nonsense(t, s, r, nil)
					}
				}
				require.Greater(t, taken, 40, "messages that the codec takes")
			}
		})
	}
}

// nonsense submits a job, or gives a random part a random message; it counts the messages that the codec took.
func nonsense(t *testing.T, s *System, r *rand.Rand, job *agent.Job) int {
	in := agent.Input[[]byte]{Kind: agent.Received, From: agent.Addr(r.IntN(s.Parts()))}
	at := agent.Addr(r.IntN(s.Parts()))
	if job != nil {
		in.Kind, in.Job = agent.Submitted, job
		at = s.parts.Entry(job)
	} else {
		in.Msg = []byte{1, byte(r.IntN(14)), byte(r.IntN(4)), byte(r.IntN(2))}[:2+r.IntN(3)]
		for range 4 + r.IntN(8) {
			n := int64(r.IntN(8) - 2)
			if r.IntN(20) == 0 {
				n = int64(r.Int32()) - 1<<30
			}
			in.Msg = agent.AppendNumbers(in.Msg, n)
		}
		if s.read(in.Msg) != nil {
			return 0
		}
	}
	var out agent.Output[[]byte]
	s.step(at, time.Second, &in, &out)
	for _, a := range out.Actions {
		assert.False(t, a.Do == agent.Send && (a.To < 0 || int(a.To) >= s.Parts()), "a message to part %d", a.To)
	}
	return 1
}

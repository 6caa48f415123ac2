package live

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/hedgesched/hedge/adapters/live/internal/pb"
	"github.com/hedgesched/hedge/sched/agent"
)

// registrar is the part of the first dispatch that keeps the jobs and knows which agent has which worker. Like every
// part, it is restored from its journal.
type registrar struct {
	system *System
	era    int64
	ids    map[string]int32
	jobs   []record
	agents []member // sorted by name
	owner  []string // agent of each worker; empty for none
	lives  []uint32 // life of each worker; 0 before the first
	// settled is set once workers without an agent may be given to agents that did not ask for them.
	settled bool
	known   map[int32]bool // dispatches that have had the era, counted from 1
	// expected are the agents that were present at the end of the journal.
	expected []string
	touched  []int32 // jobs changed since the last publish
	moved    bool    // owners or lives changed since agents were told

	mu      sync.Mutex // guards the fields below, read by others: copies of what is on the disk
	states  []record
	names   map[string]int32
	changed chan struct{} // closed when a job changes
}

// record is a job.
type record struct {
	job   *pb.Job
	of    int32
	state *pb.JobState
	then  []int32 // jobs that are submitted when it is done
}

// member is an agent, and the number of workers that it asked for.
type member struct {
	name     string
	capacity int
	present  bool
}

func newRegistrar(s *System) *registrar {
	return &registrar{system: s, ids: map[string]int32{}, known: map[int32]bool{}, owner: make([]string, s.Workers()),
		lives: make([]uint32, s.Workers()), names: map[string]int32{}, changed: make(chan struct{})}
}

func (g *registrar) submission([]byte) (*agent.Job, error) { return nil, ErrSystem }

// step takes messages of the other parts.
func (g *registrar) step(now time.Duration, in *agent.Input[[]byte], out *agent.Output[[]byte]) {
	var o pb.Order
	if in.Kind != agent.Received || proto.Unmarshal(in.Msg, &o) != nil {
		return
	}
	switch of := o.Of.(type) {
	case *pb.Order_Done:
		g.done(now, of.Done, out)
	case *pb.Order_Failed:
		if j := of.Failed.Job; j >= 0 && int(j) < len(g.jobs) {
			g.jobs[j].state.Failed++
			g.touched = append(g.touched, j)
		}
	}
}

func (g *registrar) done(now time.Duration, id int32, out *agent.Output[[]byte]) {
	if id < 0 || int(id) >= len(g.jobs) || g.jobs[id].state.Done {
		return
	}
	g.jobs[id].state.Done, g.jobs[id].state.Ended = true, int64(now)
	g.touched = append(g.touched, id)
	for _, next := range g.jobs[id].then {
		g.begin(now, next, out)
	}
	g.jobs[id].then = nil
}

// begin submits a job to the part that the system names for it.
func (g *registrar) begin(now time.Duration, id int32, out *agent.Output[[]byte]) {
	r := &g.jobs[id]
	r.state.Submitted = int64(now)
	g.touched = append(g.touched, id)
	start := &pb.Start{Id: id, Of: r.of, Tasks: r.job.Tasks, Estimate: r.job.Estimate, Long: r.job.Long,
		Attributes: r.job.Attributes, Submitted: int64(now)}
	// A restored registrar sends the same bytes again, also of attributes.
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(&pb.Order{Of: &pb.Order_Start{Start: start}})
	if err != nil {
		return // not reached: what was unmarshalled can be marshalled
	}
	out.Send(g.system.parts.Entry(submission(start)), &b)
}

// ask handles a request of a client, of an agent or of the dispatch itself.
func (g *registrar) ask(now time.Duration, r *pb.Request, out *agent.Output[[]byte]) answer {
	switch of := r.Of.(type) {
	case *pb.Request_Found:
		g.era = of.Found
	case *pb.Request_Submit:
		return g.submit(now, of.Submit, out)
	case *pb.Request_Join:
		if of.Join.Dispatch > 0 {
			return g.admit(of.Join)
		}
		g.join(of.Join)
		g.moved = true
	case *pb.Request_Lose:
		g.lose(of.Lose)
		g.moved = true
	case *pb.Request_Settle:
		g.settled = true
		g.spread()
		g.moved = true
	}
	return answer{}
}

// admit refuses a dispatch that had the era before and does not have it now.
func (g *registrar) admit(h *pb.Hello) answer {
	if h.Era != 0 {
		g.known[h.Dispatch] = true
	} else if g.known[h.Dispatch] {
		return answer{err: fmt.Errorf("%w: dispatch %d was there before and its folder is empty", ErrFleet, h.Dispatch-1)}
	}
	return answer{}
}

func (g *registrar) submit(now time.Duration, j *pb.Job, out *agent.Output[[]byte]) answer {
	if id, ok := g.ids[j.Name]; ok {
		if !proto.Equal(g.jobs[id].job, j) {
			return answer{err: fmt.Errorf("%w: name %q is taken by another job", ErrJob, j.Name)}
		}
		return answer{id: id}
	}
	id := int32(len(g.jobs))
	r := record{job: j, of: id, state: &pb.JobState{Id: id}}
	before, follows := int32(-1), j.After != ""
	if follows {
		known, ok := g.ids[j.After]
		if !ok {
			return answer{err: fmt.Errorf("%w: %q comes after %q, which is not there", ErrJob, j.Name, j.After)}
		}
		before, r.of = known, g.jobs[known].of
	}
	g.jobs = append(g.jobs, r)
	g.ids[j.Name] = id
	g.touched = append(g.touched, id)
	if follows && !g.jobs[before].state.Done {
		g.jobs[before].then = append(g.jobs[before].then, id)
	} else {
		g.begin(now, id, out)
	}
	return answer{id: id}
}

// publish updates the copies that others read. It is called when the changes are on the disk.
func (g *registrar) publish() {
	if len(g.touched) == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, id := range g.touched {
		r := record{job: g.jobs[id].job, state: proto.Clone(g.jobs[id].state).(*pb.JobState)}
		if int(id) < len(g.states) {
			g.states[id] = r
			continue
		}
		g.states = append(g.states, r)
		g.names[r.job.Name] = id
	}
	g.touched = g.touched[:0]
	close(g.changed)
	g.changed = make(chan struct{})
}

// inspect returns the state of a job as it is on the disk; nil if there is none. The channel is closed when any job
// changes.
func (g *registrar) inspect(name string) (*pb.JobState, <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	id, ok := g.names[name]
	if !ok {
		return nil, g.changed
	}
	return g.states[id].state, g.changed
}

func (g *registrar) fetch(id int32) *pb.Job {
	g.mu.Lock()
	defer g.mu.Unlock()
	if id < 0 || int(id) >= len(g.states) {
		return nil
	}
	return g.states[id].job
}

// join takes in an agent. The agent keeps those of its workers that it still runs; its other workers begin another
// life. If these are fewer than it asked for, it gets workers without an agent, then surplus workers of other agents.
func (g *registrar) join(h *pb.Hello) {
	m := g.member(h.Name)
	m.capacity, m.present = int(h.Capacity), true
	keeps := map[int32]uint32{}
	if h.Era == g.era {
		for _, l := range h.Holds {
			keeps[l.At] = l.Life
		}
	}
	has := 0
	for at := range g.owner {
		switch {
		case g.owner[at] == h.Name:
			if keeps[int32(at)] != g.lives[at] {
				g.lives[at]++
			}
			has++
		case g.owner[at] == "" && has < m.capacity:
			g.give(at, h.Name)
			has++
		}
	}
	for ; has < m.capacity; has++ {
		at := g.surplus()
		if at < 0 {
			break
		}
		g.give(at, h.Name)
	}
	g.spread()
}

func (g *registrar) member(name string) *member {
	i, ok := slices.BinarySearchFunc(g.agents, name, func(m member, name string) int {
		switch {
		case m.name < name:
			return -1
		case m.name > name:
			return 1
		}
		return 0
	})
	if !ok {
		g.agents = slices.Insert(g.agents, i, member{name: name})
	}
	return &g.agents[i]
}

func (g *registrar) give(at int, name string) {
	g.owner[at] = name
	g.lives[at]++
}

// surplus is the last worker of the agent with the largest surplus over what it asked for; -1 if there is none.
func (g *registrar) surplus() int {
	most, of := 0, ""
	for i := range g.agents {
		if n := g.count(g.agents[i].name) - g.agents[i].capacity; n > most {
			most, of = n, g.agents[i].name
		}
	}
	if most == 0 {
		return -1
	}
	for at := len(g.owner) - 1; at >= 0; at-- {
		if g.owner[at] == of {
			return at
		}
	}
	return -1
}

func (g *registrar) count(name string) int {
	n := 0
	for _, o := range g.owner {
		if o == name {
			n++
		}
	}
	return n
}

// lose takes all workers from an agent that is gone.
func (g *registrar) lose(name string) {
	g.member(name).present = false
	for at := range g.owner {
		if g.owner[at] == name {
			g.owner[at] = ""
		}
	}
	g.spread()
}

// spread gives each worker without an agent to the present agent with the smallest surplus.
func (g *registrar) spread() {
	if !g.settled {
		return
	}
	for at := range g.owner {
		if g.owner[at] != "" {
			continue
		}
		to, least := "", 0
		for i := range g.agents {
			if m := &g.agents[i]; m.present {
				if n := g.count(m.name) - m.capacity; to == "" || n < least {
					to, least = m.name, n
				}
			}
		}
		if to == "" {
			return
		}
		g.give(at, to)
	}
}

// has returns an agent's workers and their lives.
func (g *registrar) has(name string) []*pb.Life {
	var list []*pb.Life
	for at, o := range g.owner {
		if o == name {
			list = append(list, &pb.Life{At: int32(at), Life: g.lives[at]})
		}
	}
	return list
}

// present are the names of the agents that are present, as far as the registrar knows.
func (g *registrar) present() []string {
	var names []string
	for i := range g.agents {
		if g.agents[i].present {
			names = append(names, g.agents[i].name)
		}
	}
	return names
}

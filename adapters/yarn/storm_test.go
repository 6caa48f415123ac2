package yarn

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/adaptertest"
)

var (
	storms = flag.Int("storms", 3,
		"how many random schedules TestStorm runs on the real cluster, and TestStormFake if they are more than five")
	firstSeed = flag.Uint64("storm", 1, "the seed of the first of them")
)

// TestStorm runs random schedules, some concurrently, each on its own cluster. Schedulers die at any call, NodeManagers
// and the ResourceManager are killed with -9, nodes lose power, and more; see [adaptertest.Storm].
func TestStorm(t *testing.T) {
	if *storms == 0 {
		t.Skip("-storms is 0")
	}
	t.Parallel()
	for i := range *storms {
		seed := *firstSeed + uint64(i)
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			adaptertest.Storm(t, newRough, seed)
		})
	}
}

// rough is a world whose NodeManagers crash from time to time and are restarted at once, as by systemd. Their
// containers go on, and they find them again.
type rough struct {
	*world
	rng      *rand.Rand
	starting map[string]bool // nodes whose NodeManagers have crashed and are not back yet, by id
	read     int64           // of the ResourceManager's log
	lost     []loss
}

// loss is when the ResourceManager gave up a node.
type loss struct {
	node string
	at   time.Time
}

func newRough(t testing.TB, s adaptertest.Shape) adaptertest.World {
	r := &rough{world: makeWorld(t, s, lossy), starting: map[string]bool{}, rng: rand.New(rand.NewPCG(s.Seed, 0x7961726e))}
	// nodes are taken from gangs that are starting, and nothing else may happen until the gangs give up
	r.gangs = 90 * time.Second
	r.traits.Missing[adaptertest.FailStarts] = "nodes that shrink are operators' doing there"
	info, err := os.Stat(r.managerLog())
	require.NoError(t, err)
	r.read = info.Size()
	return r
}

// Pass makes a NodeManager crash at random. The scheduler goes on while it restarts.
func (r *rough) Pass(t testing.TB) {
	r.world.Pass(t)
	for _, id := range sortedKeys(r.starting) {
		r.started(t, id)
	}
	id := r.traits.Nodes[r.rng.IntN(len(r.traits.Nodes))]
	if r.rng.Float64() > 0.015 || r.down[id] || r.away || r.starting[id] {
		return
	}
	r.YARN.Kill(r.names[id])
	require.NoError(t, r.Begin(r.names[id]))
	r.starting[id] = true
	t.Logf("%s: the NodeManager of %s has crashed", time.Now().Format(time.TimeOnly), id)
}

// started reports whether a crashed NodeManager is back. By then it has reported its node's original resources.
func (r *rough) started(t testing.TB, id string) bool {
	if r.away || r.Ready(context.Background(), r.names[id]) != nil {
		return false
	}
	if n := r.realNode(id); n == nil || !n.up() {
		return false
	}
	delete(r.starting, id)
	if r.small[id] {
		r.resize(t, id, 1, 1, never)
	}
	return true
}

// Do logs when it does a deed, for whoever reads a failure. Operators do nothing to a node that is just coming back,
// except cutting its power.
func (r *rough) Do(t testing.TB, d adaptertest.Deed) {
	from := time.Now()
	if d.Do == adaptertest.Kill {
		delete(r.starting, d.Node)
	}
	if r.starting[d.Node] && !r.away {
		r.wait(t, "the node is back", func() bool { return r.started(t, d.Node) })
	}
	r.world.Do(t, d)
	t.Logf("%s: %s %s%s %d, in %v", from.Format(time.TimeOnly), d.Do, d.Node, d.Job, d.Slots,
		time.Since(from).Round(time.Millisecond))
}

var givenUp = regexp.MustCompile(`(?m)^(\S+ \S+) INFO \S+ Deactivating Node (\S+) as it is now LOST$`)

// losses reads from which nodes the ResourceManager has heard nothing for too long.
func (r *rough) losses(t testing.TB) {
	log, err := os.Open(r.managerLog())
	require.NoError(t, err)
	defer log.Close()
	_, err = log.Seek(r.read, io.SeekStart)
	require.NoError(t, err)
	text, err := io.ReadAll(log)
	require.NoError(t, err)
	end := 0
	for _, m := range givenUp.FindAllSubmatchIndex(text, -1) {
		at, err := time.ParseInLocation("2006-01-02 15:04:05,000", string(text[m[2]:m[3]]), time.Local)
		require.NoError(t, err)
		r.lost = append(r.lost, loss{string(text[m[4]:m[5]]), at})
		end = m[1]
	}
	r.read += int64(end)
}

// Records are the world's, but a task on a node that the ResourceManager gave up does not count from then on. It may go
// on until its NodeManager is back. That happens if a machine is so busy that a node is silent for a minute.
func (r *rough) Records(t testing.TB) []adaptertest.Record {
	out := r.world.Records(t)
	r.losses(t)
	fenced(out, r.lost)
	return out
}

func fenced(records []adaptertest.Record, lost []loss) {
	for i := range records {
		k := &records[i]
		for _, l := range lost {
			if l.node == k.Node && k.Placed.Before(l.at) && (k.Ended.IsZero() || k.Ended.After(l.at)) {
				k.Ended, k.State = l.at, adapters.Lost
			}
		}
	}
}

// TestFenced: what ended before its node was given up, or began after, is unchanged.
func TestFenced(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	records := []adaptertest.Record{
		{Node: "a", Placed: at(1), Ended: at(4), State: adapters.Finished},
		{Node: "a", Placed: at(1), Ended: at(9), State: adapters.Finished},
		{Node: "a", Placed: at(1), State: adapters.Running}, {Node: "b", Placed: at(1), State: adapters.Running},
		{Node: "a", Placed: at(6), State: adapters.Running},
	}
	fenced(records, []loss{{"a", at(5)}})
	assert.Equal(t, []adaptertest.Record{
		{Node: "a", Placed: at(1), Ended: at(4), State: adapters.Finished},
		{Node: "a", Placed: at(1), Ended: at(5), State: adapters.Lost},
		{Node: "a", Placed: at(1), Ended: at(5), State: adapters.Lost}, {Node: "b", Placed: at(1), State: adapters.Running},
		{Node: "a", Placed: at(6), State: adapters.Running},
	}, records)
}

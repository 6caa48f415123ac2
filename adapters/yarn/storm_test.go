package yarn

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/adaptertest"
	"github.com/hedgesched/hedge/adapters/testservers"
)

var (
	storms    = flag.Int("storms", 0, "how many random schedules TestStorm runs on the real cluster, and TestStormFake if they are more than five")
	firstSeed = flag.Uint64("storm", 1, "the seed of the first of them")
)

// TestStorm is run by hand, since each schedule takes minutes. Schedulers die at any call, NodeManagers and the ResourceManager are killed with -9, nodes lose
// their power, and more (see [adaptertest.Storm]).
func TestStorm(t *testing.T) {
	if *storms == 0 {
		t.Skip("-storms is 0")
	}
	for i := range *storms {
		seed := *firstSeed + uint64(i)
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { adaptertest.Storm(t, newRough, seed) })
	}
}

// rough is a world whose NodeManagers crash now and then, and are started again at once, as by systemd. What they run goes on, and they find it again.
type rough struct {
	*world
	rng  *rand.Rand
	read int64 // of the ResourceManager's log
	lost []loss
}

// loss is when the ResourceManager gave a node up.
type loss struct {
	node string
	at   time.Time
}

func newRough(t testing.TB, s adaptertest.Shape) adaptertest.World {
	r := &rough{world: newWorld(t, s).(*world), rng: rand.New(rand.NewPCG(s.Seed, 0x7961726e))}
	info, err := os.Stat(r.managerLog())
	require.NoError(t, err)
	r.read = info.Size()
	return r
}

func (r *rough) managerLog() string { return filepath.Join(r.dir, testservers.ResourceManager+".log") }

// Pass lets a NodeManager crash by chance.
func (r *rough) Pass(t testing.TB) {
	r.world.Pass(t)
	id := r.traits.Nodes[r.rng.IntN(len(r.traits.Nodes))]
	if r.rng.Float64() > 0.05 || r.down[id] || r.away {
		return
	}
	r.YARN.Kill(r.names[id])
	require.NoError(t, r.Start(context.Background(), r.names[id]))
	if r.small[id] {
		wait(t, "the node is back", func() bool { n := r.realNode(id); return n != nil && n.up() })
		r.resize(t, id, 1, 1, -1)
	}
	t.Logf("%s: the NodeManager of %s has crashed", time.Now().Format(time.TimeOnly), id)
}

var givenUp = regexp.MustCompile(`(?m)^(\S+ \S+) INFO \S+ Deactivating Node (\S+) as it is now LOST$`)

// Do tells when it does it, for whoever reads a failure.
func (r *rough) Do(t testing.TB, d adaptertest.Deed) {
	from := time.Now()
	r.world.Do(t, d)
	t.Logf("%s: %s %s%s %d, in %v", from.Format(time.TimeOnly), d.Do, d.Node, d.Job, d.Slots, time.Since(from).Round(time.Millisecond))
}

// losses reads of which nodes the ResourceManager has heard nothing for too long.
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

// Records are the world's, but that what ran on a node when the ResourceManager gave it up does not count from then on: it may go on until its NodeManager is back, which
// happens where a machine is so busy that a node is not heard of for a minute.
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

// TestFenced: what ended before its node was given up, or began after, stays as it is.
func TestFenced(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	records := []adaptertest.Record{
		{Node: "a", Placed: at(1), Ended: at(4), State: adapters.Finished}, {Node: "a", Placed: at(1), Ended: at(9), State: adapters.Finished},
		{Node: "a", Placed: at(1), State: adapters.Running}, {Node: "b", Placed: at(1), State: adapters.Running}, {Node: "a", Placed: at(6), State: adapters.Running},
	}
	fenced(records, []loss{{"a", at(5)}})
	assert.Equal(t, []adaptertest.Record{
		{Node: "a", Placed: at(1), Ended: at(4), State: adapters.Finished}, {Node: "a", Placed: at(1), Ended: at(5), State: adapters.Lost},
		{Node: "a", Placed: at(1), Ended: at(5), State: adapters.Lost}, {Node: "b", Placed: at(1), State: adapters.Running}, {Node: "a", Placed: at(6), State: adapters.Running},
	}, records)
}

package bench

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// racers is a program that answers like hedge solve for engines of different quality. What the problem's name begins
// with says who does what, and it writes down who began and ended.
const racers = `#!/bin/sh
while [ $# -gt 0 ]; do
	case $1 in --plans) plans=$2;; --engine) engine=$2;; --problem) problem=$(basename $2 .json);; esac
	shift
done
dir=$(dirname "$0")
echo "begin $engine" >>"$dir/order"
stop=time
case $problem/$engine in
both/native|late/native) echo '{"t_ms":5,"objective":4}
{"t_ms":20,"objective":8}
{"t_ms":400,"objective":9}';;
both/slow|late/slow) echo '{"t_ms":300,"objective":5}
{"t_ms":1500,"objective":8}
{"t_ms":1900,"objective":8}';;
both/quick) stop=optimal; echo '{"t_ms":700,"objective":7.9}
{"t_ms":1000,"objective":8}';;
late/quick) echo '{"t_ms":700,"objective":10}';;
alone/native) echo '{"t_ms":0,"objective":0}
{"t_ms":10,"objective":3}';;
esac >"$plans"
test $problem/$engine != alone/slow || { echo "hedge: no service" >&2; exit 1; }
echo '{"engine":"x","stop":"'$stop'","objective":9,"gap":null,"bound":null,"wall_ms":2000,"choice":{},"preempt":[]}'
echo "end $engine" >>"$dir/order"
`

// race runs the racers on problems of these names.
func race(t *testing.T, parallel int, names ...string) (problems []Problem, order string) {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "hedge")
	require.NoError(t, os.WriteFile(program, []byte(racers), 0o755))
	spec := &Spec{Program: program, Engines: []string{"slow", "native", "quick"},
		At:      []time.Duration{time.Second, 2 * time.Second},
		Threads: []int{1}, Splits: "integer", Reach: "native", Parallel: parallel}
	for _, name := range names {
		path := filepath.Join(dir, name+".json")
		require.NoError(t, os.WriteFile(path,
			[]byte(`{"slot_seconds":1,"slots":1,"resources":["node"],"partitions":[{"name":"r","nodes":2}],
"capacity":[[[2]]],"jobs":[{"id":"a","options":[{"set":"any","start":0,"count":1,"demand":[1],"partitions":[0],"usage":[1],"value":3}]}]}`), 0o644))
		spec.Problems = append(spec.Problems, path)
	}
	problems, err := Do(context.Background(), spec, func(int, string) {})
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(dir, "order"))
	require.NoError(t, err)
	return problems, string(text)
}

func TestReach(t *testing.T) {
	problems, order := race(t, 1, "both", "late", "alone", "nobody")
	require.Len(t, problems, 4)
	assert.Contains(t, order, "begin slow\nend slow\nbegin quick\nend quick\nbegin native\nend native\n",
		"one after the other, native last")
	assert.Equal(t, []string{"slow", "native", "quick"}, []string{problems[0].Runs[0].Engine, problems[0].Runs[1].Engine,
		problems[0].Runs[2].Engine}, "as given")

	both := problems[0].Reach
	assert.Equal(t, "quick", both.Rival, "had it first")
	assert.Equal(t, 8.0, *both.Target)
	assert.Equal(t, 1000.0, *both.RivalMS)
	assert.Equal(t, 1000.0, both.GivenMS, "it had proven it and ended")
	assert.Equal(t, 20.0, *both.MS)
	assert.InDelta(t, 50, *both.Speedup, 1e-9)
	assert.InDelta(t, 50, *both.SpeedupGiven, 1e-9)
	assert.Empty(t, both.Censored)

	late := problems[1].Reach
	assert.Equal(t, "engine", late.Censored)
	assert.Nil(t, late.MS)
	assert.InDelta(t, 0.35, *late.Speedup, 1e-9, "at most 700 ms over 2 s")
	assert.InDelta(t, 1, *late.SpeedupGiven, 1e-9)

	alone := problems[2].Reach
	assert.Equal(t, "rivals", alone.Censored)
	assert.Nil(t, alone.Target)
	assert.Nil(t, alone.RivalMS)
	assert.Equal(t, 10.0, *alone.MS, "a plan worth nothing is none")
	assert.InDelta(t, 200, *alone.Speedup, 1e-9)
	assert.Equal(t, []string{"slow"}, alone.Failed)

	nobody := problems[3].Reach
	assert.Nil(t, nobody.Speedup)
	assert.Empty(t, nobody.Censored)

	s := Summary(problems)
	assert.Equal(t, 3, s.Problems)
	assert.Equal(t, 1, s.NoRival)
	assert.Equal(t, 1, s.NotReached)
	assert.InDelta(t, math.Cbrt(50*0.35*200), *s.Speedup, 1e-9)
	assert.InDelta(t, math.Cbrt(50*1*200), *s.SpeedupGiven, 1e-9)
	_, err := json.Marshal(s)
	require.NoError(t, err)
}

// TestReachWithoutAProof: a rival that goes on to the limit is given its whole time in the second quotient.
func TestReachWithoutAProof(t *testing.T) {
	spec := &Spec{Reach: "native", At: []time.Duration{time.Second}}
	runs := []Run{{Engine: "native", Objective: make([]*float64, 1)},
		{Engine: "other", Stop: "time", Objective: make([]*float64, 1)}}
	runs[0].add(plan{MS: 0, Objective: 2}, spec.At)
	runs[1].add(plan{MS: 250, Objective: 2 * (1 + 1e-12)}, spec.At)
	r := reach(spec, runs)
	assert.Equal(t, 250/leastMS, *r.Speedup, "but for rounding as good, and no division by zero")
	assert.Equal(t, 1000/leastMS, *r.SpeedupGiven)
	assert.Equal(t, 1000.0, r.GivenMS)
}

// TestReachWithinTheGap: who may stop within a gap need not better that, and neither need the others.
func TestReachWithinTheGap(t *testing.T) {
	at := []time.Duration{time.Second}
	for _, c := range []struct {
		gap          float64
		mine, theirs *float64
	}{
		{0.01, pointer(20), pointer(100)},
		{0.0001, pointer(30), pointer(250)},
		{0, nil, pointer(250)},
		{-1, nil, pointer(250)},
	} {
		runs := []Run{{Engine: "native", Stop: "gap", Objective: make([]*float64, 1)},
			{Engine: "other", Stop: "time", Objective: make([]*float64, 1)}}
		runs[0].add(plan{MS: 10, Objective: 98}, at)
		runs[0].add(plan{MS: 20, Objective: 99.5}, at)
		runs[0].add(plan{MS: 30, Objective: 99.9999}, at)
		runs[1].add(plan{MS: 100, Objective: 99.2}, at)
		runs[1].add(plan{MS: 250, Objective: 100}, at)
		r := reach(&Spec{Reach: "native", Gap: c.gap, At: at}, runs)
		assert.Equal(t, c.mine, r.MS, "gap %v", c.gap)
		assert.Equal(t, c.theirs, r.RivalMS, "gap %v", c.gap)
		assert.Equal(t, 100.0, *r.Target)
	}
}

func pointer(v float64) *float64 { return &v }

// TestRivalsSideBySide: native begins when all others have ended, whatever their order.
func TestRivalsSideBySide(t *testing.T) {
	problems, order := race(t, 2, "both")
	assert.Regexp(t, "(?s)end (slow|quick)\nbegin native\nend native\n$", order)
	assert.InDelta(t, 50, *problems[0].Reach.Speedup, 1e-9)
}

func TestSummaryOfNothing(t *testing.T) {
	assert.Nil(t, Summary([]Problem{{}}))
	assert.Nil(t, Summary([]Problem{{Reach: &Reach{}}}).Speedup)
}

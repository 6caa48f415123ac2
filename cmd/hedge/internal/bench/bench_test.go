package bench

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fake is a program that answers like hedge solve, after it has written plans.
const fake = `#!/bin/sh
while [ $# -gt 0 ]; do
	case $1 in --plans) plans=$2;; --engine) engine=$2;; --work) work=$2;; esac
	shift
done
test "$engine" != broken || { echo "hedge: boom" >&2; exit 1; }
if [ -n "$work" ]; then
	echo '{"engine":"x","stop":"iterations","objective":'$((work/10))',"bound":20,"gap":0.5,"wall_ms":3,"work":'$((work-1))',"choice":{},"preempt":[]}'
	exit
fi
cat >"$plans" <<END
{"t_ms":50,"objective":5,"bound":null}
{"t_ms":150,"objective":8,"bound":10}
{"t_ms":1020,"objective":9,"bound":10}
END
echo '{"engine":"x","stop":"time","objective":9,"bound":10,"gap":0.1,"wall_ms":1020,"choice":{},"preempt":[]}'
`

// files are the fake program and a problem for it.
func files(t *testing.T) (program, problem string) {
	t.Helper()
	dir := t.TempDir()
	program, problem = filepath.Join(dir, "hedge"), filepath.Join(dir, "small.json")
	require.NoError(t, os.WriteFile(program, []byte(fake), 0o755))
	require.NoError(t, os.WriteFile(problem,
		[]byte(`{"slot_seconds":1,"slots":1,"resources":["node"],"partitions":[{"name":"r","nodes":2}],"capacity":[[[2]]],
"jobs":[{"id":"a","options":[{"set":"any","start":0,"count":1,"demand":[1],"partitions":[0],"usage":[1],"value":3}]}]}`), 0o644))
	return program, problem
}

func TestWhatWasInHandWithinLimitsOfWork(t *testing.T) {
	program, problem := files(t)
	spec := &Spec{Program: program, Problems: []string{problem}, Engines: []string{"good", "broken"},
		Work: []int64{50, 100}, Threads: []int{1}, Splits: "integer"}
	got, err := Do(context.Background(), spec, func(int, string) {})
	require.NoError(t, err)
	good := got[0].Runs[0]
	assert.Equal(t, []int64{49, 99}, good.Spent)
	assert.Equal(t, 5.0, *good.Objective[0])
	assert.Equal(t, 10.0, *good.Objective[1])
	assert.Equal(t, 0.5, *good.Gap[0])
	assert.Equal(t, 20.0, *good.Bound)
	assert.Equal(t, 10.0, got[0].BestObjective)
	assert.Equal(t, "hedge: boom", got[0].Runs[1].Error)
	assert.Equal(t, []int64{0, 0}, got[0].Runs[1].Spent)
}

func TestWhatWasInHandWhen(t *testing.T) {
	program, problem := files(t)
	spec := &Spec{Program: program, Problems: []string{problem}, Engines: []string{"good", "broken"},
		At: []time.Duration{20 * time.Millisecond, 100 * time.Millisecond, time.Second}, Threads: []int{1}, Splits: "integer"}
	var told []string
	got, err := Do(context.Background(), spec, func(_ int, what string) { told = append(told, what) })
	require.NoError(t, err)
	assert.Equal(t, []string{"small good", "small broken"}, told)
	require.Len(t, got, 1)
	assert.Equal(t, 1, got[0].Jobs)
	assert.Equal(t, 9.0, got[0].BestObjective)
	require.Len(t, got[0].Runs, 2)
	good := got[0].Runs[0]
	assert.Equal(t, 50.0, *good.FirstMS)
	assert.Nil(t, good.Objective[0])
	assert.Equal(t, 5.0, *good.Objective[1])
	assert.Nil(t, good.Gap[1], "no bound was known by then")
	assert.Equal(t, 9.0, *good.Objective[2], "what a limit ends with is told a moment after it")
	assert.InDelta(t, 0.1, *good.Gap[2], 1e-12)
	assert.Positive(t, good.PeakMB)
	assert.Equal(t, "hedge: boom", got[0].Runs[1].Error, "a finding, not the end")
}

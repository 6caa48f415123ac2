package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTotals(t *testing.T) {
	v := func(x float64) *float64 { return &x }
	spec := &Spec{Engines: []string{"a", "b"}, Threads: []int{1}, Work: []int64{10, 20}, Gap: 0.01}
	problems := []Problem{
		{Name: "p", Folder: "x", BestObjective: 2048, BestBound: v(2050), Runs: []Run{
			{Objective: []*float64{v(2047), v(2048)}, Gap: []*float64{v(0.02), v(0.005)}},
			{Objective: []*float64{nil, v(1024)}, Gap: []*float64{nil, nil}}}},
		{Name: "q", Folder: "y", BestObjective: 1024, BestBound: v(1100), Runs: []Run{
			{Objective: []*float64{v(1022), v(1022)}, Gap: []*float64{v(0.1), v(0.1)}},
			{Objective: []*float64{v(1024), v(1024)}, Gap: []*float64{v(0.5), v(1e-7)}}}},
		{Name: "nothing to plan", Folder: "y", Runs: []Run{{Objective: make([]*float64, 2), Gap: make([]*float64, 2)},
			{Objective: make([]*float64, 2), Gap: make([]*float64, 2)}}},
	}
	got := Totals(spec, problems)
	require.Len(t, got, 6, "two folders and all, of two engines")
	assert.Equal(t, Total{Folder: "x", Engine: "a", Threads: 1, Problems: 1, Near: []int{1, 1}, Proven: []int{0, 1},
		Optimal: []int{0, 0}, Worst: []float64{2047.0 / 2048, 1}, MeanGap: []float64{0.02, 0.005}}, got[0])
	assert.Equal(t, Total{Folder: "y", Engine: "b", Threads: 1, Problems: 1, Near: []int{1, 1}, Proven: []int{0, 1},
		Optimal: []int{0, 1}, Worst: []float64{1, 1}, MeanGap: []float64{0.5, 1e-7}}, got[3])
	assert.Equal(t, Total{Engine: "a", Threads: 1, Problems: 2, Near: []int{1, 1}, Proven: []int{0, 1},
		Optimal: []int{0, 0}, Worst: []float64{1022.0 / 1024, 1022.0 / 1024}, MeanGap: got[4].MeanGap}, got[4])
	assert.InDeltaSlice(t, []float64{0.06, 0.0525}, got[4].MeanGap, 1e-12)
	assert.Equal(t, Total{Engine: "b", Threads: 1, Problems: 2, Near: []int{1, 1}, Proven: []int{0, 1},
		Optimal: []int{0, 1}, Worst: []float64{0, 0.5}, MeanGap: got[5].MeanGap}, got[5])
	assert.InDeltaSlice(t, []float64{0.75, 0.5}, got[5].MeanGap, 1e-6, "no bound counts as a gap of 1")
	assert.Equal(t, []string{"q"}, Unproven(spec, problems))
}

// TestTheOracleIsAskedWhereNothingIsProven, once, and what it finds counts as known.
func TestTheOracleIsAskedWhereNothingIsProven(t *testing.T) {
	program, problem := files(t)
	spec := &Spec{Program: program, Problems: []string{problem}, Engines: []string{"good"}, Work: []int64{50, 80},
		Threads: []int{1, 2}, Splits: "integer",
		Gap: 0.1, Oracle: "patient", OracleTime: time.Minute}
	var told []string
	got, err := Do(context.Background(), spec, func(_ int, what string) { told = append(told, what) })
	require.NoError(t, err)
	assert.Equal(t, []string{"small good", "small good", "small patient"}, told)
	require.NotNil(t, got[0].Oracle)
	assert.Equal(t, 9.0, *got[0].Oracle.Objective[0])
	assert.Equal(t, 9.0, got[0].BestObjective)
	assert.Equal(t, 10.0, *got[0].BestBound)
	assert.Equal(t, []int{1, 2}, []int{got[0].Runs[0].Threads, got[0].Runs[1].Threads})
	spec.Gap = 0.7
	got, err = Do(context.Background(), spec, func(int, string) {})
	require.NoError(t, err)
	assert.Nil(t, got[0].Oracle, "8 of at most 20 is within the gap")
}

// TestAFailedRunKeepsItsPlan: what an engine had when it failed counts, and it is not given more work.
func TestAFailedRunKeepsItsPlan(t *testing.T) {
	program, problem := files(t)
	text := "#!/bin/sh\necho " +
		"'{\"engine\":\"x\",\"stop\":\"error\",\"objective\":7," +
		"\"bound\":null,\"gap\":null,\"wall_ms\":3,\"work\":9,\"choice\":{},\"preempt\":[]}'\necho hedge: boom >&2\nexit 1\n"
	require.NoError(t, os.WriteFile(program, []byte(text), 0o755))
	got, err := Do(context.Background(), &Spec{Program: program, Problems: []string{problem}, Engines: []string{"x"},
		Work: []int64{50, 100}, Threads: []int{1}, Splits: "integer"}, func(int, string) {})
	require.NoError(t, err)
	run := got[0].Runs[0]
	assert.Equal(t, "hedge: boom", run.Error)
	assert.Equal(t, 7.0, *run.Objective[0])
	assert.Nil(t, run.Objective[1])
	assert.Equal(t, []int64{9, 0}, run.Spent)
}

func TestChoose(t *testing.T) {
	dir := t.TempDir()
	var all []string
	for n := range 10 {
		jobs := ""
		for i := range n {
			jobs += fmt.Sprintf(`,{"id":"%d","options":[]}`, i)
		}
		path := filepath.Join(dir, fmt.Sprintf("p%d.json", n))
		require.NoError(t, os.WriteFile(path,
			fmt.Appendf(nil, `{"slot_seconds":1,"slots":1,"resources":["node"],"partitions":[{"name":"r","nodes":2}],"capacity":[[[2]]],"jobs":[%s]}`, jobs[min(1, len(jobs)):]), 0o644))
		all = append(all, path)
	}
	for _, c := range []struct {
		r    Range
		most int
		want []int
	}{
		{Range{}, 0, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
		{Range{}, 5, []int{0, 2, 4, 6, 8}},
		{Range{}, 3, []int{0, 3, 6}},
		{Range{4, 7}, 0, []int{4, 5, 6, 7}},
		{Range{4, 7}, 2, []int{4, 6}},
		{Range{20, 30}, 2, nil},
	} {
		var want []string
		for _, k := range c.want {
			want = append(want, all[k])
		}
		got, err := Choose(all, c.r, c.most)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	_, err := Choose([]string{filepath.Join(dir, "none.json")}, Range{1, 2}, 0)
	assert.ErrorIs(t, err, os.ErrNotExist)
	for text, want := range map[string]Range{"5-30": {5, 30}, "0-1": {0, 1}, "7-7": {7, 7}} {
		got, err := ParseRange(text)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for _, text := range []string{"", "5", "-5", "5-", "30-5", "a-b", "0-0", "1-2-3"} {
		_, err := ParseRange(text)
		assert.ErrorContains(t, err, "such as 5-30", text)
	}
}

func TestNames(t *testing.T) {
	assert.Equal(t, []string{"x/a", "b", "y/a"}, names([]string{"/d/x/a.json.gz", "/d/x/b.json", "/d/y/a.json"}))
}

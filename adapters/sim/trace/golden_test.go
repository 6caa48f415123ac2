package trace_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/trace"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Every excerpt, read and written as hedge's JSONL, is what the golden file says.
func TestExcerptsOfRealLogs(t *testing.T) {
	for name, want := range map[string]struct {
		format  string
		skipped map[string]int
		header  trace.Header
	}{
		"llnl-atlas.swf": {trace.SWF, map[string]int{"zero runtime": 2},
			trace.Header{Computer: "Linux cluster (Atlas)", UnixStart: 1163199901, MaxNodes: 1152, MaxProcs: 9216}},
		"theta.swf": {trace.SWF, nil, trace.Header{Computer: "Theta Supercomputer", UnixStart: 1668693697,
			MaxNodes: 4360, MaxProcs: 4360}},
		"google2011.tr.gz": {format: trace.Eagle},
		"pigeon.tr":        {format: trace.Eagle},
		"google2011_jobs.csv.gz": {format: trace.GoogleJobs,
			skipped: map[string]int{"submitted before the recording": 2, "no end": 1, "zero runtime": 1}},
		"mustang.csv":     {format: trace.Simple},
		"philly.csv":      {format: trace.JobList},
		"bluewaters.csv":  {format: trace.JobList},
		"alibaba2018.csv": {format: trace.Alibaba2018, skipped: map[string]int{"a stage that has not ended": 1}},
		"alibaba2017.csv": {format: trace.Alibaba2017,
			skipped: map[string]int{"submitted before the recording": 2}},
		"tpch.jsonl":        {format: trace.SparkTPCH},
		"wfinstances.jsonl": {format: trace.WfFormat},
	} {
		t.Run(name, func(t *testing.T) {
			log, err := trace.ReadAll(filepath.Join("testdata", name), nil)
			require.NoError(t, err)
			require.Equal(t, want.format, log.Format)
			require.Equal(t, want.header, log.Header)
			require.Equal(t, len(want.skipped), len(log.Skipped))
			for reason, n := range want.skipped {
				require.Equal(t, n, log.Skipped[reason], reason)
			}
			var got bytes.Buffer
			w := trace.NewJSONLWriter(&got)
			for i := range log.Jobs {
				require.NoError(t, w.Write(&log.Jobs[i]))
			}
			require.NoError(t, w.Flush())
			golden := filepath.Join("testdata", "golden", name+".jsonl")
			if *update {
				require.NoError(t, os.WriteFile(golden, got.Bytes(), 0o600))
			}
			expected, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(expected), got.String())
		})
	}
}

func TestGangsOfTheJobLists(t *testing.T) {
	log, err := trace.ReadAll("testdata/philly.csv", nil)
	require.NoError(t, err)
	require.Equal(t, trace.Job{ID: "1", Line: 3, Submit: 395146 * time.Second, Wait: trace.WaitUnknown,
		Runtime: 14405 * time.Second,
		Tasks:   8, Demand: map[string]float64{"gpu": 1}, Outcome: trace.Failed,
		Attributes: map[string]string{"user": "2", "gpus": "8", "nodes": "4", "tasks": "8"}}, log.Jobs[1])
	log, err = trace.ReadAll("testdata/bluewaters.csv", nil)
	require.NoError(t, err)
	require.Equal(t, 2702, log.Jobs[0].Tasks)
	require.Equal(t, map[string]float64{"cpu": 32}, log.Jobs[0].Demand)
	require.Equal(t, 12*time.Hour, log.Jobs[0].Requested)
}

func TestMetaTablesAreFoundBesideTheLog(t *testing.T) {
	dir := t.TempDir()
	tr, meta := filepath.Join(dir, "x.tr"), filepath.Join(dir, "x.meta.csv")
	require.NoError(t, os.WriteFile(tr, []byte("1 2 3 2 4\n"), 0o600))
	log, err := trace.ReadAll(tr, nil)
	require.NoError(t, err)
	require.Equal(t, "1", log.Jobs[0].ID)
	require.Equal(t, []time.Duration{2 * time.Second, 4 * time.Second}, log.Jobs[0].TaskRuntimes)

	require.NoError(t, os.WriteFile(meta, []byte("line,job_id,user,cpu_req\n1,a,u1,0.5\n"), 0o600))
	log, err = trace.ReadAll(tr, nil)
	require.NoError(t, err)
	require.Equal(t, "a", log.Jobs[0].ID)
	require.Equal(t, map[string]string{"user": "u1", "cpu": "0.5", "tasks": "2"}, log.Jobs[0].Attributes)
	require.Equal(t, map[string]float64{"cpu": 0.5}, log.Jobs[0].Demand)

	_, err = trace.ReadAll(tr, &trace.Options{Meta: filepath.Join(dir, "none.csv")})
	require.ErrorIs(t, err, os.ErrNotExist)
}

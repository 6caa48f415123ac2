package trace_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/trace"
)

const hydraHead = ",job_name,norm_job_submit_time,ddl,A100,V100,GTX2080Ti\n"

// The first and fourth rows of cases/20_ddl.csv of iscas-system/Hydra, and one that comes later.
const hydraRows = "0,99295a626a36dc3a91758d47,0,inf,1020.0,1540.0,2595.0\n" +
	"3,75c6088e11c15778fda09219,0,32383.0,6609.0,10856.0,14600.0\n" +
	"4,later,10,100,90,60,120\n"

func TestHydra(t *testing.T) {
	log := collected(t, hydraHead+hydraRows, nil)
	require.Len(t, log.Jobs, 3)
	free, due, later := log.Jobs[0], log.Jobs[1], log.Jobs[2]
	assert.Equal(t, "99295a626a36dc3a91758d47", free.ID)
	assert.Equal(t, 1020*time.Second, free.Runtime)
	assert.Zero(t, free.Deadline)
	assert.Equal(t, map[string]float64{"gpu=A100": 1, "gpu=V100": 1020.0 / 1540, "gpu=GTX2080Ti": 1020.0 / 2595},
		free.Speeds)
	assert.Equal(t, 32383*time.Second, due.Deadline)
	assert.Equal(t, 90*time.Second, later.Deadline, "a ddl is a time, and a deadline one since the submission")
	assert.Equal(t, 60*time.Second, later.Runtime, "on the fastest type")
	assert.InDelta(t, 1, later.Speeds["gpu=V100"], 0)
	assert.Equal(t, map[string]float64{"gpu": 1}, later.Demand)
	assert.Equal(t, "hydra", log.Format)
}

func TestHydraRefuses(t *testing.T) {
	for _, tt := range []struct{ row, field string }{
		{"0,a,-1,inf,1,1,1", "norm_job_submit_time"}, {"0,a,0,never,1,1,1", "ddl"}, {"0,a,10,10,1,1,1", "ddl"},
		{"0,a,0,5,9,8,7", "ddl"}, {"0,a,0,inf,0,1,1", "A100"}, {"0,a,0,inf,1,1,3000001", "GTX2080Ti"},
		{"0,a,0,inf,1,x,1", "V100"}, {"0,,0,inf,1,1,1", "job_name"},
	} {
		s, err := trace.NewReader(strings.NewReader(hydraHead+tt.row+"\n"), "x", nil, &trace.Options{Strict: true})
		require.NoError(t, err, tt.row)
		_, err = s.Read()
		var bad *trace.ParseError
		require.ErrorAs(t, err, &bad, tt.row)
		assert.Equal(t, tt.field, bad.Field, tt.row)
	}
	for head, want := range map[string]string{
		"":       "the types of GPUs",
		",A,B,A": `found "A" twice, expected each column once`,
		",A,":    "found one without a name after ddl, expected a type of GPUs",
	} {
		_, err := trace.NewReader(strings.NewReader("job_name,norm_job_submit_time,ddl"+head+"\n"), "x", nil, nil)
		require.ErrorContains(t, err, want)
	}
	s, err := trace.NewReader(strings.NewReader(hydraHead+"0,a,10,15,9,8,7\n"), "x", nil, nil)
	require.NoError(t, err)
	_, err = s.Read()
	require.ErrorContains(t, err, `ddl: found "15", expected inf, or a time after the submission by at least the shortest `+
		"runtime, 7;")
}

// TestSpeedsInJSONL: speeds are written, read back, and refused where they make no sense; CSV has none.
func TestSpeedsInJSONL(t *testing.T) {
	job := trace.Job{ID: "a", Tasks: 1, Runtime: time.Minute, Wait: -1, Line: 1,
		Speeds: map[string]float64{"gpu=a=b": 1, "other": 0.39}}
	var b strings.Builder
	w := trace.NewJSONLWriter(&b)
	require.NoError(t, w.Write(&job))
	require.NoError(t, w.Flush())
	assert.Contains(t, b.String(), `"speeds":{"gpu=a=b":1,"other":0.39}`)
	assert.Equal(t, []trace.Job{job}, collected(t, b.String(), nil).Jobs)
	for _, bad := range []string{`{"gpu":1}`, `{"gpu=":1}`, `{"=a":1}`, `{"other":0}`, `{"other":1.5}`, `{"other":"1"}`} {
		line := `{"id":"a","submit_s":0,"runtime_s":1,"tasks":1,"speeds":` + bad + "}\n"
		s, err := trace.NewReader(strings.NewReader(line), "x", nil, &trace.Options{Strict: true})
		require.NoError(t, err)
		_, err = s.Read()
		require.ErrorContains(t, err, "speeds", bad)
	}
	job.Speeds["rack"] = 1
	require.ErrorIs(t, w.Write(&job), trace.ErrJob)
	delete(job.Speeds, "rack")
	require.ErrorIs(t, trace.NewCSVWriter(&b, trace.Columns{}).Write(&job), trace.ErrJob)
}

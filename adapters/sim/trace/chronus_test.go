package trace_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/trace"
)

const chronusHead = "job_id,user,num_gpu,submit_time,iterations,model_name,duration,interval,expect_time_list," +
	"expect_value_list,best_effort,job_type\n"

// The first rows of trace_job_Philly_MIX1.csv and _MIX2.csv of S-Lab-System-Group/ChronusArtifact.
const chronusRows = "0,vc_6214e9,1,8555,5049,vgg16,747,14,1105,10,0,strict\n" +
	"2,vc_ee9e8c,1,14341,3621,alexnet,30,17,14341,10,1,best\n" +
	"3,vc_ed69ec,4,5601,5530,mobilenet_v2,96,5,159-189-229-289,10-8-5-2,0,soft\n"

func collected(t *testing.T, content string, opts *trace.Options) *trace.Log {
	t.Helper()
	s, err := trace.NewReader(strings.NewReader(content), "x", nil, opts)
	require.NoError(t, err)
	log, err := trace.Collect(s)
	require.NoError(t, err)
	return log
}

func TestChronus(t *testing.T) {
	log := collected(t, chronusHead+chronusRows, nil)
	require.Len(t, log.Jobs, 3)
	soft, strict, best := log.Jobs[0], log.Jobs[1], log.Jobs[2]
	assert.Equal(t, "3", soft.ID, "in order of submission")
	assert.Equal(t, []trace.Step{{159 * time.Second, 10}, {189 * time.Second, 8}, {229 * time.Second, 5},
		{289 * time.Second, 2}}, soft.Steps)
	assert.Equal(t, 289*time.Second, soft.Deadline)
	assert.Equal(t, 4, soft.Tasks)
	assert.Equal(t, map[string]float64{"gpu": 1}, soft.Demand)
	assert.Equal(t, map[string]string{"user": "vc_ed69ec", "name": "mobilenet_v2", "tasks": "4", "gpus": "4"},
		soft.Attributes)
	assert.Equal(t, []trace.Step{{1105 * time.Second, 10}}, strict.Steps)
	assert.Equal(t, 747*time.Second, strict.Runtime)
	assert.Zero(t, best.Deadline)
	assert.Empty(t, best.Steps)
}

func TestChronusRefuses(t *testing.T) {
	for _, tt := range []struct{ row, field string }{
		{"1,v,1,0,1,m,10,1,20-30,10,0,soft", "expect_value_list"},
		{"1,v,1,0,1,m,10,1,20,10-8,0,soft", "expect_value_list"},
		{"1,v,1,0,1,m,10,1,30-20,10-8,0,soft", "expect_time_list"},
		{"1,v,1,0,1,m,10,1,20-30,8-10,0,soft", "expect_value_list"},
		{"1,v,1,0,1,m,10,1,20,0,0,strict", "expect_value_list"},
		{"1,v,1,0,1,m,10,1,20,NaN,0,strict", "expect_value_list"},
		{"1,v,1,0,1,m,10,1,20,1_0,0,strict", "expect_value_list"},
		{"1,v,1,0,1,m,10,1,20,0x1p3,0,strict", "expect_value_list"},
		{"1,v,1,0,1,m,10,1,0-20,10-8,0,soft", "expect_time_list"},
		{"1,v,1,0,1,m,10,1,,10,0,strict", "expect_time_list"},
		{"1,v,1,0,1,m,10,1,9,10,0,strict", "expect_time_list"},
		{"1,v,1,0,1,m,10,1,20,10,2,strict", "best_effort"},
		{"1,v,-1,0,1,m,10,1,20,10,0,strict", "num_gpu"},
		{"1,v,1,x,1,m,10,1,20,10,0,strict", "submit_time"},
		{"1,v,1,0,1,m,-1,1,20,10,0,strict", "duration"},
		{",v,1,0,1,m,10,1,20,10,0,strict", "job_id"},
	} {
		s, err := trace.NewReader(strings.NewReader(chronusHead+tt.row+"\n"), "x", nil, &trace.Options{Strict: true})
		require.NoError(t, err)
		_, err = s.Read()
		var bad *trace.ParseError
		require.ErrorAs(t, err, &bad, tt.row)
		assert.Equal(t, tt.field, bad.Field, tt.row)
	}
	s, err := trace.NewReader(strings.NewReader(chronusHead+"1,v,1,0,1,m,10,1,9,10,0,strict\n"), "x", nil, nil)
	require.NoError(t, err)
	_, err = s.Read()
	require.ErrorContains(t, err, `found "9", expected a last time of at least the duration, 10;`)
	log := collected(t, chronusHead+"1,v,0,0,1,m,10,1,20,10,0,strict\n2,v,1,0,1,m,0,1,20,10,0,strict\n"+chronusRows, nil)
	assert.Equal(t, map[string]int{"no GPUs": 1, "zero runtime": 1}, log.Skipped)
}

func TestHelios(t *testing.T) {
	log := collected(t, "job_id,arrival_s,runtime_s,gpus\n363167,0,172800,32\n396689,726051,172800,4\n", nil)
	require.Len(t, log.Jobs, 2)
	assert.Equal(t, 32, log.Jobs[0].Tasks)
	assert.Equal(t, 726051*time.Second, log.Jobs[1].Submit)
	assert.Equal(t, 48*time.Hour, log.Jobs[1].Runtime)
}

func FuzzChronus(f *testing.F) { fuzz(f, trace.Chronus, chronusHead+chronusRows) }

func FuzzHelios(f *testing.F) {
	fuzz(f, trace.Helios, "job_id,arrival_s,runtime_s,gpus\n363167,0,172800,32\n")
}

// TestStepsAreCarried: hedge's JSONL has what a completion is worth by when.
func TestStepsAreCarried(t *testing.T) {
	log := collected(t, chronusHead+chronusRows, nil)
	var b strings.Builder
	w := trace.NewJSONLWriter(&b)
	for i := range log.Jobs {
		require.NoError(t, w.Write(&log.Jobs[i]))
	}
	require.NoError(t, w.Flush())
	again := collected(t, b.String(), &trace.Options{Format: trace.HedgeJSONL, Strict: true})
	for i := range log.Jobs {
		assert.Equal(t, log.Jobs[i].Steps, again.Jobs[i].Steps)
		assert.Equal(t, log.Jobs[i].Deadline, again.Jobs[i].Deadline)
	}
	require.ErrorIs(t, trace.NewCSVWriter(&b, trace.ColumnsOf(log.Jobs)).Write(&log.Jobs[0]), trace.ErrJob)

	for _, steps := range []string{`[[20,10],[20,8]]`, `[[20,8],[30,10]]`, `[[20,0]]`, `[[0,1]]`, `[[5,1]]`,
		`[["x",1]]`, `[[20]]`, `[[20,1]],"deadline_s":30`, `7`} {
		s, err := trace.NewReader(strings.NewReader(`{"id":"a","submit_s":0,"runtime_s":10,"tasks":1,"steps":`+steps+"}\n"),
			"x.jsonl", nil, &trace.Options{Strict: true})
		require.NoError(t, err)
		_, err = s.Read()
		var bad *trace.ParseError
		require.ErrorAs(t, err, &bad, steps)
	}
	require.ErrorIs(t, w.Write(&trace.Job{ID: "z", Tasks: 1, Runtime: 1, Submit: 1e15, Wait: -1, Deadline: 9,
		Steps: []trace.Step{{By: 8, Value: 1}}}), trace.ErrJob)
}

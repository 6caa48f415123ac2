package trace_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/trace"
)

const (
	stageCSV  = "task_name,instances,job_name,status,start_s,duration_s\n"
	circleCSV = "M1_3,1,circle,Terminated,10,5\nR2_1,1,circle,Terminated,10,5\nR3_2,1,circle,Terminated,10,5\n"
)

// collect reads a log of the format given.
func collect(t *testing.T, format, content string) *trace.Log {
	t.Helper()
	s, err := trace.NewReader(strings.NewReader(content), "x", nil, &trace.Options{Format: format, MaxBad: 1})
	require.NoError(t, err)
	log, err := trace.Collect(s)
	require.NoError(t, err)
	return log
}

// Jobs with stages that cannot be are left out whole, counted by reason with the line of the first; the rest is kept.
func TestBadStagesAreLeftOut(t *testing.T) {
	good := "R2_1,2,good,Terminated,13,4\nM1,3,good,Terminated,10,3\n"
	for _, c := range []struct{ name, bad, reason, found string }{
		{"a circle", circleCSV, "stages in a circle", `x:2: task_name: found stages that wait for each other, such as "circle/1"`},
		{"itself", "M1_1,1,self,Terminated,1,1\n", "stages in a circle", `x:2: `},
		{"an unknown stage", "M1,1,j,Terminated,1,1\nR2_9,1,j,Terminated,1,1\n", "a stage waits for one that is not there",
			`x:3: task_name: found "j/2", which waits for "j/9"`},
		{"a name twice", "M1,1,j,Terminated,1,1\nR1,1,j,Terminated,1,1\n", "two stages of one name", `x:3: task_name: found "j/1" twice`},
		{"no tasks", "M1,,j,Terminated,1,1\nR2_1,1,j,Terminated,1,1\n", "a stage of no tasks", `x:2: instances: found nothing`},
		{"a bad time", "M1,1,j,Terminated,1,x\nR2_1,1,j,Terminated,1,1\n", "wrong duration_s", `x:2: duration_s: found "x"`},
	} {
		log := collect(t, trace.Alibaba2018, stageCSV+c.bad+good)
		require.Len(t, log.Bad, 1, c.name)
		assert.Equal(t, 1, log.Bad[0].Count, "%s: the job counts once", c.name)
		assert.Equal(t, c.reason, log.Bad[0].Reason, c.name)
		require.ErrorContains(t, log.Bad[0].First, c.found, c.name)
		require.Len(t, log.Jobs, 2, c.name)
		assert.Equal(t, "good/1", log.Jobs[0].ID, "%s: in order", c.name)
		assert.Equal(t, []string{"good/1"}, log.Jobs[1].After, c.name)
		assert.Equal(t, "good", log.Jobs[1].Of)
		assert.Equal(t, 10*time.Second, log.Jobs[1].Submit, "submitted with the first stage")
		assert.Equal(t, 3*time.Second, log.Jobs[1].Wait)
	}
}

// A stage that takes no time is taken out, and what waits for it waits for what it waits for.
func TestStagesOfNoTimeAreTakenOut(t *testing.T) {
	log := collect(t, trace.Alibaba2018, stageCSV+"M1,1,j,Terminated,1,5\nM2,1,j,Terminated,1,5\n"+
		"R3_1_2,1,j,Terminated,1,0\nR4_3,1,j,Terminated,1,0\nR5_4_2,1,j,Terminated,1,5\n")
	require.Len(t, log.Jobs, 3)
	assert.ElementsMatch(t, []string{"j/1", "j/2"}, log.Jobs[2].After)
}

func TestJobsThatHaveNotEndedAreSkipped(t *testing.T) {
	log := collect(t, trace.Alibaba2018, stageCSV+"M1,1,j,Running,1,5\nM2,,j,Waiting,0,1\nM1,1,k,Terminated,1,5\n")
	assert.Equal(t, map[string]int{"a stage that has not ended": 1}, log.Skipped)
	require.Len(t, log.Jobs, 1)
}

func TestBadQueriesAndWorkflows(t *testing.T) {
	query := func(edges, stages string) string {
		return `{"query":1,"size":"2g","edges":` + edges + `,"stages":{` + stages + "}}\n"
	}
	const stage = `{"first_wave":{"2":[1000,2000],"10":[5]},"rest_wave":{"2":[500]}}`
	good := strings.Replace(query(`[[0,1]]`, `"0":`+stage+`,"1":`+stage), `"query":1`, `"query":"good"`, 1)
	for name, c := range map[string]struct{ line, reason string }{
		"circle":  {query(`[[0,1],[1,0]]`, `"0":`+stage+`,"1":`+stage), "stages in a circle"},
		"unknown": {query(`[[7,0]]`, `"0":`+stage), "a stage waits for one that is not there"},
		"to none": {query(`[[0,7]]`, `"0":`+stage), "a stage waits for one that is not there"},
		"empty":   {query(`[]`, `"0":{}`), "a stage of no tasks"},
		"none":    {query(`[]`, ``), "no stages"},
		"JSON":    {`{"query":[` + "\n", "wrong JSON"},
		"twice":   {good, "id seen before"},
	} {
		log := collect(t, trace.SparkTPCH, good+c.line)
		require.Len(t, log.Bad, 1, name)
		assert.Equal(t, c.reason, log.Bad[0].Reason, name)
		assert.Equal(t, 2, log.Bad[0].First.Line, name)
		require.Len(t, log.Jobs, 2, name)
		assert.Equal(t, []time.Duration{time.Second, 2 * time.Second, time.Second / 2}, log.Jobs[1].TaskRuntimes)
	}
	task := func(id, parents string) string {
		return `{"name":"` + id + `","id":"` + id + `","parents":[` + parents + `]}`
	}
	flow := func(name, tasks, runs string) string {
		return `{"name":"` + name + `","workflow":{"specification":{"tasks":[` + tasks + `]},"execution":{"tasks":[` + runs + "]}}}\n"
	}
	const runs = `{"id":"a_ID1","runtimeInSeconds":1},{"id":"a_ID2","runtimeInSeconds":3},{"id":"b_ID3","runtimeInSeconds":2}`
	whole := flow("good", task("a_ID1", "")+","+task("a_ID2", "")+","+task("b_ID3", `"a_ID1"`), runs)
	for name, c := range map[string]struct{ line, reason string }{
		"circle":     {flow("w", task("a_ID1", `"a_ID2"`)+","+task("a_ID2", `"a_ID1"`), runs), "stages in a circle"},
		"unknown":    {flow("w", task("a_ID1", `"c"`), runs), "a stage waits for one that is not there"},
		"no tasks":   {flow("w", "", runs), "no stages"},
		"no runtime": {flow("w", task("c", ""), runs), "wrong workflow.specification.tasks"},
		"twice":      {flow("w", task("a_ID1", "")+","+task("a_ID1", ""), runs), "two stages of one name"},
	} {
		log := collect(t, trace.WfFormat, whole+c.line)
		require.Len(t, log.Bad, 1, name)
		assert.Equal(t, c.reason, log.Bad[0].Reason, name)
		require.Len(t, log.Jobs, 2, "%s: a stage for each type", name)
		assert.Equal(t, 2, log.Jobs[0].Tasks)
		assert.Equal(t, 3*time.Second, log.Jobs[0].Runtime)
		assert.Equal(t, []string{log.Jobs[0].ID}, log.Jobs[1].After)
	}
}

// Hedge's JSONL carries stages, each behind those that it waits for.
func TestJSONLCarriesStages(t *testing.T) {
	const head = `{"submit_s":0,"runtime_s":1,"tasks":1,"of":"w","id":`
	log := collect(t, trace.HedgeJSONL, head+`"a"}`+"\n"+head+`1,"after":["a"]}`+"\n"+head+`"c","after":[1,"a"]}`+"\n"+
		head+`"d","after":["e"]}`+"\n"+head+`"e","after":["d"]}`+"\n"+head+`"f","after":["a","a"]}`+"\n"+head+`"g","after":["g"]}`)
	require.Len(t, log.Jobs, 3)
	assert.Equal(t, []string{"1", "a"}, log.Jobs[2].After)
	reasons := map[string]int{}
	for _, b := range log.Bad {
		reasons[b.Reason] = b.Count
	}
	assert.Equal(t, map[string]int{"a stage waits for one that is not there": 3, "wrong after": 1}, reasons)

	var b bytes.Buffer
	w := trace.NewJSONLWriter(&b)
	for i := range log.Jobs {
		require.NoError(t, w.Write(&log.Jobs[i]))
	}
	require.NoError(t, w.Flush())
	again := collect(t, trace.HedgeJSONL, b.String())
	assert.Equal(t, log.Jobs[2].After, again.Jobs[2].After)
	assert.Equal(t, log.Jobs[2].Of, again.Jobs[2].Of)

	bad := log.Jobs[2]
	bad.ID, bad.After = "z", []string{"nobody"}
	require.ErrorIs(t, w.Write(&bad), trace.ErrJob)
	require.ErrorIs(t, trace.NewCSVWriter(&b, trace.Columns{}).Write(&log.Jobs[2]), trace.ErrJob, "CSV has no stages")
}

package trace_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/taskuse"
	"github.com/hedgesched/hedge/adapters/sim/trace"
)

// The header of logs with a value each five minutes of a day.
func dayHeader(before string) string {
	var b strings.Builder
	b.WriteString(before)
	for i := range 288 {
		fmt.Fprintf(&b, ",v%03d", i)
	}
	return b.String() + "\n"
}

func dayRow(before string, value string) string {
	return before + strings.Repeat(","+value, 288) + "\n"
}

const (
	borgHeader = "collection_id,user,collection_logical_name,req_cpus,req_memory,avg_cpus,avg_memory,max_cpus,max_memory\n"
	surfHeader = "task,submit_s,cores,interval_s,usage_percent\n"
	aliHeader  = "task_name,instances,job_name,status,start_s,end_s,duration_s,plan_cpu,plan_mem," +
		"cpu_usage_sum,mem_usage_sum\n"
)

func readUsage(text string) (*trace.UsageLog, error) {
	return trace.CollectUsage(strings.NewReader(text), "log.csv", &trace.Options{MaxBad: 1})
}

func TestUsageFormats(t *testing.T) {
	for name, c := range map[string]struct {
		format, text string
		want         trace.UsageRecord
	}{
		"a job's two metrics are a record": {trace.Google5Min,
			dayHeader("job_id,day,metric") + dayRow("7,1,cpu_pct", "50") + dayRow("7,1,mem_pct", "20"),
			trace.UsageRecord{Line: 3, Job: "7", Tasks: 1, Max: trace.Amount{CPU: 0.5, Memory: 0.2}}},
		"a machine's day": {trace.PlanetLab, dayHeader("day,vm") + dayRow("20110303,x", "25"),
			trace.UsageRecord{Line: 2, Job: "x", Tasks: 1, Requested: trace.Amount{CPU: 1}, Max: trace.Amount{CPU: 0.25}}},
		"a row of Borg's sample": {trace.BorgSample, borgHeader + "5,u1,l1,0.5,0.25,0.25,0.125,0.75,0.1\n",
			trace.UsageRecord{Line: 2, Job: "5", User: "u1", Name: "l1", Tasks: 1,
				Requested: trace.Amount{CPU: 0.5, Memory: 0.25},
				Use:       taskuse.Series{{Duration: 5 * time.Minute, CPU: 0.25, Memory: 0.125}},
				Max:       trace.Amount{CPU: 0.75, Memory: 0.125}}},
		"runs of SURF": {trace.SURF, surfHeader + "3,60,4,30,2x50;100\n",
			trace.UsageRecord{Line: 2, Job: "3", Submit: time.Minute, Tasks: 1, Requested: trace.Amount{CPU: 4},
				Use: taskuse.Series{{Duration: time.Minute, CPU: 2}, {Duration: 30 * time.Second, CPU: 4}},
				Max: trace.Amount{CPU: 4}}},
		"instances of Alibaba": {trace.AlibabaUsage, aliHeader + "M1,2,j_1,Terminated,100,160,60,100,50,50,25\n",
			trace.UsageRecord{Line: 2, Job: "j_1/M1", Name: "M1", Submit: 100 * time.Second, Tasks: 2,
				Requested: trace.Amount{CPU: 1, Memory: 0.5},
				Use:       taskuse.Series{{Duration: time.Minute, CPU: 0.25, Memory: 0.125}},
				Max:       trace.Amount{CPU: 0.25, Memory: 0.125}}},
	} {
		t.Run(name, func(t *testing.T) {
			log, err := readUsage(c.text)
			require.NoError(t, err)
			require.Equal(t, c.format, log.Format)
			require.Len(t, log.Records, 1)
			require.Empty(t, log.Bad)
			got := log.Records[0]
			require.NoError(t, got.Use.Validate())
			if c.want.Use == nil {
				require.Equal(t, 24*time.Hour, got.Use.Runtime())
				cpu, memory := got.Use.Mean()
				require.InDelta(t, c.want.Max.CPU, cpu, 1e-12)
				require.InDelta(t, c.want.Max.Memory, memory, 1e-12)
				got.Use = nil
			}
			require.Equal(t, c.want, got)
		})
	}
}

// Bad records are left out and counted by what is wrong with them.
func TestBadUsage(t *testing.T) {
	good := map[string]string{
		trace.Google5Min: dayHeader("job_id,day,metric") + dayRow("7,1,cpu_pct", "50") + dayRow("7,1,mem_pct", "20"),
		trace.PlanetLab:  dayHeader("day,vm") + dayRow("20110303,x", "25"),
		trace.BorgSample: borgHeader + "5,u1,l1,0.5,0.25,0.25,0.125,0.75,0.1\n",
		trace.SURF:       surfHeader + "3,60,4,30,2x50;100\n",
	}
	short := strings.TrimSuffix(dayRow("20110303,y", "25"), ",25,25\n") + ",,\n"
	for name, c := range map[string]struct{ format, row, reason string }{
		"a series shorter than the day": {trace.PlanetLab, short, "series too short"},
		"too few values":                {trace.PlanetLab, "20110303,y,1,2,3\n", "too few columns"},
		"negative":                      {trace.PlanetLab, dayRow("20110303,y", "-1"), "wrong usage"},
		"no number":                     {trace.PlanetLab, dayRow("20110303,y", "NaN"), "wrong usage"},
		"infinite":                      {trace.Google5Min, dayRow("8,1,cpu_pct", "Inf"), "wrong usage"},
		"nothing used":                  {trace.Google5Min, dayRow("8,1,cpu_pct", "0"), "no usage"},
		"another metric":                {trace.Google5Min, dayRow("8,1,disk", "1"), "wrong metric"},
		"a negative request":            {trace.BorgSample, "6,u,l,-1,1,1,1,1,1\n", "wrong usage"},
		"memory that is NaN":            {trace.BorgSample, "6,u,l,1,1,1,nan,1,1\n", "wrong usage"},
		"a run without a value":         {trace.SURF, "4,60,4,30,2x;100\n", "wrong usage"},
		"a run of nothing":              {trace.SURF, "4,60,4,30,0x50\n", "wrong usage"},
		"an endless run":                {trace.SURF, "4,60,4,8640000,2147483647x50\n", "wrong usage"},
		"negative percent":              {trace.SURF, "4,60,4,30,-5\n", "wrong usage"},
		"no interval":                   {trace.SURF, "4,60,4,0,5\n", "wrong interval_s"},
	} {
		t.Run(name, func(t *testing.T) {
			log, err := readUsage(good[c.format] + c.row)
			require.NoError(t, err)
			require.Len(t, log.Records, 1)
			require.Len(t, log.Bad, 1)
			require.Equal(t, c.reason, log.Bad[0].Reason)
			require.Equal(t, 1, log.Bad[0].Count)
			_, err = trace.CollectUsage(strings.NewReader(good[c.format]+c.row), "log.csv", &trace.Options{Strict: true})
			require.ErrorIs(t, err, trace.ErrFormat)
		})
	}
}

func TestUsageWithoutRecords(t *testing.T) {
	_, err := readUsage("")
	require.ErrorIs(t, err, trace.ErrUnknownFormat)
	_, err = readUsage("a,b\n1,2\n")
	require.ErrorIs(t, err, trace.ErrUnknownFormat)
	_, err = readUsage(surfHeader)
	require.ErrorIs(t, err, trace.ErrEmpty)
	_, err = readUsage(borgHeader + "5,u1,l1,0.5,0.25,0,0,0,0\n")
	require.ErrorIs(t, err, trace.ErrEmpty)
	path := filepath.Join(t.TempDir(), "usage.csv")
	_, err = trace.ReadUsage(path, nil)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(path, []byte(surfHeader+"3,60,4,30,50\n"), 0o600))
	log, err := trace.ReadUsage(path, nil)
	require.NoError(t, err)
	require.Equal(t, path, log.Name)
}

// Whatever a reader of usage accepts is what a task can use; whatever it refuses, it says why.
func FuzzUsage(f *testing.F) {
	f.Add([]byte(dayHeader("job_id,day,metric") + dayRow("7,1,cpu_pct", "50") + dayRow("7,1,mem_pct", "20")))
	f.Add([]byte(dayHeader("day,vm") + dayRow("20110303,x", "25")))
	f.Add([]byte(borgHeader + "5,u1,l1,0.5,0.25,0.25,0.125,0.75,0.1\n"))
	f.Add([]byte(surfHeader + "3,60,4,30,2x50;100\n"))
	f.Add([]byte(aliHeader + "M1,2,j_1,Terminated,100,160,60,100,50,50,25\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		log, err := trace.CollectUsage(bytes.NewReader(content), "x", &trace.Options{MaxBad: 1})
		if err != nil {
			require.True(t, errors.Is(err, trace.ErrFormat) || errors.Is(err, trace.ErrEmpty) ||
				errors.Is(err, trace.ErrUnknownFormat), err)
			return
		}
		for i := range log.Records {
			r := &log.Records[i]
			require.NoError(t, r.Use.Validate())
			cpu, memory := r.Use.Max()
			require.GreaterOrEqual(t, r.Max.CPU, cpu)
			require.GreaterOrEqual(t, r.Max.Memory, memory)
			require.GreaterOrEqual(t, r.Tasks, 1)
			require.Positive(t, r.Line)
		}
	})
}

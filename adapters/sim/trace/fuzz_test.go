package trace_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/trace"
)

// fuzz feeds a format's reader: whatever it accepts is a sound job that hedge's
// JSONL carries, whatever it refuses is a *ParseError or an empty log.
func fuzz(f *testing.F, format string, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		s, err := trace.NewReader(bytes.NewReader(content), "x", nil, &trace.Options{Format: format, MaxBad: 1})
		if err != nil {
			sound(t, err)
			return
		}
		log, err := trace.Collect(s)
		asStrict(t, content, format, s, log)
		if err != nil {
			sound(t, err)
			return
		}
		w := trace.NewJSONLWriter(io.Discard)
		seen := map[string]bool{}
		for i, j := range log.Jobs {
			for _, parent := range j.After {
				require.True(t, seen[parent], "%s waits for %s", j.ID, parent)
			}
			seen[j.ID] = true
			require.Positive(t, j.Runtime)
			require.Positive(t, j.Line)
			require.GreaterOrEqual(t, j.Tasks, 1)
			require.GreaterOrEqual(t, j.Submit, time.Duration(0))
			require.Positive(t, j.Submit+max(0, j.Wait)+j.Runtime)
			require.GreaterOrEqual(t, j.Submit, log.Jobs[max(0, i-1)].Submit)
			if err := w.Write(&log.Jobs[i]); err != nil {
				require.ErrorContains(t, err, "UTF-8")
			}
		}
	})
}

// asStrict compares with what a strict reader makes of the same: it ends at the first bad record, or reads the same.
func asStrict(t *testing.T, content []byte, format string, s *trace.Stream, log *trace.Log) {
	t.Helper()
	r, err := trace.NewReader(bytes.NewReader(content), "x", nil, &trace.Options{Format: format, Strict: true})
	if err != nil {
		sound(t, err) // of the header, which may have a column too many
		return
	}
	strict, err := trace.Collect(r)
	require.Empty(t, r.Bad())
	switch bad := s.Bad(); {
	case len(bad) > 0:
		require.ErrorIs(t, err, trace.ErrFormat)
		require.NotEmpty(t, bad[0].Reason)
		if len(s.Notes()) == 0 {
			require.EqualError(t, err, bad[0].First.Error())
		}
	case err == nil:
		require.Equal(t, log.Jobs, strict.Jobs)
		require.Equal(t, log.Skipped, strict.Skipped)
	}
}

func sound(t *testing.T, err error) {
	t.Helper()
	var parse *trace.ParseError
	if errors.As(err, &parse) {
		require.Positive(t, parse.Line)
		require.NotEmpty(t, parse.Expected)
		require.LessOrEqual(t, len(err.Error()), 2000)
		return
	}
	require.True(t, errors.Is(err, trace.ErrEmpty) || errors.Is(err, trace.ErrUnknownFormat), "%v", err)
}

func excerpt(f *testing.F, name string) string {
	f.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(f, err)
	return string(b)
}

func FuzzSWF(f *testing.F) {
	fuzz(f, trace.SWF, excerpt(f, "llnl-atlas.swf"), excerpt(f, "theta.swf"), ";UnixStartTime: -1\n1 NaN",
		"1 0 0 1e9 1"+swfTail)
}

func FuzzEagle(f *testing.F) {
	fuzz(f, trace.Eagle, excerpt(f, "pigeon.tr"), excerpt(f, "google2011.tr.gz"), "1 2147483647 1 1", "1e9 1 1 1\r\n")
}

func FuzzGoogleJobs(f *testing.F) {
	fuzz(f, trace.GoogleJobs, excerpt(f, "google2011_jobs.csv.gz"), googleCSV+"1,2,3,4,FINISH,\"a\"\"b\"\n",
		googleCSV+"1,2,3")
}

func FuzzSimple(f *testing.F) {
	fuzz(f, trace.Simple, excerpt(f, "mustang.csv"), "cpus,length,arrival_time\n1,1e5,.5")
}

func FuzzJobList(f *testing.F) {
	fuzz(f, trace.JobList, excerpt(f, "philly.csv"), excerpt(f, "bluewaters.csv"))
}

func FuzzHedgeCSV(f *testing.F) {
	fuzz(f, trace.HedgeCSV, csvHead+"a,1,1,2,3,4,killed,1 1,0.5,\"u,\"\"1\"\"\"\n", csvHead+"\"",
		"id,submit_s,runtime_s,tasks\n7,1e-9,1e9,1")
}

func FuzzHedgeJSONL(f *testing.F) {
	fuzz(f, trace.HedgeJSONL, excerpt(f, "golden/philly.csv.jsonl"),
		`{"id":"a","submit_s":1e-9,"runtime_s":1,"tasks":1,"task_runtimes_s":[1]}`, `{"id":{"id":[`,
		`{"id":"a","submit_s":0,"runtime_s":1,"tasks":1}`+"\n"+
			`{"id":"b","submit_s":0,"runtime_s":1,"tasks":1,"after":["a"],"of":"x"}`)
}

func FuzzAlibaba2018(f *testing.F) {
	fuzz(f, trace.Alibaba2018, excerpt(f, "alibaba2018.csv"), stageCSV+circleCSV, stageCSV+"M1,1,a,Terminated,1,1\nM1,1,b")
}

func FuzzAlibaba2017(f *testing.F) { fuzz(f, trace.Alibaba2017, excerpt(f, "alibaba2017.csv")) }

func FuzzSparkTPCH(f *testing.F) {
	fuzz(f, trace.SparkTPCH, excerpt(f, "tpch.jsonl"), `{"query":1,"size":"2g","edges":[[0,0]],"stages":{"0":{}}}`)
}

func FuzzWfFormat(f *testing.F) {
	fuzz(f, trace.WfFormat, excerpt(f, "wfinstances.jsonl"), `{"name":"a"}`)
}

func FuzzRecognised(f *testing.F) {
	fuzz(f, "", excerpt(f, "theta.swf"), excerpt(f, "pigeon.tr"), excerpt(f, "philly.csv"),
		excerpt(f, "google2011_jobs.csv.gz"), "{}", "\xef\xbb\xbf", "\x1f\x8b")
}

func FuzzEagleMeta(f *testing.F) {
	f.Add([]byte("line,job_id,user,cpu_req,mem_req,job_end_event\n1,a,u,0.5,1,FINISH\n2,b,,,,\n"))
	f.Add([]byte(excerpt(f, "google2011.meta.csv.gz")))
	f.Fuzz(func(t *testing.T, meta []byte) {
		s, err := trace.NewReader(bytes.NewReader([]byte("1 1 1 1\n2 1 1 1\n")), "x.tr", bytes.NewReader(meta), nil)
		if err == nil {
			_, err = trace.Collect(s)
		}
		if err != nil {
			sound(t, err)
		}
	})
}

package trace_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/trace"
)

// randomJobs makes jobs with everything that a Job can say.
func randomJobs(r *rand.Rand, n int, texts []string) []trace.Job {
	jobs := make([]trace.Job, n)
	at := time.Duration(0)
	span := func() time.Duration { return time.Duration(r.Int64N(1 << r.IntN(61))) }
	for i := range jobs {
		at = min(at+span()/1000, 3_000_000_000*time.Second)
		j := trace.Job{ID: fmt.Sprint(texts[r.IntN(len(texts))], i), Line: i + 1, Submit: at, Wait: trace.WaitUnknown,
			Runtime: span() + 1, Tasks: 1 + r.IntN(5),
			Outcome: []trace.Outcome{"", trace.Finished, trace.Failed, trace.Killed}[r.IntN(4)]}
		if r.IntN(2) == 0 {
			j.Wait, j.Requested, j.Deadline = span(), span(), min(j.Runtime+span(), 3_000_000_000*time.Second)
		}
		if r.IntN(3) == 0 {
			for range j.Tasks {
				j.TaskRuntimes = append(j.TaskRuntimes, span())
			}
		}
		for _, k := range []string{"cpu", "a,b", `"`} {
			if r.IntN(2) == 0 {
				if j.Demand == nil {
					j.Demand = map[string]float64{}
				}
				j.Demand[k] = math.Ldexp(r.Float64(), r.IntN(200)-100)
			}
		}
		for _, k := range texts {
			if k != "" && r.IntN(2) == 0 {
				if j.Attributes == nil {
					j.Attributes = map[string]string{}
				}
				j.Attributes[k] = texts[r.IntN(len(texts))]
			}
		}
		jobs[i] = j
	}
	return jobs
}

type writer interface {
	Write(*trace.Job) error
	Flush() error
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", "user", "ü→", `"`, `""`, "a,b", " x ", "cr\r", "\t", "'", "=1", "<&>\u2028", "7"}
	for range 50 {
		jobs := randomJobs(r, 1+r.IntN(20), texts)
		for format, first := range map[string]int{trace.HedgeCSV: 2, trace.HedgeJSONL: 1} {
			var b bytes.Buffer
			var w writer = trace.NewJSONLWriter(&b)
			if format == trace.HedgeCSV {
				w = trace.NewCSVWriter(&b, trace.ColumnsOf(jobs))
			}
			for i := range jobs {
				jobs[i].Line = first + i
				require.NoError(t, w.Write(&jobs[i]))
			}
			require.NoError(t, w.Flush())
			require.Equal(t, jobs, read(t, "x", format, b.String()).Jobs, b.String())
		}
	}
}

func TestJSONLCarriesLineBreaks(t *testing.T) {
	var b bytes.Buffer
	w := trace.NewJSONLWriter(&b)
	job := trace.Job{ID: "a\nb", Line: 1, Runtime: 1, Tasks: 1, Attributes: map[string]string{"a\n": "\nb"},
		Wait: trace.WaitUnknown}
	require.NoError(t, w.Write(&job))
	require.NoError(t, w.Flush())
	require.Equal(t, []trace.Job{job}, read(t, "x", "", b.String()).Jobs)
}

func TestJobsThatNoReaderWouldTakeAreNotWritten(t *testing.T) {
	good := trace.Job{ID: "a", Submit: time.Second, Runtime: time.Second, Tasks: 1}
	for name, spoil := range map[string]func(*trace.Job){
		"no id":         func(j *trace.Job) { j.ID = "" },
		"twice":         func(j *trace.Job) { j.ID = "first" },
		"id":            func(j *trace.Job) { j.ID = "\xff" },
		"early":         func(j *trace.Job) { j.Submit = 0 },
		"late":          func(j *trace.Job) { j.Submit = math.MaxInt64 },
		"no runtime":    func(j *trace.Job) { j.Runtime = 0 },
		"no tasks":      func(j *trace.Job) { j.Tasks = 0 },
		"deadline":      func(j *trace.Job) { j.Deadline = -1 },
		"too soon":      func(j *trace.Job) { j.Deadline = j.Runtime - 1 },
		"requested":     func(j *trace.Job) { j.Requested = -1 },
		"outcome":       func(j *trace.Job) { j.Outcome = "lost" },
		"task runtimes": func(j *trace.Job) { j.TaskRuntimes = make([]time.Duration, 2) },
		"task runtime":  func(j *trace.Job) { j.TaskRuntimes = []time.Duration{-1} },
		"demand":        func(j *trace.Job) { j.Demand = map[string]float64{"cpu": math.NaN()} },
		"huge":          func(j *trace.Job) { j.Demand = map[string]float64{"cpu": 1e31} },
		"infinite":      func(j *trace.Job) { j.Demand = map[string]float64{"cpu": math.Inf(1)} },
		"demand name":   func(j *trace.Job) { j.Demand = map[string]float64{"": 1} },
		"attribute":     func(j *trace.Job) { j.Attributes = map[string]string{"user": "\xff"} },
	} {
		for _, w := range []writer{trace.NewJSONLWriter(&bytes.Buffer{}), trace.NewCSVWriter(&bytes.Buffer{},
			trace.Columns{Demand: []string{"cpu"}, Attributes: []string{"user"}, TaskRuntimes: true})} {
			first, job := good, good
			first.ID = "first"
			require.NoError(t, w.Write(&first))
			spoil(&job)
			require.ErrorIs(t, w.Write(&job), trace.ErrJob, name)
			require.NoError(t, w.Write(&good))
		}
	}
	for name, spoil := range map[string]func(*trace.Job){
		"column":        func(j *trace.Job) { j.Attributes = map[string]string{"group": "g"} },
		"demand":        func(j *trace.Job) { j.Demand = map[string]float64{"cpu": 1} },
		"line break":    func(j *trace.Job) { j.Attributes = map[string]string{"user": "a\nb"} },
		"id":            func(j *trace.Job) { j.ID = "a\nb" },
		"task runtimes": func(j *trace.Job) { j.TaskRuntimes = []time.Duration{1} },
	} {
		job := good
		spoil(&job)
		require.ErrorIs(t, trace.NewCSVWriter(&bytes.Buffer{}, trace.Columns{Attributes: []string{"user"}}).Write(&job),
			trace.ErrJob, name)
	}
	for _, bad := range []string{"", "a\nb", "\xff"} {
		w := trace.NewCSVWriter(&bytes.Buffer{}, trace.Columns{Attributes: []string{bad}})
		require.ErrorIs(t, w.Flush(), trace.ErrJob)
		require.ErrorIs(t, w.Write(&good), trace.ErrJob)
	}
}

func TestNumbersAreExact(t *testing.T) {
	for s, want := range map[string]time.Duration{"0": 0, "1.000000001": time.Second + 1, "0.0000000005": 1,
		"0.0000000004": 0, "3000000000": 3e18,
		"1e-9": 1, "2.5E1": 25 * time.Second, ".5": 500 * time.Millisecond, "5.": 5 * time.Second, "+1": time.Second, "-0": 0,
		"0.9999999999": time.Second} {
		log := read(t, "x", "eagle", s+" 1 1 1\n")
		require.Equal(t, want, log.Jobs[0].Submit, s)
	}
	for _, s := range []string{"", ".", "-", "1e", "e1", "1e999", "0x10", "1_0", "inf", "nan", "1.2.3", "3000000000.1",
		"99999999999999999999999", "1e10", "١"} {
		require.ErrorIs(t, readAll("x", "eagle", "1 1 1 1\n2 1 1 "+s+"\n", ""), trace.ErrFormat, s)
	}
}

func BenchmarkRead(b *testing.B) {
	lines := map[string]struct{ head, line string }{
		trace.SWF: {"", "%d %[1]d 10 1000 16 -1 -1 16 3600 -1 1 %[2]d 3 9 2 1 -1 -1\n"},
		trace.GoogleJobs: {"job_id,submit_s,start_s,end_s,end_event,user,sched_class,job_name,logical_name,n_schedules\n",
			"%d,604.1,605.6,675.3,FINISH,u%[2]d,1,n%[1]d,l%[2]d,1\n"},
		trace.Eagle: {"", "%d 10 %[2]d" + strings.Repeat(" 69.683", 10) + "\n"},
		trace.HedgeCSV: {"id,submit_s,runtime_s,tasks,demand.cpu,attr.user,attr.name\n",
			"%d,%[1]d.25,17.5,4,0.0625,u%[2]d,n%[1]d\n"},
		trace.HedgeJSONL: {"", `{"id":"%d","submit_s":%[1]d.25,"runtime_s":17.5,"tasks":4,"demand":{"cpu":0.0625},"attributes":{"user":"u%[2]d"}}` + "\n"},
	}
	for _, format := range trace.Formats() {
		l, ok := lines[format]
		if !ok {
			continue
		}
		b.Run(format, func(b *testing.B) {
			const n = 10_000
			var in strings.Builder
			in.WriteString(l.head)
			for i := range n {
				fmt.Fprintf(&in, l.line, i+1, 1+i%100)
			}
			content := in.String()
			b.SetBytes(int64(len(content)))
			b.ReportAllocs()
			for b.Loop() {
				s, err := trace.NewReader(strings.NewReader(content), "x", nil, &trace.Options{Format: format})
				if err != nil {
					b.Fatal(err)
				}
				got := 0
				for {
					if _, err := s.Read(); err != nil {
						break
					}
					got++
				}
				if got != n {
					b.Fatal(got)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/job")
		})
	}
}

package trace_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/trace"
)

// dialect is a format's way to write job i, who runs for so long, with every field that can be odd.
type dialect struct {
	format, header string
	line           func(i int, runtime string) string
	// wider is a line with a column more.
	wider func(line string) string
	// reason is that of a bad runtime.
	reason string
}

func dialects() []dialect {
	more := func(s string) string { return s + ",7" }
	return []dialect{
		{trace.SWF, "; MaxProcs: 8", func(i int, runtime string) string {
			return fmt.Sprintf("%d %d 0 %s 4 1 1024 4 60 -1 1 7 3 9 2 1 -1 -1", i, i, runtime)
		}, func(s string) string { return s + " extra 1,2" }, "wrong runtime"},
		{trace.Eagle, "# a trace", func(i int, runtime string) string { return fmt.Sprintf("%d 1 %s 3", i, runtime) }, nil,
			"wrong mean"},
		{trace.GoogleJobs, "job_id,submit_s,start_s,end_s,end_event,user,n_schedules", func(i int, runtime string) string {
			if runtime == "10" {
				runtime = fmt.Sprint(10*i + 12)
			}
			return fmt.Sprintf("%d,%d,%d,%s,FINISH,u,x", i, 10*i+1, 10*i+2, runtime)
		}, more, "wrong end_s"},
		{trace.Simple, "arrival_time,length,cpus",
			func(i int, runtime string) string { return fmt.Sprintf("%d,%s,4", i, runtime) }, more, "wrong length"},
		{trace.JobList, ",u_id,user,gpu_num,cpu_num,node_num,interval,run_time,wall_time,new_status",
			func(i int, runtime string) string {
				return fmt.Sprintf("%d,%[1]d,u,1,2,1,5,%s,0,Pass", i, runtime)
			}, more, "wrong run_time"},
		{trace.HedgeCSV, "id,submit_s,runtime_s,tasks,attr.user", func(i int, runtime string) string {
			return fmt.Sprintf("j%d,%[1]d,%s,4,u", i, runtime)
		}, more, "wrong runtime_s"},
		{trace.HedgeJSONL, "", func(i int, runtime string) string {
			return fmt.Sprintf(`{"id":"j%d","submit_s":%[1]d,"runtime_s":%s,"tasks":4}`, i, runtime)
		}, func(s string) string { return strings.TrimSuffix(s, "}") + `,"colour":{"a":[1]}}` }, "wrong runtime_s"},
	}
}

// log writes a log of n jobs, after each of which odd may add lines.
func (d *dialect) log(n int, odd func(i int) string) string {
	var b strings.Builder
	if d.header != "" {
		b.WriteString(d.header + "\n")
	}
	for i := 1; i <= n; i++ {
		b.WriteString(d.line(i, "10") + "\n" + odd(i))
	}
	return b.String()
}

func (d *dialect) open(t *testing.T, content string, o trace.Options) *trace.Stream {
	t.Helper()
	o.Format = d.format
	s, err := trace.NewReader(strings.NewReader(content), "x", nil, &o)
	require.NoError(t, err)
	return s
}

func TestEveryReaderLeavesOutBadRecords(t *testing.T) {
	for _, d := range dialects() {
		t.Run(d.format, func(t *testing.T) {
			clean, err := trace.Collect(d.open(t, d.log(9, func(int) string { return "" }), trace.Options{Strict: true}))
			require.NoError(t, err)
			require.Len(t, clean.Jobs, 9)
			for name, c := range map[string]struct {
				line string
				bad  int
			}{
				"negative": {d.line(90, "-7"), 1}, "nan": {d.line(90, "NaN"), 1}, "word": {d.line(90, `"xy"`), 1},
				"huge": {d.line(90, "1e300"), 1},
				"cut":  {d.line(90, "10")[:4], 1}, "binary": {"\x00\xff\xfe 1", 1}, "blank": {" \t", 0},
				"odd blanks": {"\f\u00a0\v\r", 0},
				"long":       {strings.Repeat("7", 17<<20), 1}, "quote": {`"` + d.line(90, "10"), 1},
			} {
				content := d.log(9, func(i int) string { return map[bool]string{true: c.line + "\n"}[i == 4] })
				log, err := trace.Collect(d.open(t, content, trace.Options{}))
				require.NoError(t, err, name)
				require.Len(t, log.Jobs, 9, name)
				total := 0
				for _, b := range log.Bad {
					require.NotEmpty(t, b.Reason)
					require.Equal(t, strings.Count(d.log(4, func(int) string { return "" }), "\n")+1, b.First.Line, name)
					total += b.Count
				}
				require.Equal(t, c.bad, total, name)
				if name == "negative" {
					require.Equal(t, map[string]int{d.reason: 1}, reasons(log.Bad))
				}
				_, err = trace.Collect(d.open(t, content, trace.Options{Strict: true}))
				require.Equal(t, c.bad > 0, err != nil, "%s: %v", name, err)
				if err != nil {
					require.EqualError(t, err, log.Bad[0].First.Error())
				}
			}
		})
	}
}

// lastReturns has the lines of the second half of a log end in carriage returns.
func lastReturns(content string) string {
	half := strings.Index(content[len(content)/2:], "\n") + len(content)/2 + 1
	return content[:half] + strings.ReplaceAll(content[half:], "\n", "\r")
}

func TestEveryReaderTakesWhatProgramsAddToAFile(t *testing.T) {
	for _, d := range dialects() {
		t.Run(d.format, func(t *testing.T) {
			content := d.log(9, func(int) string { return "" })
			want, err := trace.Collect(d.open(t, content, trace.Options{}))
			require.NoError(t, err)
			for i := range want.Jobs {
				want.Jobs[i].Line = 0
			}
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			_, err = z.Write([]byte("\xef\xbb\xbf" + content))
			require.NoError(t, err)
			require.NoError(t, z.Close())
			twice := strings.Replace(content, d.line(5, "10"), d.header+"\n"+d.line(5, "10"), 1)
			for name, dirty := range map[string]string{
				"mark": "\xef\xbb\xbf" + content, "packed": packed.String(), "CRLF": strings.ReplaceAll(content, "\n", "\r\n"),
				"CR": strings.ReplaceAll(content, "\n", "\r"), "CR, blanks": strings.ReplaceAll(content, "\n", " \r \r  "),
				"CR, then LF": strings.Replace(content, "\n", "\r", 6), "LF, then CR": lastReturns(content),
				"CRLF, then CR": strings.Replace(strings.ReplaceAll(content, "\n", "\r"), "\r", "\r\n", 6),
				"CRCRLF":        strings.ReplaceAll(content, "\n", "\r\r\n"), "no end of line": strings.TrimSuffix(content, "\n"),
				"blank lines":  strings.ReplaceAll(content, "\n", "\n \r\n\n"),
				"blanks":       strings.ReplaceAll(content, "\n", " \t\n  "),
				"odd blanks":   strings.ReplaceAll(content, "\n", "\f \u00a0\n\u00a0\v"),
				"header again": twice, "joined with mark": strings.Replace(twice, d.header+"\n", "\xef\xbb\xbf"+d.header+"\n", 2),
			} {
				if d.header == "" && name == "joined with mark" {
					continue
				}
				for _, strict := range []bool{false, true} {
					got, err := trace.Collect(d.open(t, dirty, trace.Options{Strict: strict}))
					require.NoError(t, err, name)
					for i := range got.Jobs {
						got.Jobs[i].Line = 0
						if d.format == trace.Eagle || d.format == trace.Simple { // ids are lines
							got.Jobs[i].ID = want.Jobs[i].ID
						}
					}
					require.Equal(t, want.Jobs, got.Jobs, name)
					require.Empty(t, got.Bad, name)
				}
			}
		})
	}
}

func TestMoreColumnsAreIgnoredWithOneNote(t *testing.T) {
	for _, d := range dialects() {
		if d.wider == nil {
			continue // a line of the Eagle format has as many columns as it says
		}
		content := d.log(1, func(i int) string {
			return d.wider(d.line(i+1, "10")) + "\n" + d.wider(d.line(i+2, "10")) +
				"\n"
		})
		log, err := trace.Collect(d.open(t, content, trace.Options{}))
		require.NoError(t, err, d.format)
		require.Len(t, log.Jobs, 3, d.format)
		require.Len(t, log.Notes, 1, d.format)
		require.Regexp(t, `^x:[23]: .* are ignored`, log.Notes[0])
		require.Empty(t, log.Bad)
		_, err = trace.Collect(d.open(t, content, trace.Options{Strict: true}))
		require.ErrorIs(t, err, trace.ErrFormat, d.format)
	}
	log := read(t, "x", "", "id,submit_s,runtime_s,tasks,colour,colour\na,0,1,1,red,x\n")
	require.Len(t, log.Jobs, 1)
	require.Equal(t, []string{`x:1: columns that are not known are ignored, as "colour"`}, log.Notes)
}

func TestFieldsThatAreNotUsedVetoNothing(t *testing.T) {
	for format, content := range map[string]string{
		trace.SWF:        "a.7 0 0 10 x nan 1e999 4 UNLIMITED ? 1 alice staff a.out gpu p1 - none\n",
		trace.GoogleJobs: "job_id,submit_s,start_s,end_s,end_event,n_schedules,n_schedules\n1,2,3,4,FINISH,many,\n",
		trace.Simple:     "arrival_time,length,cpus,memory\n0,1,4.0,-1e400\n",
		trace.JobList:    ",,u_id,gpu_num,interval,run_time,wall_time,new_status,note\n,,7,4.0,0,1,1e99,Pass,\"a, b\"\n",
	} {
		log := read(t, "x", format, content)
		require.Len(t, log.Jobs, 1, format)
		require.Empty(t, log.Bad, format)
		require.Zero(t, log.Jobs[0].Requested)
	}
	log := read(t, "x", trace.SWF, "a.7 0 0 10 x nan 1e999 4 UNLIMITED ? 1 alice staff a.out gpu p1 - none\n")
	require.Equal(t, "a.7", log.Jobs[0].ID)
	require.Equal(t, map[string]string{"user": "alice", "group": "staff", "executable": "a.out", "queue": "gpu",
		"partition": "p1",
		"requested": "UNLIMITED", "tasks": "4"}, log.Jobs[0].Attributes)
}

func TestWholeNumbersAreTakenHoweverTheyAreWritten(t *testing.T) {
	for _, four := range []string{"4", "4.0", "4.", "4.000", "4e0", "0.4E1"} {
		for format, content := range map[string]string{
			trace.SWF: "1.0 0 0 10 1 -1 -1 " + four + " 60 -1 1.0 7 3 9 2 1 -1.0 -1\n", trace.Eagle: "0 " + four +
				" 1 1 1 1 1\n",
			trace.Simple: "arrival_time,length,cpus\n0,1," + four + "\n", trace.JobList: listCSV + "1.0,1.0," + four +
				",0.0,0,0,1,0,Pass\n",
			trace.HedgeCSV: "id,submit_s,runtime_s,tasks\n1,0,1," + four + "\n",
		} {
			log := read(t, "x", format, content)
			require.Equal(t, 4, log.Jobs[0].Tasks, "%s %s", format, four)
			require.Contains(t, []string{"1", "2"}, log.Jobs[0].ID)
		}
	}
}

func TestALogIsRefusedForMoreThanSomeShareOfBadRecords(t *testing.T) {
	for _, c := range []struct {
		good, bad int
		max       float64
		refused   bool
	}{
		{1900, 100, 0, false}, {1899, 101, 0, true}, {1, 100, 0, false}, {1, 101, 0, true}, {2000, 105, 0, false},
		{2000, 106, 0, true},
		{900, 101, 0.2, false}, {300, 101, 0.2, true}, {9000, 101, -1, true}, {9000, 100, -1, false}, {1, 500, 1, false},
		{0, 1, 1, true},
	} {
		for _, d := range dialects() {
			content := d.log(c.good, func(int) string { return "" }) + strings.Repeat(d.line(99_999, "-7")+"\n", c.bad)
			s := d.open(t, content, trace.Options{MaxBad: c.max})
			jobs := 0
			var err error
			for err == nil {
				if _, err = s.Read(); err == nil {
					jobs++
				}
			}
			_, again := s.Read()
			require.Equal(t, err, again)
			require.Equal(t, c.good, jobs, "the share is known at the end")
			var refused *trace.BadLogError
			if c.refused != errors.As(err, &refused) {
				t.Fatalf("%s %+v: %v", d.format, c, err)
			}
			if !c.refused {
				require.Equal(t, io.EOF, err)
				require.Equal(t, map[string]int{d.reason: c.bad}, reasons(s.Bad()), "%s", d.format)
				continue
			}
			require.ErrorIs(t, err, trace.ErrFormat)
			require.Equal(t, c.good == 0, errors.Is(err, trace.ErrEmpty))
			require.Equal(t, []int{c.good, c.good + c.bad}, []int{refused.Jobs, refused.Records})
			require.ErrorContains(t, err, fmt.Sprintf("; %d of %d records are bad, ", c.bad, c.good+c.bad))
		}
	}
	for _, max := range []float64{math.NaN(), 1.01, math.Inf(1)} {
		_, err := trace.NewReader(strings.NewReader("1 1 1 1\n"), "x", nil, &trace.Options{Format: trace.Eagle, MaxBad: max})
		require.ErrorContains(t, err, "MaxBad")
	}
}

func TestSkippedRecordsNeverCountAsBad(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "%d 0 0 %d 1"+swfTail, i, []int{10, 0, -1}[i%3])
	}
	log := read(t, "x", trace.SWF, b.String())
	require.Empty(t, log.Bad)
	require.Equal(t, map[string]int{"zero runtime": 333, "no runtime": 333}, log.Skipped)
}

func TestWhatIsRememberedOfBadRecordsIsBounded(t *testing.T) {
	var head, b strings.Builder
	head.WriteString("id,submit_s,runtime_s,tasks")
	for i := range 200 {
		fmt.Fprintf(&head, ",demand.d%d", i)
		fmt.Fprintf(&b, "a%d,0,1,1%s,-1%s\n", i, strings.Repeat(",", i), strings.Repeat(",", 199-i))
	}
	content := head.String() + "\n" + b.String() + strings.Repeat("b,0,1,1"+strings.Repeat(",", 200)+"\n", 1)
	s, err := trace.NewReader(strings.NewReader(content), "x", nil, &trace.Options{MaxBad: 1})
	require.NoError(t, err)
	log, err := trace.Collect(s)
	require.NoError(t, err)
	require.Len(t, log.Bad, 65)
	require.Equal(t, 136, reasons(log.Bad)["other"])
	require.Less(t, len(log.Bad[0].First.Error()), 300)
}

// A record that is left out does not spoil those after it.
func TestBadRecordsLeaveNoTrace(t *testing.T) {
	log := read(t, "x", trace.HedgeCSV, "id,submit_s,runtime_s,tasks\na,5,x,1\na,1,1,1\nb,3000000000,0,1\nc,2,1,1\n")
	require.Len(t, log.Jobs, 2)
	log = read(t, "x", trace.JobList, listCSV+"1,1,1,1,1,10,1,0,Pass\n2,1,1,1,1,10,1,0,WHAT\n3,1,1,1,1,10,1,0,Pass\n")
	require.Len(t, log.Jobs, 2)
	require.EqualValues(t, 30e9, log.Jobs[1].Submit, "its interval counts")
}

func TestABadRowOfTheTableOfAttributesCostsItsJobAlone(t *testing.T) {
	const head = "line,job_id,cpu_req\n"
	for name, c := range map[string]struct {
		log, meta string
		ids       string
		bad       int
	}{
		"bad row":         {"1 1 1 1\n2 1 1 1\n3 1 1 1\n", head + "1,a,1\n2,b,-1\n3,c,1\n", "ac", 1},
		"torn row":        {"1 1 1 1\n2 1 1 1\n3 1 1 1\n", head + "1,a,1\n2,\n3,c,1\n", "ac", 1},
		"no row":          {"1 1 1 1\n2 1 1 1\n3 1 1 1\n", head + "1,a,1\n3,c,1\n", "ac", 1},
		"no last row":     {"1 1 1 1\n2 1 1 1\n3 1 1 1\n", head + "1,a,1\n2,b,1\n", "ab", 1},
		"bad job":         {"1 1 1 1\n2 1 1\n3 1 1 1\n", head + "1,a,1\n2,b,1\n3,c,1\n", "ac", 1},
		"bad last job":    {"1 1 1 1\n2 1 1 1\n3 1 1\n", head + "1,a,1\n2,b,1\n3,c,1\n", "ab", 1},
		"both":            {"1 1 1 1\n2 1 1\n3 1 1 1\n", head + "1,a,1\n2,\n3,c,1\n", "ac", 1},
		"blank line":      {"1 1 1 1\n\n3 1 1 1\n", head + "1,a,1\n3,c,1\n", "ac", 0},
		"a row too many":  {"1 1 1 1\n2 1 1 1\n", head + "1,a,1\n2,b,1\n3,c,1\n", "ab", 1},
		"floats":          {"1 1 1 1\n2 1 1 1\n", head + "1.0,a,1\n2.0,b,1\n", "ab", 0},
		"a row again":     {"1 1 1 1\n2 1 1 1\n", head + "1,a,1\n1,x,1\n2,b,1\n", "ab", 0},
		"no job has rows": {"1 1 1 1\n2 1 1 1\n", head + "7,a,1\n8,x,1\n", "", 4},
	} {
		s, err := trace.NewReader(strings.NewReader(c.log), "x.tr", strings.NewReader(c.meta), nil)
		require.NoError(t, err)
		ids := ""
		for {
			job, err := s.Read()
			if err != nil {
				break
			}
			ids += job.ID
		}
		require.Equal(t, c.ids, ids, name)
		total := 0
		for _, b := range s.Bad() {
			total += b.Count
		}
		require.Equal(t, c.bad, total, "%s: %v", name, s.Bad())
	}
}

// A disk that fails says nothing of the log.
func TestAnErrorOfInputIsNoBadLog(t *testing.T) {
	broken := errors.New("input/output error")
	for _, d := range dialects() {
		in := io.MultiReader(strings.NewReader(d.log(3, func(int) string { return "" })), iotest.ErrReader(broken))
		s, err := trace.NewReader(in, "x", nil, &trace.Options{Format: d.format})
		if err == nil {
			_, err = trace.Collect(s)
		}
		require.ErrorIs(t, err, broken, d.format)
		require.NotErrorIs(t, err, trace.ErrFormat)
		require.ErrorContains(t, err, "x:")
	}
}

func TestFormatsAreRecognisedBehindOddLines(t *testing.T) {
	for content, want := range map[string]string{
		"\xef\xbb\xbf\r\n\f\n; x\n1 0 0 10 1" + swfTail:            trace.SWF,
		"#job submit\n1 0 0 10 1" + swfTail:                        trace.SWF,
		"1 0 0 NaN 1" + swfTail + "2 0 0 10 1" + swfTail:           trace.SWF,
		"1 0 0 10 1 -1 -1 1 60 -1 1 7 3 9 2 1 -1 -1 {1,2} q 1:p\n": trace.SWF,
		"junk\n1 1 3 3\n": trace.Eagle,
		"# made by hand\n id , submit_s , runtime_s , tasks\na,0,1,1":       trace.HedgeCSV,
		"\xef\xbb\xbf" + `{"id":"a","submit_s":0,"runtime_s":1,"tasks":1}`:  trace.HedgeJSONL,
		"\xef\xbb\xbf" + `"arrival_time", "length", "cpus"` + "\r\n0, 1, 1": trace.Simple,
	} {
		s, err := trace.NewReader(strings.NewReader(content), "x", nil, nil)
		require.NoError(t, err, content)
		require.Equal(t, want, s.Format(), content)
		_, err = trace.Collect(s)
		require.NoError(t, err, content)
	}
}

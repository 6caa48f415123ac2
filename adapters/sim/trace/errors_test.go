package trace_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/trace"
)

const (
	csvHead   = "id,submit_s,runtime_s,tasks,wait_s,deadline_s,outcome,task_runtimes_s,demand.cpu,attr.user\n"
	googleCSV = "job_id,submit_s,start_s,end_s,end_event,user\n"
	listCSV   = "u_id,user,gpu_num,cpu_num,node_num,interval,run_time,wall_time,new_status\n"
	swfTail   = " -1 -1 1 60 -1 1 7 3 9 2 1 -1 -1\n"
)

// readAll reads a log that is text, and refuses the first bad record.
func readAll(name, format, content, meta string) error {
	var m io.Reader
	if meta != "" {
		m = strings.NewReader(meta)
	}
	s, err := trace.NewReader(strings.NewReader(content), name, m, &trace.Options{Format: format, Strict: true})
	if err != nil {
		return err
	}
	_, err = trace.Collect(s)
	return err
}

func TestBadInputNamesTheOffender(t *testing.T) {
	for _, c := range []struct{ format, content, want string }{
		{"swf", "1 2 3\n", `x:1: columns: found 3, expected 18`},
		{"swf", "; hello\n1 0 0 10 1" + strings.Repeat(" -1", 40) + "\n", `x:2: columns: found more, expected 18`},
		{"swf", "1 NaN 0 10 1" + swfTail, `x:1: field 2 (submit): found "NaN", expected a number from 0 to 3e9, or -1`},
		{"swf", "1 0 0 Inf 1" + swfTail, `x:1: field 4 (runtime): found "Inf", expected a number from 0 to 3e9, or -1`},
		{"swf", "1 0 0 -7 1" + swfTail, `x:1: field 4 (runtime): found "-7", expected a number from 0 to 3e9, or -1`},
		{"swf", "1 0 0 1e300 1" + swfTail, `x:1: field 4 (runtime): found "1e300", expected a number from 0 to 3e9, or -1`},
		{"swf", "1 0 0 10 1 -1 -1 1.5 60 -1 1 7 3 9 2 1 -1 -1\n",
			`x:1: field 8 (requested processors): found "1.5", expected a whole number from 1 to 2147483647`},
		{"swf", "1 0 0 10 1 -1 -1 1 60 -1 9 7 3 9 2 1 -1 -1\n",
			`x:1: field 11 (status): found "9", expected a number from -1 to 5`},
		{"swf", "-1 0 0 10 1" + swfTail, `x:1: field 1 (job): found "-1", expected a number that is not negative`},
		{"swf", "1 0 0 10 1" + swfTail + "1 0 0 10 1" + swfTail,
			`x:2: field 1 (job): found "1", expected an id not seen before`},
		{"swf", ";UnixStartTime: 100\n1 100 0 10 1" + swfTail + "2 99 0 10 1" + swfTail,
			`x:3: field 2 (submit): found "99", expected a time not before UnixStartTime, as the first was given in Unix time`},
		{"eagle", "1 2 3 4\n", `x:1: durations: found 1, expected 2, one a task`},
		{"eagle", "1 0 3\n", `x:1: tasks: found "0", expected a whole number from 1 to 2147483647`},
		{"eagle", "1 2147483647 3 1\n", `x:1: durations: found 1, expected 2147483647, one a task`},
		{"eagle", "1\n", `x:1: tasks: found "", expected a whole number from 1 to 2147483647`},
		{"eagle", "1 1 NaN 1\n", `x:1: mean: found "NaN", expected seconds from 0 to 3e9`},
		{"eagle", "-1 1 1 1\n", `x:1: arrival: found "-1", expected seconds from 0 to 3e9`},
		{"eagle", "1 2 3 4 -5\n", `x:1: duration 2: found "-5", expected seconds from 0 to 3e9`},
		{"google-jobs", "job_id,submit_s\n", `x:1: columns: found "job_id,submit_s", expected a column start_s`},
		{"google-jobs", googleCSV + "1,2,3\n", `x:2: columns: found 3, expected 6, as in the header`},
		{"google-jobs", googleCSV + "1,2,3,4,5,6,7\n", `x:2: columns: found more, expected 6, as in the header`},
		{"google-jobs", googleCSV + ",2,3,4,FINISH,u\n", `x:2: job_id: found nothing, expected an id`},
		{"google-jobs", googleCSV + "1,2,3,4,FINISH,u\n1,2,3,4,FINISH,u\n",
			`x:3: job_id: found "1", expected an id not seen before`},
		{"google-jobs", googleCSV + "1,2,3,nan,FINISH,u\n",
			`x:2: end_s: found "nan", expected seconds from 0 to 3e9, or nothing`},
		{"google-jobs", googleCSV + "1,2,5,4,FINISH,u\n", `x:2: end_s: found "4", expected a time not before start_s`},
		{"google-jobs", googleCSV + "1,2,1,4,FINISH,u\n", `x:2: start_s: found "1", expected a time not before submit_s`},
		{"google-jobs", googleCSV + "1,2,3,4,STOP,u\n",
			`x:2: end_event: found "STOP", expected FINISH, FAIL, KILL, EVICT, LOST, RUNNING or nothing`},
		{"simple", "arrival_time,length,cpus\n1,-1,1\n", `x:2: length: found "-1", expected hours from 0 to 833333`},
		{"simple", "arrival_time,length,cpus\n900000,1,1\n",
			`x:2: arrival_time: found "900000", expected hours from 0 to 833333`},
		{"simple", "arrival_time,length,cpus\n1,1,0\n", `x:2: cpus: found "0", expected a whole number from 1 to 2147483647`},
		{"joblist", listCSV + "1,1,1,1,1,-3,1,0,Pass\n", `x:2: interval: found "-3", expected seconds from 0 to 3e9`},
		{"joblist", listCSV + "1,1,1,1,1,3e9,1,0,Pass\n2,1,1,1,1,1,1,0,Pass\n",
			`x:3: interval: found "1", expected intervals that add up to 3e9 at most`},
		{"joblist", listCSV + "1,1,-1,1,1,0,1,0,Pass\n",
			`x:2: gpu_num: found "-1", expected a whole number from 0 to 2147483647`},
		{"joblist", listCSV + "1,1,1,1,1,0,1,0,OK\n",
			`x:2: new_status: found "OK", expected Pass, Failed, Killed or nothing`},
		{"hedge-csv", "id,submit_s,runtime_s,tasks,colour\n",
			`x:1: columns: found "colour", expected a known column, demand.NAME or attr.NAME`},
		{"hedge-csv", "id,submit_s,runtime_s,tasks,id\n", `x:1: columns: found "id" twice, expected each column once`},
		{"hedge-csv", "id,submit_s,runtime_s,tasks\n\"a,1,1,1\n",
			`x:2: line: found "\"a,1,1,1", expected quotes closed on the same line and followed by a comma`},
		{"hedge-csv", "id,submit_s,runtime_s,tasks\n\"a\"b,1,1,1\n",
			`x:2: line: found "\"a\"b,1,1,1", expected quotes closed on the same line and followed by a comma`},
		{"hedge-csv", csvHead + "a,1,1,1,,,,,NaN,\n",
			`x:2: demand.cpu: found "NaN", expected a number from 0 to 1e30, or nothing`},
		{"hedge-csv", csvHead + "a,1,1,1,,-5,,,,\n",
			`x:2: deadline_s: found "-5", expected seconds from 0 to 3e9, or nothing`},
		{"hedge-csv", csvHead + "a,1,1,1,,,,,,\nb,100,10,1,,9.5,,,,\n",
			`x:3: deadline_s: found "9.5", expected seconds since submission, at least the runtime 10, or nothing`},
		{"hedge-csv", csvHead + "a,1,0,1,,,,,,\n", `x:2: runtime_s: found "0", expected seconds above 0, up to 3e9`},
		{"hedge-csv", csvHead + "a,1,1,0,,,,,,\n", `x:2: tasks: found "0", expected a whole number from 1 to 2147483647`},
		{"hedge-csv", csvHead + "a,1,1,1,,,lost,,,\n",
			`x:2: outcome: found "lost", expected finished, failed, killed or nothing`},
		{"hedge-csv", csvHead + "a,1,1,2,,,,1,,\n",
			`x:2: task_runtimes_s: found 1 durations, expected 2, one a task, blank-separated, or nothing`},
		{"hedge-csv", csvHead + "a,2,1,1,,,,,,\nb,1.5,1,1,,,,,,\n",
			`x:3: submit_s: found "1.5", expected a time not before 2, the job's before`},
		{"hedge-csv", csvHead + "a,2,1,1,,,,,,\na,2,1,1,,,,,,\n", `x:3: id: found "a", expected an id not seen before`},
		{"hedge-jsonl", `{"id":"a","submit_s":1,"runtime_s":1,"tasks":1` + "\n",
			`x:1: line: found the end of the data, expected the rest of it`},
		{"hedge-jsonl", `{"id":"a","submit_s":1,"runtime_s":1,"tasks":1}{}` + "\n",
			`x:1: line: found invalid character '{' after top-level value, expected JSON`},
		{"hedge-jsonl", `{"id":[7],"submit_s":1,"runtime_s":1,"tasks":1}`,
			`x:1: id: found an array, expected a string or a number`},
		{"hedge-jsonl", `{"id":"","submit_s":1,"runtime_s":1,"tasks":1}`, `x:1: id: found nothing, expected an id`},
		{"hedge-jsonl", `{"submit_s":1,"runtime_s":1,"tasks":1}`, `x:1: id: found nothing, expected an id`},
		{"hedge-jsonl", `{"id":null,"submit_s":1,"runtime_s":1,"tasks":1}`, `x:1: id: found nothing, expected an id`},
		{"hedge-jsonl", `{"id":"a","submit_s":1,"runtime_s":1,"tasks":1,"demand":{"gpu":1e308}}`,
			`x:1: demand.gpu: found "1e308", expected a number from 0 to 1e30`},
		{"hedge-csv", csvHead + ",1,1,1,,,,,,\n", `x:2: id: found nothing, expected an id`},
		{"hedge-csv", csvHead + "\"\",1,1,1,,,,,,\n", `x:2: id: found nothing, expected an id`},
		{"hedge-csv", csvHead + "a,1,1,1,,,,,1e308,\n",
			`x:2: demand.cpu: found "1e308", expected a number from 0 to 1e30, or nothing`},
		{"joblist", listCSV + ",1,1,1,1,0,1,0,Pass\n", `x:2: u_id: found nothing, expected an id`},
		{"hedge-jsonl", `{"id":"a","submit_s":1,"tasks":1}`, `x:1: runtime_s: found nothing, expected seconds from 0 to 3e9`},
		{"hedge-jsonl", `{"id":"a","submit_s":1,"runtime_s":null,"tasks":1}`,
			`x:1: runtime_s: found "null", expected seconds from 0 to 3e9`},
		{"hedge-jsonl", `{"id":"a","submit_s":1,"runtime_s":"1","tasks":1}`,
			`x:1: runtime_s: found "\"1\"", expected seconds from 0 to 3e9`},
		{"hedge-jsonl", `{"id":"a","submit_s":1,"runtime_s":1,"tasks":1.5}`,
			`x:1: tasks: found "1.5", expected a whole number from 1 to 2147483647`},
		{"hedge-jsonl", `{"id":"a","submit_s":1,"runtime_s":1,"tasks":1,"demand":{"gpu":-1}}`,
			`x:1: demand.gpu: found "-1", expected a number from 0 to 1e30`},
		{"hedge-jsonl", `{"id":"a","submit_s":1,"runtime_s":1,"tasks":1,"deadline_s":-1}`,
			`x:1: deadline_s: found "-1", expected seconds from 0 to 3e9`},
		{"hedge-jsonl", `{"id":"a","submit_s":1,"runtime_s":10,"tasks":1,"deadline_s":9.5}`,
			`x:1: deadline_s: found "9.5", expected seconds since submission, at least the runtime 10, or nothing`},
		{"hedge-jsonl", `{"id":"a","submit_s":1,"runtime_s":1,"tasks":1,"Tasks":2}`,
			`x:1: Tasks: found an unknown field, expected a known one`},
		{"hedge-jsonl", `{"id":"a","submit_s":1,"runtime_s":1,"tasks":1,"attributes":{"u":"a","U":"b","u":"c"}}`,
			`x:1: attributes.u: found twice, expected once`},
		{"hedge-jsonl", `{"id":"a","submit_s":1,"runtime_s":1,"tasks":1,"tasks":2}`,
			`x:1: tasks: found twice, expected once`},
		{"hedge-jsonl", `{"id":"a","attributes":{"u":[]}}`,
			`x:1: attributes.u: found an array, expected a string or a number`},
		{"hedge-jsonl", `{"id":"a","demand":"cpu"}`, `x:1: demand: found a string, expected an object`},
		{"hedge-jsonl", `{"id":"a","task_runtimes_s":true}`, `x:1: task_runtimes_s: found a boolean, expected an array`},
		{"hedge-jsonl", `[1]`, `x:1: line: found an array, expected an object`},
	} {
		err := readAll("x", c.format, c.content, "")
		require.EqualError(t, err, c.want, c.content)
		require.ErrorIs(t, err, trace.ErrFormat)
		var parse *trace.ParseError
		require.ErrorAs(t, err, &parse)
		require.Equal(t, "x", parse.File)
	}
}

func TestBadTablesOfAttributes(t *testing.T) {
	for _, c := range []struct{ meta, want string }{
		{"\n", `x.meta.csv:1: columns: found an empty file, expected line,job_id,…`},
		{"job_id\n", `x.meta.csv:1: columns: found "job_id", expected a column line`},
		{"line,job_id\n1,a\n", `x.meta.csv:3: line: found the end of the file, expected a row for line 2 of the log`},
		{"line,job_id\n1,a\n3,b\n", `x.meta.csv:3: line: found "3", expected 2, the log's line`},
		{"line,job_id\n1,a\n2,a\n", `x.meta.csv:3: job_id: found "a", expected an id not seen before`},
		{"line,job_id\n1,a\n2,b\n3,c\n",
			`x.meta.csv:4: line: found "3", expected the end of the file, as the log ends at line 2`},
		{"line,job_id\n1,\n", `x.meta.csv:2: job_id: found nothing, expected an id`},
		{"line,job_id,cpu_req\n1,a,-1\n", `x.meta.csv:2: cpu_req: found "-1", expected a number from 0 to 1e30`},
	} {
		require.EqualError(t, readAll("x.tr", "", "1 1 1 1\n2 1 1 1\n", c.meta), c.want)
	}
}

func TestTruncatedGzipSaysHowFarItGot(t *testing.T) {
	var content, packed bytes.Buffer
	for i := range 20_000 {
		fmt.Fprintf(&content, "%d 1 %d %d\n", i, i*7919%1000+1, i*7919%1000+1)
	}
	z := gzip.NewWriter(&packed)
	_, err := z.Write(content.Bytes())
	require.NoError(t, err)
	require.NoError(t, z.Close())
	path := filepath.Join(t.TempDir(), "x.tr.gz")
	for _, n := range []int{3, packed.Len() / 2, packed.Len() - 5} {
		require.NoError(t, os.WriteFile(path, packed.Bytes()[:n], 0o600))
		_, err := trace.ReadAll(path, nil)
		require.ErrorIs(t, err, trace.ErrFormat)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.ErrorContains(t, err, "gzip: found the end of the file, expected more compressed data: the file is truncated")
		var parse *trace.ParseError
		require.ErrorAs(t, err, &parse)
		require.Equal(t, n > 1000, parse.Line > 100, "line %d", parse.Line)
	}
	bad := bytes.Clone(packed.Bytes())
	bad[len(bad)-6] ^= 1
	require.NoError(t, os.WriteFile(path, bad, 0o600))
	_, err = trace.ReadAll(path, nil)
	require.ErrorIs(t, err, gzip.ErrChecksum)
	require.ErrorIs(t, err, trace.ErrFormat)
}

func TestEmptyLogs(t *testing.T) {
	var packed bytes.Buffer
	require.NoError(t, gzip.NewWriter(&packed).Close())
	for _, c := range []struct{ format, content string }{
		{"", ""}, {"", "\n \n"}, {"", packed.String()}, {"swf", "; nothing\n"}, {"swf", ""}, {"eagle", ""}, {"hedge-csv", ""},
		{"hedge-jsonl", ""},
		{"google-jobs", ""}, {"google-jobs", googleCSV}, {"simple", ""}, {"joblist", listCSV},
		{"swf", "1 0 0 -1 1" + swfTail},
	} {
		require.ErrorIs(t, readAll("x", c.format, c.content, ""), trace.ErrEmpty, "%q", c)
	}
}

func TestUnknownFormatsListTheKnown(t *testing.T) {
	err := readAll("x", "xml", "<a/>", "")
	require.ErrorIs(t, err, trace.ErrUnknownFormat)
	require.ErrorContains(t, err, `"xml", known: swf, eagle, google-jobs, simple, joblist, hedge-csv, hedge-jsonl`)
	for _, content := range []string{"<a/>", "a,b,c\n1,2,3\n", "\xef\xbb\xbf", "1 2 3\n", "a b c d\n",
		strings.Repeat("x", 1<<20)} {
		require.ErrorIs(t, readAll("x", "", content, ""), trace.ErrUnknownFormat)
	}
	_, err = trace.Open(filepath.Join(t.TempDir(), "none.swf"), nil)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// endless is a line that does not end.
type endless struct{ read int }

func (e *endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = "1 "[(e.read+i)%2]
	}
	e.read += len(b)
	return len(b), nil
}

func TestALineOfMegabytesIsRefusedWithoutReadingOn(t *testing.T) {
	for _, format := range trace.Formats() {
		in := &endless{}
		s, err := trace.NewReader(in, "x", nil, &trace.Options{Format: format, Strict: true})
		if err == nil {
			_, err = s.Read()
		}
		require.EqualError(t, err, "x:1: line: found more than 16 MiB, expected a shorter line")
		require.Less(t, in.read, 17<<20)
	}
}

func TestLongAndDeepLines(t *testing.T) {
	wide := "1 400000 2" + strings.Repeat(" 2", 400_000) + "\n"
	log := read(t, "x.tr", "", wide+"2 1 1 1\n")
	require.Len(t, log.Jobs, 2)
	require.Len(t, log.Jobs[0].TaskRuntimes, 400_000)
	require.Equal(t, trace.Eagle, read(t, "x", "", wide).Format, "recognised from the start of a line")

	deep := `{"id":"a","demand":` + strings.Repeat(`{"a":`, 100_000)
	require.ErrorContains(t, readAll("x.jsonl", "", deep, ""), "max depth")
	require.Error(t, readAll("x.jsonl", "", strings.Repeat("[", 100_000), ""))
	require.ErrorContains(t, readAll("x.csv", "simple", strings.Repeat(",", 100_000), ""), "at most 10000 names")
}

func TestErrorsStay(t *testing.T) {
	s, err := trace.NewReader(strings.NewReader("1 1 1 1\n2 0 1 1\n3 1 1 1\n"), "x.tr", nil, &trace.Options{Strict: true})
	require.NoError(t, err)
	_, err = s.Read()
	require.NoError(t, err)
	_, first := s.Read()
	require.ErrorIs(t, first, trace.ErrFormat)
	_, second := s.Read()
	require.Equal(t, first, second)
	require.NoError(t, s.Close())
	require.False(t, errors.Is(second, trace.ErrEmpty))
}

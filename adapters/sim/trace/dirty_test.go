package trace_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/trace"
)

// pack compresses a text as one member of a gzip file.
func pack(t *testing.T, content string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.WriteString(z, content)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.String()
}

// records are n lines of SWF.
func records(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "  %d %d 0 10 1%s", i, 20*i, swfTail)
	}
	return b.String()
}

// However the lines of a log of any size end, and however it comes, its jobs and their lines are the same.
func TestLinesEndInReturnsOrFeeds(t *testing.T) {
	for _, n := range []int{1, 2, 7000} {
		want := read(t, "x", "", records(n)).Jobs
		require.Len(t, want, n)
		for _, end := range []string{"\r", "\r\n"} {
			content := strings.ReplaceAll(records(n), "\n", end)
			require.Equal(t, want, read(t, "x", "", content).Jobs, "%q", end)
			require.Equal(t, want, read(t, "x", "", pack(t, content)).Jobs, "%q", end)
			s, err := trace.NewReader(iotest.OneByteReader(strings.NewReader(content)), "x", nil, &trace.Options{Strict: true})
			require.NoError(t, err)
			log, err := trace.Collect(s)
			require.NoError(t, err)
			require.Equal(t, want, log.Jobs, "%q", end)
		}
	}
}

// A carriage return before a blank, a comma or in quotes is none of a line's end.
func TestReturnsWithinALineAreBlanks(t *testing.T) {
	log := read(t, "x", "", "id\r,submit_s\r,runtime_s,tasks,attr.q\na\r,0,5\r,1,\"x\ry\"\nb,0,6\r\t,1,\r\n")
	require.Len(t, log.Jobs, 2)
	require.Equal(t, map[string]string{"q": "x\ry"}, log.Jobs[0].Attributes)
	require.Equal(t, 3, log.Jobs[1].Line)
}

func TestWhatFollowsCompressedData(t *testing.T) {
	log := records(3)
	packed, zeros := pack(t, log), strings.Repeat("\x00", 700)
	want := read(t, "x", "", log).Jobs
	for name, c := range map[string]struct {
		content string
		notes   []string
	}{
		"zeros":             {packed + zeros, nil},
		"a zero":            {packed + "\x00", nil},
		"members":           {pack(t, records(1)) + pack(t, strings.SplitAfterN(log, "\n", 2)[1]), nil},
		"members and zeros": {pack(t, records(1)) + zeros + pack(t, strings.SplitAfterN(log, "\n", 2)[1]) + zeros, nil},
		"empty members":     {pack(t, "") + packed + pack(t, ""), nil},
		"garbage":           {packed + "-- \nend", []string{"x:3: bytes after the compressed data are ignored"}},
		"zeros, garbage":    {packed + zeros + "end", []string{"x:3: bytes after the compressed data are ignored"}},
		"no end of line": {pack(t, strings.TrimSuffix(log, "\n")) + "end",
			[]string{"x:2: bytes after the compressed data are ignored"}},
	} {
		got := read(t, "x", "", c.content)
		require.Equal(t, want, got.Jobs, name)
		require.Equal(t, c.notes, got.Notes, name)
		err := readAll("x", "swf", c.content, "")
		if c.notes == nil {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, "gzip: found bytes after the compressed data, expected the end of the file")
	}
	for cut := 1; cut < len(packed); cut++ {
		s, err := trace.NewReader(strings.NewReader(packed+packed[:cut]), "x", nil, &trace.Options{Format: trace.SWF})
		require.NoError(t, err)
		_, err = trace.Collect(s)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "a second member that is cut after %d bytes", cut)
	}
	require.ErrorIs(t, readAll("x", "", pack(t, "")+"end", ""), trace.ErrEmpty)
}

func TestWideTextsAreRefusedByName(t *testing.T) {
	encode := func(content string, width int, big bool) string {
		var b []byte
		for _, u := range utf16.Encode([]rune(content)) {
			c := make([]byte, width)
			c[0], c[1] = byte(u), byte(u>>8)
			if big {
				c[0], c[1], c[width-2], c[width-1] = 0, 0, byte(u>>8), byte(u)
			}
			b = append(b, c...)
		}
		return string(b)
	}
	for _, content := range []string{records(3), csvHead, `{"id":"a"}`} {
		for _, mark := range []string{"", "\ufeff"} {
			for _, big := range []bool{false, true} {
				for _, width := range []int{2, 4} {
					wide := encode(mark+content, width, big)
					want := fmt.Sprintf("x:1: encoding: found UTF-%d, expected UTF-8, as iconv -f UTF-%d -t UTF-8 makes it", 8*width,
						8*width)
					for _, format := range append(trace.Formats(), "") {
						require.EqualError(t, readAll("x", format, wide, ""), want)
						require.EqualError(t, readAll("x", format, pack(t, wide), ""), want)
					}
					require.ErrorContains(t, readAll("x.tr", "", "1 1 1 1\n", wide), "x.meta.csv:1: encoding: found UTF-")
				}
			}
		}
	}
}

func TestPackedLogsAreRefusedByName(t *testing.T) {
	tar := "x.swf" + strings.Repeat("\x00", 252) + "ustar\x00" + strings.Repeat("\x00", 249) + records(3)
	for content, packing := range map[string]string{
		"BZh91AY&SY": "bzip2", "\xfd7zXZ\x00\x00\x04": "xz", "\x28\xb5\x2f\xfd\x04": "zstd", "PK\x03\x04\x14": "zip",
		tar:                          "tar",
		pack(t, pack(t, records(3))): "gzip in gzip", pack(t, tar): "tar",
	} {
		for _, format := range append(trace.Formats(), "") {
			require.EqualError(t, readAll("x.swf", format, content, ""), "x.swf:1: encoding: found "+packing+
				", expected a text, or one in gzip")
		}
	}
}

func TestLimitsThatNoJobReaches(t *testing.T) {
	for _, limit := range []string{"4294967295", "1e400", "UNLIMITED", "infinite", "Infinity", "+inf", "3000000001"} {
		log := read(t, "x", "swf", "1 0 0 10 1 -1 -1 1 "+limit+" -1 1 7 3 9 2 1 -1 -1\n")
		require.Zero(t, log.Jobs[0].Requested, limit)
	}
	for _, limit := range []string{"-1e400", "-inf", "nan", "1e", "soon", strings.Repeat("9", 100)} {
		log, err := trace.NewReader(strings.NewReader("1 0 0 10 1 -1 -1 1 "+limit+" -1 1 7 3 9 2 1 -1 -1\n"), "x", nil, nil)
		require.NoError(t, err)
		_, err = log.Read()
		require.ErrorContains(t, err, "requested time", limit)
	}
}

func TestJSONTakesNumbersForNamesAndNullForNothing(t *testing.T) {
	log := read(t, "x", "", `{"id":7.0,"submit_s":1,"runtime_s":2,"tasks":1,"wait_s":null,"requested_s":null,"deadline_s":null,`+
		`"outcome":null,"task_runtimes_s":null,"demand":{"cpu":null},"attributes":{"user":12,"group":4.0,"queue":null,"name":"4.0"}}`+"\n"+
		`{"id":"7x","submit_s":1,"runtime_s":2,"tasks":1,"demand":null,"attributes":null}`+"\n"+
		`{"id":"7","submit_s":1,"runtime_s":2,"tasks":1}`+"\n"+
		`{"id":true,"submit_s":1,"runtime_s":2,"tasks":1}`+"\n")
	require.Equal(t, map[string]int{"id seen before": 1, "wrong id": 1}, reasons(log.Bad))
	require.Len(t, log.Jobs, 2)
	require.Equal(t, trace.Job{ID: "7", Line: 1, Submit: 1e9, Wait: trace.WaitUnknown, Runtime: 2e9, Tasks: 1,
		Attributes: map[string]string{"user": "12", "group": "4", "name": "4.0"}}, log.Jobs[0])
}

// A job of a job list may be of CPUs alone; one that has none of anything ran nowhere.
func TestJobListsWithoutGPUsAndNodes(t *testing.T) {
	log := read(t, "x", "", listCSV+
		"1,1,0,8,0,0,5,0,Pass\n2,1,0,0,0,0,5,0,Pass\n3,1,0,,0,0,5,0,Pass\n4,1,0,0,3,0,5,0,Pass\n")
	require.Equal(t, map[string]int{"no processors": 1}, log.Skipped)
	require.Len(t, log.Jobs, 3)
	require.Equal(t, []int{1, 1, 3}, []int{log.Jobs[0].Tasks, log.Jobs[1].Tasks, log.Jobs[2].Tasks})
	require.Equal(t, map[string]float64{"cpu": 8}, log.Jobs[0].Demand)
	require.Empty(t, log.Jobs[1].Demand)
}

func TestEmptyLogsSayWhatTheyHold(t *testing.T) {
	none := "1 0 0 -1 1" + swfTail
	for content, want := range map[string]string{
		"; nothing\n": "x: trace: no jobs in the log",
		none:          "x: trace: no jobs in the log (1 record that is no job)",
		none + strings.Replace(none, "1", "2", 1): "x: trace: no jobs in the log (2 records that are no jobs)",
	} {
		require.EqualError(t, readAll("x", "swf", content, ""), want)
	}
}

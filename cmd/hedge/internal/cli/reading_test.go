package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/engines"
)

// dirtySWF writes a log of n records. One in every few is odd, in seven ways by turns; two of these are legitimate.
func dirtySWF(w io.Writer, n, every int) {
	for i := range n {
		id, runtime, tasks, more := strconv.Itoa(i), strconv.Itoa(60+i%977), "4", ""
		if every > 0 && i%every == every/2 {
			switch i / every % 7 {
			case 0:
				runtime = "-7"
			case 1:
				runtime = "NaN"
			case 2:
				id = "0"
			case 3:
				tasks = "1.5"
			case 4:
				fmt.Fprintf(w, "%d %d 0\n", i, 20*i)
				continue
			case 5:
				runtime = "-1"
			case 6:
				more = " node7 q"
			}
		}
		fmt.Fprintf(w, "%s %d 5 %s %s -1 1e400 %s 7200 9223372036854779808 1 u%d 3 9 2 1 -1 -1%s\n", id, 20*i, runtime, tasks,
			tasks, i%97, more)
	}
}

// countSWF counts jobs, skipped and bad records by means of its own.
func countSWF(log string) (jobs, skipped, bad int) {
	seen := map[string]bool{}
	for _, line := range strings.Split(strings.TrimSuffix(log, "\n"), "\n") {
		f := strings.Fields(line)
		if len(f) < 18 {
			bad++
			continue
		}
		runtime, err := strconv.Atoi(f[3])
		_, whole := strconv.Atoi(f[7])
		switch {
		case err != nil || whole != nil || runtime < -1 || seen[f[0]]:
			bad++
		case runtime == -1:
			skipped++
		default:
			seen[f[0]] = true
			jobs++
		}
	}
	return jobs, skipped, bad
}

// counted are the fields of hedge trace's document about records.
type counted struct {
	Jobs     int            `json:"jobs"`
	Skipped  map[string]int `json:"skipped"`
	Bad      map[string]int `json:"bad"`
	FirstBad []struct {
		Reason string `json:"reason"`
		At     string `json:"at"`
	} `json:"first_bad"`
}

func (c *counted) sums() (jobs, skipped, bad int) {
	for _, n := range c.Skipped {
		skipped += n
	}
	for _, n := range c.Bad {
		bad += n
	}
	return c.Jobs, skipped, bad
}

func TestBadRecordsAreCounted(t *testing.T) {
	var log bytes.Buffer
	dirtySWF(&log, 30_000, 100)
	jobs, skipped, bad := countSWF(log.String())
	require.Positive(t, bad)
	require.Positive(t, skipped)
	path := filepath.Join(t.TempDir(), "x.swf")
	require.NoError(t, os.WriteFile(path, log.Bytes(), 0o644))

	r := hedge(t, "", "trace", "--trace", path, "--json")
	require.Equal(t, 0, r.code, r.err)
	var c counted
	require.NoError(t, json.Unmarshal([]byte(r.out), &c))
	j, s, b := c.sums()
	require.Equal(t, [3]int{jobs, skipped, bad}, [3]int{j, s, b})
	require.Equal(t, map[string]int{"wrong runtime": 86, "id seen before": 43, "wrong requested processors": 43,
		"too few columns": 43}, c.Bad)
	require.Len(t, c.FirstBad, 4)
	require.Equal(t, path+":51", c.FirstBad[0].At)
	require.Equal(t, 1, strings.Count(r.err, "are ignored"), "one note: %s", r.err)

	r = hedge(t, "", "trace", "--trace", path)
	require.Equal(t, 0, r.code, r.err)
	first := strings.Split(r.out, "\n")[:3]
	require.Equal(t, fmt.Sprintf("skipped records: %d no runtime", skipped), first[1])
	require.Contains(t, first[2],
		fmt.Sprintf("%d bad records left out: 86 wrong runtime (first %s:51), 43 id seen before (first ", bad, path))

	r = hedge(t, log.String(), "predict", "--trace", "-", "--predictor", "jvupredict", "--json")
	require.Equal(t, 0, r.code, r.err)
	c = counted{}
	require.NoError(t, json.Unmarshal([]byte(r.out), &c))
	_, _, b = c.sums()
	require.Equal(t, bad, b)
	require.Equal(t, "stdin:51", c.FirstBad[0].At)
	require.Contains(t, hedge(t, log.String(), "predict", "--trace", "-", "--predictor", "jvupredict").out,
		"bad records left out: 86 wrong runtime (first stdin:51)")

	for _, command := range []string{"compare", "simulate"} {
		args := []string{command, "--nodes", "24", "--racks", "3", "--hours", "0.1", "--work", "500", "--trace", path,
			"--train", path}
		if command == "compare" {
			args = append(args, "--policies", "fifo")
		} else {
			args = append(args, "--policy", "fifo")
		}
		var d struct {
			Workload counted `json:"workload"`
		}
		r = hedge(t, "", append(args, "--json")...)
		require.Equal(t, 0, r.code, r.err)
		require.NoError(t, json.Unmarshal([]byte(r.out), &d))
		_, _, b = d.Workload.sums()
		require.Equal(t, 2*bad, b, "those of the history too")
		require.Contains(t, hedge(t, "", args...).out, "172 wrong runtime (first ")
	}
}

// Whatever a log demands, what is told of it is finite.
func TestDemandsOfAnySizeGiveFiniteFigures(t *testing.T) {
	for demand, bad := range map[string]int{"1e308": 1, "1e31": 1, "1e30": 0, "18446744073709551615": 0, "1e-308": 0,
		"5e-324": 0} {
		log := "id,submit_s,runtime_s,tasks,demand.cpu,attr.user\n"
		for i := range 12 {
			d := "2"
			if i == 5 {
				d = demand
			}
			log += fmt.Sprintf("j%d,%d,60,2147483647,%s,u\n", i, i*60, d)
		}
		r := hedge(t, log, "trace", "--trace", "-", "--json", "--report", t.TempDir())
		require.Zero(t, r.code, "%s: %s", demand, r.err)
		var c counted
		require.NoError(t, json.Unmarshal([]byte(r.out), &c))
		_, _, n := c.sums()
		require.Equal(t, bad, n, demand)
		require.NotRegexp(t, "(?i)[^a-z](nan|inf)[^a-z]", hedge(t, log, "trace", "--trace", "-").out, demand)
	}
}

func TestLogsWithManyBadRecordsAreRefused(t *testing.T) {
	var log bytes.Buffer
	dirtySWF(&log, 3_000, 10)
	_, _, bad := countSWF(log.String())
	for _, args := range [][]string{{"trace"}, {"predict"}, {"compare"}, {"simulate"}} {
		r := hedge(t, log.String(), append(args, "--trace", "-")...)
		assert.Equal(t, 2, r.code, "%v: %s", args, r.err)
		assert.Empty(t, r.out)
		assert.Contains(t, r.err, `stdin:6: field 4 (runtime): found "-7"`)
		assert.Contains(t, r.err, fmt.Sprintf("%d of 3000 records are bad, more than 5 %%", bad))
	}
	for flag, code := range map[string]int{"10%": 0, "0.1": 0, "100%": 0, "1": 0, "7.1": 2, "7%": 2, "0": 2, "0%": 2,
		"-1": 2, "nan": 2, "": 2, "101%": 2, "x": 2} {
		r := hedge(t, log.String(), "trace", "--trace", "-", "--max-bad", flag)
		assert.Equal(t, code, r.code, "%s: %s", flag, r.err)
	}
	require.Contains(t, hedge(t, "", "trace", "--max-bad", "x").err,
		`--max-bad: found "x", expected a share from 0% to 100% such as 5%`)
	r := hedge(t, "1 0 0 -7 4 -1 -1 4 60 -1 1 1 1 1 1 1 -1 -1\n2 0 0 7 4 -1 -1 4 60 -1 1 1 1 1 1 1 -1 -1\n", "trace",
		"--trace", "-", "--strict")
	require.Equal(t, 2, r.code)
	require.Equal(t, "hedge: stdin:1: field 4 (runtime): found \"-7\", expected a number from 0 to 3e9, or -1\n", r.err)
}

// BenchmarkBadRecords runs hedge trace on logs of 1 M records, one clean and one with 1 % of bad ones, by turns. It
// checks the counts and reports how much longer the latter takes:
//
//	go test -run '^$' -bench BadRecords -benchtime 5x ./cmd/hedge/internal/cli
func BenchmarkBadRecords(b *testing.B) {
	const n = 1_000_000
	dir := b.TempDir()
	var want [2][3]int
	var paths [2]string
	for i, every := range []int{0, 71} {
		var log bytes.Buffer
		dirtySWF(&log, n, every)
		want[i][0], want[i][1], want[i][2] = countSWF(log.String())
		paths[i] = filepath.Join(dir, []string{"clean.swf", "dirty.swf"}[i])
		require.NoError(b, os.WriteFile(paths[i], log.Bytes(), 0o644))
	}
	var took [2]time.Duration
	for b.Loop() {
		for i, path := range paths {
			var out, errs bytes.Buffer
			start := time.Now()
			code := Main(b.Context(), []string{"trace", "--trace", path, "--json"},
				Host{In: strings.NewReader(""), Out: &out, Err: &errs, Engines: engines.Builtin()})
			took[i] += time.Since(start)
			require.Equal(b, 0, code, errs.String())
			var c counted
			require.NoError(b, json.Unmarshal(out.Bytes(), &c))
			jobs, skipped, bad := c.sums()
			require.Equal(b, want[i], [3]int{jobs, skipped, bad})
		}
	}
	b.ReportMetric(took[1].Seconds()/took[0].Seconds(), "dirty/clean")
	b.ReportMetric(took[0].Seconds()/float64(b.N), "clean-s/op")
	b.ReportMetric(float64(want[1][2]), "bad")
}

// TestSpeedsOfNoNode: labels by which a log says how fast jobs run, and that no node has, are named.
func TestSpeedsOfNoNode(t *testing.T) {
	log := ",job_name,norm_job_submit_time,ddl,A100,V100\n0,a,0,inf,10,20\n"
	args := []string{"simulate", "--trace", "-", "--workload", "replay", "--policy", "fifo", "--nodes", "2"}
	run := func(more ...string) string {
		r := hedge(t, log, append(slices.Clone(args), more...)...)
		require.Zero(t, r.code, r.err)
		return r.out
	}
	assert.Contains(t, run(), "log says how fast jobs run: gpu=A100, gpu=V100;")
	assert.Contains(t, run("--node-labels", "gpu=A100:1"), "log says how fast jobs run: gpu=V100;")
	both := []string{"--node-labels", "gpu=A100:1,gpu=V100:1"}
	assert.NotContains(t, run(both...), "how fast jobs run")
	assert.NotContains(t, run(append(both, "--json")...), "unmatched_speeds")
	assert.Contains(t, run("--json"), "unmatched_speeds")
}

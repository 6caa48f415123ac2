package trace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/trace"
)

// reasons counts bad records by reason.
func reasons(bad []trace.Bad) map[string]int {
	counts := map[string]int{}
	for _, b := range bad {
		counts[b.Reason] += b.Count
	}
	return counts
}

// Inputs of public bug reports, each with what is right of it.
func TestCasesOfPublicReports(t *testing.T) {
	type counts = map[string]int
	for _, c := range []struct {
		name         string
		jobs         string // ids in order of submission, each with its line and tasks
		skipped, bad counts
		err          string
	}{
		{name: "real_wagap_line1.swf", jobs: "0:1:64"},
		{name: "s01_bom.swf", jobs: "1:2:4 2:3:2"},
		{name: "s02_crlf.swf", jobs: "1:2:4 2:3:2"},
		{name: "s03_comment_middle.swf", jobs: "1:2:4 2:5:2"},
		{name: "s04_slurm_unlimited.swf", jobs: "1:1:4"},
		{name: "s05_slurm_mem.swf", jobs: "1:1:4"},
		{name: "s06_big_user.swf", jobs: "1:1:4"},
		{name: "s08_19fields.swf", jobs: "1:1:4"},
		{name: "s09_one_negative_runtime.swf", jobs: "1:1:4 3:3:4", bad: counts{"wrong runtime": 1}},
		{name: "s10_dup_id.swf", jobs: "1:1:4", bad: counts{"id seen before": 1}},
		{name: "s11_order.swf", jobs: "2:2:4 1:1:4"},
		{name: "s12_header_text.swf", jobs: "1:3:4"},
		{name: "s14_floats.swf", jobs: "1:1:4"},
		{name: "s15_big_submit.swf", jobs: "1:1:4", bad: counts{"wrong submit": 1}},
		{name: "s16_ms_times.swf", err: `s16_ms_times.swf:1: field 2 (submit): found "1700000000000", expected a number from 0 to 3e9, or -1; ` +
			`1 of 1 records are bad, no job is left: 1 wrong submit`},
		{name: "s17_only_parts.swf", err: "no jobs in the log (2 records that are no jobs)"},
		{name: "s19_header_only.swf", err: "s19_header_only.swf: trace: no jobs in the log"},
		{name: "s20_17fields.swf", err: "s20_17fields.swf:1: columns: found 17, expected 18"},
		{name: "s21_alloc_gt_req.swf", jobs: "1:1:4", skipped: counts{"no processors": 1}},
		{name: "s22_hash_comment.swf", jobs: "1:2:4"},
		{name: "s23_nan.swf", jobs: "2:2:4", bad: counts{"wrong runtime": 1}},
		{name: "s24_tabs.swf", jobs: "1:1:4"},
		{name: "s25_oddblanks.swf", jobs: "1:1:4", bad: counts{"id seen before": 1}},
		{name: "s26_user_minus2.swf", err: `s26_user_minus2.swf:1: field 12 (user): found "-2"`},
		{name: "s27_neg_wait.swf", err: `s27_neg_wait.swf:1: field 3 (wait): found "-3"`},
		{name: "s28_neg_request.swf", err: `s28_neg_request.swf:1: field 9 (requested time): found "-2"`},
		{name: "s29_zero.swf", jobs: "3:3:4", skipped: counts{"no processors": 1, "zero runtime": 1}},
		{name: "bom.csv", jobs: "a:2:1"},
		{name: "c1_bom_crlf.csv", err: "expected a column tasks"},
		{name: "c2_semicolon.csv", err: "unknown format"},
		{name: "c3_quoted.csv", err: "expected a column tasks"},
		{name: "c4_spaces.csv", err: "expected a column tasks"},
		{name: "c5_deadline.csv", err: "expected a column tasks"},
		{name: "c6_case.csv", err: "unknown format"},
		{name: "c7_simple.csv", jobs: "2:3:4", skipped: counts{"zero runtime": 1}},
		{name: "c8_status.csv", err: `c8_status.csv:2: new_status: found "COMPLETED", expected Pass, Failed, Killed or nothing`},
		{name: "c9_float_counts.csv", jobs: "1:2:1"},
		{name: "c10_pandas_index.csv", jobs: "1:2:1"},
		{name: "c11_emptyrow.csv", err: "expected a column tasks"},
		{name: "c12_dates.csv", err: "expected a column tasks"},
		{name: "emptyrow.csv", jobs: "a:2:1", bad: counts{"wrong submit_s": 1}},
		{name: "float_tasks.csv", jobs: "a:2:4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join("testdata", "cases", c.name)
			log, err := trace.ReadAll(path, nil)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				_, err = trace.ReadAll(path, &trace.Options{Strict: true})
				require.ErrorContains(t, err, strings.Split(c.err, ";")[0], "as strict as before")
				return
			}
			require.NoError(t, err)
			var jobs []string
			for _, j := range log.Jobs {
				jobs = append(jobs, fmt.Sprintf("%s:%d:%d", j.ID, j.Line, j.Tasks))
			}
			require.Equal(t, c.jobs, strings.Join(jobs, " "))
			require.Len(t, log.Skipped, len(c.skipped))
			for reason, n := range c.skipped {
				require.Equal(t, n, log.Skipped[reason], reason)
			}
			require.Len(t, log.Bad, len(c.bad))
			for reason, n := range c.bad {
				require.Equal(t, n, reasons(log.Bad)[reason], "%v", log.Bad)
			}
			if len(c.bad) > 0 {
				_, err = trace.ReadAll(path, &trace.Options{Strict: true})
				require.EqualError(t, err, log.Bad[0].First.Error())
			}
		})
	}
}

func TestValuesOfTheCases(t *testing.T) {
	job := func(name string) trace.Job {
		t.Helper()
		log, err := trace.ReadAll(filepath.Join("testdata", "cases", name), nil)
		require.NoError(t, err)
		return log.Jobs[0]
	}
	j := job("real_wagap_line1.swf")
	require.Equal(t, []time.Duration{1356996147 * time.Second, 56011 * time.Second, 86400 * time.Second},
		[]time.Duration{j.Submit, j.Runtime, j.Requested})
	j = job("s04_slurm_unlimited.swf")
	require.Zero(t, j.Requested, "no limit is no estimate")
	require.Equal(t, "4294967295", j.Attributes["requested"])
	require.Equal(t, "14302016354228", job("s06_big_user.swf").Attributes["user"])
	j = job("s14_floats.swf")
	require.Equal(t, 100500*time.Millisecond, j.Runtime)
	require.Equal(t, map[string]string{"user": "1", "group": "1", "executable": "1", "queue": "1", "partition": "1",
		"requested": "200", "tasks": "4"}, j.Attributes)
	j = job("c9_float_counts.csv")
	require.Equal(t, map[string]float64{"cpu": 8}, j.Demand)
	require.Equal(t, map[string]string{"user": "1", "cpus": "8", "nodes": "1", "tasks": "1", "requested": "200"},
		j.Attributes)
}

// The log behind several of the cases has 17,900 records of 21 fields, memory in bytes, and two negative runtimes.
func TestTwoOddRecordsDoNotLoseALog(t *testing.T) {
	var b strings.Builder
	for i := range 17_900 {
		runtime := 100 + i
		if i == 4711 || i == 9000 {
			runtime = -40
		}
		fmt.Fprintf(&b, "%d %d 0 %d 64 1 1024 64 86400 68719476736 1 62 1 1 -1 1 1 1 {1241,1241} q_1d 1:p\n", i, 1356996147+i,
			runtime)
	}
	log := read(t, "x.swf", "", b.String())
	require.Len(t, log.Jobs, 17_898)
	require.Equal(t, map[string]int{"wrong runtime": 2}, reasons(log.Bad))
	require.Equal(t, `x.swf:4712: field 4 (runtime): found "-40", expected a number from 0 to 3e9, or -1`,
		log.Bad[0].First.Error())
	require.Equal(t, []string{"x.swf:1: columns after the 18th are ignored"}, log.Notes)
	require.Empty(t, log.Skipped)
}

// Whatever is put between the lines of the excerpts of real logs, their jobs stay.
func TestDirtyVariantsOfRealLogs(t *testing.T) {
	for _, name := range []string{"llnl-atlas.swf", "theta.swf", "pigeon.tr", "mustang.csv", "philly.csv",
		"bluewaters.csv"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(t, err)
		clean := read(t, name, "", string(b))
		dirty, odd := "\xef\xbb\xbf", 0
		for i, line := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
			dirty += line + " \r\n"
			if line[0] == ';' || i == 0 {
				continue
			}
			for _, junk := range []string{line[:len(line)/4], `"` + line, "\x00\x01", "NaN,NaN,NaN",
				"Traceback (most recent call last):", "1 -7"} {
				dirty += junk + "\r\n\r\n"
				odd++
			}
		}
		log := read(t, name, "", dirty)
		require.Equal(t, clean.Skipped, log.Skipped)
		total := 0
		for _, b := range log.Bad {
			total += b.Count
		}
		require.Equal(t, odd, total, "%s: %v", name, reasons(log.Bad))
		for i := range log.Jobs {
			log.Jobs[i].Line, clean.Jobs[i].Line = 0, 0
			if clean.Format == trace.Eagle || clean.Format == trace.Simple { // ids are lines
				log.Jobs[i].ID, clean.Jobs[i].ID = "", ""
			}
		}
		require.Equal(t, clean.Jobs, log.Jobs, name)
	}
}

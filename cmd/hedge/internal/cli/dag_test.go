package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// diamonds writes a log of n jobs of four stages, one every minute.
func diamonds(t *testing.T, n int) string {
	t.Helper()
	var b strings.Builder
	for i := range n {
		for k, s := range []struct {
			tasks, seconds int
			after          string
		}{{4, 60, ""}, {2, 90 + 10*(i%5), `"a"`}, {3, 30, `"a"`}, {1, 40, `"b","c"`}} {
			after := strings.NewReplacer(`"a"`, fmt.Sprintf(`"w%d-0"`, i), `"b"`, fmt.Sprintf(`"w%d-1"`, i), `"c"`,
				fmt.Sprintf(`"w%d-2"`, i)).Replace(s.after)
			fmt.Fprintf(&b, `{"id":"w%d-%d","submit_s":%d,"runtime_s":%d,"tasks":%d,"of":"w%d","after":[%s],`+
				`"attributes":{"logical_name":"s%d"}}`+"\n", i, k, 60*i, s.seconds, s.tasks, i, after, k)
		}
	}
	path := filepath.Join(t.TempDir(), "diamonds.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
	return path
}

var dagPolicies = strings.Fields("3sigma edf fifo edf-share critical-path gs-slearn-dag gs-3sigma-dag gs-las-dag " +
	"gs-point-dag gs-oracle-dag")

// Every policy runs all jobs of stages, and what it logs gives the same figures again.
func TestDAGComparesAllPolicies(t *testing.T) {
	logs := t.TempDir()
	args := []string{"compare", "--workload", "dag", "--trace", diamonds(t, 100), "--nodes", "10", "--hours", "0.25",
		"--load", "0.9", "--policies", strings.Join(dagPolicies, ","), "--log", logs, "--json"}
	doc := document(t, hedge(t, "", args...)).(map[string]any)
	work := doc["workload"].(map[string]any)
	whole := work["jobs"].(float64)
	assert.Equal(t, 4*whole, work["stages"])
	assert.Equal(t, 10*whole, work["tasks"])
	for i, run := range doc["runs"].([]any) {
		run := run.(map[string]any)
		name := run["policy"].(string)
		assert.Equal(t, dagPolicies[i], name)
		all := run["all"].(map[string]any)
		slo, be := run["slo"].(map[string]any), run["be"].(map[string]any)
		assert.Equal(t, all["jobs"], slo["completed"].(float64)+be["completed"].(float64), name)
		assert.Equal(t, whole, slo["jobs"].(float64)+be["jobs"].(float64), name)
		assert.GreaterOrEqual(t, all["jct_s"].(map[string]any)["mean"], 190.0, "%s: the longest path", name)
		assert.Positive(t, run["realised_utility"], name)
		if strings.HasPrefix(name, "gs-") {
			assert.Nil(t, run["best_effort"], name)
			stages := document(t, hedge(t, "", "replay", "--json", filepath.Join(logs, name+"-1.tasks"))).(map[string]any)
			assert.Equal(t, 4*whole, stages["jobs"], name)
			assert.Equal(t, 10*whole, stages["tasks"], name)
			assertClose(t, run["makespan_s"], stages["run"].(map[string]any)["makespan_s"], "makespan of "+name)
			continue
		}
		replayed := document(t, hedge(t, "", "replay", "--json", filepath.Join(logs, name+"-1.jsonl.gz")))
		again := replayed.(map[string]any)["run"].(map[string]any)
		for _, field := range []string{"slo", "be", "jct_s", "be_latency_s"} {
			assertClose(t, run[field], again[field], field+" of "+name)
		}
	}
	for i, row := range doc["summary"].([]any) {
		for _, figure := range []string{"be_room_machine_hours", "be_longest_wait_s"} {
			assert.Equal(t, strings.HasPrefix(dagPolicies[i], "gs-"), row.(map[string]any)[figure] == nil, figure)
		}
	}
	again := document(t, hedge(t, "", args...)).(map[string]any)
	for i, run := range again["runs"].([]any) {
		assert.Equal(t, doc["runs"].([]any)[i].(map[string]any)["all"], run.(map[string]any)["all"])
	}
}

// What schemes of GS do not have is a dash.
func TestDAGTablesSayWhatIsNotThere(t *testing.T) {
	r := hedge(t, "", "compare", "--workload", "dag", "--trace", diamonds(t, 100), "--nodes", "10", "--hours", "0.25",
		"--load", "0.8", "--policies", "edf,gs-las-dag")
	require.Zero(t, r.code, r.err)
	var ends [][]string
	for line := range strings.Lines(r.out) {
		if strings.Contains(line, " gs-las-dag ") {
			words := strings.Fields(line)
			ends = append(ends, words[len(words)-2:])
		}
	}
	assert.Equal(t, [][]string{{"–", "–"}, {"–", "–"}}, ends)
}

func TestDAGSimulatesOne(t *testing.T) {
	doc := document(t, hedge(t, "", "simulate", "--workload", "dag", "--trace", diamonds(t, 100), "--nodes", "10",
		"--hours", "0.25", "--load", "0.8", "--policy", "gs-slearn-dag", "--json")).(map[string]any)
	assert.Equal(t, "gs-slearn-dag", doc["run"].(map[string]any)["policy"])
}

// The page has the stages of the same job under every policy, and whole jobs in its charts.
func TestDAGReportHasAGantt(t *testing.T) {
	log, dir := diamonds(t, 120), t.TempDir()
	page := func(args ...string) string {
		args = append(args, "--workload", "dag", "--trace", log, "--nodes", "10", "--hours", "0.25", "--load", "1.2",
			"--report", dir)
		r := hedge(t, "", args...)
		require.Zero(t, r.code, r.err)
		text, err := os.ReadFile(filepath.Join(dir, "index.html"))
		require.NoError(t, err)
		return string(text)
	}
	text := page("compare", "--policies", "edf,gs-slearn-dag", "--seeds", "1,2")
	titles := regexp.MustCompile(`<h2>Stages of job (w\d+) under ([^<]*)</h2>`).FindAllStringSubmatch(text, -1)
	require.Len(t, titles, 2, "the first seed's")
	job := titles[0][1]
	assert.Equal(t, []string{job, "edf"}, titles[0][1:])
	assert.Equal(t, []string{job, "gs-slearn-dag"}, titles[1][1:])
	assert.Equal(t, 2, strings.Count(text, `<p class="text">4 stages of 10 tasks, done `))
	for stage := range 4 {
		tips := regexp.MustCompile(fmt.Sprintf(`<title>%s-%d: \d tasks, ready at [^<]*, ended at `, job, stage))
		assert.Len(t, tips.FindAllString(text, -1), 4, "two policies, two renderings")
	}
	assert.Contains(t, text, "the jobs have ")
	assert.Contains(t, text, "Of policies that place tasks one by one, as gs-slearn-dag does, this is not kept.")
	assert.Regexp(t, `Half are done within [^<]* under gs-slearn-dag, [^<]* under edf\.`, text, "of whole jobs")

	other := regexp.MustCompile(`such as "(w\d+)"`)
	found := other.FindStringSubmatch(hedge(t, "", "simulate", "--workload", "dag", "--trace", log, "--nodes", "10",
		"--hours", "0.25", "--load", "1.2", "--seed", "2", "--report", dir, "--gantt", "nowhere").err)
	require.Len(t, found, 2)
	text = page("simulate", "--policy", "gs-las-dag", "--seed", "2", "--gantt", found[1])
	assert.Contains(t, text, "Stages of job "+found[1]+" under gs-las-dag")
	assert.NotContains(t, text, "Utilisation over time")
}

func TestDAGRefuses(t *testing.T) {
	log := diamonds(t, 100)
	refused(t, 2, "without --report, expected both", "simulate", "--workload", "dag", "--trace", log, "--gantt", "w1")
	refused(t, 2, "--gantt: found with --workload window", "simulate", "--gantt", "w1", "--report", t.TempDir())
	refused(t, 2, "expected dag or replay", "simulate", "--trace", log, "--nodes", "10", "--hours", "0.25")
	refused(t, 2, "it is for jobs with stages", "simulate", "--workload", "tasks", "--policy", "gs-slearn-dag")
	refused(t, 2, "it is for jobs with stages", "simulate", "--policy", "critical-path")
}

package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/hedgesched/hedge/cmd/hedge/internal/chart"
	"github.com/hedgesched/hedge/cmd/hedge/internal/figures"
	"github.com/hedgesched/hedge/cmd/hedge/internal/records"
	"github.com/hedgesched/hedge/cmd/hedge/internal/stats"
)

// Tasks is what the page of --workload tasks shows.
type Tasks struct {
	Trace                     string
	Jobs, Tasks, Nodes, Cores int
	Load                      float64
	// Rules is paper or published; Cutoff is the seconds above which a job is long.
	Rules  string
	Cutoff float64
	Runs   []TaskRun
	records.Records
}

// TaskRun is a run of a policy with a seed. Slices have an element for each job, times in seconds.
type TaskRun struct {
	Policy string
	Seed   int64
	Long   []bool
	// Completions are from submission to the last end. Longest is what the job's longest task takes: without contention
	// the job takes as long.
	Completions, Longest []float64
	Queues               *Queues
	// Messages is the number of them for each task, NaN for a policy that sends none.
	Messages float64
	// Estimates are, of each job, its estimated size over the true one after 0, 1, 2, … of its pilots, up to
	// [MostPilots]: NaN while there was no estimate. They are empty for jobs that have none, and nil for policies
	// without estimates.
	Estimates [][]float64
}

// WriteTasks writes the page of hedge simulate and hedge compare with --workload tasks.
func WriteTasks(path string, d *Tasks) error {
	p := &page{
		Title: "Who places tasks best on " + logName(d.Trace) + "?",
		Lead:  taskLead(d),
		Facts: []string{fmt.Sprintf("%d jobs, %d tasks at load %.3f (offered time over capacity) on %d nodes of %d slots",
			d.Jobs, d.Tasks, d.Load, d.Nodes, d.Cores),
			fmt.Sprintf("by the rules %s; a job is long if its mean task takes more than %s", map[string]string{
				"paper": "of the papers", "published": "of the public simulator"}[d.Rules], figures.Span(d.Cutoff))},
	}
	if left := figures.Counts(d.Skipped); left != "" {
		p.Facts = append(p.Facts, "not in the workload: "+left)
	}
	if bad := d.BadLine(); bad != "" {
		p.Facts = append(p.Facts, bad)
	}
	for _, add := range []func(*page, *Tasks) error{taskCDFs, taskPilots, taskQueues, taskMessages} {
		if err := add(p, d); err != nil {
			return err
		}
	}
	p.Sections = append(p.Sections, taskNumbers(d))
	return write(path, p)
}

// policies are those of the runs, in their order.
func (d *Tasks) policies() []string {
	var out []string
	for i := range d.Runs {
		if !slices.Contains(out, d.Runs[i].Policy) {
			out = append(out, d.Runs[i].Policy)
		}
	}
	return out
}

// values gathers a figure of the jobs of a class over all runs of a policy.
func (d *Tasks) values(policy string, long bool, of func(r *TaskRun, job int) (float64, bool)) []float64 {
	var out []float64
	for i := range d.Runs {
		r := &d.Runs[i]
		if r.Policy != policy {
			continue
		}
		for job, is := range r.Long {
			if v, ok := of(r, job); ok && is == long {
				out = append(out, v)
			}
		}
	}
	return out
}

func completion(r *TaskRun, job int) (float64, bool) { return r.Completions[job], true }

// slowdown is completion over what the job takes without contention, where that is any time.
func slowdown(r *TaskRun, job int) (float64, bool) {
	return r.Completions[job] / max(r.Longest[job], 1e-9), r.Longest[job] > 0
}

var classNames = [2]string{"short", "long"}

// taskLead says in a sentence how long short jobs take.
func taskLead(d *Tasks) string {
	text := "99 % of short jobs are done within"
	for i, name := range d.policies() {
		values := stats.Sorted(d.values(name, false, completion))
		if len(values) == 0 {
			return "No job of this log is short."
		}
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf(" %s under %s", figures.Span(stats.Between(values, 0.99)), name)
	}
	return text + "."
}

// taskCDFs adds the distributions of completion and slowdown by class.
func taskCDFs(p *page, d *Tasks) error {
	for _, c := range []struct {
		title, text, unit string
		of                func(*TaskRun, int) (float64, bool)
	}{
		{"Completion of %s jobs", "Share of the jobs that are done within a number of seconds of submission: further left " +
			"is better.", "seconds since submission", completion},
		{"Slowdown of %s jobs", "Completion over the job's longest task, which is what the job takes without contention; " +
			"jobs of no time are left out. Further left is better.", "times longer than without contention", slowdown},
	} {
		for class, name := range classNames {
			var lines []chart.Series
			for i, policy := range d.policies() {
				lines = append(lines, cdf(policy, i, d.values(policy, class == 1, c.of)))
			}
			if len(lines[0].X) == 0 {
				continue
			}
			title := fmt.Sprintf(c.title, name)
			svg, err := chart.Lines(title+". "+c.text, chart.Axis{Label: c.unit, Log: true},
				chart.Axis{Label: "share of jobs", Max: 1}, lines)
			if err != nil {
				return err
			}
			p.Sections = append(p.Sections, section{Title: title, Text: c.text, Legend: legendOf(lines), Chart: svg})
		}
	}
	return nil
}

// taskQueues adds how many tasks wait over time, by class, of each policy's first run.
func taskQueues(p *page, d *Tasks) error {
	for class, name := range classNames {
		var lines []chart.Series
		for i, policy := range d.policies() {
			at := slices.IndexFunc(d.Runs, func(r TaskRun) bool { return r.Policy == policy })
			lines = append(lines, d.Runs[at].Queues.line(policy, i, class))
		}
		title := "Waiting tasks of " + name + " jobs"
		text := "Tasks that are submitted and neither run nor have ended, paused ones too."
		if len(d.Runs) > len(lines) {
			text += " First seed."
		}
		svg, err := chart.Lines(title+". "+text, chart.Axis{Label: "hours"}, chart.Axis{Label: "tasks"}, lines)
		if err != nil {
			return err
		}
		p.Sections = append(p.Sections, section{Title: title, Text: text, Legend: legendOf(lines), Chart: svg})
	}
	return nil
}

// line is the mean number of waiting tasks of a class, over hours.
func (q *Queues) line(name string, i, class int) chart.Series {
	s := line(name, i)
	for step, mean := range q.means {
		s.X, s.Y = append(s.X, float64(step)*q.step.Hours()), append(s.Y, mean[class])
	}
	return s
}

// taskMessages adds the messages of each policy.
func taskMessages(p *page, d *Tasks) error {
	var bars []chart.Bar
	for i, policy := range d.policies() {
		var per []float64
		for k := range d.Runs {
			if d.Runs[k].Policy == policy && !math.IsNaN(d.Runs[k].Messages) {
				per = append(per, d.Runs[k].Messages)
			}
		}
		if per == nil {
			continue
		}
		iv := stats.Of(per)
		b := chart.Bar{Label: policy, Value: iv.Mean, Text: figures.Interval(iv, 1), Color: i}
		if iv.CI95 != nil {
			b.Low, b.High = max(0, iv.CI95[0]), iv.CI95[1]
		}
		bars = append(bars, b)
	}
	if bars == nil {
		return nil
	}
	text := "Messages that would cross a network, over the number of tasks: lower is better."
	svg, err := chart.Bars("Messages for each task. "+text, "messages for each task", bars)
	if err != nil {
		return err
	}
	p.Sections = append(p.Sections, section{Title: "Messages for each task", Text: text, Chart: svg})
	return nil
}

// taskNumbers is the table under the charts: quantiles over all seeds' jobs.
func taskNumbers(d *Tasks) section {
	g := &grid{Head: []string{"policy", "jobs", "number", "p50, s", "p90, s", "p99, s", "slowdown p50", "p90", "p99"}}
	for _, policy := range d.policies() {
		for class, name := range classNames {
			row := []string{policy, name}
			for i, of := range []func(*TaskRun, int) (float64, bool){completion, slowdown} {
				values := stats.Sorted(d.values(policy, class == 1, of))
				if i == 0 {
					row = append(row, fmt.Sprint(len(values)))
				}
				for _, q := range []float64{0.5, 0.9, 0.99} {
					cell := ""
					if len(values) > 0 {
						cell = figures.Number(stats.Between(values, q))
					}
					row = append(row, cell)
				}
			}
			g.Rows = append(g.Rows, row)
		}
	}
	return section{Title: "All numbers", Table: g, Full: true}
}

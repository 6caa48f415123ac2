package results

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hedgesched/hedge/cmd/hedge/internal/figures"
	"github.com/hedgesched/hedge/cmd/hedge/internal/stats"
)

// taskDocument is what the page needs of the document of hedge compare --workload tasks.
type taskDocument struct {
	Workload struct {
		Jobs        int     `json:"jobs"`
		Tasks       int     `json:"tasks"`
		Nodes       int     `json:"nodes"`
		OfferedLoad float64 `json:"offered_load"`
	} `json:"workload"`
	Runs    []taskRun     `json:"runs"`
	Summary []taskSummary `json:"summary"`
}

// taskRun is a run; runs are by policies, then seeds.
type taskRun struct {
	Policy string  `json:"policy"`
	Short  taskJCT `json:"short"`
	Long   taskJCT `json:"long"`
}

type taskJCT struct {
	JCT struct {
		P99 float64 `json:"p99"`
	} `json:"jct_s"`
}

type taskSummary struct {
	Policy   string          `json:"policy"`
	Short    taskClass       `json:"short"`
	Long     taskClass       `json:"long"`
	Messages *stats.Interval `json:"messages"`
}

// taskClass is the completion times of a class of jobs.
type taskClass struct {
	Mean stats.Interval `json:"mean_s"`
	P50  stats.Interval `json:"p50_s"`
	P90  stats.Interval `json:"p90_s"`
	P99  stats.Interval `json:"p99_s"`
}

// compareTasks runs a cell of section tasks.
func (r *runner) compareTasks(ctx context.Context, c *cell) (*kept, error) {
	args := append([]string{"--trace", c.spec.Trace, "--json"}, strings.Fields(c.setting)...)
	data, err := r.Compare(ctx, args)
	if err != nil {
		return nil, input(err)
	}
	d := new(taskDocument)
	if err := json.Unmarshal(data, d); err != nil {
		return nil, err
	}
	return &kept{Tasks: d}, nil
}

// tasks writes a table for each comparison, and how far its policies are from the first.
func (p *page) tasks(cells []kept) {
	p.line("Completion of short and long jobs in seconds, by `hedge compare --workload tasks`. *Over* is by how many " +
		"percent the 99th percentile is above the first policy's, seed by seed.")
	for _, k := range cells {
		d := k.Tasks
		p.line("")
		p.line("**%s**, `%s`: %d jobs of %d tasks, %d nodes, load %.2f", k.Trace, k.Setting, d.Workload.Jobs,
			d.Workload.Tasks, d.Workload.Nodes, d.Workload.OfferedLoad)
		p.line("")
		p.head("policy", "short p50", "p90", "p99", "over", "long p50", "p90", "p99", "over", "long mean", "messages")
		for i := range d.Summary {
			s := &d.Summary[i]
			row := []string{s.Policy}
			short, long := d.over(s.Policy)
			for _, c := range []struct {
				of   *taskClass
				over stats.Interval
			}{{&s.Short, short}, {&s.Long, long}} {
				row = append(row, written(c.of.P50, 1), written(c.of.P90, 1), written(c.of.P99, 1), written(c.over, 100))
			}
			messages := "–"
			if s.Messages != nil {
				messages = fmt.Sprintf("%.0f", s.Messages.Mean)
			}
			p.row(append(row, written(s.Long.Mean, 1), messages)...)
		}
	}
}

// written is an interval; that of values which differ by rounding alone is ± 0.
func written(iv stats.Interval, scale float64) string {
	if ci := iv.CI95; ci != nil && ci[1]-ci[0] < 1e-9*max(1, iv.Mean) {
		iv.CI95 = &[2]float64{iv.Mean, iv.Mean}
	}
	return figures.Interval(iv, scale)
}

// over is by how much a policy's 99th percentiles are above the first policy's.
func (d *taskDocument) over(policy string) (short, long stats.Interval) {
	of := func(name string) (out []*taskRun) {
		for i := range d.Runs {
			if d.Runs[i].Policy == name {
				out = append(out, &d.Runs[i])
			}
		}
		return out
	}
	var shorts, longs []float64
	first, own := of(d.Runs[0].Policy), of(policy)
	for i := range min(len(first), len(own)) {
		shorts = append(shorts, own[i].Short.JCT.P99/first[i].Short.JCT.P99-1)
		longs = append(longs, own[i].Long.JCT.P99/first[i].Long.JCT.P99-1)
	}
	return stats.Of(shorts), stats.Of(longs)
}

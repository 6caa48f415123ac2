package results

import (
	"fmt"
	"math"
	"strings"

	"github.com/hedgesched/hedge/cmd/hedge/internal/experiment"
	"github.com/hedgesched/hedge/cmd/hedge/internal/figures"
)

// startPolicies are those under which starts are estimated: one that plans ahead, the batch systems', and one that
// lets later jobs pass earlier ones.
var startPolicies = []string{"3sigma", "easy", "sjf"}

// Between these shares of the starts have to be in 80 % intervals.
const fewest, most = 0.75, 0.85

// starts writes how the estimates of starts came out: by log and policy, by log, and the probabilities of meeting
// deadlines pooled over all.
func (p *page) starts(cells []kept) {
	p.line("Each job that waits counts once, with its estimate in the first cycle that did not start it. The interval " +
		"of a job that never starts")
	p.line("contains the start only if it ends with *never*. The error is the distance from the estimated median to the " +
		"start; the table has its")
	p.line("median over the jobs that waited for at least five cycles. *Walltime planning* is the same for a plan by " +
		"the times that users ask for.")
	p.line("")
	p.head("log", "policy", "jobs", "in 50 %", "in 80 %", "in 95 %", "waited ≥ 5 cycles", "median error, s",
		"walltime planning, s")
	for _, k := range cells {
		for i := range k.Document.Runs {
			if r := &k.Document.Runs[i]; r.StartEstimates != nil {
				p.startRow(k.Trace, r.Policy, r.StartEstimates)
			}
		}
	}
	p.line("")
	p.line("By log, all policies and seeds together. An 80 %% interval is *calibrated* if it holds %.0f to %.0f %%.",
		100*fewest, 100*most)
	p.line("")
	p.head("log", "jobs", "in 80 %", "calibrated")
	told := make([]experiment.Told, bins)
	for _, k := range cells {
		jobs, in := 0, 0.0
		for i := range k.Document.Runs {
			if e := k.Document.Runs[i].StartEstimates; e != nil {
				jobs += e.Jobs
				in += float64(e.Coverage["80"] * float64(e.Jobs))
				pool(told, e.Reliability)
			}
		}
		share := in / float64(max(jobs, 1))
		p.row(k.Trace, fmt.Sprint(jobs), figures.Number(100*share), yes(share >= fewest && share <= most))
	}
	p.line("")
	p.line("The probabilities of meeting the deadline, from the same cycles, all logs together:")
	p.line("")
	p.promises(told)
}

func (p *page) startRow(log, policy string, e *experiment.StartEstimates) {
	walltime := "–"
	if e.WalltimeErrorS != nil {
		walltime = fmt.Sprintf("%.0f", *e.WalltimeErrorS)
	}
	p.row(log, policy, fmt.Sprint(e.Jobs), figures.Number(100*e.Coverage["50"]), figures.Number(100*e.Coverage["80"]),
		figures.Number(100*e.Coverage["95"]), fmt.Sprint(e.Waited), fmt.Sprintf("%.0f", e.MedianErrorS), walltime)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// pool adds bins, whose shares are means.
func pool(to, from []experiment.Told) {
	for i := range from {
		a, b := &to[i], &from[i]
		n := float64(a.Jobs + b.Jobs)
		if b.Jobs == 0 {
			continue
		}
		a.Told = (float64(a.Told*float64(a.Jobs)) + float64(b.Told*float64(b.Jobs))) / n
		a.Came = (float64(a.Came*float64(a.Jobs)) + float64(b.Came*float64(b.Jobs))) / n
		a.Jobs += b.Jobs
	}
}

// promises writes the table of probabilities, and its diagram.
func (p *page) promises(told []experiment.Told) {
	p.head("told %", "jobs", "mean told %", "met %", "difference", "reliable")
	for i := range told {
		t := &told[i]
		n := float64(t.Jobs)
		b := bin{Jobs: t.Jobs, Met: int(math.Round(t.Came * n)), Told: float64(t.Told * n),
			Variance: float64(n * t.Told * (1 - t.Told))}
		p.bin(fmt.Sprintf("%d–%d", i*100/bins, (i+1)*100/bins), &b)
	}
	p.line("")
	p.line("The same as a diagram from 0 to 100 %%: `o` is what was told, `x` what came true, `*` both.")
	p.line("")
	p.line("```text")
	for i := range told {
		if t := &told[i]; t.Jobs > 0 {
			p.line("%3d–%-3d |%s|", i*100/bins, (i+1)*100/bins, marks(t.Told, t.Came))
		}
	}
	p.line("```")
}

// marks draws two shares on a line of one character for two percent.
func marks(told, came float64) string {
	const width = 50
	line := []byte(strings.Repeat(" ", width+1))
	at := func(share float64) int { return int(math.Round(share * width)) }
	line[at(told)] = 'o'
	if line[at(came)] = 'x'; at(told) == at(came) {
		line[at(came)] = '*'
	}
	return string(line)
}

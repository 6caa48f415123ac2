package results

import (
	"fmt"
	"math"

	"github.com/hedgesched/hedge/adapters/sim"

	"github.com/hedgesched/hedge/cmd/hedge/internal/experiment"
	"github.com/hedgesched/hedge/cmd/hedge/internal/figures"
)

// bins is the number of equal parts of [0, 1] into which the probabilities told are sorted.
const bins = 10

// bin counts jobs that were told a probability in one part of [0, 1] with their last start.
type bin struct {
	// Jobs is how many were told one, and Met how many of these met their deadline.
	Jobs int `json:"jobs"`
	Met  int `json:"met"`
	// Told is the sum of the probabilities.
	Told float64 `json:"told"`
	// Variance is the sum of told·(1-told): that of Met, if what is told is true and jobs are independent.
	Variance float64 `json:"variance"`
}

// reliability sorts the jobs of runs by what they were told.
func reliability(runs []experiment.Run) []bin {
	out := make([]bin, bins)
	for i := range runs {
		for k := range runs[i].Jobs {
			job := &runs[i].Jobs[k]
			if job.Class != sim.SLO || job.Start < 0 || job.Told < 0 {
				continue
			}
			b := &out[min(int(job.Told*bins), bins-1)]
			b.Jobs++
			b.Told += job.Told
			b.Variance += float64(job.Told * (1 - job.Told))
			if !job.Missed() {
				b.Met++
			}
		}
	}
	return out
}

// add pools two bins.
func (b *bin) add(o *bin) {
	b.Jobs += o.Jobs
	b.Met += o.Met
	b.Told += o.Told
	b.Variance += o.Variance
}

const (
	// manyJobs is from how many jobs on a bin is judged by its error; fewer are judged by chance.
	manyJobs = 1000
	// closeEnough is the error allowed then.
	closeEnough = 0.05
	// ninetyNine is the two-sided 99 % quantile of the normal distribution.
	ninetyNine = 2.5758293035489004
)

// reliable tells whether what was told in the bin came true as often as it says.
func (b *bin) reliable() bool {
	off := math.Abs(float64(b.Met) - b.Told)
	if b.Jobs >= manyJobs {
		return off <= closeEnough*float64(b.Jobs)
	}
	// Half a job for the step from a count to a continuous distribution.
	return off <= float64(ninetyNine*math.Sqrt(b.Variance))+0.5
}

// reliability writes the pooled table, and below it one line a log.
func (p *page) reliability(cells []kept) {
	pooled := make([]bin, bins)
	for _, k := range cells {
		for i := range k.Reliability {
			pooled[i].add(&k.Reliability[i])
		}
	}
	p.line("With each start of a job with a deadline, 3sigma tells the probability that it meets it. Below are those " +
		"told with the last start of")
	p.line("each job, over all logs and seeds, and how many of these jobs met their deadline. A bin of %d jobs or more "+
		"is *reliable* if both differ by", manyJobs)
	p.line("at most %g points, a smaller one if the difference is not significant at 99 %% (independent jobs).",
		100*closeEnough)
	p.line("")
	p.head("told %", "jobs", "mean told %", "met %", "difference", "reliable")
	for i := range pooled {
		p.bin(fmt.Sprintf("%d–%d", i*100/bins, (i+1)*100/bins), &pooled[i])
	}
	p.line("")
	p.head("log", "jobs", "mean told %", "met %", "difference", "reliable")
	for _, k := range cells {
		var all bin
		for i := range k.Reliability {
			all.add(&k.Reliability[i])
		}
		p.bin(k.Trace, &all)
	}
}

func (p *page) bin(name string, b *bin) {
	if b.Jobs == 0 {
		p.row(name, "0", "–", "–", "–", "–")
		return
	}
	n := float64(b.Jobs)
	told, met := b.Told/n, float64(b.Met)/n
	verdict := "no"
	if b.reliable() {
		verdict = "yes"
	}
	p.row(name, fmt.Sprint(b.Jobs), figures.Number(100*told), figures.Number(100*met),
		fmt.Sprintf("%+.1f", 100*(met-told)), verdict)
}

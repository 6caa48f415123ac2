package demo

import (
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/hedgesched/hedge/adapters/sim"
)

// Figures sum a run up. Latency is from submission to completion.
type Figures struct {
	// SLO are the jobs with a deadline, Missed those of them that did not complete by it.
	SLO, Missed int
	// Mean and P90 are latencies of the best-effort jobs that completed, All the mean of all jobs that did.
	Mean, P90, All time.Duration
	// Unfinished are the jobs that did not complete, Stops how often jobs were stopped before their end.
	Unfinished, Stops int
	// End is when the last job completed.
	End time.Duration
}

// Figures are the run's.
func (r *Result) Figures() Figures {
	var f Figures
	var be, all []time.Duration
	for i := range r.Jobs {
		j := &r.Jobs[i]
		f.Stops += j.Preemptions
		if j.Class == sim.SLO {
			f.SLO++
		}
		if j.Missed() {
			f.Missed++
		}
		if j.Finish < 0 {
			f.Unfinished++
			continue
		}
		f.End = max(f.End, j.Finish)
		all = append(all, j.Finish-j.Submit)
		if j.Class == sim.BestEffort {
			be = append(be, j.Finish-j.Submit)
		}
	}
	f.Mean, f.All = mean(be), mean(all)
	if slices.Sort(be); len(be) > 0 {
		f.P90 = be[int(math.Ceil(0.9*float64(len(be))))-1]
	}
	return f
}

func mean(of []time.Duration) time.Duration {
	if len(of) == 0 {
		return 0
	}
	var sum time.Duration
	for _, d := range of {
		sum += d
	}
	return sum / time.Duration(len(of))
}

// WriteTable writes a line a run. Times are seconds of the run, not of the log.
func WriteTable(w io.Writer, runs ...*Result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t,
		"\tdeadlines missed\t\tbest effort: mean\tp90\tall: mean\tstopped\tunfinished\tlast end\tstart delay\tstop delay\t")
	for _, r := range runs {
		f := r.Figures()
		share := 0.0
		if f.SLO > 0 {
			share = 100 * float64(f.Missed) / float64(f.SLO)
		}
		fmt.Fprintf(t, "%s\t%d of %d\t%.1f %%\t%.1f s\t%.1f s\t%.1f s\t%d\t%d\t%.0f s\t%.2f s\t%.2f s\t\n", r.Name, f.Missed,
			f.SLO, share,
			f.Mean.Seconds(), f.P90.Seconds(), f.All.Seconds(), f.Stops, f.Unfinished, f.End.Seconds(), r.Delays.Start.Seconds(),
			r.Delays.Stop.Seconds())
	}
	return t.Flush()
}

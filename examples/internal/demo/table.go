package demo

import (
	"cmp"
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

// String is the figures in a line.
func (f Figures) String() string {
	return fmt.Sprintf(
		"%d of %d deadlines missed, best effort %.1f s on average, all jobs %.1f s, %d stopped, %d unfinished",
		f.Missed, f.SLO, f.Mean.Seconds(), f.All.Seconds(), f.Stops, f.Unfinished)
}

// Summary is a line of the table: the medians of a scheduler's runs, each figure's by itself.
type Summary struct {
	Name string
	Figures
	Delays Delays
}

// Summarise makes the line of a scheduler's runs, at least one, which have one name. Of an even number of runs the
// lower of the two in the middle counts.
func Summarise(runs ...*Result) Summary {
	s := Summary{Name: runs[0].Name}
	all := make([]Figures, len(runs))
	for i, r := range runs {
		all[i] = r.Figures()
	}
	s.SLO = all[0].SLO
	s.Missed = median(all, func(f Figures) int { return f.Missed })
	s.Unfinished = median(all, func(f Figures) int { return f.Unfinished })
	s.Stops = median(all, func(f Figures) int { return f.Stops })
	s.Mean = median(all, func(f Figures) time.Duration { return f.Mean })
	s.P90 = median(all, func(f Figures) time.Duration { return f.P90 })
	s.All = median(all, func(f Figures) time.Duration { return f.All })
	s.End = median(all, func(f Figures) time.Duration { return f.End })
	s.Delays.Start = median(runs, func(r *Result) time.Duration { return r.Delays.Start })
	s.Delays.Stop = median(runs, func(r *Result) time.Duration { return r.Delays.Stop })
	return s
}

func median[T any, V cmp.Ordered](of []T, value func(T) V) V {
	values := make([]V, len(of))
	for i := range of {
		values[i] = value(of[i])
	}
	slices.Sort(values)
	return values[(len(values)-1)/2]
}

// WriteTable writes the lines. Times are seconds of the run, not of the log.
func WriteTable(w io.Writer, lines ...Summary) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t,
		"\tdeadlines missed\t\tbest effort: mean\tp90\tall: mean\tstopped\tunfinished\tlast end\tstart delay\tstop delay\t")
	for _, s := range lines {
		share := 0.0
		if s.SLO > 0 {
			share = 100 * float64(s.Missed) / float64(s.SLO)
		}
		fmt.Fprintf(t, "%s\t%d of %d\t%.1f %%\t%.1f s\t%.1f s\t%.1f s\t%d\t%d\t%.0f s\t%.2f s\t%.2f s\t\n", s.Name,
			s.Missed, s.SLO, share, s.Mean.Seconds(), s.P90.Seconds(), s.All.Seconds(), s.Stops, s.Unfinished,
			s.End.Seconds(), s.Delays.Start.Seconds(), s.Delays.Stop.Seconds())
	}
	return t.Flush()
}

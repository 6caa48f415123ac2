package loopback

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/hedgesched/hedge/adapters/live"
	"github.com/hedgesched/hedge/adapters/sim/agents"
)

// Replay submits the jobs of a workload at their times, each phase after the one before, and waits for all of them.
// Jobs whose mean task runtime is above the cutoff are long. The result has for each job what the simulator has.
// Effects are published in the folder effects, unless that is empty. Jobs are named by their index, so a fleet can
// replay only once.
func (f *Fleet) Replay(ctx context.Context, w *agents.Workload, cutoff time.Duration, effects string) (
	[]agents.JobResult, error) {
	client, err := f.Client()
	if err != nil {
		return nil, err
	}
	defer func() { _ = client.Close() }()
	began := time.Now()
	for i := range w.Jobs {
		j := &w.Jobs[i]
		command, err := Command(f.Task, w.Tasks(j), effects)
		if err != nil {
			return nil, err
		}
		job := live.Job{Name: strconv.Itoa(i), Tasks: int(j.Tasks), Estimate: j.Mean, Long: j.Mean > cutoff, Command: command}
		if w.Attributes != nil {
			job.Attributes = w.Attributes[i]
		}
		if j.Phase > 0 {
			job.After = strconv.Itoa(i - 1)
		} else {
			wait(ctx, j.Submit-time.Since(began))
		}
		if err := client.Submit(ctx, job); err != nil {
			return nil, fmt.Errorf("loopback: job %d: %w", i, err)
		}
	}
	results := make([]agents.JobResult, len(w.Jobs))
	for i := range w.Jobs {
		s, err := client.Wait(ctx, strconv.Itoa(i))
		if err == nil && s.Failed > 0 {
			err = fmt.Errorf("%d tasks failed", s.Failed)
		}
		if err != nil {
			return nil, fmt.Errorf("loopback: job %d: %w", i, err)
		}
		results[i] = agents.JobResult{Submit: s.Submitted.Sub(began), End: s.Ended.Sub(began), Long: w.Jobs[i].Mean > cutoff}
	}
	return results, nil
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// Completions returns, in ascending order, the completion times of the long or the short jobs of a workload. A job with
// several phases counts once, up to the end of its last phase.
func Completions(w *agents.Workload, results []agents.JobResult, long bool) []time.Duration {
	var list []time.Duration
	for i := 0; i < len(w.Jobs); {
		last := i
		for last+1 < len(w.Jobs) && w.Jobs[last+1].Phase > 0 {
			last++
		}
		if results[i].Long == long {
			list = append(list, results[last].End-results[i].Submit)
		}
		i = last + 1
	}
	slices.Sort(list)
	return list
}

// Quantile interpolates linearly between the closest ranks of ascending times. P is from 0 to 1.
func Quantile(sorted []time.Duration, p float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	at := float64(p * float64(len(sorted)-1))
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + time.Duration(float64((at-float64(i))*float64(sorted[i+1]-sorted[i])))
}

// Compare prints percentiles of completion times of a simulated and of a live run, by class.
func Compare(out io.Writer, w *agents.Workload, simulated, alive []agents.JobResult) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "jobs\tpercentile\tsimulated s\tlive s\tlive/simulated\t")
	for _, long := range []bool{false, true} {
		s, l := Completions(w, simulated, long), Completions(w, alive, long)
		class := map[bool]string{false: "short", true: "long"}[long]
		for _, p := range []float64{0.5, 0.9, 0.99} {
			if a, b := Quantile(s, p).Seconds(), Quantile(l, p).Seconds(); len(s) > 0 {
				fmt.Fprintf(t, "%d %s\t%g\t%.2f\t%.2f\t%.3f\t\n", len(s), class, 100*p, a, b, b/a)
			}
		}
	}
	return t.Flush()
}

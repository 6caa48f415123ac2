//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// scaled is a run of a system at a size, in a process of its own.
type scaled struct {
	Policy string `json:"policy"`
	// Dimension is what grows: workers, with the same jobs; tasks, on the same workers; or both.
	Dimension string  `json:"dimension"`
	Workers   int     `json:"workers"`
	Jobs      int     `json:"jobs"`
	Tasks     int     `json:"tasks"`
	Messages  int     `json:"messages"`
	CPUS      float64 `json:"cpu_s"`
	PeakMiB   float64 `json:"peak_mib"`
}

// scaling is what newScale's flags say.
type scaling struct {
	program, mix, svg string
	policies, flags   []string
	workers, jobs     int
	doublings         int
	json              bool
}

func newScale() *cobra.Command {
	var g scaling
	cmd := &cobra.Command{Use: "scale", Short: "How the time of schedulers made of messages grows with workers and tasks",
		Args: cobra.NoArgs}
	fs := cmd.Flags()
	fs.StringVar(&g.program, "program", "hedge", "the hedge to run")
	fs.StringVar(&g.mix, "generate", "yahoo", "the classes of jobs: yahoo or google")
	fs.StringSliceVar(&g.policies, "policies", []string{"eagle", "hawk", "sparrow", "pigeon", "kairos"}, "the systems")
	fs.StringSliceVar(&g.flags, "flags", nil, "further flags of hedge simulate")
	fs.IntVar(&g.workers, "workers", 170_000/64, "workers of the smallest runs")
	fs.IntVar(&g.jobs, "jobs", 500_000/64, "their jobs, of about 40 tasks each")
	fs.IntVar(&g.doublings, "doublings", 3, "how often each is doubled")
	fs.StringVar(&g.svg, "svg", "", "draw a chart of both growing into this file: .svg, .png or .pdf")
	fs.BoolVar(&g.json, "json", false, "print JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if g.doublings < 0 || g.workers < 1 || g.jobs < 1 {
			return fmt.Errorf("%d doublings of %d workers and %d jobs: expected none or more, of one or more", g.doublings,
				g.workers, g.jobs)
		}
		found, err := g.measure(cmd.Context())
		if err != nil {
			return err
		}
		if g.svg != "" {
			if err := drawScale(found, g.svg); err != nil {
				return err
			}
		}
		return emit(cmd.OutOrStdout(), g.json, found, func() string { return scales(found) })
	}
	return cmd
}

func (g *scaling) measure(ctx context.Context) ([]scaled, error) {
	var found []scaled
	for _, policy := range g.policies {
		for _, d := range []struct {
			name          string
			workers, jobs int
		}{{"both", 1, 1}, {"tasks", 0, 1}, {"workers", 1, 0}} {
			for i := range g.doublings + 1 {
				one, err := g.run(ctx, policy, g.workers<<(i*d.workers), g.jobs<<(i*d.jobs))
				if err != nil {
					return nil, fmt.Errorf("%s: %w", policy, err)
				}
				one.Dimension = d.name
				found = append(found, one)
				fmt.Fprintf(os.Stderr, "%s, %s: %d workers, %d tasks: %.2f s, %.0f MiB\n", policy, d.name, one.Workers, one.Tasks,
					one.CPUS, one.PeakMiB)
			}
		}
	}
	return found, nil
}

// run is one run in a process of one thread.
func (g *scaling) run(ctx context.Context, policy string, workers, jobs int) (scaled, error) {
	args := append([]string{"simulate", "--workload", "tasks", "--generate", g.mix, "--policy", policy, "--nodes",
		strconv.Itoa(workers), "--jobs", strconv.Itoa(jobs), "--json"}, g.flags...)
	cmd := exec.CommandContext(ctx, g.program, args...)
	cmd.Env, cmd.Stderr = append(os.Environ(), "GOMAXPROCS=1"), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return scaled{}, err
	}
	var d struct {
		Workload struct{ Tasks int }
		Run      struct{ Messages int }
	}
	if err := json.Unmarshal(out, &d); err != nil {
		return scaled{}, err
	}
	s := scaled{Policy: policy, Workers: workers, Jobs: jobs, Tasks: d.Workload.Tasks, Messages: d.Run.Messages,
		CPUS: (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()}
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		kib := float64(u.Maxrss)
		if runtime.GOOS == "darwin" {
			kib /= 1024
		}
		s.PeakMiB = kib / 1024
	}
	return s, nil
}

// scales is a table of the runs, and one of the slopes.
func scales(found []scaled) string {
	var rows, slopes []table.Row
	for i, s := range found {
		rows = append(rows, table.Row{s.Policy, s.Dimension, s.Workers, s.Jobs, s.Tasks,
			digits(float64(s.Messages) / float64(max(s.Tasks, 1))), digits(s.CPUS), fmt.Sprintf("%.0f", s.PeakMiB)})
		if i > 0 && found[i-1].Policy == s.Policy && found[i-1].Dimension == s.Dimension {
			continue
		}
		x, y := series(found, s.Policy, s.Dimension)
		slopes = append(slopes, table.Row{s.Policy, s.Dimension, fmt.Sprintf("%.2f", slope(x, y))})
	}
	return markdown(table.Row{"system", "what grows", "workers", "jobs", "tasks", "messages a task", "CPU s", "peak MiB"},
		rows) + "\n" + markdown(table.Row{"system", "what grows", "slope of log CPU over log size"}, slopes)
}

// series is the sizes of what grows, and what they took.
func series(found []scaled, policy, dimension string) (x, y []float64) {
	for _, s := range found {
		if s.Policy != policy || s.Dimension != dimension {
			continue
		}
		size := s.Tasks
		if dimension == "workers" {
			size = s.Workers
		}
		x, y = append(x, float64(size)), append(y, s.CPUS)
	}
	return x, y
}

// drawScale draws CPU time over tasks where workers grow with them, both logarithmic.
func drawScale(found []scaled, path string) error {
	p := plot.New()
	p.Title.Text = "CPU time of a simulation, workers growing with tasks"
	p.X.Label.Text, p.Y.Label.Text = "tasks", "CPU seconds"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.LogTicks{Prec: -1}, plot.LogTicks{Prec: -1}
	p.Legend.Top, p.Legend.Left = true, true
	var args []any
	for i, s := range found {
		if s.Dimension != "both" || i > 0 && found[i-1].Policy == s.Policy && found[i-1].Dimension == "both" {
			continue
		}
		x, y := series(found, s.Policy, "both")
		points := make(plotter.XYs, len(x))
		for k := range x {
			points[k] = plotter.XY{X: x[k], Y: math.Max(y[k], 1e-3)}
		}
		args = append(args, s.Policy, points)
	}
	if err := plotutil.AddLinePoints(p, args...); err != nil {
		return err
	}
	return p.Save(16*vg.Centimeter, 11*vg.Centimeter, path)
}

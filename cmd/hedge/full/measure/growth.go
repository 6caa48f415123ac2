//go:build unix

package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/native"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// clusterNodes are spread over however many partitions there are.
const clusterNodes = 512

// dimensions are what grows, each alone from the same base.
var dimensions = []struct {
	name string
	grow func(s *solvertest.Shape, times int)
}{
	{"pending jobs", func(s *solvertest.Shape, times int) { s.Jobs *= times }},
	{"partitions", func(s *solvertest.Shape, times int) { s.Partitions *= times }},
	{"slots", func(s *solvertest.Shape, times int) { s.Slots *= times }},
}

// grown is a size, and what it took in the geometric mean over some cycles of it.
type grown struct {
	Dimension string           `json:"dimension"`
	Shape     solvertest.Shape `json:"shape"`
	// Options are all jobs', and Places the sum of the partitions that each may use, in the mean.
	Options float64 `json:"options"`
	Places  float64 `json:"places"`
	// What the linear relaxation took, and a plan proven to be within the gap: work units and milliseconds of processor
	// time.
	RootWork float64 `json:"root_work"`
	RootMS   float64 `json:"root_ms"`
	PlanWork float64 `json:"plan_work"`
	PlanMS   float64 `json:"plan_ms"`
	// Reached is how many cycles came within the gap, of Cycles; the others count with all the work there was.
	Reached int `json:"reached"`
	Cycles  int `json:"cycles"`
}

// growing is what newGrowth's flags say.
type growing struct {
	base            solvertest.Shape
	doublings, each int
	gap             float64
	work            int64
	svg             string
	json            bool
}

func newGrowth() *cobra.Command {
	g := growing{base: solvertest.Shape{Widest: 0.05, Resources: 1}}
	cmd := &cobra.Command{Use: "growth", Short: "How native's time grows with jobs, partitions and slots",
		Args: cobra.NoArgs}
	fs := cmd.Flags()
	fs.IntVar(&g.base.Jobs, "jobs", 250, "pending jobs of the smallest cycles")
	fs.IntVar(&g.base.Partitions, "partitions", 4, "their partitions")
	fs.IntVar(&g.base.Slots, "slots", 12, "their slots")
	fs.IntVar(&g.doublings, "doublings", 3, "how often each is doubled")
	fs.IntVar(&g.each, "cycles", 3, "random cycles of each size")
	fs.Float64Var(&g.gap, "gap", 0.01, "relative gap at which a plan is good")
	fs.Int64Var(&g.work, "work", 10_000_000, "most work units of a solve, about a million a second")
	fs.StringVar(&g.svg, "svg", "", "draw a chart into this file: .svg, .png or .pdf")
	fs.BoolVar(&g.json, "json", false, "print JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if g.doublings < 0 || g.each < 1 {
			return fmt.Errorf("%d doublings of %d cycles each: expected none or more, of one or more", g.doublings, g.each)
		}
		found, err := g.measure(cmd.Context())
		if err != nil {
			return err
		}
		if g.svg != "" {
			if err := draw(found, g.svg); err != nil {
				return err
			}
		}
		return emit(cmd.OutOrStdout(), g.json, found, func() string { return growths(found, g.gap) })
	}
	return cmd
}

// measure grows every dimension.
func (g *growing) measure(ctx context.Context) ([]grown, error) {
	var found []grown
	for _, d := range dimensions {
		for i := range g.doublings + 1 {
			s := g.base
			d.grow(&s, 1<<i)
			s.Nodes = max(1, clusterNodes/s.Partitions)
			one, err := g.size(ctx, s)
			if err != nil {
				return nil, err
			}
			one.Dimension = d.name
			found = append(found, *one)
		}
	}
	return found, nil
}

// size measures cycles of one shape.
func (g *growing) size(ctx context.Context, s solvertest.Shape) (*grown, error) {
	one := &grown{Shape: s, Cycles: g.each}
	var logs [4]float64
	for i := range g.each {
		p := solvertest.CycleOf(uint64(900+i), s)
		for j := range p.Jobs {
			one.Options += float64(len(p.Jobs[j].Options)) / float64(g.each)
			for k := range p.Jobs[j].Options {
				one.Places += float64(len(p.Jobs[j].Options[k].Partitions)) / float64(g.each)
			}
		}
		root, rootMS, err := g.solve(ctx, p, native.Config{Relaxation: true}, -1)
		if err != nil {
			return nil, err
		}
		plan, planMS, err := g.solve(ctx, p, native.Config{}, g.gap)
		if err != nil {
			return nil, err
		}
		if plan.Stop == solver.StopGap || plan.Stop == solver.StopOptimal {
			one.Reached++
		}
		for k, x := range []float64{float64(root.Work), rootMS, float64(plan.Work), planMS} {
			logs[k] += math.Log(max(x, 1e-3)) / float64(g.each)
		}
	}
	one.RootWork, one.RootMS, one.PlanWork, one.PlanMS = math.Exp(logs[0]), math.Exp(logs[1]), math.Exp(logs[2]),
		math.Exp(logs[3])
	return one, nil
}

// solve is one solve and the processor time it took.
func (g *growing) solve(ctx context.Context, p *solver.Problem, cfg native.Config, gap float64) (*solver.Solution,
	float64, error) {
	runtime.GC()
	began := cpu()
	sol, err := solver.Solve(ctx, native.New(&cfg), p, solver.Options{Work: g.work, Gap: gap})
	took := cpu() - began
	return sol, float64(took) / float64(time.Millisecond), cmp.Or(err, ctx.Err())
}

// exponent is the slope of log y over log x: y grows as x to that power.
func exponent(of []grown, x, y func(*grown) float64) float64 {
	xs, ys := make([]float64, len(of)), make([]float64, len(of))
	for i := range of {
		xs[i], ys[i] = x(&of[i]), y(&of[i])
	}
	return slope(xs, ys)
}

// slope is that of log y over log x.
func slope(x, y []float64) float64 {
	xs, ys := make([]float64, len(x)), make([]float64, len(y))
	for i := range x {
		xs[i], ys[i] = math.Log(x[i]), math.Log(y[i])
	}
	_, slope := stat.LinearRegression(xs, ys, nil, false)
	return slope
}

// What is fitted, against how many places options have in all.
var (
	places   = func(g *grown) float64 { return g.Places }
	rootWork = func(g *grown) float64 { return g.RootWork }
	rootMS   = func(g *grown) float64 { return g.RootMS }
	planWork = func(g *grown) float64 { return g.PlanWork }
	planMS   = func(g *grown) float64 { return g.PlanMS }
)

// growths are the tables: sizes, and exponents.
func growths(found []grown, gap float64) string {
	plan := fmt.Sprintf("plan within %g %%", 100*gap)
	var rows, fits []table.Row
	for i := range found {
		f := &found[i]
		rows = append(rows, table.Row{f.Dimension, f.Shape.Jobs, f.Shape.Partitions, f.Shape.Slots,
			fmt.Sprintf("%.0f", f.Options), fmt.Sprintf("%.0f", f.Places),
			digits(f.RootMS), fmt.Sprintf("%.0f", f.RootWork/1e3), digits(f.PlanMS), fmt.Sprintf("%.0f", f.PlanWork/1e3),
			fmt.Sprintf("%d of %d", f.Reached, f.Cycles)})
	}
	fit := func(name string, of []grown) {
		row := table.Row{name}
		for _, y := range []func(*grown) float64{rootMS, rootWork, planMS, planWork} {
			row = append(row, fmt.Sprintf("%.2f", exponent(of, places, y)))
		}
		fits = append(fits, row)
	}
	for _, d := range dimensions {
		fit(d.name, along(found, d.name))
	}
	fit("all", found)
	return markdown(table.Row{"grows", "jobs", "partitions", "slots", "options", "places", "relaxation ms", "k units",
		plan + " ms", "k units", "reached"}, rows) +
		"\nTime or work grows as the number of places to this power:\n\n" +
		markdown(table.Row{"grows", "relaxation ms", "relaxation work", plan + " ms", plan + " work"}, fits)
}

// along is what was found as one dimension grew.
func along(found []grown, dimension string) []grown {
	var of []grown
	for i := range found {
		if found[i].Dimension == dimension {
			of = append(of, found[i])
		}
	}
	return of
}

// draw is the chart: time over places, both logarithmic, and what in-line growth from the first point would be.
func draw(found []grown, path string) error {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = "places (options × partitions each may use)", "ms of processor time"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.LogTicks{Prec: -1}, plot.LogTicks{Prec: -1}
	p.Legend.Top, p.Legend.Left = true, true
	p.Add(plotter.NewGrid())
	var lines []any
	for _, d := range dimensions {
		of := along(found, d.name)
		root, plan := make(plotter.XYs, len(of)), make(plotter.XYs, len(of))
		for i := range of {
			root[i], plan[i] = plotter.XY{X: of[i].Places, Y: of[i].RootMS}, plotter.XY{X: of[i].Places, Y: of[i].PlanMS}
		}
		lines = append(lines, d.name+": relaxation", root, d.name+": plan", plan)
	}
	if err := plotutil.AddLinePoints(p, lines...); err != nil {
		return err
	}
	first := found[0]
	most := first.Places
	for i := range found {
		most = max(most, found[i].Places)
	}
	line, err := plotter.NewLine(plotter.XYs{{X: first.Places, Y: first.PlanMS},
		{X: most, Y: first.PlanMS * most / first.Places}})
	if err != nil {
		return err
	}
	line.Dashes = []vg.Length{2, 2}
	p.Add(line)
	p.Legend.Add("linear", line)
	return p.Save(20*vg.Centimeter, 14*vg.Centimeter, path)
}

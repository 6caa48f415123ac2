//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"
)

// compared is what is read of the document of hedge compare.
type compared struct {
	Runs []struct {
		SLO struct {
			MissRate float64 `json:"miss_rate"`
		} `json:"slo"`
		Goodput struct {
			SLO float64 `json:"slo"`
			BE  float64 `json:"be"`
		} `json:"work_in_window_machine_hours"`
		Latency struct {
			Mean float64 `json:"mean"`
		} `json:"be_latency_s"`
		Cycles  int `json:"cycles"`
		PhaseMS struct {
			Solve float64 `json:"solve"`
		} `json:"phase_ms"`
		CycleMS struct {
			P50 float64 `json:"p50"`
			P99 float64 `json:"p99"`
			Max float64 `json:"max"`
		} `json:"cycle_ms"`
		Solver struct {
			GapMean *float64       `json:"gap_mean"`
			GapP99  *float64       `json:"gap_p99"`
			Stops   map[string]int `json:"stops"`
		} `json:"solver"`
	} `json:"runs"`
}

// valued is one workload under one engine with one time for each decision.
type valued struct {
	Log    string   `json:"log"`
	Engine string   `json:"engine"`
	LimitS float64  `json:"limit_s"`
	Args   []string `json:"args"`
	Error  string   `json:"error,omitempty"`
	compared
}

// worth is what newWorth's flags say.
type worth struct {
	program    string
	logs, rows []string
	flags      string
	cycle      time.Duration
	list       []valued
	json       bool
	eachAtMost time.Duration
}

func newWorth() *cobra.Command {
	var w worth
	cmd := &cobra.Command{Use: "worth", Short: "What better plans are worth: hedge compare by engine and by time for a " +
		"decision", Args: cobra.NoArgs}
	fs := cmd.Flags()
	fs.StringVar(&w.program, "program", "hedge-full", "the hedge to run")
	fs.StringArrayVar(&w.logs, "trace", []string{"builtin"},
		"log, builtin or NAME=FILE, with more flags of hedge compare behind it; may be repeated")
	fs.StringArrayVar(&w.rows, "row", []string{"100ms=native"},
		"TIME=ENGINE: an engine and its time for each decision; may be repeated")
	fs.StringVar(&w.flags, "flags", "", "flags of hedge compare for all")
	fs.DurationVar(&w.cycle, "cycle", 10*time.Second, "scheduling period; no row's time may be longer")
	fs.DurationVar(&w.eachAtMost, "at-most", 5*time.Minute, "give a run up after this time, and say so")
	fs.BoolVar(&w.json, "json", false, "print JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := w.run(cmd.Context(), func(what string) { fmt.Fprintln(cmd.ErrOrStderr(), what) }); err != nil {
			return err
		}
		return emit(cmd.OutOrStdout(), w.json, w.list, w.tables)
	}
	return cmd
}

// run is every log under every row.
func (w *worth) run(ctx context.Context, told func(what string)) error {
	for _, log := range w.logs {
		fields := strings.Fields(log)
		if len(fields) == 0 {
			return errors.New("--trace: found nothing, expected builtin or NAME=FILE")
		}
		name, file, isFile := strings.Cut(fields[0], "=")
		args := append([]string{"compare", "--policies", "3sigma", "--json", "--cycle", w.cycle.String(), "--work",
			"1000000000000"}, fields[1:]...)
		if isFile {
			args = append(args, "--trace", file)
		}
		for _, row := range w.rows {
			limit, engine, ok := strings.Cut(row, "=")
			d, err := time.ParseDuration(limit)
			if !ok || err != nil || d <= 0 || d > w.cycle {
				return fmt.Errorf("--row: found %q, expected TIME=ENGINE with a time of at most --cycle", row)
			}
			one := valued{Log: name, Engine: engine, LimitS: d.Seconds(),
				Args: append(append([]string(nil), args...), strings.Fields(w.flags)...)}
			one.Args = append(one.Args, "--budget", fmt.Sprint(d.Seconds()/w.cycle.Seconds()), "--engine", engine)
			told(fmt.Sprintf("%s: %s for %s", name, engine, limit))
			if err := w.one(ctx, &one); err != nil {
				return err
			}
			w.list = append(w.list, one)
		}
	}
	return nil
}

// one runs hedge compare. A run that fails is a finding, not an error.
func (w *worth) one(ctx context.Context, v *valued) error {
	within, cancel := context.WithTimeout(ctx, w.eachAtMost)
	defer cancel()
	cmd := exec.CommandContext(within, w.program, v.Args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case within.Err() != nil:
		v.Error = fmt.Sprintf("not done after %v", w.eachAtMost)
	case err != nil:
		v.Error = strings.TrimSpace(strings.TrimSpace(errs.String()) + " (" + err.Error() + ")")
	default:
		err = json.Unmarshal(out.Bytes(), &v.compared)
		if err == nil && len(v.Runs) != 1 {
			err = fmt.Errorf("found %d runs, expected 1", len(v.Runs))
		}
		return err
	}
	return nil
}

// tables is a table for each log, with the command of its first row.
func (w *worth) tables() string {
	var out strings.Builder
	for i := 0; i < len(w.list); i += len(w.rows) {
		first := &w.list[i]
		fmt.Fprintf(&out, "%s: `hedge-full %s`, and so on\n\n", first.Log, strings.Join(quoted(first.Args), " "))
		var rows []table.Row
		for k := range w.rows {
			rows = append(rows, w.list[i+k].row())
		}
		out.WriteString(markdown(table.Row{"engine", "s a decision", "missed %", "goodput machine-hours",
			"best-effort latency s", "cycles", "cycle ms p50", "p99", "most",
			"gap % mean", "p99", "stops"}, rows) + "\n")
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

// quoted are arguments as a shell takes them.
func quoted(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		if out[i] = a; a == "" || strings.ContainsFunc(a, special) {
			out[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return out
}

// special says whether a shell may take r for something other than itself.
func special(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./=:,+@%", r)
}

func (v *valued) row() table.Row {
	row := table.Row{v.Engine, fmt.Sprintf("%g", v.LimitS)}
	if v.Error != "" {
		return append(row, v.Error)
	}
	r := &v.Runs[0]
	percent := func(x *float64) string {
		if x == nil || v.Engine == "greedy" { // which has no bound
			return "–"
		}
		return fmt.Sprintf("%.2f", 100**x)
	}
	var stops []string
	for _, s := range []string{"optimal", "gap", "iterations", "time", "error"} {
		if n := r.Solver.Stops[s]; n > 0 {
			stops = append(stops, fmt.Sprintf("%d %s", n, s))
		}
	}
	return append(row, fmt.Sprintf("%.1f", 100*r.SLO.MissRate), digits(r.Goodput.SLO+r.Goodput.BE), digits(r.Latency.Mean),
		r.Cycles, digits(r.CycleMS.P50), digits(r.CycleMS.P99),
		digits(r.CycleMS.Max), percent(r.Solver.GapMean), percent(r.Solver.GapP99), strings.Join(stops, ", "))
}

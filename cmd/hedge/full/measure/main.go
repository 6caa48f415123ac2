//go:build unix

// Command measure makes the tables of docs/benchmarks-solvers.md that compare the native engine with others beyond what
// hedge bench does: its bound with Clp's linear programs, how its time grows with the problem, and what better plans
// are worth to a workload; and those of docs/benchmarks.md on how schedulers made of messages grow. It
// prints Markdown or JSON; it draws no conclusion and is no part of the product.
//
//	go run ./measure relaxation
//	go run ./measure growth --svg growth.svg
//	go run ./measure scale --program hedge --svg scale.svg
//	go run ./measure worth --program hedge-full --trace builtin --row 10ms=native --row 10s=milp+highs
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	root := &cobra.Command{Use: "measure", Short: "Measurements for docs/benchmarks*.md", SilenceUsage: true}
	root.AddCommand(newRelaxation(), newGrowth(), newWorth(), newScale())
	err := root.ExecuteContext(ctx)
	stop()
	if err != nil {
		os.Exit(1)
	}
}

// emit prints a document as JSON, or its tables.
func emit(w io.Writer, asJSON bool, doc any, tables func() string) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(doc)
	}
	_, err := fmt.Fprint(w, tables())
	return err
}

// markdown is a table.
func markdown(head table.Row, rows []table.Row) string {
	t := table.NewWriter()
	t.AppendHeader(head)
	t.AppendRows(rows)
	return t.RenderMarkdown() + "\n"
}

// cpu is the processor time that the process has used, in all its threads: what other programs do to a solve of one
// thread shows in it little.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// milliseconds is d with three digits or so, "–" if it is nothing.
func milliseconds(d *time.Duration) string {
	if d == nil {
		return "–"
	}
	return digits(float64(*d) / float64(time.Millisecond))
}

// digits is x with about three digits.
func digits(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

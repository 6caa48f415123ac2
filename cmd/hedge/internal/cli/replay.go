package cli

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/hedgesched/hedge/adapters/sim/decisionlog"
	"github.com/hedgesched/hedge/adapters/sim/tasklog"

	"github.com/hedgesched/hedge/cmd/hedge/internal/figures"
)

// replayed is the document of hedge replay.
type replayed struct {
	Schema  int                 `json:"schema"`
	Command string              `json:"command"`
	Log     string              `json:"log"`
	Lines   int                 `json:"lines"`
	Nodes   int                 `json:"nodes"`
	Jobs    int                 `json:"jobs"`
	Passed  bool                `json:"passed"`
	Run     decisionlog.Metrics `json:"run"`
}

func newReplay(s *Host) *cobra.Command {
	var asJSON bool
	var o decisionlog.Options
	cmd := &cobra.Command{
		Use:   "replay LOG",
		Short: "Check a decision log and derive its figures again",
		Long: `replay reads a decision log (--log of compare and simulate), checks that it could have happened (no node
over-committed, gangs whole, runs as long as the runtime, every job accounted for) and derives every
figure from its events alone. A log that fails is named by line, with exit status 1. The logs of
--workload tasks are binary (POLICY-SEED.tasks): every task runs once to its end, in a slot of its own.`,
		Example: `  hedge simulate --log logs/ && hedge replay logs/3sigma-1.jsonl.gz
  hedge replay logs/prio-1.jsonl.gz --json
  zcat logs/fifo-1.jsonl.gz | hedge replay -`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("hedge replay: found %d arguments, expected one LOG (- for stdin)", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			in, path, err := openInput(args[0], s.In)
			if err != nil {
				return err
			}
			defer in.Close()
			log := bufio.NewReader(in)
			if start, _ := log.Peek(len(tasklog.Magic)); string(start) == tasklog.Magic {
				return replayTasks(s, log, path, &o, asJSON)
			}
			report, err := checkLog(log, path, &o)
			if err != nil {
				return err
			}
			doc := replayed{Schema: schema, Command: "replay", Log: args[0], Lines: report.Lines, Nodes: report.Nodes,
				Jobs: len(report.Jobs), Passed: true, Run: report.Metrics}
			if asJSON {
				return writeJSON(s.Out, doc)
			}
			return failed(replayTable(s.Out, &doc))
		},
	}
	fs := cmd.Flags()
	fs.BoolVar(&asJSON, "json", false, "print one JSON document")
	fs.BoolVar(&o.Partial, "partial", false, "accept a log that ends before its jobs do")
	fs.BoolVar(&o.AnyRuntime, "any-runtime", false, "accept runs of other than the stated runtime (logs of real clusters)")
	return cmd
}

// checkLog checks the log that is at path. A log that fails the check is a failure of the work; one that cannot be read
// is bad input.
func checkLog(lines *bufio.Reader, path string, o *decisionlog.Options) (*decisionlog.Report, error) {
	if _, err := lines.Peek(1); errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: found no events, expected a decision log", path)
	}
	report, err := decisionlog.Check(lines, o)
	var line *decisionlog.LineError
	switch {
	case errors.As(err, &line) && line.Line > 0 && errors.Is(err, decisionlog.ErrSyntax):
		return nil, fmt.Errorf("%s:%d: %w", path, line.Line, line.Err)
	case err != nil && unreadable(err):
		return nil, fmt.Errorf("%s: %w", path, err)
	case errors.As(err, &line) && line.Line > 0:
		return nil, failed(fmt.Errorf("%s:%d: %w", path, line.Line, line.Err))
	case err != nil:
		return nil, failed(fmt.Errorf("%s: %w", path, err))
	}
	return report, nil
}

// unreadable tells a file that is no log at all from a log that fails the check.
func unreadable(err error) bool {
	return errors.Is(err, decisionlog.ErrSyntax) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum)
}

func replayTable(w io.Writer, d *replayed) error {
	var p page
	m := &d.Run
	p.line("%s: %d lines, %d jobs on %d nodes: passed. %s, seed %d:", d.Log, d.Lines, d.Jobs, d.Nodes, m.Policy, m.Seed)
	p.line("")
	p.table(table.Row{"figure, derived from the log", "value"},
		table.Row{"SLO jobs missed", fmt.Sprintf("%d of %d (%s)", m.SLO.Missed, m.SLO.Jobs, figures.Percent(m.SLO.MissRate))},
		table.Row{"best-effort jobs completed", fmt.Sprintf("%d of %d", m.BE.Completed, m.BE.Jobs)},
		table.Row{"goodput SLO, machine-hours", figures.Number(m.Goodput.SLO)},
		table.Row{"goodput BE, machine-hours", figures.Number(m.Goodput.BE)},
		table.Row{"BE latency, mean", figures.Span(m.BELatency.Mean)},
		table.Row{"BE latency, p99", figures.Span(m.BELatency.P99)},
		table.Row{"JCT, mean", figures.Span(m.JCT.Mean)}, table.Row{"JCT, p99", figures.Span(m.JCT.P99)},
		table.Row{"preemptions", m.Preemptions}, table.Row{"lost, machine-hours", figures.Number(m.LostMachineHours)},
		table.Row{"utilisation", figures.Percent(m.Utilisation)}, table.Row{"makespan", figures.Span(m.MakespanS)},
		table.Row{"cycles", m.Cycles})
	return p.to(w)
}

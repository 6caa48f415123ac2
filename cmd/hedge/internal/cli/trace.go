package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hedgesched/hedge/adapters/sim/trace"

	"github.com/hedgesched/hedge/cmd/hedge/internal/describe"
	"github.com/hedgesched/hedge/cmd/hedge/internal/experiment"
	"github.com/hedgesched/hedge/cmd/hedge/internal/report"
)

// logFlags choose a log and where the findings go.
type logFlags struct {
	outputs
	trace string
	read  trace.Options
}

func (f *logFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.trace, "trace", "", "log to use, - for stdin (default: the built-in sample)")
	fs.StringVar(&f.read.Format, "format", "", "log format (default: recognised): "+
		strings.Join(experiment.Formats(), ", "))
	addReading(fs, &f.read.Strict, &f.read.MaxBad)
	f.outputs.add(cmd)
}

// check refuses flags that make no sense together, and a report that could not be written.
func (f *logFlags) check() error {
	if err := checkFormat(f.trace, f.read.Format); err != nil {
		return err
	}
	return f.outputs.check()
}

func newTrace(s *Host) *cobra.Command {
	var f logFlags
	cmd := &cobra.Command{
		Use:   "trace",
		Short: "Describe a cluster log: sizes, durations, rhythm, outcomes, predictability",
		Long: `trace measures a log: how large and long its jobs are, when they arrive, how they
end, how much users vary, and whether a month of it stands for the whole.`,
		Example: `  hedge trace
  hedge trace --trace KTH-SP2-1996.swf.gz
  hedge trace --trace jobs.csv.gz --report out/
  zcat jobs.swf.gz | hedge trace --trace - --format swf --json`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := f.check(); err != nil {
				return err
			}
			log, err := readLog(s, f.trace, &f.read)
			if err != nil {
				return err
			}
			doc := describe.Describe(log)
			return f.emit(s, doc, func(path string) error { return report.WriteTrace(path, doc) },
				func(w io.Writer) error { return traceTables(w, doc) })
		},
	}
	f.add(cmd)
	return cmd
}

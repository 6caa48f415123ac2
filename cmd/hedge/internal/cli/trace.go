package cli

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hedgesched/hedge/cmd/hedge/internal/describe"
	"github.com/hedgesched/hedge/cmd/hedge/internal/experiment"
	"github.com/hedgesched/hedge/cmd/hedge/internal/report"
)

// logFlags choose a log.
type logFlags struct {
	trace, format string
	json          bool
	report        string
}

func (f *logFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.trace, "trace", "", "log to use, - for stdin (default: the built-in sample)")
	fs.StringVar(&f.format, "format", "", "log format (default: recognised): "+strings.Join(experiment.Formats(), ", "))
	fs.BoolVar(&f.json, "json", false, "print one JSON document")
	fs.StringVar(&f.report, "report", "", "directory for a self-contained HTML page with charts")
}

func newTrace(s *Streams) *cobra.Command {
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
			log, err := experiment.ReadLog(f.trace, f.format, s.In)
			if err != nil {
				return err
			}
			doc := describe.Describe(log.Name, log.Format, log.Jobs, log.Skipped)
			if f.report != "" {
				path := filepath.Join(f.report, "index.html")
				if err := report.WriteTrace(path, doc); err != nil {
					return failed(err)
				}
				note(s, "report: %s", path)
			}
			if f.json {
				return writeJSON(s.Out, doc)
			}
			return failed(traceTables(s.Out, doc))
		},
	}
	f.add(cmd)
	return cmd
}

package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hedgesched/hedge/cmd/hedge/internal/experiment"
	"github.com/hedgesched/hedge/cmd/hedge/internal/report"
)

func newPredict(s *Host) *cobra.Command {
	var f logFlags
	var train float64
	var names string
	cmd := &cobra.Command{
		Use:   "predict",
		Short: "Walk a log and report how well runtimes are predicted",
		Long: `predict walks a log in order of time: every job is predicted at its submission from what
had completed by then, and observed at its completion. It reports the errors of the jobs after the
training share: points (within a factor of two, percent errors), distributions (pinball loss, CRPS,
coverage of intervals), which feature was chosen how often, and what each expert alone would have done.`,
		Example: `  hedge predict
  hedge predict --trace google2011_jobs.csv.gz --predictor all
  hedge predict --trace log.swf.gz --train 0.3 --json`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if !finite(train) || train < 0 || train >= 1 {
				return fmt.Errorf("--train: found %v, expected a share from 0 to below 1", train)
			}
			predictors, err := experiment.ParsePredictors(names)
			if err != nil {
				return fmt.Errorf("--predictor: %w", err)
			}
			if err := f.check(); err != nil {
				return err
			}
			log, err := readLog(s, f.trace, &f.read)
			if err != nil {
				return err
			}
			bar := newProgress(s.Err, len(log.Jobs)*len(predictors), "predicting")
			doc, err := experiment.Profile(log, predictors, train, time.Now, func(done int) { bar.set(done, "predicting") })
			bar.done()
			if err != nil {
				return failed(err)
			}
			return f.emit(s, doc, func(path string) error { return report.WritePredict(path, doc) },
				func(w io.Writer) error { return predictTables(w, doc) })
		},
	}
	f.add(cmd)
	cmd.Flags().Float64Var(&train, "train", 0.5, "share of the jobs, in order of submission, that is not scored")
	cmd.Flags().StringVar(&names, "predictor", "3sigma,jvupredict", "predictors, or all: "+
		strings.Join(experiment.Predictors(), ", "))
	return cmd
}

package cli

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/hedgesched/hedge/adapters/sim/trace"

	"github.com/hedgesched/hedge/cmd/hedge/internal/experiment"
)

// addReading defines the flags that say which logs are refused.
func addReading(fs *pflag.FlagSet, strict *bool, maxBad *float64) {
	fs.BoolVar(strict, "strict", false, "refuse a log at its first bad record")
	fs.Var((*badShare)(maxBad), "max-bad", "refuse a log with more bad records than this share of all, and more than 100")
	fs.Lookup("max-bad").DefValue = "5%"
}

// badShare is trace.Options.MaxBad as a flag: 5% or 0.05. There 0 is the default, and a negative number stands for 0.
type badShare float64

func (s *badShare) String() string {
	return strconv.FormatFloat(100*math.Max(0, float64(*s)), 'g', -1, 64) + "%"
}

func (s *badShare) Type() string { return "share" }

func (s *badShare) Set(text string) error {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		x /= 100
	}
	switch {
	case err != nil || !(x >= 0 && x <= 1):
		return errors.New("out of range")
	case x == 0:
		x = -1
	}
	*s = badShare(x)
	return nil
}

// readLog reads a log, and tells on stderr what should be known of it.
func readLog(s *Host, path string, opts *trace.Options) (*trace.Log, error) {
	log, err := experiment.ReadLog(path, s.In, opts)
	if err != nil {
		return nil, err
	}
	for _, text := range log.Notes {
		note(s, "%s", text)
	}
	return log, nil
}

// readSorted reads the log of a simulation, and tells on stderr too how many jobs were sorted.
func readSorted(s *Host, spec *experiment.Spec) (*trace.Log, error) {
	log, err := readLog(s, spec.Trace, spec.Reading())
	if err == nil && log.Reordered > 0 {
		note(s, "%s: %d jobs stood out of order and were sorted", log.Name, log.Reordered)
	}
	return log, err
}

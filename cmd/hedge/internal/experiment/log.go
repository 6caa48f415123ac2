package experiment

import (
	"io"

	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/adapters/sim/trace/sample"
)

// Formats are the log formats that can be read.
func Formats() []string { return trace.Formats() }

// SampleName is what documents call the built-in log.
const SampleName = "built-in sample"

// ReadLog reads the log at path, "-" being stdin and "" the built-in sample.
// Format is empty to recognise it.
func ReadLog(path, format string, stdin io.Reader) (*trace.Log, error) {
	switch path {
	case "":
		s, err := sample.Open()
		if err != nil {
			return nil, err
		}
		log, err := trace.Collect(s)
		if err != nil {
			return nil, err
		}
		log.Name = SampleName
		return log, nil
	case "-":
		s, err := trace.NewReader(stdin, "stdin", format, nil)
		if err != nil {
			return nil, err
		}
		return trace.Collect(s)
	}
	return trace.ReadAll(path, &trace.Options{Format: format})
}

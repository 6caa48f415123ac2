package experiment

import (
	"crypto/sha256"
	"io"
	"os"
	"strconv"

	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/adapters/sim/trace/sample"
)

// Formats are the log formats that can be read.
func Formats() []string { return trace.Formats() }

// SampleName is what documents call the built-in log.
const SampleName = "built-in sample"

// Logs are the paths of the logs that an experiment reads, as ReadLog takes them.
func (s *Spec) Logs() []string {
	if _, isShare := s.trainShare(); s.Train == "" || isShare {
		return []string{s.Trace}
	}
	return []string{s.Trace, s.Train}
}

// trainShare is Train as a number, and whether it is one.
func (s *Spec) trainShare() (share float64, ok bool) {
	share, err := strconv.ParseFloat(s.Train, 64)
	return share, err == nil
}

// Reading says how the spec's log is read.
func (s *Spec) Reading() *trace.Options {
	return &trace.Options{Format: s.Format, Strict: s.Strict, MaxBad: s.MaxBad}
}

// Digest is the SHA-256 of the file at path, or of the built-in sample where path is "".
func Digest(path string) (sum [sha256.Size]byte, err error) {
	if path == "" {
		return sample.Digest(), nil
	}
	file, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer file.Close()
	h := sha256.New()
	_, err = io.Copy(h, file)
	return [sha256.Size]byte(h.Sum(nil)), err
}

// ReadLog reads the log at path, "-" being stdin and "" the built-in sample.
func ReadLog(path string, stdin io.Reader, opts *trace.Options) (*trace.Log, error) {
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
		s, err := trace.NewReader(stdin, "stdin", nil, opts)
		if err != nil {
			return nil, err
		}
		return trace.Collect(s)
	}
	return trace.ReadAll(path, opts)
}

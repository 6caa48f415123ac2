// Package sample holds the log that is read when none is given: the jobs of the
// first 19 hours of Google's 2011 trace, built in. It also holds samples of what tasks use. README.md says where they
// are from.
package sample

import (
	"bytes"
	"crypto/sha256"
	_ "embed"

	"github.com/hedgesched/hedge/adapters/sim/trace"
)

//go:embed google2011.csv.gz
var google2011 []byte

// Name is what errors and reports call the log.
const Name = "google2011 (built in)"

// Digest is the SHA-256 of the log, which differs where another version of this package has another log.
func Digest() [sha256.Size]byte { return sha256.Sum256(google2011) }

// Open returns a new reader of the log: 10,651 jobs in order of submission, with task
// counts, mean task runtimes, outcomes, requests and attributes. Each call's reader stands alone.
func Open() (trace.Reader, error) {
	s, err := trace.NewReader(bytes.NewReader(google2011), Name, nil, &trace.Options{Format: trace.HedgeCSV, Strict: true})
	if err != nil {
		return nil, err
	}
	return s, nil
}

//go:embed google2019_usage.csv.gz
var usage2019 []byte

//go:embed google2011_usage.csv.gz
var usage2011 []byte

// Usage reads the samples of what tasks use: how much of their requests, in 520 rows of Google's traces of 2019, and
// how it changes over time, in 41 days of jobs of 2011.
func Usage() ([]*trace.UsageLog, error) {
	var logs []*trace.UsageLog
	for _, of := range []struct {
		content []byte
		name    string
	}{{usage2019, "google2019_usage (built in)"}, {usage2011, "google2011_usage (built in)"}} {
		log, err := trace.CollectUsage(bytes.NewReader(of.content), of.name, &trace.Options{Strict: true})
		if err != nil {
			return nil, err
		}
		logs = append(logs, log)
	}
	return logs, nil
}

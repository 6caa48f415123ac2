// Package records says, in documents and tables alike, which records of a log are no jobs.
package records

import (
	"fmt"
	"strings"

	"github.com/hedgesched/hedge/adapters/sim/trace"

	"github.com/hedgesched/hedge/cmd/hedge/internal/figures"
)

// Records are the fields of a document about a log's records that are no jobs.
type Records struct {
	// Skipped counts, by reason, the legitimate ones.
	Skipped map[string]int `json:"skipped"`
	// Bad counts, by reason, those that are malformed or impossible, and FirstBad is the first of each reason.
	Bad      map[string]int `json:"bad"`
	FirstBad []FirstBad     `json:"first_bad"`
}

// FirstBad is the first bad record of a reason, at FILE:LINE.
type FirstBad struct {
	Reason string `json:"reason"`
	At     string `json:"at"`
}

// Of returns what there is to say of a log that was read.
func Of(log *trace.Log) Records {
	r := Records{Skipped: map[string]int{}, Bad: map[string]int{}, FirstBad: []FirstBad{}}
	for reason, n := range log.Skipped {
		r.Skipped[reason] += n
	}
	r.AddBad(log)
	return r
}

// AddBad adds the bad records of another log.
func (r *Records) AddBad(log *trace.Log) {
	for _, b := range log.Bad {
		if r.Bad[b.Reason] == 0 {
			r.FirstBad = append(r.FirstBad, FirstBad{b.Reason, fmt.Sprintf("%s:%d", b.First.File, b.First.Line)})
		}
		r.Bad[b.Reason] += b.Count
	}
}

// BadLine says how many bad records of which reasons were left out, and where the first of each are; "" for none.
func (r *Records) BadLine() string {
	var parts []string
	total := 0
	for _, f := range r.FirstBad {
		total += r.Bad[f.Reason]
		parts = append(parts, fmt.Sprintf("%d %s (first %s)", r.Bad[f.Reason], f.Reason, f.At))
	}
	if total == 0 {
		return ""
	}
	return fmt.Sprintf("%s left out: %s", figures.Count(total, "bad record"), strings.Join(parts, ", "))
}

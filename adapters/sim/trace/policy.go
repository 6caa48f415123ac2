package trace

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

const (
	// defaultMaxBad is the share of bad records that a log may have where Options say nothing.
	defaultMaxBad = 0.05
	// fewBad is how many bad records never make a log be refused.
	fewBad = 100
	// maxReasons bounds what a policy remembers, whatever a log holds.
	maxReasons  = 64
	otherReason = "other"
)

// Bad counts the records of a log that were left out for one reason: they are malformed, or say what cannot be.
type Bad struct {
	// Reason is a few words, such as "wrong runtime" or "id seen before".
	Reason string
	// Count is how many records, at least 1.
	Count int
	// First is the first of them, with its line.
	First *ParseError
}

// BadLogError refuses a log for its bad records: all that would be jobs, or more than Max of all and more than 100. It
// is ErrFormat for errors.Is, ErrEmpty too where Jobs is 0, and the *ParseError of the first bad record for errors.As.
type BadLogError struct {
	// Jobs are the records that are jobs, and Records all, with those skipped and the bad ones.
	Jobs, Records int
	// Max is the share of bad records that would have been taken, from 0 to 1.
	Max float64
	// Bad are the bad records by reason, in the order of their first ones.
	Bad []Bad
}

// Error names the first bad record, and says how many there are of each reason.
func (e *BadLogError) Error() string {
	var total int
	var reasons []string
	for _, b := range e.Bad {
		total += b.Count
		reasons = append(reasons, fmt.Sprintf("%d %s", b.Count, b.Reason))
	}
	const most = 8
	if len(reasons) > most {
		reasons = append(reasons[:most], "…")
	}
	why := "no job is left"
	if e.Jobs > 0 {
		why = fmt.Sprintf("more than %.3g %%", 100*e.Max)
	}
	return fmt.Sprintf("%v; %d of %d records are bad, %s: %s",
		e.Bad[0].First, total, e.Records, why, strings.Join(reasons, ", "))
}

// Unwrap returns what the error also is.
func (e *BadLogError) Unwrap() []error {
	errs := []error{e.Bad[0].First}
	if e.Jobs == 0 {
		errs = append(errs, ErrEmpty)
	}
	return errs
}

// policy decides, for every format alike, what becomes of a log with records that are no jobs. Readers only say what
// is wrong with a record, why, and where.
type policy struct {
	strict  bool
	max     float64
	jobs    int
	skipped map[string]int
	bad     []Bad
	reasons map[string]int // where a reason stands in bad
	notes   []string
	noted   map[string]bool
}

func newPolicy(o *Options) (*policy, error) {
	p := &policy{strict: o.Strict, max: o.MaxBad,
		skipped: map[string]int{}, reasons: map[string]int{}, noted: map[string]bool{}}
	switch {
	case !(p.max <= 1):
		return nil, fmt.Errorf("trace: Options.MaxBad: found %v, expected a share of at most 1", o.MaxBad)
	case p.max == 0:
		p.max = defaultMaxBad
	case p.max < 0:
		p.max = 0
	}
	return p, nil
}

// record takes what a reader says of a record: that it is skipped, bad, or else a job. It returns the error that ends
// the log, io.EOF included.
func (p *policy) record(skip string, err error) error {
	var bad *ParseError
	switch {
	case err == nil && skip == "":
		p.jobs++
	case err == nil:
		p.skipped[skip]++
	case errors.Is(err, io.EOF):
		return p.end()
	case p.strict || !errors.As(err, &bad) || bad.fatal:
		return err
	default:
		p.count(bad)
	}
	return nil
}

// count remembers a bad record.
func (p *policy) count(bad *ParseError) {
	reason := bad.Reason
	i, known := p.reasons[reason]
	if !known && len(p.bad) >= maxReasons {
		reason = otherReason
		i, known = p.reasons[reason]
	}
	if !known {
		i = len(p.bad)
		p.reasons[reason] = i
		p.bad = append(p.bad, Bad{Reason: reason, First: bad})
	}
	p.bad[i].Count++
}

// end returns io.EOF, or why the log is refused after all.
func (p *policy) end() error {
	bad, records := 0, p.jobs
	for _, b := range p.bad {
		bad += b.Count
	}
	for _, n := range p.skipped {
		records += n
	}
	records += bad
	if bad > 0 && (p.jobs == 0 || bad > fewBad && float64(bad) > p.max*float64(records)) {
		return &BadLogError{Jobs: p.jobs, Records: records, Max: p.max, Bad: slices.Clone(p.bad)}
	}
	return io.EOF
}

// ignored says that a log has more than its format, such as a column: err under Strict, or else one note.
func (p *policy) ignored(err *ParseError, what string) error {
	if p.strict {
		return err
	}
	if !p.noted[err.Reason] {
		p.noted[err.Reason] = true
		p.notes = append(p.notes, fmt.Sprintf("%s:%d: %s", err.File, err.Line, what))
	}
	return nil
}

// Skipped counts, by reason, the records so far that are legitimate and no jobs. They never count as bad.
func (s *Stream) Skipped() map[string]int { return maps.Clone(s.policy.skipped) }

// Bad returns the bad records so far, by reason, in the order of their first ones; nil for none. It remembers 64
// reasons; records of yet others are counted as "other". Under Options.Strict there are none, since the first ends the
// log.
func (s *Stream) Bad() []Bad { return slices.Clone(s.policy.bad) }

// Notes returns what a user should be told of the log so far, a line each with file and line: columns that were
// ignored.
func (s *Stream) Notes() []string { return slices.Clone(s.policy.notes) }

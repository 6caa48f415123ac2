package trace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// Log is a whole log in memory.
type Log struct {
	// Name is the log's name as given, and Format that of its format.
	Name, Format string
	// Header is what the log says of itself.
	Header Header
	// Jobs are in order of submission, those of the same instant in file order.
	Jobs []Job
	// Skipped counts, by reason, the records that are legitimate and no jobs.
	Skipped map[string]int
	// Bad counts, by reason, the records that were left out as malformed or impossible.
	Bad []Bad
	// Notes are what a user should be told of the log, a line each.
	Notes []string
	// Reordered counts the jobs that stood after one submitted later.
	Reordered int
}

// ReadAll reads a log into memory. Public logs are at times slightly out of
// order, so the jobs are sorted and Reordered tells how many stood wrong;
// hedge's own formats refuse that. A log without jobs is ErrEmpty.
func ReadAll(path string, opts *Options) (*Log, error) {
	s, err := Open(path, opts)
	if err != nil {
		return nil, err
	}
	log, err := Collect(s)
	return log, errors.Join(err, s.Close())
}

// maxBlock is how many jobs are collected in one piece.
const maxBlock = 1 << 14

// Collect reads what is left of a log, as ReadAll does.
func Collect(r Reader) (*Log, error) {
	log := &Log{}
	var latest time.Duration
	var full [][]Job // blocks of jobs before log.Jobs: a slice that grew would be copied again and again
	for {
		job, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if job.Submit < latest {
			log.Reordered++
		}
		latest = max(latest, job.Submit)
		if len(log.Jobs) == maxBlock {
			full, log.Jobs = append(full, log.Jobs), make([]Job, 0, maxBlock)
		}
		log.Jobs = append(log.Jobs, job)
	}
	if len(full) > 0 {
		log.Jobs = slices.Concat(append(full, log.Jobs)...)
	}
	log.Skipped = r.Skipped()
	if s, ok := r.(*Stream); ok {
		log.Name, log.Format, log.Header = s.Name(), s.Format(), s.Header()
		log.Bad, log.Notes = s.Bad(), s.Notes()
	}
	if len(log.Jobs) == 0 {
		skipped := 0
		for _, n := range log.Skipped {
			skipped += n
		}
		return nil, noJobs(cmp.Or(log.Name, "log"), skipped)
	}
	if log.Reordered > 0 {
		slices.SortStableFunc(log.Jobs, func(a, b Job) int { return cmp.Compare(a.Submit, b.Submit) })
	}
	return log, nil
}

// noJobs says that a log holds no job, and how many records that are none.
func noJobs(name string, skipped int) error {
	switch skipped {
	case 0:
		return fmt.Errorf("%s: %w", name, ErrEmpty)
	case 1:
		return fmt.Errorf("%s: %w (1 record that is no job)", name, ErrEmpty)
	}
	return fmt.Errorf("%s: %w (%d records that are no jobs)", name, ErrEmpty, skipped)
}

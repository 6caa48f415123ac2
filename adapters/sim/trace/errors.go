package trace

import (
	"errors"
	"fmt"
	"strconv"
)

// The kinds of failure, for errors.Is.
var (
	// ErrFormat is what every *ParseError is: the log does not say what its format demands.
	ErrFormat = errors.New("trace: bad log")
	// ErrEmpty means that a log holds no job.
	ErrEmpty = errors.New("trace: no jobs in the log")
	// ErrUnknownFormat means that a format is not among Formats, or could not be recognised.
	ErrUnknownFormat = errors.New("trace: unknown format")
)

// ParseError says where a log departs from its format. It is ErrFormat for errors.Is, and
// also what caused it, when that was an error of its own (io.ErrUnexpectedEOF of a truncated
// gzip file).
type ParseError struct {
	// File is the log's name as given to Open or NewReader.
	File string
	// Line is where the record stands, from 1.
	Line int
	// Field names the column, or what else is wrong ("columns", "line", "gzip").
	Field string
	// Found is what the log says, quoted and shortened where it is long, or what that is, as "a string".
	Found string
	// Expected is what the format wants there.
	Expected string
	// Reason is what bad records are counted by: a few words that are the same for all records with the same fault.
	Reason string
	// Err is the cause, or nil.
	Err error

	// fatal is set where what is wrong is not a record, so that reading cannot go on.
	fatal bool
}

// because gives the error a reason of its own.
func (e *ParseError) because(reason string) *ParseError {
	e.Reason = reason
	return e
}

// Error returns "file:line: field: found …, expected …".
func (e *ParseError) Error() string {
	return fmt.Sprintf("%s:%d: %s: found %s, expected %s", e.File, e.Line, e.Field, e.Found, e.Expected)
}

// Unwrap makes the error ErrFormat and its cause.
func (e *ParseError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrFormat}
	}
	return []error{ErrFormat, e.Err}
}

// maxFound bounds how much of a bad value an error repeats.
const maxFound = 60

// quote shows a value of the log in an error.
func quote[T text](s T) string {
	if len(s) > maxFound {
		return strconv.Quote(string(s[:maxFound])) + "… (" + strconv.Itoa(len(s)) + " bytes)"
	}
	return strconv.Quote(string(s))
}

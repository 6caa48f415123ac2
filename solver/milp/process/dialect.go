package process

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/hedgesched/hedge/solver/milp"
)

// dialect is how one solver's executable is talked to.
type dialect struct {
	name    string // of the executable too
	install string // how to get it
	caps    milp.Caps
	gentle  bool // at SIGINT it writes its best point and ends
	mixes   bool // it calls unbounded models infeasible, and the other way round

	// args are the command line; it may write files for it.
	args func(j *job, extra []string) ([]string, error)
	// start writes j's start, and reports whether there is one now.
	start func(w *bufio.Writer, j *job) bool
	// line takes a line of the log down.
	line func(r *reading, line string)
	// finish reads what the solver has written.
	finish func(j *job, r *reading)
}

func dialects() []dialect {
	return []dialect{cbc(), glpsol(), highs(), scip()}
}

// seconds is a limit as command lines take it.
func (j *job) seconds() string { return strconv.FormatFloat(j.limit.Seconds(), 'f', 3, 64) }

func real(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// seed is s as a number that all solvers take: 1 to 2^30.
func seed(s int64) string { return strconv.FormatInt(1+(s-1)&(1<<30-1), 10) }

// readFile is the file's text, nil if there is none.
func (j *job) readFile(name string) []byte {
	text, err := os.ReadFile(j.file(name))
	if err != nil {
		return nil
	}
	return text
}

// headed cuts text before and behind the first line that is title; ok is false if there is none.
func headed(text []byte, title string) (rest []byte, ok bool) {
	for at := 0; at < len(text); {
		line, more, _ := bytes.Cut(text[at:], []byte("\n"))
		if string(bytes.TrimSpace(line)) == title {
			return more, true
		}
		at += len(line) + 1
	}
	return nil, false
}

// firstLine is text's first line, and the rest.
func firstLine(text []byte) (string, []byte) {
	line, rest, _ := bytes.Cut(text, []byte("\n"))
	return strings.TrimSpace(string(line)), rest
}

// errTruncated is a solution file that does not have what it should.
var errTruncated = io.ErrUnexpectedEOF

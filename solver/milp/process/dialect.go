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

// dialect says how to use one solver's executable.
type dialect struct {
	name    string // also of the executable
	install string // how to install it
	caps    milp.Caps
	gentle  bool // at SIGINT it writes its best point and ends
	mixes   bool // it confuses unbounded and infeasible models

	// args makes the command line. It may write files for it.
	args func(j *job, extra []string) ([]string, error)
	// start writes j's start, and reports whether there is one.
	start func(w *bufio.Writer, j *job) bool
	// line handles a line of the log.
	line func(r *reading, line string)
	// finish reads the solver's files.
	finish func(j *job, r *reading)
}

func dialects() []dialect {
	return []dialect{cbc(), glpsol(), highs(), scip()}
}

// seconds is the limit in the form of command lines.
func (j *job) seconds() string { return strconv.FormatFloat(j.limit.Seconds(), 'f', 3, 64) }

func real(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// seed maps s to a number that all solvers accept: 1 to 2^30.
func seed(s int64) string { return strconv.FormatInt(1+(s-1)&(1<<30-1), 10) }

// readFile is the file's text, nil if there is none.
func (j *job) readFile(name string) []byte {
	text, err := os.ReadFile(j.file(name))
	if err != nil {
		return nil
	}
	return text
}

// headed returns the text after the first line that is title. ok is false if there is none.
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

// errTruncated is an incomplete solution file.
var errTruncated = io.ErrUnexpectedEOF

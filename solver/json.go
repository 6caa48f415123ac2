package solver

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/hedgesched/hedge/internal/form"
	"github.com/hedgesched/hedge/internal/lines"
)

// MaxProblemBytes is the maximum size of JSON, after unpacking, that ReadProblem accepts.
const MaxProblemBytes = 1 << 30

// ReadProblem reads and validates one problem in its exchange form, as JSON or gzipped JSON. Unknown fields are
// ignored, so that later versions of the format can be read; a name in another case is unknown. Duplicate names in an
// object are refused, and so is anything but white space after the problem. Errors are [ErrInvalid] and say where: line
// and column for JSON, the field for values. Errors of r itself are returned as they are.
func ReadProblem(r io.Reader) (*Problem, error) {
	p, source := &Problem{}, &lines.Source{From: r}
	err := readJSON(source, p)
	if source.Err != nil {
		return nil, fmt.Errorf("solver: reading a problem: %w", source.Err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	// An absent list is a mistyped name; an empty one is a problem without pending jobs.
	if p.Jobs == nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, form.Absent("jobs", reflect.TypeOf(p.Jobs)))
	}
	if err := Validate(p); err != nil {
		return nil, err
	}
	return p, nil
}

// ReadProblemFile is [ReadProblem] of a file; errors name it.
func ReadProblemFile(path string) (*Problem, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p, err := ReadProblem(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// WriteProblem writes p in its exchange form, followed by a newline.
func WriteProblem(w io.Writer, p *Problem) error { return json.NewEncoder(w).Encode(p) }

// ReadSolution reads one solution, JSON or gzipped JSON. It is not verified; see [Verify].
func ReadSolution(r io.Reader) (*Solution, error) {
	s, source := &Solution{}, &lines.Source{From: r}
	err := readJSON(source, s)
	if source.Err != nil {
		return nil, fmt.Errorf("solver: reading a solution: %w", source.Err)
	}
	if err != nil {
		return nil, fmt.Errorf("solver: invalid solution: %w", err)
	}
	return s, nil
}

// WriteSolution writes s in its exchange form on one line: bound and gap are
// null if there is none, choice and preempt are never null.
func WriteSolution(w io.Writer, s *Solution) error {
	c := *s
	if c.Choice == nil {
		c.Choice = map[string]Choice{}
	}
	if c.Preempt == nil {
		c.Preempt = []string{}
	}
	return json.NewEncoder(w).Encode(&c)
}

// readJSON reads one JSON value into v, unpacking gzip.
func readJSON(r io.Reader, v any) error {
	br := bufio.NewReader(r)
	var in io.Reader = br
	if magic, _ := br.Peek(2); len(magic) == 2 && magic[0] == 0x1f && magic[1] == 0x8b {
		zr, err := gzip.NewReader(br)
		if err != nil {
			return fmt.Errorf("gzip: %w", err)
		}
		defer func() { _ = zr.Close() }()
		in = zr
	}
	data, err := io.ReadAll(io.LimitReader(in, MaxProblemBytes+1))
	if err != nil {
		return fmt.Errorf("after %d bytes: %w", len(data), err)
	}
	if len(data) > MaxProblemBytes {
		return fmt.Errorf("longer than %d bytes", MaxProblemBytes)
	}
	if err := jsonv2.Unmarshal(data, v); err != nil {
		return explain(data, err)
	}
	return nil
}

// explain says what is wrong with the data, and where.
func explain(data []byte, err error) error {
	f := form.Explain(data, err)
	before := data[:f.Offset]
	line, column := 1+bytes.Count(before, []byte("\n")), len(before)-bytes.LastIndexByte(before, '\n')
	return fmt.Errorf("line %d, column %d: %s: found %s, expected %s", line, column, cmp.Or(f.Path, "document"), f.Found,
		f.Expected)
}

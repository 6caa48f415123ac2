package solver

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"

	"github.com/hedgesched/hedge/internal/jsonkeys"
)

// MaxProblemBytes is how much JSON, once unpacked, ReadProblem accepts.
const MaxProblemBytes = 1 << 30

// ReadProblem reads one problem in its exchange form, JSON or gzipped JSON, and
// validates it. Unknown fields are ignored, so that later versions of the format
// can be read; anything but white space after the problem is refused. Errors are
// [ErrInvalid], saying where: line and column for JSON, the field for values.
func ReadProblem(r io.Reader) (*Problem, error) {
	p := &Problem{}
	if err := readJSON(r, p); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	// An absent list is a mistyped name; an empty one is a problem without pending jobs.
	if p.Jobs == nil {
		return nil, fmt.Errorf("%w: jobs: missing, expected a list", ErrInvalid)
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
	s := &Solution{}
	if err := readJSON(r, s); err != nil {
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
	if err := json.Unmarshal(data, v); err != nil {
		return locate(data, err)
	}
	if key, offset, found := jsonkeys.Duplicate(data, structDepth); found {
		line, column := position(data, int64(offset)+1)
		return fmt.Errorf("line %d, column %d: found %q twice, expected each member once", line, column, key)
	}
	return nil
}

// structDepth is how deep the objects of a problem nest that are decoded into structs: its options.
const structDepth = 5

// locate adds line and column to a JSON error.
func locate(data []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	offset := int64(len(data))
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
		err = kindError{kind}
	}
	line, column := position(data, offset)
	return fmt.Errorf("line %d, column %d: %w", line, column, err)
}

// kindError is a value of the wrong kind, in words that name no Go type of ours.
type kindError struct{ *json.UnmarshalTypeError }

func (e kindError) Error() string {
	field := e.Field
	if field == "" {
		field = "document"
	}
	want := "a " + e.Type.Kind().String()
	switch e.Type.Kind() {
	case reflect.Struct, reflect.Map:
		want = "an object"
	case reflect.Slice:
		want = "an array"
	case reflect.Float64:
		want = "a number"
	case reflect.Int, reflect.Int64:
		want = "a whole number"
	}
	return fmt.Sprintf("%s: found a JSON %s, expected %s", field, e.Value, want)
}

// position is the line and column, from 1, of the byte before offset.
func position(data []byte, offset int64) (line, column int) {
	line, column = 1, 1
	for _, b := range data[:min(max(offset-1, 0), int64(len(data)))] {
		column++
		if b == '\n' {
			line, column = line+1, 1
		}
	}
	return line, column
}

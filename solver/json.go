package solver

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxProblemBytes is how much JSON, once unpacked, ReadProblem accepts.
const MaxProblemBytes = 1 << 30

// ReadProblem reads one problem in its exchange form, JSON or gzipped JSON, and
// validates it. Unknown fields are ignored, so that later versions of the format
// can be read; names in another case are unknown. An object with a name twice and
// anything but white space after the problem are refused. Errors are
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
	if err := jsonv2.Unmarshal(data, v); err != nil {
		return explain(data, err)
	}
	return nil
}

// explain says what is wrong with the data, and where, in words that name no Go type of ours.
func explain(data []byte, err error) error {
	var syntax *jsontext.SyntacticError
	var value *jsonv2.SemanticError
	offset, pointer := int64(0), jsontext.Pointer("")
	switch {
	case errors.As(err, &syntax):
		offset, pointer, err = syntax.ByteOffset, syntax.JSONPointer, syntax.Err
	case errors.As(err, &value):
		offset, pointer = value.ByteOffset, value.JSONPointer
		err = fmt.Errorf("found a JSON %s, expected %s", found(value.JSONKind), expected(value.GoType))
		if value.JSONKind == '0' && value.Err != nil { // of the right kind
			err = fmt.Errorf("%w in range", err)
		}
	}
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		err = errors.New("found twice, expected once")
	case errors.Is(err, io.ErrUnexpectedEOF) && len(bytes.TrimSpace(data)) == 0:
		err = errors.New("found nothing, expected an object")
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("found the end of the data, expected the rest of it")
	}
	line, column := position(data[:offset])
	return fmt.Errorf("line %d, column %d: %s: %w", line, column, field(pointer), err)
}

// position is the line and column, from 1, of what comes after the data.
func position(before []byte) (line, column int) {
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}

// field writes the pointer /jobs/3/id as jobs[3].id, and no more than its beginning where it is deep.
func field(p jsontext.Pointer) string {
	var b strings.Builder
	for token := range p.Tokens() {
		switch _, err := strconv.ParseUint(token, 10, 64); {
		case b.Len() > 100:
			return b.String() + "…"
		case err == nil:
			b.WriteString("[" + token + "]")
		case b.Len() > 0:
			b.WriteString("." + token)
		default:
			b.WriteString(token)
		}
	}
	return cmp.Or(b.String(), "document")
}

// found names a value of the wrong kind.
func found(kind jsontext.Kind) string {
	switch kind {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	}
	return "number"
}

// expected names what a field of the type takes.
func expected(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		return "an array"
	case reflect.String:
		return "a string"
	case reflect.Float64:
		return "a number"
	case reflect.Int:
		return "a whole number"
	case reflect.Pointer:
		return expected(t.Elem())
	}
	return "an object"
}

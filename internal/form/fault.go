package form

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Kind says what sort of fault it is.
type Kind int

// The kinds of fault.
const (
	NotJSON    Kind = iota + 1 // text that JSON does not allow
	CutShort                   // the text ends before its value does
	Twice                      // a name comes twice in an object
	Unknown                    // a field that the form does not have
	Missing                    // a field that the form has and the text has not
	WrongType                  // a value of another type
	OutOfRange                 // a number that the field cannot hold
)

// Fault is what is wrong with a text. Its words are those of JSON: array, object, string, number, boolean, null.
type Fault struct {
	// Kind is the sort of fault.
	Kind Kind
	// Path is the way to what is at fault, as "jobs[3].id", of some hundred bytes at most; empty for the whole. Names that
	// are numbers look like places in an array.
	Path string
	// Found and Expected are what stands there and what should.
	Found, Expected string
	// Offset is where that begins, in bytes; 0 for what is missing.
	Offset int64
	// Err is the reader's error, if there is one.
	Err error
}

// Explain makes a fault of an error that reading data has ended with.
func Explain(data []byte, err error) *Fault {
	var syntax *jsontext.SyntacticError
	var value *json.SemanticError
	switch {
	case errors.As(err, &syntax):
		return malformed(data, syntax)
	case errors.As(err, &value):
		return misplaced(value)
	}
	return &Fault{Kind: NotJSON, Found: "what cannot be read (" + err.Error() + ")", Expected: "JSON", Err: err}
}

// malformed is the fault of a text that the grammar refuses.
func malformed(data []byte, e *jsontext.SyntacticError) *Fault {
	f := &Fault{Kind: NotJSON, Path: path(e.JSONPointer), Found: e.Err.Error(), Expected: "JSON", Offset: e.ByteOffset,
		Err: e}
	switch {
	case errors.Is(e, jsontext.ErrDuplicateName):
		f.Kind, f.Found, f.Expected = Twice, "twice", "once"
	case errors.Is(e, io.ErrUnexpectedEOF) && len(bytes.TrimSpace(data)) == 0:
		f.Kind, f.Found = CutShort, "nothing"
	case errors.Is(e, io.ErrUnexpectedEOF):
		f.Kind, f.Found, f.Expected = CutShort, "the end of the data", "the rest of it"
	case !strings.HasPrefix(f.Found, "invalid "):
		f.Found = "what is not JSON (" + f.Found + ")"
	}
	return f
}

// misplaced is the fault of a value that may not stand where it does.
func misplaced(e *json.SemanticError) *Fault {
	f := &Fault{Path: path(e.JSONPointer), Offset: e.ByteOffset, Err: e}
	if errors.Is(e, json.ErrUnknownName) {
		return f.unknown()
	}
	f.Kind, f.Found, f.Expected = WrongType, found(e), expected(e.GoType)
	switch {
	case errors.Is(e, strconv.ErrRange):
		f.Kind = OutOfRange
		f.Expected += " in range"
	case errors.Is(e, strconv.ErrSyntax) && e.JSONKind == '0': // 2.5, but also 2.0 and 2e0
		f.Expected += " in digits only"
	}
	return f
}

// Stray is the fault of a field that is none of the form, at a path.
func Stray(path string) *Fault { return (&Fault{Path: bounded(path)}).unknown() }

func (f *Fault) unknown() *Fault {
	f.Kind, f.Found, f.Expected = Unknown, "an unknown field", "a known one"
	return f
}

// Absent is the fault of a field of a type that is not there, at a path.
func Absent(path string, t reflect.Type) *Fault {
	return &Fault{Kind: Missing, Path: bounded(path), Found: "nothing", Expected: expected(t)}
}

// Problem is what is wrong without the path to it, as "found a string, expected a number"; where it is the text
// itself, with the offset.
func (f *Fault) Problem() string {
	place := ""
	if (f.Kind == NotJSON || f.Kind == CutShort) && f.Offset > 0 {
		place = fmt.Sprintf(" after byte %d", f.Offset)
	}
	return "found " + f.Found + place + ", expected " + f.Expected
}

// Error is the path, unless it is empty, and the problem.
func (f *Fault) Error() string {
	if f.Path == "" {
		return f.Problem()
	}
	return f.Path + ": " + f.Problem()
}

// Unwrap is the reader's error.
func (f *Fault) Unwrap() error { return f.Err }

// Refusal makes an error of a package's own of what is wrong at a path, and of its cause.
type Refusal func(path, problem string, cause error) error

// Refused is the fault as an error of a package's own.
func (f *Fault) Refused(by Refusal) error { return by(f.Path, f.Problem(), f) }

// maxPath bounds paths, in bytes: names may be of any length, and objects nested thousands deep.
const maxPath = 100

// path writes the pointer /jobs/3/id as jobs[3].id.
func path(p jsontext.Pointer) string {
	way := ""
	for token := range p.Tokens() {
		if _, err := strconv.ParseUint(token, 10, 64); err == nil {
			token = "[" + token + "]"
		}
		if way = Join(way, token); len(way) > maxPath {
			break
		}
	}
	return bounded(way)
}

// Join is the path of what is found at a path within another, as parts[1].of of parts[1] and of.
func Join(outer, inner string) string {
	if outer == "" || inner == "" || inner[0] == '[' {
		return outer + inner
	}
	return outer + "." + inner
}

// bounded is the beginning of a long path, on one line.
func bounded(path string) string {
	end := ""
	if len(path) > maxPath {
		path, end = strings.ToValidUTF8(path[:maxPath], ""), "…"
	}
	if strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) }) {
		quoted := strconv.Quote(path)
		path = quoted[1 : len(quoted)-1]
	}
	return path + end
}

// found names what stands in the place of a value: a number by itself, if the reader tells it.
func found(e *json.SemanticError) string {
	switch e.JSONKind {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	if len(e.JSONValue) > 0 && len(e.JSONValue) <= 40 {
		return string(e.JSONValue)
	}
	return "a number"
}

// expected names what a field of the type takes.
func expected(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[time.Time]():
		return "a time as 2018-04-23T00:16:40Z"
	case nil, reflect.TypeFor[jsontext.Value]():
		return "a value"
	}
	switch k := t.Kind(); {
	case k == reflect.Pointer:
		return expected(t.Elem())
	case k == reflect.String:
		return "a string"
	case k == reflect.Bool:
		return "a boolean"
	case k == reflect.Float64 || k == reflect.Float32:
		return "a number"
	case reflect.Int <= k && k <= reflect.Uint64:
		return "a whole number"
	case k == reflect.Slice:
		return "an array"
	}
	return "an object"
}

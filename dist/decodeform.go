package dist

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// UnmarshalForm reads data, one JSON value, into the struct to points to, as strictly as every serial form of hedge
// is read: names are those of the tags, in their case and each once, no value is null, and a field that can
// be nil and is not tagged omitempty is there. Anything else is refused with a [*FormatError] of the
// function, which is named with its package.
func UnmarshalForm(function string, data []byte, to any) error {
	if err := json.Unmarshal(data, to, strict); err != nil {
		return explain(function, err)
	}
	if field := missing(reflect.ValueOf(to)); field != "" {
		return &FormatError{Func: function, Field: strings.TrimPrefix(field, "."), Problem: "missing"}
	}
	return nil
}

// strict is what the reader does not do unless it is asked to. It holds the reader's cache and so is made once.
var strict = json.JoinOptions(json.RejectUnknownMembers(true), json.WithUnmarshalers(json.UnmarshalFromFunc(refuseNull)))

// refuseNull leaves all but null to the reader, which would take null for zero. A value that is kept as it is
// is looked at when it is read.
func refuseNull(d *jsontext.Decoder, to any) error {
	if _, kept := to.(*jsontext.Value); !kept && d.PeekKind() == 'n' {
		return &json.SemanticError{JSONKind: 'n', GoType: reflect.TypeOf(to).Elem()}
	}
	return errors.ErrUnsupported
}

// missing is the way to the first field that is not there and should be, "" if all are.
func missing(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer:
		return missing(v.Elem())
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Struct {
			return ""
		}
		for i := range v.Len() {
			if field := missing(v.Index(i)); field != "" {
				return "[" + strconv.Itoa(i) + "]" + field
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Field(i)
			if !field.CanInterface() {
				continue // of a type that reads itself
			}
			inside := missing(field)
			if inside == "" && !isNil(field) {
				continue
			}
			name, option, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if inside != "" || option != "omitempty" {
				return "." + name + inside
			}
		}
	}
	return ""
}

func isNil(v reflect.Value) bool {
	k := v.Kind()
	return (k == reflect.Pointer || k == reflect.Slice || k == reflect.Map) && v.IsNil()
}

// explain puts what the reader says in the words of the document, which knows no types of Go.
func explain(function string, err error) *FormatError {
	e := &FormatError{Func: function, Problem: "not JSON", Err: err}
	var syntax *jsontext.SyntacticError
	var value *json.SemanticError
	switch {
	case errors.As(err, &syntax) && errors.Is(err, jsontext.ErrDuplicateName):
		e.Field, e.Problem = fieldOf(syntax.JSONPointer), "comes twice"
	case errors.As(err, &syntax):
		e.Problem = fmt.Sprintf("not JSON: %v after byte %d", syntax.Err, syntax.ByteOffset)
	case errors.As(err, &value) && errors.Is(err, json.ErrUnknownName):
		e.Field, e.Problem = fieldOf(value.JSONPointer), "unknown field"
	case errors.As(err, &value):
		e.Field, e.Problem = fieldOf(value.JSONPointer), "found "+found(value)+", expected "+expected(value.GoType)
		if value.JSONKind == '0' && value.Err != nil { // of the right kind
			e.Problem += " in range"
		}
	}
	return e
}

// fieldOf writes the pointer /parts/1/of as parts[1].of. Names that are numbers look like places in a list.
func fieldOf(p jsontext.Pointer) string {
	var b strings.Builder
	for token := range p.Tokens() {
		if _, err := strconv.ParseUint(token, 10, 64); err == nil {
			b.WriteString("[" + token + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(token)
	}
	return b.String()
}

// found names what stands in the place of a value.
func found(e *json.SemanticError) string {
	switch e.JSONKind {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 'n':
		return "null"
	case 't', 'f':
		return "a truth value"
	case '0', '"':
		if len(e.JSONValue) > 0 && len(e.JSONValue) <= 40 {
			return string(e.JSONValue)
		}
		if e.JSONKind == '"' {
			return "a string"
		}
	}
	return "a number"
}

// expected names what a field of the type takes.
func expected(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return expected(t.Elem())
	case reflect.Float64:
		return "a number"
	case reflect.Int:
		return "a whole number"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	}
	if t == reflect.TypeFor[time.Time]() {
		return "a time as 2006-01-02T15:04:05.999999999Z"
	}
	return "an object"
}

// Package form is how hedge's readers say what is wrong with a JSON text: [Explain] turns what the JSON library says
// into a [Fault], which has the way to the field, what stands there and what should, in the same words everywhere. It
// is also where the serial forms of distributions, utilities and snapshots are read, by [Unmarshal], as strictly as
// they are written.
//
// It never names a type of Go, never repeats more of a text than a line holds, and knows nothing of what a field means:
// what its value may be is checked by the package that reads it, which also has the errors that users see.
package form

import (
	"errors"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Unmarshal reads data, one JSON value, into the struct or slice to points to: names are those of the tags, in their
// case and each once, no value is null, and a field that can be nil and is not tagged omitempty is there. Anything else
// is a [Fault], refused by the caller's function.
func Unmarshal(data []byte, to any, by Refusal) error {
	if err := json.Unmarshal(data, to, strict); err != nil {
		return Explain(data, err).Refused(by)
	}
	if path, t := missing(reflect.ValueOf(to)); t != nil {
		return Absent(path, t).Refused(by)
	}
	return nil
}

// strict is what the reader does not do unless it is asked to. It holds the reader's cache and so is made once.
var strict = json.JoinOptions(json.RejectUnknownMembers(true),
	json.WithUnmarshalers(json.UnmarshalFromFunc(refuseNull)))

// refuseNull leaves all but null to the reader, which would take null for zero. A value that is kept as it is
// is looked at when it is read.
func refuseNull(d *jsontext.Decoder, to any) error {
	if _, kept := to.(*jsontext.Value); !kept && d.PeekKind() == 'n' {
		return &json.SemanticError{JSONKind: 'n', GoType: reflect.TypeOf(to).Elem()}
	}
	return errors.ErrUnsupported
}

// missing is the way to the first field that is not there and should be, and its type; nil if all are.
func missing(v reflect.Value) (string, reflect.Type) {
	switch v.Kind() {
	case reflect.Pointer:
		return missing(v.Elem())
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Struct {
			return "", nil
		}
		for i := range v.Len() {
			if inside, t := missing(v.Index(i)); t != nil {
				return Join("["+strconv.Itoa(i)+"]", inside), t
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Field(i)
			if !field.CanInterface() {
				continue // of a type that reads itself
			}
			inside, t := missing(field)
			if t == nil && !isNil(field) {
				continue
			}
			name, option, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if t != nil {
				return Join(name, inside), t
			}
			if option != "omitempty" {
				return name, field.Type()
			}
		}
	}
	return "", nil
}

func isNil(v reflect.Value) bool {
	k := v.Kind()
	return (k == reflect.Pointer || k == reflect.Slice || k == reflect.Map) && v.IsNil()
}

// Package strictjson reads JSON objects that must say exactly what is expected of them.
//
// encoding/json takes a key that comes twice, in another case, or not at all for granted. For a file
// that a plan is made again from, each of these is a mistake, and this package refuses it and names the
// field. A document is read by asking an [Object] for its fields; the first refusal is kept, everything asked
// after it is zero, and [Object.Close] tells. It holds no state beyond the document and starts nothing.
package strictjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Fail makes the error for a field: the way to it ("parts[1].weight", "" for the whole), what is
// wrong with it, and the cause if there is one.
type Fail func(field, problem string, cause error) error

// Object is a JSON object whose fields are asked for one by one. It is for one goroutine.
type Object struct {
	doc    *document
	path   string
	fields map[string][]byte // those not asked for yet
}

// document is what all objects of a text share.
type document struct {
	fail Fail
	err  error
}

// Parse reads data, a single JSON object in UTF-8.
func Parse(data []byte, fail Fail) (*Object, error) {
	if !utf8.Valid(data) {
		return nil, fail("", "not UTF-8", nil)
	}
	if !json.Valid(data) {
		err := json.Unmarshal(data, new(json.RawMessage))
		return nil, fail("", fmt.Sprint("not JSON: ", err), err)
	}
	o := open(&document{fail: fail}, "", bytes.TrimSpace(data))
	return o, o.doc.err
}

// open splits raw, which is valid JSON, into fields.
func open(doc *document, path string, raw []byte) *Object {
	o := &Object{doc: doc, path: path}
	if doc.err != nil {
		return o
	}
	if raw[0] != '{' {
		o.Refuse("", "found "+kind(raw)+", expected an object", nil)
		return o
	}
	o.fields = make(map[string][]byte, 8)
	for i := next(raw, 1); raw[i] != '}'; i = next(raw, i) {
		end := valueEnd(raw, i)
		key := text(raw[i:end])
		i = next(raw, end)
		end = valueEnd(raw, i)
		if _, twice := o.fields[key]; twice {
			o.Refuse(key, "comes twice", nil)
			return o
		}
		o.fields[key] = raw[i:end]
		i = end
	}
	return o
}

// next is the first byte at or after i that separates nothing.
func next(b []byte, i int) int {
	for b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r' || b[i] == ',' || b[i] == ':' {
		i++
	}
	return i
}

// valueEnd is where the value that starts at i ends.
func valueEnd(b []byte, i int) int {
	depth := 0
	for ; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return i // the end of what a number, true, false or null is in
			}
			if depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\n', '\r', ':':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}

// text is the string that raw, a valid JSON string, stands for.
func text(raw []byte) string {
	if !bytes.ContainsRune(raw, '\\') {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	_ = json.Unmarshal(raw, &s) // it is valid
	return s
}

// kind names what raw is, for messages.
func kind(raw []byte) string {
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "a truth value"
	case 'n':
		return "null"
	}
	return "a number"
}

// Refuse makes the document fail with a problem of the field key, or of the object itself where
// key is empty. Only the first refusal counts.
func (o *Object) Refuse(key, problem string, cause error) {
	if o.doc.err == nil {
		o.doc.err = o.doc.fail(join(o.path, key), problem, cause)
	}
}

func join(path, key string) string {
	if path == "" || key == "" || key[0] == '[' {
		return path + key
	}
	return path + "." + key
}

// Err is what the document fails with so far.
func (o *Object) Err() error { return o.doc.err }

// Close refuses fields that nobody has asked for. It returns what the document fails with, nil if nothing.
func (o *Object) Close() error {
	if len(o.fields) > 0 && o.doc.err == nil {
		o.Refuse(slices.Min(slices.Collect(maps.Keys(o.fields))), "unknown field", nil)
	}
	return o.doc.err
}

// Has tells whether the field is there and has not been asked for.
func (o *Object) Has(key string) bool { _, ok := o.fields[key]; return ok }

// Peek is the field's JSON without asking for it; nil where it is not there.
func (o *Object) Peek(key string) []byte { return o.fields[key] }

// Skip takes the field for asked for, if it is there.
func (o *Object) Skip(key string) { delete(o.fields, key) }

// Raw is the field's JSON, nil after a refusal.
func (o *Object) Raw(key string) []byte {
	raw, ok := o.fields[key]
	if !ok {
		o.Refuse(key, "missing", nil)
	}
	if o.doc.err != nil {
		return nil
	}
	delete(o.fields, key)
	return raw
}

// typed is Raw for a value that starts with one of the bytes.
func (o *Object) typed(key, starts, want string) []byte {
	raw := o.Raw(key)
	if raw != nil && strings.IndexByte(starts, raw[0]) < 0 {
		o.Refuse(key, "found "+kind(raw)+", expected "+want, nil)
		return nil
	}
	return raw
}

const digits = "-0123456789"

// Number is a finite number.
func (o *Object) Number(key string) float64 {
	raw := o.typed(key, digits, "a number")
	if raw == nil {
		return 0
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		o.Refuse(key, "out of the range of a float64", err)
		return 0
	}
	return v
}

// Int is a whole number without fraction and exponent.
func (o *Object) Int(key string) int {
	raw := o.typed(key, digits, "a whole number")
	if raw == nil {
		return 0
	}
	v, err := strconv.Atoi(string(raw))
	if err != nil {
		o.Refuse(key, "not a whole number in range", err)
		return 0
	}
	return v
}

// Text is a string.
func (o *Object) Text(key string) string {
	if raw := o.typed(key, `"`, "a string"); raw != nil {
		return text(raw)
	}
	return ""
}

// Flag is a truth value.
func (o *Object) Flag(key string) bool {
	raw := o.typed(key, "tf", "true or false")
	return raw != nil && raw[0] == 't'
}

// Numbers is a list of finite numbers, never nil.
func (o *Object) Numbers(key string) []float64 {
	out := make([]float64, 0, 8)
	o.each(key, func(i int, raw []byte) {
		if kind(raw) != "a number" {
			o.Refuse(indexed(key, i), "found "+kind(raw)+", expected a number", nil)
			return
		}
		if v, err := strconv.ParseFloat(string(raw), 64); err == nil {
			out = append(out, v)
		} else {
			o.Refuse(indexed(key, i), "out of the range of a float64", err)
		}
	})
	return out
}

// Texts is a list of strings, never nil.
func (o *Object) Texts(key string) []string {
	out := make([]string, 0, 4)
	o.each(key, func(i int, raw []byte) {
		if raw[0] != '"' {
			o.Refuse(indexed(key, i), "found "+kind(raw)+", expected a string", nil)
			return
		}
		out = append(out, text(raw))
	})
	return out
}

// Object is an object in the object.
func (o *Object) Object(key string) *Object {
	raw := o.Raw(key)
	if raw == nil {
		return &Object{doc: o.doc}
	}
	return open(o.doc, join(o.path, key), raw)
}

// Objects is a list of objects.
func (o *Object) Objects(key string) []*Object {
	var out []*Object
	o.each(key, func(i int, raw []byte) {
		out = append(out, open(o.doc, join(o.path, indexed(key, i)), raw))
	})
	return out
}

// Raws is the JSON of a list's elements.
func (o *Object) Raws(key string) [][]byte {
	var out [][]byte
	o.each(key, func(_ int, raw []byte) { out = append(out, raw) })
	return out
}

// each calls f for the elements of a list until something is refused.
func (o *Object) each(key string, f func(i int, raw []byte)) {
	raw := o.typed(key, "[", "a list")
	if raw == nil {
		return
	}
	for n, i := 0, next(raw, 1); raw[i] != ']' && o.doc.err == nil; n++ {
		end := valueEnd(raw, i)
		f(n, raw[i:end])
		i = next(raw, end)
	}
}

func indexed(key string, i int) string { return key + "[" + strconv.Itoa(i) + "]" }

// Keys are the names of the fields that have not been asked for, sorted: those of an object that is a map.
func (o *Object) Keys() []string {
	if o.doc.err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(o.fields))
}

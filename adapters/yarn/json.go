package yarn

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// The format of the ResourceManager's answers depends on the versions of its libraries. A list of one element may be
// that element alone, and an object may be a list of it. An empty value may be left out, null, {}, [] or "". A text
// that looks like a number may be one.

// empty reports whether a value is one of the forms of an empty one.
func empty(data []byte) bool {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || string(data) == "null" {
		return true
	}
	end, ok := map[byte]byte{'{': '}', '[': ']', '"': '"'}[data[0]]
	inside := bytes.TrimLeft(data[1:], " \t\r\n")
	return ok && len(inside) > 0 && inside[0] == end
}

// list is a list in any of its forms.
type list[T any] []T

// UnmarshalJSON accepts all forms.
func (l *list[T]) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	switch {
	case empty(data):
		*l = nil
		return nil
	case data[0] == '[':
		return json.Unmarshal(data, (*[]T)(l))
	}
	var one T
	if err := json.Unmarshal(data, &one); err != nil {
		return err
	}
	*l = list[T]{one}
	return nil
}

// object is an object in any of its forms.
type object[T any] struct {
	there bool // it is not empty
	value T
}

// UnmarshalJSON accepts all forms.
func (o *object[T]) UnmarshalJSON(data []byte) error {
	*o = object[T]{}
	data = bytes.TrimSpace(data)
	if empty(data) {
		return nil
	}
	o.there = true
	if data[0] != '[' {
		return json.Unmarshal(data, &o.value)
	}
	var all []T
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	if len(all) > 1 {
		return fmt.Errorf("a list of %d, expected one object", len(all))
	}
	o.value = all[0]
	return nil
}

// text is a text, or a number or truth value that used to be one.
type text string

// UnmarshalJSON accepts all forms.
func (t *text) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	switch {
	case empty(data):
		*t = ""
		return nil
	case data[0] == '{' || data[0] == '[':
		return fmt.Errorf("%.20q, expected a text", data)
	case data[0] != '"':
		*t = text(data)
		return nil
	}
	return json.Unmarshal(data, (*string)(t))
}

// number is a number, a text, or NaN.
type number float64

// UnmarshalJSON accepts all forms.
func (n *number) UnmarshalJSON(data []byte) error {
	text := strings.Trim(string(data), `" `)
	if text == "" || empty(data) {
		*n = 0
		return nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("%q, expected a number", text)
	}
	if !(v >= -1<<53 && v <= 1<<53) { // also refuses NaN
		v = 0
	}
	*n = number(v)
	return nil
}

// Package jsonkeys finds what encoding/json lets pass: an object that has a key twice, of which
// the last would silently win.
package jsonkeys

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// Duplicate returns the first key that an object of data has twice, and the offset of its second occurrence.
// Objects nested up to folded deep (the outermost is 1, arrays count) are those decoded into structs: their keys are the
// same in upper and lower case, as encoding/json matches them. Data is one valid JSON value; of other
// data the answer means nothing, but is given in time linear in its length.
func Duplicate(data []byte, folded int) (key string, offset int, found bool) {
	s := scanner{data: data, folded: folded}
	for s.at < len(data) {
		switch data[s.at] {
		case '{':
			s.enter(true)
		case '[':
			s.enter(false)
		case '}', ']':
			s.depth = max(0, s.depth-1)
		case '"':
			start := s.at
			if key, found := s.text(); found {
				return key, start, true
			}
			continue
		}
		s.at++
	}
	return "", 0, false
}

// scanner walks over data; frames[:depth] are the objects and arrays it is in.
type scanner struct {
	data   []byte
	at     int
	folded int
	frames []frame
	depth  int
}

// frame holds the keys so far of an object: few in a list, many in a set.
type frame struct {
	object bool
	list   [][]byte
	set    map[string]struct{}
}

// few is how many keys are compared one by one.
const few = 32

func (s *scanner) enter(object bool) {
	if s.depth == len(s.frames) {
		s.frames = append(s.frames, frame{})
	}
	f := &s.frames[s.depth]
	f.object, f.list, f.set = object, f.list[:0], nil
	s.depth++
}

// text passes a string and, if it is a key, reports whether its object has it already.
func (s *scanner) text() (string, bool) {
	start, escaped := s.at, false
	for s.at++; s.at < len(s.data) && s.data[s.at] != '"'; s.at++ {
		if s.data[s.at] == '\\' {
			escaped = true
			s.at++
		}
	}
	s.at = min(s.at+1, len(s.data))
	if s.depth == 0 || !s.frames[s.depth-1].object || !s.colon() {
		return "", false
	}
	key := s.data[start+1 : max(start+1, s.at-1)]
	if escaped {
		var name string
		if json.Unmarshal(s.data[start:s.at], &name) != nil {
			return "", false
		}
		key = []byte(name)
	}
	same := key
	if s.depth <= s.folded {
		same = lower(key)
	}
	if !s.frames[s.depth-1].add(same) {
		return "", false
	}
	return string(key), true
}

// add notes a key and reports whether it was there.
func (f *frame) add(key []byte) (twice bool) {
	if f.set == nil && len(f.list) < few {
		twice = slices.ContainsFunc(f.list, func(k []byte) bool { return bytes.Equal(k, key) })
		f.list = append(f.list, key)
		return twice
	}
	if f.set == nil {
		f.set = make(map[string]struct{}, 2*few)
		for _, k := range f.list {
			f.set[string(k)] = struct{}{}
		}
	}
	_, twice = f.set[string(key)]
	f.set[string(key)] = struct{}{}
	return twice
}

// lower is key in lower case, itself where it is.
func lower(key []byte) []byte {
	if !slices.ContainsFunc(key, func(c byte) bool { return c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf }) {
		return key
	}
	return bytes.ToLower(key)
}

// colon tells whether a colon follows.
func (s *scanner) colon() bool {
	for _, c := range s.data[s.at:] {
		switch c {
		case ' ', '\t', '\n', '\r':
		case ':':
			return true
		default:
			return false
		}
	}
	return false
}

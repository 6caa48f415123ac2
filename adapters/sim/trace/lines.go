package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
)

// maxLine bounds a line, and so the memory of a reader. The Eagle format's
// widest jobs of the public logs take 92 KB.
const maxLine = 16 << 20

// lines reads a log line by line and knows where it is.
type lines struct {
	file string
	r    *bufio.Reader
	line int
	long []byte
}

// next returns the next line without its end; it is valid until the following call.
func (l *lines) next() ([]byte, error) {
	b, err := l.r.ReadSlice('\n')
	if err == nil {
		l.line++
		return chomp(b), nil
	}
	l.long = l.long[:0]
	for errors.Is(err, bufio.ErrBufferFull) {
		l.long = append(l.long, b...)
		if len(l.long) > maxLine {
			l.line++
			return nil, l.bad("line", "more than 16 MiB", "a shorter line")
		}
		b, err = l.r.ReadSlice('\n')
	}
	if len(l.long) > 0 {
		l.long = append(l.long, b...)
		b = l.long
	}
	if err != nil && err != io.EOF {
		l.line++
		return nil, l.failed(err)
	}
	if len(b) == 0 {
		return nil, io.EOF
	}
	l.line++
	return chomp(b), nil
}

// full returns the next line that is not blank.
func (l *lines) full() ([]byte, error) {
	for {
		b, err := l.next()
		if err != nil || len(bytes.TrimLeft(b, " \t")) > 0 {
			return b, err
		}
	}
}

// chomp cuts a line's end.
func chomp(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] == '\n' {
		b = b[:n-1]
	}
	if n := len(b); n > 0 && b[n-1] == '\r' {
		b = b[:n-1]
	}
	return b
}

// at returns the current line.
func (l *lines) at() int { return l.line }

// bad is a ParseError at the current line.
func (l *lines) bad(field, found, expected string) *ParseError {
	return &ParseError{File: l.file, Line: l.line, Field: field, Found: found, Expected: expected}
}

// failed names the line that could not be read.
func (l *lines) failed(err error) error {
	e := l.bad("input", err.Error(), "readable data")
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		e.Field, e.Found, e.Expected = "gzip", "the end of the file", "more compressed data: the file is truncated"
	case errors.Is(err, gzip.ErrChecksum):
		e.Field, e.Found, e.Expected = "gzip", "a wrong checksum", "that of the data: the file is damaged"
	}
	e.Err = err
	return e
}

// word cuts the first of a line's blank-separated words; it is empty when there is none.
func word(line []byte) (first, rest []byte) {
	i := 0
	for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
		i++
	}
	start := i
	for i < len(line) && line[i] != ' ' && line[i] != '\t' {
		i++
	}
	return line[start:i], line[i:]
}

// words cuts a line into at most n words.
func words(dst [][]byte, line []byte, n int) [][]byte {
	for len(dst) < n {
		var w []byte
		if w, line = word(line); len(w) == 0 {
			break
		}
		dst = append(dst, w)
	}
	return dst
}

// split cuts a CSV line into dst, and stops when there are more than n fields. An
// empty field is nil, a quoted empty one is not. Quoted fields are unquoted in place.
// When a quote does not end, on this line, right before a comma, bad is the line from there.
func split(dst [][]byte, line []byte, n int) (fields [][]byte, bad []byte) {
	for len(dst) <= n {
		if len(line) > 0 && line[0] == '"' {
			field, rest, ok := unquote(line)
			if !ok {
				return dst, line
			}
			dst = append(dst, field)
			if len(rest) == 0 {
				break
			}
			line = rest[1:]
			continue
		}
		i := bytes.IndexByte(line, ',')
		if i < 0 {
			dst = append(dst, orNil(line))
			break
		}
		dst = append(dst, orNil(line[:i]))
		line = line[i+1:]
	}
	return dst, nil
}

func orNil(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}

// unquote cuts the quoted field that a line begins with; the rest is empty
// or begins with a comma. It leaves alone what it refuses.
func unquote(line []byte) (field, rest []byte, ok bool) {
	doubled := false
	end := 1
	for ; end < len(line); end++ {
		if line[end] == '"' {
			if end+1 == len(line) || line[end+1] != '"' {
				break
			}
			doubled = true
			end++
		}
	}
	if end >= len(line) {
		return nil, nil, false
	}
	field, rest = line[1:end:end], line[end+1:]
	if len(rest) > 0 && rest[0] != ',' {
		return nil, nil, false
	}
	if doubled {
		to := 0
		for i := 0; i < len(field); i++ {
			field[to] = field[i]
			to++
			if field[i] == '"' {
				i++
			}
		}
		field = field[:to:to]
	}
	return field, rest, true
}

// interner keeps one string for each of the values that attributes repeat.
type interner map[string]string

// maxInterned bounds the strings that an interner holds.
const maxInterned = 1 << 15

func (in interner) string(b []byte) string {
	if s, ok := in[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(s) <= 64 {
		if len(in) >= maxInterned {
			clear(in)
		}
		in[s] = s
	}
	return s
}

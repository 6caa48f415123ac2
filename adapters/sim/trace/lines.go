package trace

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// maxLine bounds a line, and so the memory of a reader. The Eagle format's
// widest jobs of the public logs take 92 KB.
const maxLine = 16 << 20

// maxSkipped bounds how far the end of a line longer than that is looked for.
const maxSkipped = 256 << 20

// lines reads a log line by line and knows where it is.
type lines struct {
	file   string
	r      *bufio.Reader
	line   int
	long   []byte
	rest   []byte // of what was read, the lines after the current one
	policy *policy
}

// mark is the byte order mark of UTF-8. Programs begin a file with it, and files are joined.
const mark = "\xef\xbb\xbf"

// next returns the next line without its end and byte order mark; it is valid until the following call.
func (l *lines) next() ([]byte, error) {
	b := l.rest
	if len(b) == 0 {
		var err error
		if b, err = l.read(); err != nil {
			return nil, err
		}
	}
	b, l.rest = cutReturn(b)
	l.line++
	return chomp(b), nil
}

// read returns what is up to the next line feed, at least a byte.
func (l *lines) read() ([]byte, error) {
	b, err := l.r.ReadSlice('\n')
	if err == nil {
		return b, nil
	}
	l.long = l.long[:0]
	for errors.Is(err, bufio.ErrBufferFull) {
		l.long = append(l.long, b...)
		if len(l.long) > maxLine {
			l.line++
			return nil, l.tooLong()
		}
		b, err = l.r.ReadSlice('\n')
	}
	if len(l.long) > 0 {
		l.long = append(l.long, b...)
		b = l.long
	}
	if err = l.ended(err); err != nil {
		return nil, err
	}
	if len(b) == 0 {
		return nil, io.EOF
	}
	return b, nil
}

// ended says why what ends a log is an error, nil where it is none.
func (l *lines) ended(err error) error {
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return nil
	case errors.Is(err, errTrailing):
		return l.policy.ignored(l.bad("gzip", "bytes after the compressed data", "the end of the file").
			because("trailing bytes"), "bytes after the compressed data are ignored")
	}
	l.line++
	return l.failed(err)
}

// tooLong skips the rest of a line that is too long. What has no end of a line for long is no log of lines.
func (l *lines) tooLong() error {
	e := l.bad("line", "more than 16 MiB", "a shorter line").because("line too long")
	l.long = nil
	for skipped := 0; !l.policy.strict; {
		b, err := l.r.ReadSlice('\n')
		if skipped += len(b); !errors.Is(err, bufio.ErrBufferFull) {
			return e // an error comes again with the next line
		}
		if skipped > maxSkipped {
			break
		}
	}
	e.fatal = true
	return e
}

// full returns the next line that is not blank.
func (l *lines) full() ([]byte, error) {
	for {
		b, err := l.next()
		if err != nil || len(trim(b)) > 0 {
			return b, err
		}
	}
}

// chomp cuts a line's end, and a byte order mark at its beginning.
func chomp(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] == '\n' {
		b = b[:n-1]
	}
	for n := len(b); n > 0 && b[n-1] == '\r'; n = len(b) {
		b = b[:n-1]
	}
	if len(b) > 2 && b[0] == mark[0] && b[1] == mark[1] && b[2] == mark[2] {
		b = b[3:]
	}
	return b
}

// noBreak is how UTF-8 writes a no-break space, which office programs and web pages leave.
const noBreak = "\u00a0"

// blank tells that c is a blank of ASCII, a form feed and a stray carriage return included.
func blank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' && c != '\n' }

// trim cuts the blanks around b.
func trim(b []byte) []byte {
	for len(b) > 0 {
		n := len(b)
		switch {
		case blank(b[0]):
			b = b[1:]
		case blank(b[n-1]):
			b = b[:n-1]
		case n > 1 && string(b[:2]) == noBreak:
			b = b[2:]
		case n > 1 && string(b[n-2:]) == noBreak:
			b = b[:n-2]
		default:
			return b
		}
	}
	return b
}

// at returns the current line.
func (l *lines) at() int { return l.line }

// bad is a ParseError at the current line.
func (l *lines) bad(field, found, expected string) *ParseError {
	return &ParseError{File: l.file, Line: l.line, Field: field, Found: found, Expected: expected,
		Reason: "wrong " + field}
}

// failed names the line that could not be read. A damaged gzip file is a bad log; a disk that fails says nothing of it.
func (l *lines) failed(err error) error {
	e := l.bad("gzip", err.Error(), "compressed data: the file is damaged").because("damaged file")
	e.Err, e.fatal = err, true
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		e.Found, e.Expected = "the end of the file", "more compressed data: the file is truncated"
	case errors.Is(err, gzip.ErrChecksum):
		e.Found, e.Expected = "a wrong checksum", "that of the data: the file is damaged"
	case errors.Is(err, gzip.ErrHeader),
		errors.As(err, new(flate.CorruptInputError)), errors.As(err, new(flate.InternalError)):
	default:
		return fmt.Errorf("trace: %s:%d: %w", l.file, l.line, err)
	}
	return e
}

// wide says that a line has more than n columns, which are ignored.
func (l *lines) wide(n int, expected string) error {
	return l.policy.ignored(l.bad("columns", "more", expected).because("too many columns"),
		"columns after the "+strconv.Itoa(n)+"th are ignored")
}

// narrow is a ParseError about a line of too few columns.
func (l *lines) narrow(n int, expected string) *ParseError {
	return l.bad("columns", strconv.Itoa(n), expected).because("too few columns")
}

// split cuts a CSV line into dst, and stops when there are more than n fields. Blanks around a field are none of it
// unless they are quoted. An empty field is nil, a quoted empty one is not. Quoted fields are unquoted in place.
// When a quote does not end, on this line, right before a comma, bad is the line from there.
func split(dst [][]byte, line []byte, n int) (fields [][]byte, bad []byte) {
	for len(dst) <= n {
		for len(line) > 0 && blank(line[0]) {
			line = line[1:]
		}
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
	if n := len(b); n > 0 && (blank(b[n-1]) || b[0] >= 0x80 || b[n-1] >= 0x80) {
		b = trim(b)
	}
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
	for len(rest) > 0 && blank(rest[0]) {
		rest = rest[1:]
	}
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

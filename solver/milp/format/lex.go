package format

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// input reads lines.
type input struct {
	r    *bufio.Reader
	text []byte // the current line, without its end
	long []byte // buffer for lines that do not fit into r's
	line int
}

func newInput(r io.Reader) *input { return &input{r: bufio.NewReaderSize(r, 1<<16)} }

// next goes to the next line. It reports false at the end.
func (in *input) next() (bool, error) {
	text, err := in.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		in.long = in.long[:0]
		for errors.Is(err, bufio.ErrBufferFull) {
			in.long = append(in.long, text...)
			text, err = in.r.ReadSlice('\n')
		}
		in.long = append(in.long, text...)
		text = in.long
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("line %d: %w", in.line+1, err)
	}
	if len(text) == 0 {
		return false, nil
	}
	if text[len(text)-1] == '\n' {
		text = text[:len(text)-1]
	}
	in.line++
	if in.line == 1 {
		text = bytes.TrimPrefix(text, []byte("\ufeff")) // a byte order mark
	}
	in.text = text
	return true, nil
}

// kind is the kind of a token in an LP file.
type kind uint8

const (
	atEnd kind = iota
	word
	number
	plus
	minus
	less
	greater
	equal
	colon
)

// token is a piece of an LP file. Its text is valid until the end of the line.
type token struct {
	kind  kind
	text  []byte
	value float64
	first bool // at the beginning of a line
	next  byte // what follows a word on its line, after blanks; 0 for nothing or a comment
	line  int
	col   int
}

// lexer splits an LP file into tokens; tok is the current one.
type lexer struct {
	in    *input
	at    int
	fresh bool // no token of this line has been read
	tok   token
	err   error // the first error; then the input ends

	comment func(text []byte) // called with comments, unless it is nil
}

// advance goes to the next token.
func (x *lexer) advance() {
	for {
		for x.at < len(x.in.text) && blank(x.in.text[x.at]) {
			x.at++
		}
		if x.at < len(x.in.text) && x.in.text[x.at] != '\\' {
			x.scan()
			return
		}
		if x.comment != nil && x.at < len(x.in.text) {
			x.comment(x.in.text[x.at:])
		}
		more, err := x.in.next()
		if err != nil && x.err == nil {
			x.err = err
		}
		x.at, x.fresh = 0, true
		if !more || err != nil {
			x.tok = token{kind: atEnd, line: x.in.line + 1, col: 1}
			x.in.text = nil
			return
		}
	}
}

const blanks = " \t\r\f\v"

func blank(c byte) bool { return strings.IndexByte(blanks, c) >= 0 }

func digit(c byte) bool { return c >= '0' && c <= '9' }

// named reports whether c may be part of a name.
func named(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || digit(c) || c >= 0x80 ||
		strings.IndexByte("!\"#$%&(),.;?@_'`{}|~/[]", c) >= 0
}

// scan reads the token that begins at x.at.
func (x *lexer) scan() {
	text, from := x.in.text, x.at
	x.tok = token{first: x.fresh, line: x.in.line, col: from + 1}
	x.fresh = false
	c := text[from]
	switch {
	case c == '+':
		x.tok.kind = plus
		x.at++
	case c == '-':
		x.tok.kind = minus
		x.at++
	case c == ':':
		x.tok.kind = colon
		x.at++
	case c == '<' || c == '>' || c == '=':
		x.operator()
	case (digit(c) || c == '.' && from+1 < len(text) && digit(text[from+1])) && !x.numbered():
		x.number()
		return
	case named(c) && c != '[' && c != ']':
		x.at += nameLength(text[from:])
		x.tok.kind = word
		x.tok.next = x.follows()
	default:
		x.at++
		x.tok.text = text[from:x.at]
		x.fail("a name, a number or an operator (only linear models can be read)")
		return
	}
	x.tok.text = text[from:x.at]
}

// nameLength is the length of the longest name at the beginning of text.
func nameLength(text []byte) int {
	n := 0
	for n < len(text) && named(text[n]) {
		n++
	}
	return n
}

// follows is the first byte of the rest of the line, 0 if that is empty or a comment.
func (x *lexer) follows() byte {
	rest := bytes.TrimLeft(x.in.text[x.at:], blanks)
	if len(rest) == 0 || rest[0] == '\\' {
		return 0
	}
	return rest[0]
}

// numbered reports whether a token that begins with a digit is the name of a row: CBC, HiGHS and SCIP accept "13:".
func (x *lexer) numbered() bool {
	from := x.at
	x.at += nameLength(x.in.text[from:])
	next := x.follows()
	x.at = from
	return next == ':'
}

// glued joins a number and the text that follows it into the name 1x, where a number is not allowed: HiGHS and SCIP
// write such names.
func (x *lexer) glued() {
	from := x.tok.col - 1
	if x.tok.kind != number || x.at >= len(x.in.text) || !named(x.in.text[x.at]) {
		return
	}
	x.at = from + nameLength(x.in.text[from:])
	x.tok.kind, x.tok.text, x.tok.next = word, x.in.text[from:x.at], x.follows()
}

// operator reads one of < <= =< > >= => =.
func (x *lexer) operator() {
	text := x.in.text
	x.tok.kind = equal
	for n := 0; n < 2 && x.at < len(text); n++ {
		switch c := text[x.at]; {
		case c == '=':
		case c == '<' && x.tok.kind == equal:
			x.tok.kind = less
		case c == '>' && x.tok.kind == equal:
			x.tok.kind = greater
		default:
			return
		}
		x.at++
	}
}

// number reads a number without a sign. Its exponent needs a digit, so 2 e is a coefficient and a variable.
func (x *lexer) number() {
	text, from := x.in.text, x.at
	x.tok.kind = number
	for x.at < len(text) && (digit(text[x.at]) || text[x.at] == '.') {
		x.at++
	}
	if e := x.at; e < len(text) && (text[e] == 'e' || text[e] == 'E') {
		e++
		if e < len(text) && (text[e] == '+' || text[e] == '-') {
			e++
		}
		if e < len(text) && digit(text[e]) {
			for e < len(text) && digit(text[e]) {
				e++
			}
			x.at = e
		}
	}
	x.tok.text = text[from:x.at]
	v, err := strconv.ParseFloat(string(x.tok.text), 64)
	if err != nil {
		x.fail("a finite number")
		return
	}
	x.tok.value = v
}

// fail keeps the first error, at the current token, and ends the input.
func (x *lexer) fail(expected string) { x.failAt(x.tok, x.found(), expected) }

// failAt is fail at a token that may already have been passed.
func (x *lexer) failAt(at token, found, expected string) {
	if x.err == nil {
		x.err = &SyntaxError{Line: at.line, Column: at.col, Found: found, Expected: expected}
	}
	x.tok = token{kind: atEnd, line: x.tok.line, col: x.tok.col}
	x.in.text, x.at = nil, 0
	x.in.r.Reset(strings.NewReader(""))
}

func (x *lexer) found() string {
	if x.tok.kind == atEnd && len(x.tok.text) == 0 {
		return "the end of the file"
	}
	return quoted(x.tok.text)
}

// quoted is text in quotes, shortened.
func quoted(text []byte) string {
	if len(text) > 60 {
		return strconv.Quote(string(text[:60])) + "..."
	}
	return strconv.Quote(string(text))
}

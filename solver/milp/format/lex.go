package format

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// input hands out lines.
type input struct {
	r    *bufio.Reader
	text []byte // the current line, without its end
	long []byte // the buffer of lines that do not fit into r's
	line int
}

func newInput(r io.Reader) *input { return &input{r: bufio.NewReaderSize(r, 1<<16)} }

// next goes to the next line, and reports false at the end.
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
	in.text = text
	in.line++
	return true, nil
}

// kind is what a token of an LP file is.
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

// token is a piece of an LP file. Its text lives until the line ends.
type token struct {
	kind  kind
	text  []byte
	value float64
	first bool // it begins a line
	label bool // a colon follows
	line  int
	col   int
}

// lexer cuts an LP file into tokens; tok is the current one.
type lexer struct {
	in    *input
	at    int
	fresh bool // no token of this line has been taken
	tok   token
	err   error // the first; the end follows
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

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v' }

func digit(c byte) bool { return c >= '0' && c <= '9' }

// named reports whether c may be within a name.
func named(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || digit(c) || c >= 0x80 || strings.IndexByte("!\"#$%&(),.;?@_'`{}|~/[]", c) >= 0
}

// scan takes the token that begins at x.at.
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
	case digit(c) || c == '.' && from+1 < len(text) && digit(text[from+1]):
		x.number()
		return
	case named(c) && c != '[' && c != ']':
		for x.at < len(text) && named(text[x.at]) {
			x.at++
		}
		x.tok.kind = word
		after := x.at
		for after < len(text) && blank(text[after]) {
			after++
		}
		x.tok.label = after < len(text) && text[after] == ':'
	default:
		x.at++
		x.tok.text = text[from:x.at]
		x.fail("a name, a number or an operator (only linear models can be read)")
		return
	}
	x.tok.text = text[from:x.at]
}

// operator takes one of < <= =< > >= => =.
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

// number takes a number without a sign. Its exponent needs a digit, so that 2 e is a coefficient and a variable.
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
func (x *lexer) fail(expected string) {
	if x.err == nil {
		x.err = &SyntaxError{Line: x.tok.line, Column: x.tok.col, Found: x.found(), Expected: expected}
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

// quoted is text in quotes, no longer than is useful.
func quoted(text []byte) string {
	if len(text) > 60 {
		return strconv.Quote(string(text[:60])) + "..."
	}
	return strconv.Quote(string(text))
}

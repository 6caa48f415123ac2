package format

import (
	"bufio"
	"io"
	"math"
	"strconv"
)

// maxLine is the length after which a line is broken. LP readers accept 255 characters and more.
const maxLine = 120

// lines writes words and breaks long lines. bufio.Writer keeps the first error for Flush.
type lines struct {
	w   *bufio.Writer
	buf []byte
	at  int // length of the current line
}

func newLines(w io.Writer) *lines {
	return &lines{w: bufio.NewWriterSize(w, 1<<16), buf: make([]byte, 0, 128)}
}

func (l *lines) word(s string) {
	n, _ := l.w.WriteString(s)
	l.at += n
}

// end ends the line.
func (l *lines) end() {
	_ = l.w.WriteByte('\n')
	l.at = 0
}

// text writes words and ends the line.
func (l *lines) text(words ...string) {
	for _, s := range words {
		l.word(s)
	}
	l.end()
}

// number writes v with the fewest digits that give the same number again, up to 17.
func (l *lines) number(v float64) {
	l.buf = appendNumber(l.buf[:0], v)
	n, _ := l.w.Write(l.buf)
	l.at += n
}

// appendNumber appends v. Negative zero becomes zero, and infinities become Infinite.
func appendNumber(buf []byte, v float64) []byte {
	switch {
	case v == 0:
		return append(buf, '0')
	case math.IsInf(v, 0):
		v = math.Copysign(Infinite, v)
	}
	return strconv.AppendFloat(buf, v, 'g', -1, 64)
}

// term writes v times name as a term of a sum.
func (l *lines) term(v float64, name string) {
	if l.at > maxLine {
		l.text()
	}
	sign := byte('+')
	if v < 0 {
		sign, v = '-', -v
	}
	l.buf = append(l.buf[:0], ' ', sign, ' ')
	if v != 1 {
		l.buf = append(appendNumber(l.buf, v), ' ')
	}
	l.buf = append(l.buf, name...)
	n, _ := l.w.Write(l.buf)
	l.at += n
}

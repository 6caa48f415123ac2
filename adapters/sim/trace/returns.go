package trace

import (
	"bufio"
	"bytes"
)

// endsInReturns tells that a text's lines end in carriage returns, as those of old Macintoshes do: the first line
// does, and where it is all blanks after it, there is no line feed near the beginning.
func endsInReturns(b *bufio.Reader) bool {
	for n := 1 << 10; ; n = min(2*n, bufferSize) {
		start, err := b.Peek(n) // an error comes again
		feed := bytes.IndexByte(start, '\n')
		if feed >= 0 {
			start = start[:feed+1]
		}
		switch line, _ := cutReturn(start); {
		case len(line) < len(start):
			return true
		case feed >= 0:
			return false
		case err != nil || n == bufferSize:
			return bytes.IndexByte(start, '\r') >= 0
		}
	}
}

// cutReturn cuts a line after a carriage return that ends it, though there is no line feed, as where files of unlike
// ends of lines were joined. Others are blanks: columns of files with CRLF that were pasted have them before a blank
// or a comma, and a quoted field may hold one.
func cutReturn(line []byte) (first, rest []byte) {
	from, quotes := 0, 0
	for {
		i := bytes.IndexByte(line[from:], '\r')
		if i < 0 || from+i+1 == len(line) {
			return line, nil
		}
		quotes += bytes.Count(line[from:from+i], []byte{'"'})
		from += i + 1
		if c := line[from]; quotes%2 == 0 && c != ',' && c != '\n' && !blank(c) {
			return line[:from], line[from:]
		}
	}
}

// returns reads a text whose lines end in carriage returns, or also in others, as one whose lines end in line feeds.
type returns struct{ in *bufio.Reader }

func (r *returns) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	for i := range n {
		if p[i] != '\r' {
			continue
		}
		next := byte(0)
		if i+1 < n {
			next = p[i+1]
		} else if ahead, _ := r.in.Peek(1); len(ahead) > 0 { // an error comes again
			next = ahead[0]
		}
		if next != '\n' {
			p[i] = '\n'
		}
	}
	return n, err
}

// Package lines reads a text line by line and does not take a disk that fails for a text that is cut off.
package lines

import (
	"bufio"
	"bytes"
	"io"
)

// NewScanner returns a scanner of lines of up to limit bytes. Unlike [bufio.Scanner] alone it hands out no part of a
// line where the reader fails: Scan is then false, and Err the reader's error.
func NewScanner(r io.Reader, limit int) *bufio.Scanner {
	source := &Source{From: r}
	s := bufio.NewScanner(source)
	s.Buffer(nil, limit)
	s.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		if source.Err != nil && bytes.IndexByte(data, '\n') < 0 {
			return 0, nil, nil
		}
		return bufio.ScanLines(data, atEOF)
	})
	return s
}

// Source is a reader that remembers what it failed with: above buffers and gzip that tells a disk that failed from
// bytes that are wrong.
type Source struct {
	From io.Reader
	// Err is the first error but io.EOF, nil if there was none.
	Err error
}

// Read implements [io.Reader].
func (s *Source) Read(p []byte) (int, error) {
	n, err := s.From.Read(p)
	if s.Err == nil && err != nil && err != io.EOF {
		s.Err = err
	}
	return n, err
}

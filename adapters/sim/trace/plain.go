package trace

import "bytes"

// plainLines are those of a format of blank-separated fields. Beside records there may be comments and a header.
type plainLines struct {
	lines
	header []byte
	begun  bool
}

// record returns the next line that is no header, and gives comments to comment.
func (l *plainLines) record(least int, comment func(string)) ([]byte, error) {
	for {
		b, err := l.full()
		if err != nil {
			return nil, err
		}
		if i := bytes.IndexByte(b, noBreak[0]); i >= 0 {
			b = bytes.ReplaceAll(b, []byte(noBreak), []byte("  "))
		}
		b = trim(b)
		switch {
		case b[0] == ';' || b[0] == '#':
			comment(string(b[1:]))
		case !l.begun && isHeader(b, least):
			l.begun, l.header = true, bytes.Clone(b)
		case l.header == nil || !bytes.Equal(b, l.header):
			l.begun = true
			return b, nil
		}
	}
}

// isHeader tells whether a line names at least that number of fields.
func isHeader(line []byte, least int) bool {
	fields := 0
	for w, rest := word(line); len(w) > 0; w, rest = word(rest) {
		if c := w[0] | 0x20; c < 'a' || c > 'z' || bytes.EqualFold(w, []byte("nan")) || bytes.EqualFold(w, []byte("inf")) {
			return false
		}
		fields++
	}
	return fields >= least
}

// word cuts the first of a line's blank-separated words; it is empty when there is none.
func word(line []byte) (first, rest []byte) {
	i := 0
	for i < len(line) && blank(line[i]) {
		i++
	}
	start := i
	for i < len(line) && !blank(line[i]) {
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

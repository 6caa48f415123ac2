package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// bufferSize is a reader's buffer; longer lines are copied.
const bufferSize = 128 << 10

// unzip reads r, decompressed where it is gzip, with lines that end in line feeds.
func unzip(r io.Reader, name string) (*bufio.Reader, error) {
	b := bufio.NewReaderSize(&sticky{r: r}, bufferSize)
	magic, err := b.Peek(len(gzipMagic))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("trace: %s: %w", name, err)
	}
	if string(magic) == gzipMagic {
		z, err := gzip.NewReader(b)
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, (&lines{file: name, line: 1}).failed(err)
		}
		z.Multistream(false)
		b = bufio.NewReaderSize(&sticky{r: &members{z: z, in: b}}, bufferSize)
	}
	if err := legible(b, name); err != nil {
		return nil, err
	}
	if endsInReturns(b) {
		b = bufio.NewReaderSize(&returns{b}, bufferSize)
	}
	return b, nil
}

// sticky returns its error again and again, which a bufio.Reader that was peeked into does not.
type sticky struct {
	r   io.Reader
	err error
}

func (s *sticky) Read(p []byte) (n int, err error) {
	if s.err == nil {
		n, s.err = s.r.Read(p)
	}
	return n, s.err
}

const gzipMagic = "\x1f\x8b"

// errTrailing stands for io.EOF where a gzip file goes on with something else.
var errTrailing = errors.New("bytes after the compressed data")

// members reads all members of a gzip file, one after the other. As gzip(1) does, it takes zeros between and after
// them, with which tapes and block devices fill up.
type members struct {
	z  *gzip.Reader
	in *bufio.Reader
}

func (m *members) Read(p []byte) (int, error) {
	for {
		n, err := m.z.Read(p)
		if !errors.Is(err, io.EOF) {
			return n, err
		}
		if err = m.following(); n > 0 || err != nil {
			return n, err
		}
	}
}

// following begins the next member. It returns io.EOF after the last, and errTrailing where something else follows.
func (m *members) following() error {
	for {
		c, err := m.in.ReadByte()
		if err != nil {
			return err
		}
		if c != 0 {
			break
		}
	}
	_ = m.in.UnreadByte() // of the byte just read
	magic, err := m.in.Peek(len(gzipMagic))
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return err
	case !bytes.HasPrefix([]byte(gzipMagic), magic):
		return errTrailing
	}
	if err := m.z.Reset(m.in); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	m.z.Multistream(false)
	return nil
}

// legible refuses, by its name, what is no text in UTF-8 but something else that a log may be stored as.
func legible(b *bufio.Reader, name string) error {
	found, expected := wide(b), ""
	if found != "" {
		expected = "UTF-8, as iconv -f " + found + " -t UTF-8 makes it"
	} else if found = packing(b); found != "" {
		expected = "a text, or one in gzip"
	} else {
		return nil
	}
	e := (&lines{file: name, line: 1}).bad("encoding", found, expected)
	e.fatal = true
	return e
}

// packing names the program that packed a text, "" for none.
func packing(b *bufio.Reader) string {
	const tarMagic, tarAt = "ustar", 257
	start, _ := b.Peek(tarAt + len(tarMagic)) // an error comes again
	for _, p := range [...]struct{ magic, name string }{{gzipMagic, "gzip in gzip"}, {"BZh", "bzip2"},
		{"\xfd7zXZ\x00", "xz"}, {"\x28\xb5\x2f\xfd", "zstd"}, {"PK\x03\x04", "zip"}} {
		if bytes.HasPrefix(start, []byte(p.magic)) {
			return p.name
		}
	}
	if bytes.HasSuffix(start, []byte(tarMagic)) && bytes.IndexByte(start, 0) > 0 {
		return "tar"
	}
	return ""
}

// wide names the encoding of a text of two or four bytes a character, "" for none. It is told by the byte order mark,
// or by the zeros of the first characters, which are of ASCII in a log.
func wide(b *bufio.Reader) string {
	start, _ := b.Peek(4) // an error comes again
	if len(start) < 4 {
		start = append(bytes.Clone(start), 1, 1, 1, 1)[:4]
	}
	zeros := [4]bool{start[0] == 0, start[1] == 0, start[2] == 0, start[3] == 0}
	switch {
	case bytes.Equal(start, []byte("\xff\xfe\x00\x00")), bytes.Equal(start, []byte("\x00\x00\xfe\xff")),
		zeros == [4]bool{false, true, true, true}, zeros == [4]bool{true, true, true, false}:
		return "UTF-32"
	case bytes.HasPrefix(start, []byte("\xff\xfe")), bytes.HasPrefix(start, []byte("\xfe\xff")),
		zeros == [4]bool{false, true, false, true}, zeros == [4]bool{true, false, true, false}:
		return "UTF-16"
	}
	return ""
}

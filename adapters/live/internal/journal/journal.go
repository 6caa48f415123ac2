// Package journal keeps batches of bytes in a file, each whole or not at all. A batch that was appended survives any
// crash of the process and, if the disk keeps its promises, of the machine.
package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
)

// ErrDamaged is wrapped by the error about a bad batch that is not the last of the file.
var ErrDamaged = errors.New("damaged journal")

// header is the size of a batch's length and checksum, four bytes each.
const header = 8

// maxBatch limits the memory that a damaged length can demand.
const maxBatch = 1 << 30

// Journal is an open file. It is not safe for concurrent use.
type Journal struct {
	file *os.File
	buf  []byte
	size int64
	err  error // of a failed append, which may have left half a batch
}

// Open opens or creates the file and calls read with each batch in order. The bytes are valid only during the call. A
// last batch that is not whole is dropped.
func Open(name string, read func([]byte) error) (*Journal, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	j := &Journal{file: f}
	if err := j.load(read); err != nil {
		f.Close()
		return nil, fmt.Errorf("journal %s: %w", name, err)
	}
	if err := syncFolder(filepath.Dir(name)); err != nil {
		f.Close()
		return nil, err
	}
	return j, nil
}

// syncFolder makes the name of a new file durable.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func (j *Journal) load(read func([]byte) error) error {
	info, err := j.file.Stat()
	if err != nil {
		return err
	}
	for end := info.Size(); j.size < end; {
		b, whole, err := j.next(end - j.size)
		if err != nil {
			return err
		}
		if !whole {
			break
		}
		if err := read(b); err != nil {
			return err
		}
		j.size += header + int64(len(b))
	}
	if err := j.file.Truncate(j.size); err != nil {
		return err
	}
	_, err = j.file.Seek(j.size, io.SeekStart)
	return err
}

// next reads the batch at the present offset, with left bytes to the end of the file. A bad batch counts as not whole
// if the file ends with or within it.
func (j *Journal) next(left int64) (b []byte, whole bool, err error) {
	var head [header]byte
	if left < header {
		return nil, false, nil
	}
	if _, err := j.file.ReadAt(head[:], j.size); err != nil {
		return nil, false, err
	}
	length := int64(binary.LittleEndian.Uint32(head[:]))
	if length > left-header || length > maxBatch || length == 0 {
		return nil, false, nil
	}
	if int64(cap(j.buf)) < length {
		j.buf = make([]byte, length)
	}
	b = j.buf[:length]
	if _, err := j.file.ReadAt(b, j.size+header); err != nil {
		return nil, false, err
	}
	if crc32.ChecksumIEEE(b) == binary.LittleEndian.Uint32(head[4:]) {
		return b, true, nil
	}
	if header+length < left {
		return nil, false, fmt.Errorf("%w: bad batch at byte %d", ErrDamaged, j.size)
	}
	return nil, false, nil
}

// Append adds a batch, which must not be empty, and returns when it is on the disk. After a failed write every further
// call fails.
func (j *Journal) Append(batch []byte) error {
	if j.err != nil {
		return j.err
	}
	if len(batch) == 0 || len(batch) > maxBatch {
		return fmt.Errorf("journal %s: batch of %d bytes, expected 1 to %d", j.file.Name(), len(batch), maxBatch)
	}
	j.buf = binary.LittleEndian.AppendUint32(j.buf[:0], uint32(len(batch)))
	j.buf = binary.LittleEndian.AppendUint32(j.buf, crc32.ChecksumIEEE(batch))
	j.buf = append(j.buf, batch...)
	if _, err := j.file.Write(j.buf); err != nil {
		j.err = err
		return err
	}
	if err := j.file.Sync(); err != nil {
		j.err = err
		return err
	}
	j.size += int64(len(j.buf))
	return nil
}

// Close closes the file.
func (j *Journal) Close() error { return j.file.Close() }

package agent

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
)

// ErrMessage is wrapped by errors about bytes that are no message, or one of another version.
var ErrMessage = errors.New("bad message")

// AppendNumbers appends numbers for a [Codec], small ones in few bytes.
func AppendNumbers(b []byte, numbers ...int64) []byte {
	for _, n := range numbers {
		b = binary.AppendVarint(b, n)
	}
	return b
}

// Wire reads the bytes of a message for a [Codec]: first the version, then what was appended, then End or Rest. After
// the first mistake it gives zeros.
type Wire struct {
	bytes []byte
	err   error
}

// NewWire reads a message that starts with a version.
func NewWire(b []byte, version byte) *Wire {
	w := &Wire{bytes: b}
	if found := w.Byte(math.MaxUint8); w.err == nil && found != version {
		w.fail("version", int64(found))
	}
	return w
}

func (w *Wire) fail(what string, found int64) {
	if w.err == nil {
		w.err = fmt.Errorf("%w: found %s %d", ErrMessage, what, found)
	}
	w.bytes = nil
}

// Byte is the next byte, at most limit.
func (w *Wire) Byte(limit byte) byte {
	if len(w.bytes) == 0 {
		w.fail("bytes left:", 0)
		return 0
	}
	n := w.bytes[0]
	w.bytes = w.bytes[1:]
	if n > limit {
		w.fail("byte", int64(n))
		return 0
	}
	return n
}

// Int32 is the next number.
func (w *Wire) Int32() int32 {
	n := w.number()
	if n < math.MinInt32 || n > math.MaxInt32 {
		w.fail("number", n)
		return 0
	}
	return int32(n)
}

// Duration is the next number, as nanoseconds.
func (w *Wire) Duration() time.Duration { return time.Duration(w.number()) }

func (w *Wire) number() int64 {
	n, size := binary.Varint(w.bytes)
	if size <= 0 {
		w.fail("bytes in place of a number:", int64(len(w.bytes)))
		return 0
	}
	w.bytes = w.bytes[size:]
	return n
}

// Rest is what is left, nil after a mistake.
func (w *Wire) Rest() []byte { return w.bytes }

// Err is the first mistake.
func (w *Wire) Err() error { return w.err }

// End is the first mistake, or that bytes are left.
func (w *Wire) End() error {
	if len(w.bytes) > 0 {
		w.fail("bytes after the end:", int64(len(w.bytes)))
	}
	return w.err
}

// Float is the next number that [FloatBits] made; it is finite.
func (w *Wire) Float() float64 {
	f := math.Float64frombits(uint64(w.number()))
	if math.IsNaN(f) || math.IsInf(f, 0) {
		w.fail("no finite number", 0)
		return 0
	}
	return f
}

// FloatBits is a float64 for [AppendNumbers].
func FloatBits(f float64) int64 { return int64(math.Float64bits(f)) }

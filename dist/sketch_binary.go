package dist

import (
	"encoding/binary"
	"fmt"
	"math"
)

// The binary form, little-endian: magic "hsk", version, bin limit (uint32),
// number of bins (uint32), count (uint64), sum and its compensation (float64), then
// for each bin mean, lo, hi (float64) and count (uint64).
const (
	sketchMagic   = "hsk"
	sketchVersion = 1
	sketchHeader  = 4 + 4 + 4 + 8 + 8 + 8
	sketchBin     = 32
	sketchMaxBins = 1 << 20
)

// MarshalBinary implements [encoding.BinaryMarshaler].
func (s *Sketch) MarshalBinary() ([]byte, error) {
	return s.AppendBinary(make([]byte, 0, sketchHeader+len(s.bins)*sketchBin))
}

// AppendBinary implements [encoding.BinaryAppender].
func (s *Sketch) AppendBinary(b []byte) ([]byte, error) {
	le := binary.LittleEndian
	if s.limit() > sketchMaxBins {
		return b, &ParamError{Func: "dist.Sketch.AppendBinary", Param: "maxBins", Value: s.limit(),
			Want: fmt.Sprintf("at most %d", sketchMaxBins)}
	}
	b = append(b, sketchMagic...)
	b = append(b, sketchVersion)
	b = le.AppendUint32(b, uint32(s.limit()))
	b = le.AppendUint32(b, uint32(len(s.bins)))
	b = le.AppendUint64(b, s.count)
	b = le.AppendUint64(b, math.Float64bits(s.sum))
	b = le.AppendUint64(b, math.Float64bits(s.comp))
	for i := range s.bins {
		g := &s.bins[i]
		b = le.AppendUint64(b, math.Float64bits(g.mean))
		b = le.AppendUint64(b, math.Float64bits(g.lo))
		b = le.AppendUint64(b, math.Float64bits(g.hi))
		b = le.AppendUint64(b, g.count)
	}
	return b, nil
}

// UnmarshalBinary implements [encoding.BinaryUnmarshaler]. Bytes that are
// truncated, too long, of another version or inconsistent in themselves are
// refused with [ErrFormat], and the receiver stays as it was.
func (s *Sketch) UnmarshalBinary(data []byte) error {
	le := binary.LittleEndian
	if len(data) < sketchHeader || string(data[:3]) != sketchMagic {
		return fmt.Errorf("dist.Sketch: %w: no header in %d bytes", ErrFormat, len(data))
	}
	if v := data[3]; v != sketchVersion {
		return fmt.Errorf("dist.Sketch: %w: version %d, want %d", ErrFormat, v, sketchVersion)
	}
	limit, n := le.Uint32(data[4:]), le.Uint32(data[8:])
	if limit < 2 || limit > sketchMaxBins || n > limit {
		return fmt.Errorf("dist.Sketch: %w: %d bins of at most %d", ErrFormat, n, limit)
	}
	if want := sketchHeader + int(n)*sketchBin; len(data) != want {
		return fmt.Errorf("dist.Sketch: %w: %d bytes, want %d for %d bins", ErrFormat, len(data), want, n)
	}
	t := Sketch{
		max:   int(limit),
		count: le.Uint64(data[12:]),
		sum:   math.Float64frombits(le.Uint64(data[20:])),
		comp:  math.Float64frombits(le.Uint64(data[28:])),
		bins:  make([]bin, n),
	}
	for i := range t.bins {
		d := data[sketchHeader+i*sketchBin:]
		t.bins[i] = bin{
			mean:  math.Float64frombits(le.Uint64(d)),
			lo:    math.Float64frombits(le.Uint64(d[8:])),
			hi:    math.Float64frombits(le.Uint64(d[16:])),
			count: le.Uint64(d[24:]),
		}
	}
	if err := t.check(); err != nil {
		return err
	}
	*s = t
	return nil
}

// check verifies every invariant the other methods rely on.
func (s *Sketch) check() error {
	var count uint64
	sum, prev := 0.0, -1.0
	for i, g := range s.bins {
		switch {
		case !isFinite(g.hi) || !(prev < g.lo && 0 <= g.lo && g.lo <= g.mean && g.mean <= g.hi):
			return fmt.Errorf("dist.Sketch: %w: bin %d: [%v, %v] with mean %v after %v", ErrFormat, i, g.lo, g.hi, g.mean, prev)
		case g.count == 0 || g.count > math.MaxUint64-count || g.lo < g.hi && g.count < 2:
			return fmt.Errorf("dist.Sketch: %w: bin %d: count %d", ErrFormat, i, g.count)
		}
		count += g.count
		sum += float64(g.mean * float64(g.count))
		prev = g.hi
	}
	if count != s.count {
		return fmt.Errorf("dist.Sketch: %w: bins hold %d values, header says %d", ErrFormat, count, s.count)
	}
	if total := s.sum + s.comp; !isFinite(s.comp) || !isFinite(s.sum) || s.sum < 0 || !(math.Abs(total-sum) <= 1e-6*sum) {
		return fmt.Errorf("dist.Sketch: %w: sum %v, bins say %v", ErrFormat, total, sum)
	}
	return nil
}

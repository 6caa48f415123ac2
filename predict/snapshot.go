package predict

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"math"
	"slices"

	"github.com/hedgesched/hedge/dist"
)

var (
	// ErrSnapshot is wrapped by every refusal of a snapshot.
	ErrSnapshot = errors.New("predict: bad snapshot")
	// ErrSnapshotVersion is wrapped, beside [ErrSnapshot], when it is of another version.
	ErrSnapshotVersion = errors.New("another version")
	// ErrSnapshotCorrupt is wrapped, beside [ErrSnapshot], when it is
	// truncated, damaged or no snapshot at all. An error of the reader is none of these.
	ErrSnapshotCorrupt = errors.New("truncated or corrupt")
	// ErrSnapshotOptions is wrapped, beside [ErrSnapshot], when it was saved by a
	// history with other features, bins or estimators.
	ErrSnapshotOptions = errors.New("other options")
)

const (
	snapshotMagic = "hedge predict\n"
	// snapshotVersion is the newest. Version 1 had long values in its keys as they were. Version 3 has quantities, and is
	// written only where there are some.
	snapshotVersion = 3
	withoutUsage    = 2
	checksumSize    = 8
	// maxSum is beyond any sum of runtimes: MaxRuntime times 2^64 is less.
	maxSum = 1e38
)

// Save writes the history's state. The same state gives the same bytes. The
// history is locked against learning while it is encoded, not while it is written.
//
// The format is a magic line, a version, the options that shape the state, the
// feature values from the least to the most recently observed, the same of each quantity by its name, and a CRC-64 of
// all before it.
func (h *History) Save(w io.Writer) error {
	b, err := h.encode()
	if err != nil {
		return err
	}
	if _, err := w.Write(b); err != nil {
		return fmt.Errorf("predict: saving a snapshot: %w", err)
	}
	return nil
}

// Load replaces the history's state by a snapshot. A snapshot that is truncated, corrupt, of
// a newer version or of a history with other options is refused with [ErrSnapshot] and leaves the
// history as it was. So does an error of the reader, which is returned as it is: it says nothing about the snapshot.
// Snapshots of older versions are read. Features are compared by name, so a derived feature must still be derived
// as it was. Quantities are matched by name, too: those that the snapshot lacks begin empty, and those that the history
// lacks are left out. Of a snapshot with more feature values than MaxValues or MaxBytes allow the least recently
// observed are left out.
func (h *History) Load(r io.Reader) error {
	b, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("predict: loading a snapshot: %w", err)
	}
	tables, err := h.decode(b)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	h.take(tables[0])
	for i, q := range h.others {
		q.history.take(tables[1+i])
	}
	return nil
}

func (h *History) take(t *table) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.table = t
}

// shape encodes the options a snapshot depends on.
func (h *History) shape(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(h.opts.Bins))
	b = binary.AppendUvarint(b, uint64(h.opts.Recent))
	b = appendFloat(b, h.opts.Alpha)
	b = appendFloat(b, h.opts.Forget)
	recentOnly := byte(0)
	if h.opts.RecentOnly {
		recentOnly = 1
	}
	b = append(b, recentOnly)
	b = binary.AppendUvarint(b, uint64(len(h.plan.names)))
	for _, n := range h.plan.names {
		b = appendBytes(b, []byte(n))
	}
	return b
}

func (h *History) encode() ([]byte, error) {
	b := []byte(snapshotMagic)
	version := uint64(withoutUsage)
	if len(h.others) > 0 {
		version = snapshotVersion
	}
	b = binary.AppendUvarint(b, version)
	b = appendBytes(b, h.shape(nil))
	b, err := h.encodeTable(b)
	if err != nil {
		return nil, err
	}
	if len(h.others) > 0 {
		b = binary.AppendUvarint(b, uint64(len(h.others)))
	}
	for _, q := range h.others {
		if b, err = q.history.encodeTable(appendBytes(b, []byte(q.name))); err != nil {
			return nil, err
		}
	}
	return binary.LittleEndian.AppendUint64(b, checksum(b)), nil
}

// encodeTable writes the feature values of one quantity.
func (h *History) encodeTable(b []byte) ([]byte, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	b = binary.AppendUvarint(b, uint64(h.table.len()))
	var err error
	for i := h.table.oldest; i != none; i = h.table.at(i).next {
		if b, err = h.table.at(i).encode(b); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (e *entry) encode(b []byte) ([]byte, error) {
	b = appendBytes(b, []byte(e.key))
	if e.past == nil {
		return pastOf(e.only[0]).encode(b)
	}
	return e.past.encode(b)
}

func (p *past) encode(b []byte) ([]byte, error) {
	b = binary.AppendUvarint(b, p.n)
	b = appendFloat(b, p.act)
	for k := range p.est {
		b = appendFloat(b, p.est[k])
		b = appendFloat(b, p.err[k])
	}
	b = binary.AppendUvarint(b, uint64(len(p.ring)))
	for i := range p.ring {
		b = appendFloat(b, p.ring[(p.head+i)%len(p.ring)])
	}
	if p.sketch == nil {
		return appendBytes(b, nil), nil
	}
	s, err := p.sketch.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("predict: saving a sketch: %w", err)
	}
	return appendBytes(b, s), nil
}

// decode reads the tables of the runtime and then of each quantity. A snapshot without quantities leaves these empty.
func (h *History) decode(b []byte) ([]*table, error) {
	if len(b) < len(snapshotMagic)+checksumSize || string(b[:len(snapshotMagic)]) != snapshotMagic {
		return nil, fmt.Errorf("%w: no snapshot of a history", ErrSnapshotCorrupt)
	}
	d := decoder{b: b[len(snapshotMagic) : len(b)-checksumSize]}
	v := d.uvarint()
	switch {
	case !d.bad && v > snapshotVersion:
		return nil, fmt.Errorf("%w: %d, which a newer release has written; this one reads 1 to %d", ErrSnapshotVersion, v,
			snapshotVersion)
	case !d.bad && v == 0:
		return nil, fmt.Errorf("%w: 0, this release reads 1 to %d", ErrSnapshotVersion, snapshotVersion)
	}
	if binary.LittleEndian.Uint64(b[len(b)-checksumSize:]) != checksum(b[:len(b)-checksumSize]) {
		return nil, fmt.Errorf("%w: checksum differs", ErrSnapshotCorrupt)
	}
	if shape := d.bytes(); !d.bad && !bytes.Equal(shape, h.shape(nil)) {
		return nil, fmt.Errorf("%w: it was saved with other features, bins or estimators", ErrSnapshotOptions)
	}
	t, err := h.decodeTable(&d, v)
	if err != nil {
		return nil, err
	}
	tables := []*table{t}
	for range h.others {
		tables = append(tables, newTable(&h.opts))
	}
	if v >= snapshotVersion {
		if err := h.decodeUsage(&d, v, tables[1:]); err != nil {
			return nil, err
		}
	}
	if d.bad || len(d.b) != 0 {
		return nil, fmt.Errorf("%w: %d bytes left at the end", ErrSnapshotCorrupt, len(d.b))
	}
	return tables, nil
}

// decodeUsage reads the tables of the quantities, and drops those that are not among the options.
func (h *History) decodeUsage(d *decoder, version uint64, tables []*table) error {
	read := map[string]bool{}
	for n := d.uvarint(); n > 0 && !d.bad; n-- {
		name := string(d.bytes())
		if read[name] {
			return fmt.Errorf("%w: the quantity %q comes twice", ErrSnapshotCorrupt, name)
		}
		read[name] = true
		t, err := h.decodeTable(d, version)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(h.others, func(q quantity) bool { return string(q.name) == name }); i >= 0 {
			tables[i] = t
		}
	}
	return nil
}

func (h *History) decodeTable(d *decoder, version uint64) (*table, error) {
	count := d.uvarint()
	t := newTable(&h.opts)
	for range count {
		if err := h.decodeEntry(d, t, version); err != nil {
			return nil, err
		}
	}
	if d.bad || t.made != count {
		return nil, fmt.Errorf("%w: %d bytes left after %d feature values", ErrSnapshotCorrupt, len(d.b), count)
	}
	return t, nil
}

// decodeEntry reads one feature value into the table.
func (h *History) decodeEntry(d *decoder, t *table, version uint64) error {
	e := &past{}
	key := d.bytes()
	if version == 1 {
		var ok bool
		if key, ok = h.plan.renewed(key); !ok {
			return fmt.Errorf("%w: a feature value that is none", ErrSnapshotCorrupt)
		}
	}
	e.n = d.uvarint()
	e.act = d.float(maxSum)
	for k := range e.est {
		e.est[k] = d.float(MaxRuntime)
		e.err[k] = d.float(maxSum)
	}
	ring := d.uvarint()
	want := min(e.n, uint64(h.opts.Recent))
	if d.bad || e.n == 0 || ring != want || ring*8 > uint64(len(d.b)) {
		return fmt.Errorf("%w: feature value %q", ErrSnapshotCorrupt, key)
	}
	e.ring = make([]float64, ring)
	for i := range e.ring {
		e.ring[i] = d.float(MaxRuntime)
	}
	raw := d.bytes()
	if d.bad || (len(raw) > 0) != (e.n > uint64(h.opts.Recent) && !h.opts.RecentOnly) {
		return fmt.Errorf("%w: feature value %q", ErrSnapshotCorrupt, key)
	}
	if len(raw) > 0 {
		e.sketch = dist.NewSketch(h.opts.Bins)
		if err := e.sketch.UnmarshalBinary(raw); err != nil {
			return fmt.Errorf("%w: feature value %q: %w", ErrSnapshotCorrupt, key, err)
		}
		if e.sketch.Count() != e.n || e.sketch.Max() > MaxRuntime {
			return fmt.Errorf("%w: feature value %q: its sketch has %d samples up to %v, it has %d",
				ErrSnapshotCorrupt, key, e.sketch.Count(), e.sketch.Max(), e.n)
		}
	}
	to := t.use(key)
	t.room += to.size()
	to.learnt(e)
	t.room -= to.size()
	t.trim()
	return nil
}

// learnt gives a new entry its past.
func (e *entry) learnt(p *past) {
	if e.some = true; p.isOne() {
		e.only[0], e.past = p.ring[0], nil
		return
	}
	e.past = p
}

// decoder reads from b; bad sticks once something was amiss.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) bytes() []byte {
	n := d.uvarint()
	if n > uint64(len(d.b)) {
		d.bad, d.b = true, nil
		return nil
	}
	out := d.b[:n]
	d.b = d.b[n:]
	return out
}

// float reads a number from 0 to limit; no state holds any other.
func (d *decoder) float(limit float64) float64 {
	if len(d.b) < 8 {
		d.bad, d.b = true, nil
		return 0
	}
	v := math.Float64frombits(binary.LittleEndian.Uint64(d.b))
	d.b = d.b[8:]
	if !(v >= 0 && v <= limit) {
		d.bad = true
	}
	return v
}

func appendFloat(b []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
}

func appendBytes(b, v []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(v))), v...)
}

func checksum(b []byte) uint64 { return crc64.Checksum(b, crc64.MakeTable(crc64.ECMA)) }

package adapters

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hedgesched/hedge/predict"
)

// ErrHistory is a history file that cannot be used. It was renamed, and nothing in it was loaded.
var ErrHistory = errors.New("adapters: history unusable")

// HistoryFile is the path of a file that keeps what was learnt. All other state is read from the cluster after a
// restart.
type HistoryFile string

// Load fills the history from the file. It returns the end of the last job that the history has learnt from, for
// [Options].LearntUntil. If there is no file, it does nothing and returns no error.
//
// A file that is damaged, or of a history with other options, is renamed: .damaged is appended to its name, and a
// number if that name is taken. The error then wraps [ErrHistory]. The history is unchanged, and a scheduler can go on
// with it. Other errors come from reading the file.
func (f HistoryFile) Load(h *predict.History) (time.Time, error) {
	data, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("adapters: history: %w", err)
	}
	until, snapshot, err := parseHistory(data)
	if err == nil {
		err = h.Load(bytes.NewReader(snapshot))
	}
	if err == nil {
		return until, nil
	}
	aside, moved := f.putAside()
	if moved != nil {
		return time.Time{}, fmt.Errorf("%w: %s: %w; it could not be put aside: %w", ErrHistory, f, err, moved)
	}
	return time.Time{}, fmt.Errorf("%w: %s: %w; it is now %s", ErrHistory, f, err, aside)
}

// putAside renames the file to an unused name.
func (f HistoryFile) putAside() (string, error) {
	name := string(f) + ".damaged"
	for n := 2; ; n++ {
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name, os.Rename(string(f), name)
		}
		name = fmt.Sprintf("%s.damaged%d", f, n)
	}
}

// head is the file's first line: a version, the time, and a checksum of the time and everything after the line.
const head = "hedge-history 1 %020d %08x\n"

func parseHistory(data []byte) (time.Time, []byte, error) {
	line, snapshot, ok := bytes.Cut(data, []byte("\n"))
	var nanos int64
	var sum uint32
	if ok {
		_, err := fmt.Sscanf(string(line)+"\n", head, &nanos, &sum)
		ok = err == nil
	}
	var version int
	if _, err := fmt.Sscanf(string(line), "hedge-history %d ", &version); err == nil && version > 1 {
		return time.Time{}, nil,
			fmt.Errorf("it is of version %d, which a newer release has written; this one reads version 1", version)
	}
	if !ok || string(line)+"\n" != fmt.Sprintf(head, nanos, sum) {
		return time.Time{}, nil, fmt.Errorf("the first line is %.60q, expected one as %q", line, "hedge-history 1 ...")
	}
	if got := checksum(nanos, snapshot); got != sum {
		return time.Time{}, nil, fmt.Errorf("checksum %08x, expected %08x", got, sum)
	}
	if nanos == 0 {
		return time.Time{}, snapshot, nil
	}
	return time.Unix(0, nanos).UTC(), snapshot, nil
}

func checksum(nanos int64, snapshot []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE(fmt.Appendf(nil, "%d ", nanos)), crc32.IEEETable, snapshot)
}

// Save writes the history and the end of the last job that it has learnt from, as given by [Cluster.LearntUntil]. If
// the machine stops at any moment, the file is the whole old one or the whole new one. Call Save between two steps of
// the loop, so that both values belong together.
func (f HistoryFile) Save(h *predict.History, until time.Time) error {
	var snapshot bytes.Buffer
	if err := h.Save(&snapshot); err != nil {
		return fmt.Errorf("adapters: history: %w", err)
	}
	var nanos int64
	if !until.IsZero() {
		nanos = until.UnixNano()
	}
	data := append(fmt.Appendf(nil, head, nanos, checksum(nanos, snapshot.Bytes())), snapshot.Bytes()...)
	if err := replace(string(f), data); err != nil {
		return fmt.Errorf("adapters: history: %w", err)
	}
	return nil
}

// replace atomically replaces the file.
func replace(path string, data []byte) (err error) {
	dir := filepath.Dir(path)
	tmp, err := os.CreateTemp(dir, filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp.Name()))
		}
	}()
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	if err = os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return nil // the file is replaced; this system cannot sync a directory
	}
	return errors.Join(d.Sync(), d.Close())
}

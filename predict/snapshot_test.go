package predict_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc64"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/predict"
)

// taught returns a history of feature values with few samples and with many.
func taught(t testing.TB, o *predict.HistoryOptions) *predict.History {
	t.Helper()
	h := newHistory(t, o)
	rng := rand.New(rand.NewPCG(5, 5))
	for i := range 300 {
		u := strconv.Itoa(min(i%7, rng.IntN(40)))
		require.NoError(t, h.Observe(predict.Observation{Job: userJob("u" + u), Runtime: float64(rng.IntN(5000))}))
	}
	return h
}

func saved(t testing.TB, h *predict.History) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, h.Save(&b))
	return b.Bytes()
}

func TestSnapshotRoundTrip(t *testing.T) {
	for name, o := range map[string]*predict.HistoryOptions{
		"default": nil, "recent only": {RecentOnly: true, Recent: 5}, "point": {Result: predict.ResultPoint, Forget: 0.9},
	} {
		t.Run(name, func(t *testing.T) {
			h, back := taught(t, o), newHistory(t, o)
			b := saved(t, h)
			require.Equal(t, b, saved(t, h), "deterministic")
			require.NoError(t, back.Load(bytes.NewReader(b)))
			require.Equal(t, b, saved(t, back))
			rng := rand.New(rand.NewPCG(6, 6))
			for i := range 200 { // both go on alike
				j := userJob("u" + strconv.Itoa(i%9))
				require.Equal(t, h.Explain(j), back.Explain(j))
				p, q := h.Predict(j), back.Predict(j)
				require.Equal(t, p.Dist.Quantile(0.7), q.Dist.Quantile(0.7))
				x := rng.Float64() * 1e4
				require.NoError(t, h.Observe(predict.Observation{Job: j, Runtime: x}))
				require.NoError(t, back.Observe(predict.Observation{Job: j, Runtime: x}))
			}
			require.Equal(t, saved(t, h), saved(t, back))
		})
	}
}

func TestSnapshotIntoASmallerHistoryKeepsTheLatest(t *testing.T) {
	o := predict.HistoryOptions{Features: []predict.Feature{predict.All(), predict.Attr("user")}}
	h := newHistory(t, &o)
	for _, u := range []string{"a", "b", "c"} {
		require.NoError(t, h.Observe(predict.Observation{Job: userJob(u), Runtime: 10}))
	}
	o.MaxValues = 2
	small := newHistory(t, &o)
	require.NoError(t, small.Load(bytes.NewReader(saved(t, h))))
	require.Equal(t, 2, small.Len())
	require.Equal(t, 3, small.Predict(userJob("c")).Samples, "the broadest feature stays")
}

// resealed gives damaged contents a valid checksum.
func resealed(b []byte) []byte {
	b = b[:len(b)-8]
	return binary.LittleEndian.AppendUint64(b[:len(b):len(b)], crc64.Checksum(b, crc64.MakeTable(crc64.ECMA)))
}

func TestSnapshotRefusalsLeaveTheStateAlone(t *testing.T) {
	h := taught(t, nil)
	good := saved(t, h)
	change := func(f func(b []byte) []byte) []byte { return f(bytes.Clone(good)) }
	magic := len("hedge predict\n")
	cases := map[string]struct {
		snapshot []byte
		want     error
	}{
		"empty":         {nil, predict.ErrSnapshotCorrupt},
		"something":     {[]byte("hello, this is no snapshot at all"), predict.ErrSnapshotCorrupt},
		"magic only":    {good[:magic], predict.ErrSnapshotCorrupt},
		"last byte off": {good[:len(good)-1], predict.ErrSnapshotCorrupt},
		"half":          {good[:len(good)/2], predict.ErrSnapshotCorrupt},
		"trailing":      {append(bytes.Clone(good), 0), predict.ErrSnapshotCorrupt},
		"flipped bit":   {change(func(b []byte) []byte { b[len(b)/2] ^= 4; return b }), predict.ErrSnapshotCorrupt},
		"newer version": {change(func(b []byte) []byte { b[magic] = 4; return resealed(b) }), predict.ErrSnapshotVersion},
		"version 0":     {change(func(b []byte) []byte { b[magic] = 0; return resealed(b) }), predict.ErrSnapshotVersion},
		"other bins":    {saved(t, taught(t, &predict.HistoryOptions{Bins: 40})), predict.ErrSnapshotOptions},
		"other alpha":   {saved(t, taught(t, &predict.HistoryOptions{Alpha: 0.5})), predict.ErrSnapshotOptions},
		"other features": {
			saved(t, taught(t, &predict.HistoryOptions{Features: []predict.Feature{predict.Attr("user")}})),
			predict.ErrSnapshotOptions,
		},
		"cut and resealed": {change(func(b []byte) []byte { return resealed(b[:len(b)-40]) }), predict.ErrSnapshotCorrupt},
		"zeroes resealed": {change(func(b []byte) []byte { clear(b[len(b)-300 : len(b)-8]); return resealed(b) }),
			predict.ErrSnapshotCorrupt},
		"ones resealed": {change(func(b []byte) []byte {
			for i := len(b) - 300; i < len(b)-8; i++ {
				b[i] = 0xff
			}
			return resealed(b)
		}), predict.ErrSnapshotCorrupt},
	}
	for name, c := range cases {
		err := h.Load(bytes.NewReader(c.snapshot))
		require.ErrorIs(t, err, predict.ErrSnapshot, name)
		require.ErrorIs(t, err, c.want, name)
		require.Equal(t, good, saved(t, h), name)
	}
	require.ErrorContains(t, h.Load(bytes.NewReader(cases["newer version"].snapshot)),
		"4, which a newer release has written")
}

// TestLoadTellsItsReadersErrors: a disk that fails, at once or halfway, says nothing about the snapshot.
func TestLoadTellsItsReadersErrors(t *testing.T) {
	h := taught(t, nil)
	good := saved(t, h)
	broken := errors.New("read /nfs/history: input/output error")
	for _, n := range []int{0, 1, 1000, len(good)} {
		err := h.Load(io.MultiReader(bytes.NewReader(good[:n]), iotest.ErrReader(broken)))
		require.ErrorIs(t, err, broken)
		require.NotErrorIs(t, err, predict.ErrSnapshot)
		require.NotErrorIs(t, err, predict.ErrSnapshotCorrupt)
		require.Equal(t, good, saved(t, h))
	}
}

// TestLoadReadsVersion1: what was saved before goes on as it would have, long values included.
func TestLoadReadsVersion1(t *testing.T) {
	old, err := os.ReadFile("testdata/history-v1.bin")
	require.NoError(t, err)
	o := &predict.HistoryOptions{
		Features: []predict.Feature{predict.All(), predict.Attr("user"), predict.Attr("user", "name")}, Bins: 4, Recent: 3}
	job := func(i int) predict.Job {
		name := strings.Repeat("long ", 40*(i%2)) + "x"
		return predict.Job{Attributes: map[string]string{"user": "u" + strconv.Itoa(i%4), "name": name}}
	}
	fresh, loaded := newHistory(t, o), newHistory(t, o)
	for i := range 40 {
		require.NoError(t, fresh.Observe(predict.Observation{Job: job(i), Runtime: float64(100 + i*i)}))
	}
	require.NoError(t, loaded.Load(bytes.NewReader(old)))
	for i := range 4 {
		require.Equal(t, fresh.Explain(job(i)), loaded.Explain(job(i)))
	}
	require.Equal(t, saved(t, fresh), saved(t, loaded))
	require.NotEqual(t, old, saved(t, loaded), "it is saved as what it is now")
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestSaveReportsItsWriter(t *testing.T) {
	full := errors.New("disk full")
	require.ErrorIs(t, taught(t, nil).Save(failing{full}), full)
}

// What Load accepts can be used and saved; what it refuses changes nothing.
func FuzzLoad(f *testing.F) {
	o := &predict.HistoryOptions{Features: []predict.Feature{predict.Attr("user")}, Recent: 3, Bins: 4}
	good := saved(f, taught(f, o))
	f.Add(good)
	f.Add(good[:len(good)/3])
	f.Add(saved(f, newHistory(f, o)))
	usage := *o
	usage.Quantities = []predict.Quantity{predict.CPU, predict.Memory}
	f.Add(saved(f, taught(f, &usage)))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 8 {
			b = resealed(b)
		}
		h := taught(t, o)
		before := saved(t, h)
		if err := h.Load(bytes.NewReader(b)); err != nil {
			require.ErrorIs(t, err, predict.ErrSnapshot)
			require.Equal(t, before, saved(t, h))
			return
		}
		for _, u := range []string{"u0", "u1", "u9"} {
			require.NotNil(t, h.Predict(userJob(u)).Dist)
			require.NoError(t, h.Observe(predict.Observation{Job: userJob(u), Runtime: 5}))
		}
		saved(t, h)
	})
}

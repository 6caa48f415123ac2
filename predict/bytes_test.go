package predict_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/predict"
)

// heap is how many bytes are in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestHistoryIsBoundedInBytes: however many values there are, however long they are, and however often they come.
func TestHistoryIsBoundedInBytes(t *testing.T) {
	const limit = 4 << 20
	for name, job := range map[string]func(i int) predict.Job{
		"many values":      func(i int) predict.Job { return userJob(fmt.Sprint("user", i)) },
		"long values":      func(i int) predict.Job { return userJob(fmt.Sprint(strings.Repeat("u", 100), i)) },
		"very long values": func(i int) predict.Job { return userJob(fmt.Sprint(strings.Repeat("u", 10_000), i)) },
		"many samples":     func(i int) predict.Job { return userJob(fmt.Sprint("user", i/50)) },
	} {
		t.Run(name, func(t *testing.T) {
			before := heap()
			h := newHistory(t, &predict.HistoryOptions{MaxBytes: limit})
			most := 0
			for i := range 60_000 {
				require.NoError(t, h.Observe(predict.Observation{Job: job(i), Runtime: float64(i % 977)}))
				most = max(most, h.Len())
			}
			assert.LessOrEqual(t, heap()-before, int64(3*limit/2))
			assert.Greater(t, most, 500, "as many as there is room for")
			assert.Equal(t, 60_000, h.Predict(predict.Job{}).Samples, "what all jobs share is not forgotten")
			assert.Positive(t, h.Predict(job(59_999)).Samples)
			last := h.Explain(job(59_999))
			assert.Equal(t, "user", last[len(last)-1].Expert.Feature)
			b := saved(t, h)
			assert.LessOrEqual(t, len(b), limit)
			small := newHistory(t, &predict.HistoryOptions{MaxBytes: limit / 4})
			require.NoError(t, small.Load(bytes.NewReader(b)))
			assert.Less(t, small.Len(), h.Len()/2)
			assert.Equal(t, 60_000, small.Predict(predict.Job{}).Samples)
			back := newHistory(t, &predict.HistoryOptions{MaxBytes: limit})
			require.NoError(t, back.Load(bytes.NewReader(b)))
			assert.Equal(t, h.Predict(job(59_999)), back.Predict(job(59_999)))
			runtime.KeepAlive(h)
		})
	}
}

// TestTinyHistoryKeepsOne: a bound that nothing fits in leaves the value observed last.
func TestTinyHistoryKeepsOne(t *testing.T) {
	h := newHistory(t, &predict.HistoryOptions{MaxBytes: 1})
	for i := range 100 {
		require.NoError(t, h.Observe(predict.Observation{Job: userJob(fmt.Sprint(i)), Runtime: 10}))
		require.Equal(t, 1, h.Len())
	}
}

// TestLongValuesAreToldApart: they are shortened, but no two are alike then.
func TestLongValuesAreToldApart(t *testing.T) {
	h := newHistory(t, &predict.HistoryOptions{Features: []predict.Feature{predict.All(), predict.Attr("user")}})
	long := strings.Repeat("u", predict.MaxValue)
	for i, u := range []string{long, long + "u", long + "v", long + long} {
		for range 3 {
			require.NoError(t, h.Observe(predict.Observation{Job: userJob(u), Runtime: float64(100 * i)}))
		}
	}
	for i, u := range []string{long, long + "u", long + "v", long + long} {
		p := h.Predict(userJob(u))
		assert.InDelta(t, float64(100*i), p.Point, 0)
		assert.Equal(t, "user", p.Expert.Feature)
		if len(u) <= predict.MaxValue {
			assert.Equal(t, u, p.Expert.Value)
			continue
		}
		assert.Equal(t, fmt.Sprintf("%s...sha256:%x", u[:64], sha256.Sum256([]byte(u))), p.Expert.Value)
	}
}

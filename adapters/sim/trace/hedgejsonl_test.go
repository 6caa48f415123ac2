package trace_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/trace"
)

func BenchmarkHedgeJSONL(b *testing.B) {
	var log bytes.Buffer
	const jobs = 3000
	for i := range jobs {
		fmt.Fprintf(&log, `{"id":"%d","submit_s":12.5,"runtime_s":100,"tasks":3,"demand":{"cpu":1,"memory":2},"attributes":{"user":"u1","name":"n2"}}`+"\n", i)
	}
	b.SetBytes(int64(log.Len()))
	b.ReportAllocs()
	for b.Loop() {
		s, err := trace.NewReader(bytes.NewReader(log.Bytes()), "x", trace.HedgeJSONL, nil)
		require.NoError(b, err)
		n := 0
		for ; err == nil; n++ {
			_, err = s.Read()
		}
		require.True(b, errors.Is(err, io.EOF))
		require.Equal(b, jobs, n-1)
	}
}

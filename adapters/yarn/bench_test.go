package yarn

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkLook is a look at 10,000 jobs that wait, of which none or one has changed.
func BenchmarkLook(b *testing.B) {
	for _, changed := range []int{0, 1} {
		b.Run(fmt.Sprint("changed ", changed), func(b *testing.B) {
			s := newStand(b)
			for i := range 10_000 {
				require.NoError(b, os.WriteFile(filepath.Join(s.spool, jobsDir, fmt.Sprintf("j%d.yaml", i)), []byte(gangText), 0o600))
			}
			look := func(want int) {
				v, err := s.Observe(context.Background(), false)
				require.NoError(b, err)
				require.Len(b, v.Jobs, want)
			}
			look(10_000)
			s.state.jobsOld, s.state.statesOld = true, true // as when nothing has changed for a while
			n := 0
			for b.Loop() {
				if changed > 0 {
					n++
					b.StopTimer()
					s.write("j7.yaml", gangText+fmt.Sprintf("priority: %d\n", n))
					b.StartTimer()
				}
				look(changed)
			}
		})
	}
}

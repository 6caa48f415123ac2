//go:build unix

package bench

import (
	"os"
	"runtime"
	"syscall"
)

// peak is the largest resident set of a process that has ended, in MB; 0 if it did not start.
func peak(s *os.ProcessState) float64 {
	if s == nil {
		return 0
	}
	usage, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return float64(usage.Maxrss) / (1 << 20) // which counts bytes where others count kibibytes
	}
	return float64(usage.Maxrss) / (1 << 10)
}

package demo

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"
)

// Load is how many processes wanted a core while something went on, by the kernel's average over a minute.
type Load struct{ Least, Mean, Most float64 }

// String is the load in words.
func (l Load) String() string {
	return fmt.Sprintf("load average %.1f, from %.1f to %.1f", l.Mean, l.Least, l.Most)
}

// Comparable tells whether runs under two loads can be compared: the higher load is at most 1.5 times the lower one, or
// at most two for each core.
func (l Load) Comparable(o Load, cores int) bool {
	low, high := min(l.Mean, o.Mean), max(l.Mean, o.Mean)
	return high <= 1.5*low || high <= float64(2*cores)
}

// WatchLoad reads the load every second until stop is called or the context is done. Stop must be called. It returns
// what the load was, or zero where the kernel tells none.
func WatchLoad(ctx context.Context) (stop func() Load) {
	ctx, cancel := context.WithCancel(ctx)
	result := make(chan Load, 1)
	go func() {
		var l Load
		n := 0
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			if now, ok := loadNow(); ok {
				if n++; n == 1 {
					l.Least = now
				}
				l.Least, l.Most = min(l.Least, now), max(l.Most, now)
				l.Mean += (now - l.Mean) / float64(n)
			}
			select {
			case <-ctx.Done():
				result <- l
				return
			case <-tick.C:
			}
		}
	}()
	return func() Load {
		cancel()
		return <-result
	}
}

func loadNow() (float64, bool) {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, false
	}
	return parseLoad(string(text))
}

// parseLoad reads the first number, of the last minute.
func parseLoad(text string) (float64, bool) {
	var now float64
	_, err := fmt.Sscan(strings.TrimSpace(text), &now)
	return now, err == nil && now >= 0
}

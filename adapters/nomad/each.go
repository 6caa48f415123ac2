package nomad

import (
	"context"
	"sync"
	"sync/atomic"
)

// atOnce is how many calls are made at a time where many are needed at once.
const atOnce = 8

// each makes n calls, several at a time, until one fails, and returns what that one returned. None is under way any more then.
func each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var begun atomic.Int64
	var failed atomic.Bool
	var once sync.Once
	var first error
	var all sync.WaitGroup
	for range min(n, atOnce) {
		all.Go(func() {
			for !failed.Load() {
				i := int(begun.Add(1)) - 1
				if i >= n {
					return
				}
				if err := do(ctx, i); err != nil {
					once.Do(func() { first = err })
					failed.Store(true)
					cancel()
				}
			}
		})
	}
	all.Wait()
	return first
}

package nomad

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// atOnce is the number of concurrent calls for reads and writes in bulk.
const atOnce = 8

// each makes n calls, several at a time, until one fails. It returns that call's error after all calls have returned.
func each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	calls, ctx := errgroup.WithContext(ctx)
	calls.SetLimit(atOnce)
	for i := range n {
		calls.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return do(ctx, i)
		})
	}
	return calls.Wait()
}

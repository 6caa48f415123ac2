package nomad

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// atOnce is how many calls are made at a time where many are needed at once.
const atOnce = 8

// each makes n calls, several at a time, until one fails, and returns what that one returned. None is under way any
// more then.
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

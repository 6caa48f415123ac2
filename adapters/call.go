package adapters

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// call is a call to make in this cycle, with the handler of its answer.
type call struct {
	do   func(context.Context) error
	done func(error)
}

// later queues a call for the next flush. The call may run concurrently, so do must not touch the Cluster's state.
func (c *Cluster) later(do func(context.Context) error, done func(error)) {
	c.batch = append(c.batch, call{do, done})
}

// flush makes the queued calls and waits for all of them. It handles their answers in the order of the calls, whichever
// came first. Once an answer says that another instance leads, calls that have not begun are not made.
func (c *Cluster) flush(ctx context.Context) {
	calls := c.batch
	c.batch = nil
	answers := make([]error, len(calls))
	made := 0
	if c.fenced == nil {
		made = perform(ctx, calls, answers, c.opt.Parallel)
	}
	for _, err := range answers {
		if c.fenced == nil && errors.Is(err, ErrFenced) {
			c.fenced = err
		}
	}
	for i := range calls {
		if i >= made {
			answers[i] = c.fenced
		}
		calls[i].done(answers[i])
	}
}

// perform makes the calls, up to the given number concurrently. It returns the number of calls that were begun: all of
// them, unless another instance leads.
func perform(ctx context.Context, calls []call, answers []error, parallel int) int {
	var begun atomic.Int64
	var fenced atomic.Bool
	work := func() {
		for !fenced.Load() {
			i := int(begun.Add(1)) - 1
			if i >= len(calls) {
				return
			}
			if answers[i] = calls[i].do(ctx); errors.Is(answers[i], ErrFenced) {
				fenced.Store(true)
			}
		}
	}
	var others sync.WaitGroup
	for range min(parallel, len(calls)) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	return min(int(begun.Load()), len(calls))
}

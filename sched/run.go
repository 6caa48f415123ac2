package sched

import (
	"context"
	"time"
)

// Clock is the time [Loop.Run] goes by.
type Clock interface {
	// Now is the current time.
	Now() time.Time
	// After delivers once, no earlier than d from now.
	After(d time.Duration) <-chan time.Time
}

// systemClock is the machine's own.
type systemClock struct{}

func (systemClock) Now() time.Time                         { return time.Now() }
func (systemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// Wake asks Run for a cycle at once. Many calls before it comes are one. It
// never blocks and is safe for concurrent use.
func (l *Loop) Wake() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Run does a cycle at once and then one every cycle time and whenever Wake is
// called, until the context is done, which is no error, or a cycle fails and the
// error handler does not let it go on. It starts no goroutine.
func (l *Loop) Run(ctx context.Context) error {
	for {
		if ctx.Err() != nil {
			return nil
		}
		_, err := l.Step(ctx, l.clock.Now())
		if ctx.Err() != nil {
			return nil
		}
		if err != nil && l.onError != nil {
			err = l.onError(err)
		}
		if err != nil {
			return err
		}
		var next <-chan time.Time
		if l.cycle > 0 {
			next = l.clock.After(l.cycle)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-l.wake:
		case <-next:
		}
	}
}

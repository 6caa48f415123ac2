package yarn

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// turns are the calls of one process that wait for a spool's lock. Calls that wait at the same time share one lock and
// run concurrently, so that the disk writes for all of them at once. Calls with the same name take turns, and a call
// without a name runs alone.
type turns struct {
	turn chan struct{} // holds one element while no call of this process runs: the file's lock is per process

	mu      sync.Mutex
	waiting []*waiting
}

// waiting is a call that waits for its turn.
type waiting struct {
	name string
	do   func() error
	done chan error // buffered, for the result
}

// locked calls do while no other instance and no other call of this one runs.
func (s *spool) locked(ctx context.Context, do func() error) error { return s.lockedFor(ctx, "", do) }

// lockedFor calls do for one job, while no other instance runs and no other call of this one for the same job. It may
// call do on another call's goroutine. If the context ends before the call's turn, do is not called.
func (s *spool) lockedFor(ctx context.Context, name string, do func() error) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	c := &waiting{name, do, make(chan error, 1)}
	s.enter(c)
	for {
		select {
		case err := <-c.done:
			return err
		case <-s.turn:
			err := s.next(ctx)
			s.turn <- struct{}{}
			if err != nil && s.leave(c) {
				return s.fail(err)
			}
		case <-ctx.Done():
			if s.leave(c) {
				return s.fail(ctx.Err())
			}
			return <-c.done
		}
	}
}

// next runs the calls whose turn it is. It returns an error if it does not get the lock.
func (s *spool) next(ctx context.Context) error {
	if s.none() {
		return nil
	}
	got, err := s.lock.TryLockContext(ctx, 5*time.Millisecond)
	if err == nil && !got {
		err = errors.New("it is locked")
	}
	if err != nil {
		return err
	}
	calls := s.together()
	errs := make([]error, len(calls))
	var all sync.WaitGroup
	for i, c := range calls {
		all.Go(func() { errs[i] = c.do() })
	}
	all.Wait()
	unlock := s.fail(s.lock.Unlock())
	for i, c := range calls {
		if errs[i] == nil {
			errs[i] = unlock
		}
		c.done <- errs[i]
	}
	return nil
}

func (t *turns) enter(c *waiting) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting = append(t.waiting, c)
}

// leave removes a call from the list, and reports whether it was still there.
func (t *turns) leave(c *waiting) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(t.waiting, c)
	if i >= 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
	}
	return i >= 0
}

func (t *turns) none() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.waiting) == 0
}

// together removes the calls that may run concurrently from the list: each name once, and none that came after a call
// without a name.
func (t *turns) together() []*waiting {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out, left []*waiting
	seen := map[string]bool{}
	for i, c := range t.waiting {
		if seen[""] || seen[c.name] || c.name == "" && i > 0 {
			left = append(left, c)
		} else {
			out = append(out, c)
		}
		seen[c.name] = true
	}
	t.waiting = left
	return out
}

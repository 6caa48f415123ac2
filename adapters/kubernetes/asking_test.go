package kubernetes

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
)

// TestAsking: an answer is never older than the question, and those who wait for one share the next.
func TestAsking(t *testing.T) {
	var a asking
	var now, reads atomic.Uint64
	begun, goOn := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		got, err := a.ask(t.Context(), func(context.Context) (leader, error) {
			close(begun)
			<-goOn
			return leader{}, nil
		})
		assert.NoError(t, err)
		assert.Zero(t, got)
	})
	<-begun
	now.Store(7) // what that question may not know
	const many = 20
	for range many {
		all.Go(func() {
			got, err := a.ask(t.Context(), func(context.Context) (leader, error) {
				reads.Add(1)
				return leader{epoch: now.Load()}, nil
			})
			assert.NoError(t, err)
			assert.EqualValues(t, 7, got.epoch)
		})
	}
	close(goOn)
	all.Wait()
	assert.LessOrEqual(t, reads.Load(), uint64(many))
	assert.Positive(t, reads.Load())
}

// TestAskingTogether: those who ask while a question is under way have one answer together, errors too.
func TestAskingTogether(t *testing.T) {
	var a asking
	a.turn.Lock() // a question is under way
	wrong := errors.New("wrong")
	var all sync.WaitGroup
	var reads atomic.Uint64
	ask := func() {
		_, err := a.ask(t.Context(), func(context.Context) (leader, error) {
			reads.Add(1)
			return leader{}, wrong
		})
		assert.ErrorIs(t, err, wrong)
	}
	all.Go(ask)
	for a.waits() == nil { // until it waits for its turn
		runtime.Gosched()
	}
	next := a.waits()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := a.ask(gone, nil)
	require.ErrorIs(t, err, adapters.ErrUnavailable)
	assert.Same(t, next, a.waits(), "it would have had the same")
	a.turn.Unlock()
	all.Wait()
	assert.EqualValues(t, 1, reads.Load())
}

func (a *asking) waits() *answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.next
}

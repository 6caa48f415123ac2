package live

import (
	"sync"
	"time"

	"github.com/hedgesched/hedge/adapters/live/internal/pb"
)

// item is one thing in a part's mailbox.
type item struct {
	entry *pb.Entry // an input, which goes into the journal if the part has one
	reply func(answer)
	ended *run // a command of this worker that has ended
	// restarted tells a worker that it begins another life.
	restarted bool
	// resend sends again what has waited since the last resend or, with all, everything that waits.
	resend, all bool
}

// answer is the result of a request, once the request is in the journal.
type answer struct {
	id  int32
	err error
}

// mailbox is an unbounded queue of items: put never blocks.
type mailbox struct {
	mu    sync.Mutex
	items []item
	wake  chan struct{}
}

func newMailbox() *mailbox { return &mailbox{wake: make(chan struct{}, 1)} }

func (m *mailbox) put(i item) {
	m.mu.Lock()
	m.items = append(m.items, i)
	m.mu.Unlock()
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// take removes and returns all items.
func (m *mailbox) take() []item {
	m.mu.Lock()
	defer m.mu.Unlock()
	items := m.items
	m.items = nil
	return items
}

// timer is a timer that a part has set; seq counts the part's timers.
type timer struct {
	due  time.Duration
	seq  uint64
	name uint32
}

// timers is a heap by due time, then in the order of setting.
type timers []timer

func (t timers) Len() int { return len(t) }
func (t timers) Less(i, j int) bool {
	return t[i].due < t[j].due || t[i].due == t[j].due && t[i].seq < t[j].seq
}
func (t timers) Swap(i, j int) { t[i], t[j] = t[j], t[i] }

// Push implements heap.Interface.
func (t *timers) Push(x any) { *t = append(*t, x.(timer)) }

// Pop implements heap.Interface.
func (t *timers) Pop() any {
	last := len(*t) - 1
	x := (*t)[last]
	*t = (*t)[:last]
	return x
}

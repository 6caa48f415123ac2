package live

import (
	"sync"
	"time"

	"github.com/hedgesched/hedge/adapters/live/internal/pb"
)

// item is one thing in a part's mailbox.
type item struct {
	entry *pb.Entry // what a journal has, if the part has one
	reply func(answer)
	ended *run // of a worker: a command that has ended
	// restarted is that this worker begins another life.
	restarted bool
	// resend sends again what waits since the last resend or, with all, whatever waits.
	resend, all bool
}

// answer is what a request came to, once that is in the journal.
type answer struct {
	id  int32
	err error
}

// mailbox is a queue of items without a bound: whoever puts one in does not wait.
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

// take is all that waits.
func (m *mailbox) take() []item {
	m.mu.Lock()
	defer m.mu.Unlock()
	items := m.items
	m.items = nil
	return items
}

// timer is one that a part has set; seq counts a part's.
type timer struct {
	due  time.Duration
	seq  uint64
	name uint32
}

// timers is a heap by due time, then by order of setting.
type timers []timer

func (t timers) Len() int { return len(t) }
func (t timers) Less(i, j int) bool {
	return t[i].due < t[j].due || t[i].due == t[j].due && t[i].seq < t[j].seq
}
func (t timers) Swap(i, j int) { t[i], t[j] = t[j], t[i] }

// Push is that of heap.Interface.
func (t *timers) Push(x any) { *t = append(*t, x.(timer)) }

// Pop is that of heap.Interface.
func (t *timers) Pop() any {
	last := len(*t) - 1
	x := (*t)[last]
	*t = (*t)[:last]
	return x
}

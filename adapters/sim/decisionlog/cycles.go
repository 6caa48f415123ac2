package decisionlog

import (
	"fmt"
	"time"
)

// cycles counts how often the policy was asked, from the other lines of a log. A simulation asks at the
// multiples of its cycle while jobs wait or run, or, with a cycle of 0, at each instant at which jobs are
// submitted or finish. Where decisions fall elsewhere, as when planning takes simulated time, only bounds
// are known.
type cycles struct {
	every time.Duration
	alive int // jobs that wait or run
	runs  int // of them, those that run

	count   int           // so far
	due     time.Duration // of the next, if planned
	planned bool
	open    bool          // decisions of the cycle at last may follow
	last    time.Duration // of the last
	none    bool          // there was no last

	moments int           // with decisions
	moment  time.Duration // the last of them
	odd     bool          // a decision was not made when one was due
	stands  int           // cycles since the last submission after which nothing is to come
}

func newCycles(every time.Duration) cycles { return cycles{every: every, none: true, moment: -1} }

// arrive notes a submission.
func (c *cycles) arrive(at time.Duration) {
	c.come(at)
	c.stands = 0
	if c.every > 0 && !c.planned {
		from := at
		if !c.none {
			from = max(from, c.last+1)
		}
		c.plan(from)
	}
	c.alive++
}

// leave notes a completion.
func (c *cycles) leave(at time.Duration) {
	c.come(at)
	c.alive--
	c.runs--
}

// plan sets the next cycle to the first multiple no earlier than a time.
func (c *cycles) plan(from time.Duration) {
	if rest := from % c.every; rest > 0 {
		from += c.every - rest
	}
	c.due, c.planned = from, true
}

// come notes that something other than a decision happens at a time.
func (c *cycles) come(at time.Duration) {
	c.close()
	if c.every > 0 {
		c.until(at)
		return
	}
	if !c.planned || c.due != at {
		c.until(at)
		c.due, c.planned = at, true
	}
}

// until counts the cycles before a time.
func (c *cycles) until(at time.Duration) {
	for c.planned && c.due < at {
		if c.every > 0 && c.alive > 0 {
			// Nothing happens until then: all cycles are alike.
			n := int((at-1-c.due)/c.every) + 1
			c.count += n
			c.last, c.none = c.due+time.Duration(n-1)*c.every, false
			c.due = c.last + c.every
			return
		}
		c.ask()
		c.close()
	}
}

// ask counts the cycle that is due.
func (c *cycles) ask() {
	c.count++
	c.last, c.none = c.due, false
	c.planned, c.open = false, true
	if c.runs == 0 && c.alive > 0 {
		c.stands++
	}
}

// close ends the cycle whose decisions may have followed.
func (c *cycles) close() {
	if !c.open {
		return
	}
	c.open = false
	if c.every > 0 && c.alive > 0 {
		c.due, c.planned = c.last+c.every, true
	}
}

// decide notes a decision: a start, which has one job more run, a preemption, one less, or a drop.
func (c *cycles) decide(kind string, at time.Duration) {
	if c.moment != at {
		c.moment = at
		c.moments++
	}
	if !c.open || c.last != at {
		c.close()
		c.until(at)
		if c.planned && c.due == at {
			c.ask()
		} else {
			c.odd = true
		}
	}
	switch kind {
	case Start:
		c.runs++
	case Preempt:
		c.runs--
		c.stands++
	case Drop:
		c.alive--
	}
}

// repeats is how often more a simulation with a cycle of 0 asks when nothing is to come.
const repeats = 2

// check tells whether there can have been that number of cycles, given when the log ends.
func (c *cycles) check(told int, end time.Duration) error {
	c.close()
	c.until(end)
	if c.planned && c.due == end {
		c.ask()
	}
	least, most := c.count, c.count
	switch {
	case c.odd:
		least, most = c.moments, told
	case c.every == 0:
		most += repeats * c.stands
	}
	switch {
	case told >= least && told <= most:
		return nil
	case least == most:
		return fmt.Errorf("%w: %d cycles, by the other lines %d", ErrMismatch, told, least)
	case c.odd:
		return fmt.Errorf("%w: %d cycles, but decisions at %d times", ErrMismatch, told, least)
	default:
		return fmt.Errorf("%w: %d cycles, by the other lines %d to %d", ErrMismatch, told, least, most)
	}
}

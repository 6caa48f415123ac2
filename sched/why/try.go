package why

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/whatif"
)

// errTries ends the search when all tries are used up.
var errTries = errors.New("why: all tries are used up")

// trial tries changes for one job and counts the plans made.
type trial struct {
	*Explainer
	ctx   context.Context
	job   string
	limit int // of tries
	tries int
	known map[string]bool // what trials said, by their changes
}

// starts reports whether the policy starts the job in a snapshot with these changes. Without changes it does not, as
// the plan shows.
func (t *trial) starts(changes ...whatif.Change) (bool, error) {
	if len(changes) == 0 {
		return false, nil
	}
	if err := t.ctx.Err(); err != nil {
		return false, err
	}
	key := texts(changes)
	if ok, known := t.known[key]; known {
		return ok, nil
	}
	if t.tries++; t.tries > t.limit {
		return false, errTries
	}
	changed, err := whatif.Apply(t.snap, changes)
	if err != nil {
		return false, err
	}
	plan, err := t.opt.Plan(t.ctx, changed)
	if err != nil {
		return false, err
	}
	ok := slices.ContainsFunc(plan.Decisions, func(d sched.Decision) bool {
		return d.Kind == sched.Start && d.Job == t.job
	})
	if t.known == nil {
		t.known = map[string]bool{}
	}
	t.known[key] = ok
	return ok, nil
}

// texts writes changes as one text.
func texts(changes []whatif.Change) string {
	var b strings.Builder
	for i := range changes {
		b.WriteString(changes[i].String())
		b.WriteByte('\n')
	}
	return b.String()
}

// least finds a size from 1 to most with which the job starts, though it does not with a size one smaller; 0 means that
// none was found. The search makes ever larger steps away from the guess, then bisects. Without a planner it returns
// the guess itself. Size 0 stands for no change. Settled reports that the next smaller size was tried and did not start
// the job.
func (t *trial) least(guess, most int, change func(size int) []whatif.Change) (size int, settled bool, err error) {
	if most < 1 {
		return 0, false, nil
	}
	try := func(size int) (bool, error) {
		if size == 0 {
			return false, nil
		}
		return t.starts(change(size)...)
	}
	if guess = max(1, guess); t.opt.Plan == nil {
		if guess > most {
			return 0, false, nil
		}
		return guess, false, nil
	}
	guess = min(guess, most)
	lo, hi := 0, 0 // the job does not start with lo; it starts with hi unless hi is 0
	ok, err := try(guess)
	switch {
	case err != nil:
		return 0, false, err
	case ok:
		hi = guess
		for step := 1; lo == 0 && hi > 1; step *= 2 {
			at := max(0, hi-step)
			if ok, err = try(at); err != nil {
				return hi, false, ended(err)
			}
			if !ok {
				lo = at
				break
			}
			hi = at
		}
	case guess == most:
		return 0, false, nil
	default:
		lo = guess
		if ok, err = try(most); err != nil || !ok {
			return 0, false, err
		}
		hi = most
		for step := 1; lo+step < hi; step *= 4 { // sizes far from the guess are not rare, and each costs a plan
			if ok, err = try(lo + step); err != nil {
				return hi, false, ended(err)
			}
			if ok {
				hi = lo + step
				break
			}
			lo += step
		}
	}
	for hi-lo > 1 {
		at := lo + (hi-lo)/2
		if ok, err = try(at); err != nil {
			return hi, false, ended(err)
		}
		if ok {
			hi = at
		} else {
			lo = at
		}
	}
	return hi, true, nil
}

// ended returns nil for errors that end the search without being failures: tries used up, context done.
func ended(err error) error {
	if errors.Is(err, errTries) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// needed removes items one by one as long as the job still starts without them. It expects that the job starts with all
// items. Settled reports that the job was seen not to start without any one of the items left.
func (t *trial) needed(items []string, change func([]string) []whatif.Change) (left []string, settled bool, err error) {
	left = items
	for again := len(left) > 1; again; {
		again = false
		for i := 0; i < len(left) && len(left) > 1; {
			fewer := slices.Delete(slices.Clone(left), i, i+1)
			ok, err := t.starts(change(fewer)...)
			switch {
			case err != nil:
				return left, false, ended(err)
			case ok:
				left, again = fewer, len(fewer) > 1
			default:
				i++
			}
		}
	}
	return left, true, nil
}

// gone returns the changes that drop these jobs.
func gone(jobs []string) []whatif.Change {
	out := make([]whatif.Change, len(jobs))
	for i, id := range jobs {
		out[i] = whatif.Change{Verb: whatif.Drop, Name: id}
	}
	return out
}

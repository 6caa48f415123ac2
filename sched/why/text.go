package why

import (
	"fmt"
	"strconv"
	"strings"
)

// maxTold limits the holders that the text names.
const maxTold = 5

// String is the explanation in words: one or more lines, without a final newline.
func (x *Explanation) String() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	switch x.State {
	case Starts:
		return fmt.Sprintf("%s starts now: %s", x.Job, x.Reason)
	case Runs:
		return fmt.Sprintf("%s runs, and is expected to end %s", x.Job, x.Ends)
	case Held:
		return fmt.Sprintf("%s waits for %s to finish", x.Job, list(x.Ahead))
	case Stops:
		return fmt.Sprintf("%s runs, and is %s", x.Job, x.Reason)
	}
	line("%s waits: %s", x.Job, x.Reason)
	switch {
	case x.Obstacle != nil:
		line("it can never start as things are: %s", x.Obstacle)
	case x.Fits >= x.Tasks:
		line("there is room for its %s now, on %s", count(x.Tasks, "task"), x.Set)
	default:
		line("there is room for %d of its %s now, on %s", x.Fits, count(x.Tasks, "task"), x.Set)
	}
	for i := range x.Short {
		line("short: %s", &x.Short[i])
	}
	for i := range x.Holders[:min(len(x.Holders), maxTold)] {
		line("held: by %s", &x.Holders[i])
	}
	if more := len(x.Holders) - maxTold; more > 0 {
		line("held: by %d more", more)
	}
	if len(x.Ahead) > 0 {
		line("before it: %s", list(x.Ahead))
	}
	for i := range x.Remedies {
		line("it would start now: %s", x.Remedies[i].Text)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// String says in words what is short.
func (s *Shortage) String() string {
	if s.Label != "" {
		return "no node has " + s.Label
	}
	text := fmt.Sprintf("needs %s %s, %s too little", amount(s.Need), s.Resource, amount(s.Need-s.Free))
	if s.Idle > s.Free {
		text += fmt.Sprintf(" (%s is free, %s of it where a task fits)", amount(s.Idle), amount(s.Free))
	}
	return text
}

// String says in words how much room the holder has, and until when.
func (h *Holder) String() string {
	until := h.Ends.String()
	if h.Overdue {
		until = "at any moment: it has run longer than forecast"
	}
	return fmt.Sprintf("%s on %s, room for %s; ends %s", h.Job, count(h.Nodes, "node"), count(h.Tasks, "task"), until)
}

// String is the median, followed by the 80 % interval if its ends differ.
func (s *Span) String() string {
	low, high := in(s.P10), in(s.P90)
	if low == high {
		return in(s.P50)
	}
	low, high = strings.TrimPrefix(low, "in "), strings.TrimPrefix(high, "in ")
	return fmt.Sprintf("%s (80%% sure: %s to %s)", in(s.P50), low, high)
}

func amount(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

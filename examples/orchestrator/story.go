package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
)

// story tells what happens as it happens, and draws it at the end. It is not safe for concurrent use.
type story struct {
	out     io.Writer
	began   time.Time
	history predict.Predictor
	stints  []stint
	waiting map[string]bool
}

// stint is the time a job held its slots, to its end or to its preemption.
type stint struct {
	job       *sched.Job
	slots     []string
	from, to  time.Duration
	preempted bool
}

func newStory(out io.Writer, history predict.Predictor) *story {
	return &story{out: out, began: time.Now(), history: history, waiting: map[string]bool{}}
}

// say writes a line with the time in front.
func (s *story) say(job, format string, args ...any) {
	fmt.Fprintf(s.out, "%5.1fs  %-8s %s\n", time.Since(s.began).Seconds(), job, fmt.Sprintf(format, args...))
}

// submitted tells of a job and what history says of its runtime.
func (s *story) submitted(j *sched.Job) {
	p := s.history.Predict(predict.Job{ID: j.ID, Attributes: j.Attributes, Submitted: j.Submitted})
	due := "no deadline"
	if j.Deadline > 0 {
		due = fmt.Sprintf("due in %.1f s", j.Deadline.Seconds())
	}
	s.say(j.ID, "submitted: %s, %s, predicted %.1f s (80 %%: %.1f to %.1f, from %d runs)",
		tasks(j.Tasks), due, p.Point, p.Dist.Quantile(.1), p.Dist.Quantile(.9), p.Samples)
}

func tasks(n int) string {
	if n == 1 {
		return "1 task"
	}
	return fmt.Sprintf("%d tasks at once", n)
}

// waits tells once, until the job starts, why it does not.
func (s *story) waits(d *sched.Decision) {
	if !s.waiting[d.Job] {
		s.waiting[d.Job] = true
		s.say(d.Job, "waits: %s", d.Reason)
	}
}

// started tells where a job starts and why.
func (s *story) started(j *sched.Job, nodes []sched.NodeTasks, why sched.Reason) {
	slots := make([]string, len(nodes))
	for i, n := range nodes {
		slots[i] = n.Node
	}
	slices.Sort(slots)
	delete(s.waiting, j.ID)
	s.stints = append(s.stints, stint{job: j, slots: slots, from: time.Since(s.began), to: -1})
	s.say(j.ID, "starts on %s: %s", strings.Join(slots, ", "), why)
}

// ended tells how a stint ended, and how the prediction fared.
func (s *story) ended(j *sched.Job, preempted bool, why sched.Reason) {
	at := slices.IndexFunc(s.stints, func(st stint) bool { return st.job == j && st.to < 0 })
	if at < 0 {
		return
	}
	st := &s.stints[at]
	st.to, st.preempted = time.Since(s.began), preempted
	ran := (st.to - st.from).Seconds()
	if preempted {
		s.say(j.ID, "killed after %.1f s: %s; will start again", ran, why)
		return
	}
	p := s.history.Predict(predict.Job{ID: j.ID, Attributes: j.Attributes, Submitted: j.Submitted})
	verdict := ""
	if j.Deadline > 0 {
		left := j.Deadline - time.Since(j.Submitted)
		verdict = fmt.Sprintf("; deadline met with %.1f s to spare", left.Seconds())
		if left < 0 {
			verdict = fmt.Sprintf("; deadline missed by %.1f s", -left.Seconds())
		}
	}
	s.say(j.ID, "finished: ran %.1f s, predicted %.1f s%s", ran, p.Point, verdict)
}

// picture draws who held which slot when; a job is drawn with the first letter of its name.
func (s *story) picture(slots []string) {
	const perSecond = 5
	end := time.Since(s.began)
	fmt.Fprintf(s.out, "\nWho held which slot (%d letters a second, lower case was thrown away):\n", perSecond)
	for _, slot := range slots {
		row := []byte(strings.Repeat(".", int(end.Seconds()*perSecond)+1))
		for _, st := range s.stints {
			if !slices.Contains(st.slots, slot) {
				continue
			}
			letter := strings.ToUpper(st.job.ID[:1])
			if st.preempted {
				letter = strings.ToLower(letter)
			}
			for i := int(st.from.Seconds() * perSecond); i < min(len(row), int(st.to.Seconds()*perSecond)); i++ {
				row[i] = letter[0]
			}
		}
		fmt.Fprintf(s.out, "  %s  %s\n", slot, row)
	}
}

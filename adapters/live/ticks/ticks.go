// Package ticks is work for trials of live systems: tasks that take a given time of work, of which nothing is done
// while they are stopped, and that leave a trace which is there once however often they ran. It is no measure of a
// machine: it waits, and computes nothing.
package ticks

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Work takes the time total in ticks. A wake-up counts for one tick at most, so time while the process is stopped does
// not count, but for the tick in which it is. The clock is now; sleep waits.
func Work(total, tick time.Duration, now func() time.Time, sleep func(time.Duration)) {
	due := now()
	for done := time.Duration(0); done < total; {
		step := min(tick, total-done)
		due = due.Add(step)
		sleep(due.Sub(now()))
		// A little late is made up for by a shorter next tick; what is more than a tick was no time of work.
		if late := now(); late.Sub(due) > tick {
			due = late
		}
		done += step
	}
}

// Publish makes the file that says that a task was done: whole at once, and once. A second time changes nothing. An
// attempt that is killed meanwhile may leave a file behind whose name begins with a dot.
func Publish(dir, job string, task int) error {
	f, err := os.CreateTemp(dir, ".attempt-*")
	if err != nil {
		return fmt.Errorf("ticks: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // what stays begins with a dot
	_, err = fmt.Fprintln(f, os.Getpid())
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("ticks: %w", err)
	}
	err = os.Link(f.Name(), filepath.Join(dir, Name(job, task)))
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("ticks: %w", err)
	}
	return nil
}

// Spec is what the tasks of a job do: each works for its time of Work, in ticks, and then publishes its effect in the
// folder Effects, or nowhere if that is empty.
type Spec struct {
	Work    []time.Duration
	Tick    time.Duration
	Effects string
}

// variable has a task's Spec.
const variable = "HEDGE_TICKS"

// Environment is the variable, NAME=VALUE, that makes a program which calls [Main] do this.
func (s *Spec) Environment() (string, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("ticks: %w", err)
	}
	return variable + "=" + string(text), nil
}

// Main does what the environment says and tells whether it says anything. The task is that of HEDGE_TASK, and the job
// that of HEDGE_JOB, as package process sets them.
func Main() (asked bool, err error) {
	text, asked := os.LookupEnv(variable)
	if !asked {
		return false, nil
	}
	var s Spec
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return true, fmt.Errorf("ticks: %s: %w", variable, err)
	}
	task, err := strconv.Atoi(os.Getenv("HEDGE_TASK"))
	if err != nil || task < 0 || task >= len(s.Work) || s.Tick <= 0 {
		return true, fmt.Errorf("ticks: found task %q and a tick of %v, expected 0 to %d and more than 0",
			os.Getenv("HEDGE_TASK"), s.Tick, len(s.Work)-1)
	}
	Work(s.Work[task], s.Tick, time.Now, time.Sleep)
	if s.Effects == "" {
		return true, nil
	}
	return true, Publish(s.Effects, os.Getenv("HEDGE_JOB"), task)
}

// Name is the name of the file of a task that was done.
func Name(job string, task int) string { return url.PathEscape(job) + "." + strconv.Itoa(task) }

// Package ticks is the work of test tasks for live systems. A task works for a given time, makes no progress while it
// is stopped, and leaves a trace that exists once, however often the task ran. It waits and computes nothing, so it
// does not measure a machine.
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

// Work works for the time total, in steps of one tick. A step counts as one tick however long it really took, so time
// in which the process is stopped counts as at most one tick. Now is the clock; sleep waits.
func Work(total, tick time.Duration, now func() time.Time, sleep func(time.Duration)) {
	due := now()
	for done := time.Duration(0); done < total; {
		step := min(tick, total-done)
		due = due.Add(step)
		sleep(due.Sub(now()))
		// Up to a tick of delay is made up for by a shorter next step; the process was stopped for any longer one.
		if late := now(); late.Sub(due) > tick {
			due = late
		}
		done += step
	}
}

// Publish creates the file that says that a task was done. The file appears whole, at once. Publishing again changes
// nothing. An attempt that is killed may leave a temporary file whose name begins with a dot.
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

// Spec is the work of a job's tasks. Task i works for Work[i] in steps of Tick, which must be above 0, and then
// publishes its effect in the folder Effects, or nowhere if that is empty.
type Spec struct {
	Work    []time.Duration
	Tick    time.Duration
	Effects string
}

// variable is the environment variable that has a task's Spec.
const variable = "HEDGE_TICKS"

// Environment returns the variable, as NAME=VALUE, that makes a program which calls [Main] do this work.
func (s *Spec) Environment() (string, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("ticks: %w", err)
	}
	return variable + "=" + string(text), nil
}

// Main does the work that the environment asks for. Asked reports whether it asks for any. The task's index is in
// HEDGE_TASK and the job's name in HEDGE_JOB, as package process sets them.
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

// Name is the name of the file that says that a task was done.
func Name(job string, task int) string { return url.PathEscape(job) + "." + strconv.Itoa(task) }

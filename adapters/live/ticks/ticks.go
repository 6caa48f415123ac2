// Package ticks is work for trials of live systems: tasks that take a given time of work, of which nothing is done
// while they are stopped, and that leave a trace which is there once however often they ran. It is no measure of a
// machine: it waits, and computes nothing.
package ticks

import (
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

// Publish makes the file that says that a task was done: whole at once, and once. A second time changes nothing.
func Publish(dir, job string, task int) error {
	f, err := os.CreateTemp(dir, ".attempt-*")
	if err != nil {
		return fmt.Errorf("ticks: %w", err)
	}
	defer os.Remove(f.Name())
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

// Name is the name of the file of a task that was done.
func Name(job string, task int) string { return url.PathEscape(job) + "." + strconv.Itoa(task) }

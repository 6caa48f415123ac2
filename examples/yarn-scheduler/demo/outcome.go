package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hedgesched/hedge/adapters/testservers"
	"github.com/hedgesched/hedge/examples/internal/demo"
)

// task is what is known of a task of some attempt.
type task struct {
	attempt              int
	app                  time.Time // when its application was handed in
	placed, began, ended time.Time
}

// Look makes outcomes of what tasks have written down. When they got their containers under YARN's own scheduler stands
// in the ResourceManager's log; hedge gives a whole gang its nodes when it hands in its application.
func (f *field) Look(context.Context) (map[string]demo.Outcome, error) {
	files, err := os.ReadDir(f.records())
	if err != nil {
		return nil, err
	}
	var placed map[string]time.Time
	if f.Policy == "" {
		log, err := os.ReadFile(filepath.Join(f.dir, testservers.ResourceManager+".log"))
		if err != nil {
			return nil, err
		}
		placed = allocated(log)
	}
	of := map[string][]task{}
	for _, file := range files {
		job, container, t, err := parse(file.Name())
		if err != nil {
			return nil, err
		}
		text, err := os.ReadFile(filepath.Join(f.records(), file.Name()))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if t.began, t.ended = span(text); t.began.IsZero() {
			continue
		}
		t.placed = t.app
		if f.Policy == "" {
			t.placed = placed[container]
		}
		of[job] = append(of[job], t)
	}
	out := make(map[string]demo.Outcome, len(of))
	for job, tasks := range of {
		out[job] = outcome(tasks, f.tasks[job])
	}
	return out, nil
}

var containerID = regexp.MustCompile(`^container_(?:e\d+_)?(\d+)_\d+_\d+_\d+$`)

// parse reads the name of a record: JOB.ATTEMPT.CONTAINER. An application's id, which is a part of its containers',
// begins with when it was handed in.
func parse(name string) (job, container string, t task, err error) {
	parts := strings.Split(name, ".")
	if len(parts) == 3 {
		if id := containerID.FindStringSubmatch(parts[2]); id != nil {
			ms, wrong := strconv.ParseInt(id[1], 10, 64)
			t.app = time.UnixMilli(ms)
			if t.attempt, err = strconv.Atoi(parts[1]); err == nil && wrong == nil {
				return parts[0], parts[2], t, nil
			}
		}
	}
	return "", "", task{}, fmt.Errorf("record %q, expected JOB.ATTEMPT.CONTAINER", name)
}

// span is when a task began and ended by its record, zero where it has not.
func span(text []byte) (began, ended time.Time) {
	for line := range bytes.Lines(text) {
		word, number, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
		ns, err := strconv.ParseInt(number, 10, 64)
		switch {
		case err != nil || !bytes.HasSuffix(line, []byte("\n")): // it is just being written
		case word == "began":
			began = time.Unix(0, ns)
		case word == "ended":
			ended = time.Unix(0, ns)
		}
	}
	return began, ended
}

var transition = regexp.MustCompile(`^(\S+ \S+) INFO \S+ (container_\w+) Container Transitioned from NEW to ALLOCATED$`)

// allocated is when the ResourceManager gave containers away, by its log.
func allocated(log []byte) map[string]time.Time {
	out := map[string]time.Time{}
	for lines := bufio.NewScanner(bytes.NewReader(log)); lines.Scan(); {
		if m := transition.FindSubmatch(lines.Bytes()); m != nil {
			if at, err := time.ParseInLocation("2006-01-02 15:04:05,000", string(m[1]), time.Local); err == nil {
				out[string(m[2])] = at
			}
		}
	}
	return out
}

// outcome is what became of a job by its tasks: those of its last attempt count, and every attempt before that was
// stopped.
func outcome(all []task, size int) demo.Outcome {
	last := slices.MaxFunc(all, func(a, b task) int { return a.attempt - b.attempt }).attempt
	o := demo.Outcome{Stops: last - 1}
	var placed, began, ended []time.Time
	for _, t := range all {
		if t.attempt == last {
			placed, began, ended = append(placed, t.placed), append(began, t.began), append(ended, t.ended)
		}
	}
	o.Placed, o.Started, o.Finished = latest(placed, size), latest(began, size), latest(ended, size)
	return o
}

// latest is the latest of n times, and zero if not all are there.
func latest(of []time.Time, n int) time.Time {
	if len(of) < n || slices.ContainsFunc(of, time.Time.IsZero) {
		return time.Time{}
	}
	return slices.MaxFunc(of, time.Time.Compare)
}

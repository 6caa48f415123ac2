// Package loopback runs a fleet of package live on the loopback interface of one machine: every dispatch, every agent
// and every task is a process, which is the calling program once more. It is for examples, trials and tests; it uses no
// TLS.
package loopback

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/hedgesched/hedge/adapters/live"
	"github.com/hedgesched/hedge/adapters/live/process"
	"github.com/hedgesched/hedge/adapters/live/ticks"
)

// variable tells a process what it is.
const variable = "HEDGE_LOOPBACK"

// role is what a process is told: one of the fleet, or a task.
type role struct {
	Name            string
	Dispatch, Agent bool
	Place           int
	Addresses       []string
	Dir             string
	LostAfter       time.Duration
	Work            []time.Duration // of each task
	Tick            time.Duration
	Effects         string
}

// Main is to be called first by the program, after the flags are read: the processes of a fleet get the same. If this
// process is one of a fleet's, or a task, it does that and does not return. The system is made anew in each process.
func Main(system func() (*live.System, error)) {
	text := os.Getenv(variable)
	if text == "" {
		return
	}
	var r role
	err := json.Unmarshal([]byte(text), &r)
	if err == nil {
		err = r.run(system)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func (r *role) run(system func() (*live.System, error)) error {
	if !r.Agent && !r.Dispatch {
		return r.task()
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // it ends when the process does that started this one
		stop()
	}()
	if err := os.Unsetenv(variable); err != nil {
		return err
	}
	s, err := system()
	if err != nil {
		return err
	}
	fleet, err := live.Divide(s, r.Addresses...)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if r.Dispatch {
		l, err := net.Listen("tcp", r.Addresses[r.Place])
		if err != nil {
			return err
		}
		return live.RunDispatch(ctx, live.DispatchConfig{System: s, Fleet: fleet, Place: r.Place, Dir: r.Dir, Listener: l,
			LostAfter: r.LostAfter, Log: log})
	}
	e, err := process.New(r.Dir)
	if err != nil {
		return err
	}
	return errors.Join(live.RunAgent(ctx, live.AgentConfig{System: s, Fleet: fleet, Name: r.Name, Executor: e, Log: log}),
		e.Close())
}

func (r *role) task() error {
	index, err := strconv.Atoi(os.Getenv("HEDGE_TASK"))
	if err != nil || index < 0 || index >= len(r.Work) {
		return fmt.Errorf("loopback: found task %q, expected 0 to %d", os.Getenv("HEDGE_TASK"), len(r.Work)-1)
	}
	ticks.Work(r.Work[index], r.Tick, time.Now, time.Sleep)
	if r.Effects == "" {
		return nil
	}
	return ticks.Publish(r.Effects, os.Getenv("HEDGE_JOB"), index)
}

// Command is what the tasks of a job run: each works for its time, in ticks of 50 ms, and then publishes its effect in
// a folder, as package ticks does. If that is empty, it publishes nothing.
func Command(work []time.Duration, effects string) (live.Command, error) {
	program, err := os.Executable()
	if err != nil {
		return live.Command{}, err
	}
	text, err := json.Marshal(role{Work: work, Tick: 50 * time.Millisecond, Effects: effects})
	return live.Command{Args: []string{program}, Env: []string{variable + "=" + string(text)}}, err
}

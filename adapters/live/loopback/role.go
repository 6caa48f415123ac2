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
	"syscall"
	"time"

	"github.com/hedgesched/hedge/adapters/live"
	"github.com/hedgesched/hedge/adapters/live/process"
	"github.com/hedgesched/hedge/adapters/live/ticks"
)

// variable tells a process what it is.
const variable = "HEDGE_LOOPBACK"

// role is what a process of a fleet is told.
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
	asked, err := ticks.Main()
	if text := os.Getenv(variable); !asked && text != "" {
		var r role
		if err = json.Unmarshal([]byte(text), &r); err == nil {
			err = r.run(system)
		}
		asked = true
	}
	if !asked {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func (r *role) run(system func() (*live.System, error)) error {
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

// Command is what the tasks of a job run: ticks of 50 ms for the time of each, and then the effect in a folder, as
// package ticks has it. If the folder is empty, nothing is published. The program is one that calls [Main] or
// ticks.Main; empty is this one.
func Command(program string, work []time.Duration, effects string) (live.Command, error) {
	if program == "" {
		var err error
		if program, err = os.Executable(); err != nil {
			return live.Command{}, err
		}
	}
	text, err := (&ticks.Spec{Work: work, Tick: 50 * time.Millisecond, Effects: effects}).Environment()
	return live.Command{Args: []string{program}, Env: []string{text}}, err
}

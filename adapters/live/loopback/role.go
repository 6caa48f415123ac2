// Package loopback runs a fleet of package live on the loopback interface of one machine. Every dispatch, every agent
// and every task is a process; by default each runs the calling program once more. It is for examples, trials and
// tests, and uses no TLS.
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

// variable is the environment variable that tells a process its role.
const variable = "HEDGE_LOOPBACK"

// role is what a process of a fleet is.
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

// Main must be called first of all by the program, right after the flags are read: the processes of a fleet get
// [Config].Args. If this process is one of a fleet, or a task, Main does that work and does not return. System makes
// the system; each process calls it once.
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
		_, _ = io.Copy(io.Discard, os.Stdin) // ends when the parent process ends
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

// Command is the command of a job's tasks: task i works for work[i] in ticks of 50 ms, as package ticks does, and then
// publishes its effect in the folder effects, unless that is empty. The program must call [Main] or ticks.Main; ""
// means this program.
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

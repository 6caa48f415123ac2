package live_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/hedgesched/hedge/adapters/live"
	"github.com/hedgesched/hedge/sched/kairos"
)

// A fleet of one dispatch and one agent, in one process. Its executor takes each command for a word to print.
func Example() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	dir, err := os.MkdirTemp("", "live-*")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()    // what stays is in the temporary folder
	newSystem := func() (*live.System, error) { // each process makes its own
		s, err := kairos.New(kairos.Config{Workers: 2, Slots: 1, Queue: 2, Quantum: time.Second,
			Interval: 10 * time.Millisecond})
		if err != nil {
			return nil, err
		}
		return live.NewSystem("kairos, two workers", s, kairos.Codec{}), nil
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		s, err := newSystem()
		if err == nil {
			var fleet live.Fleet
			if fleet, err = live.Divide(s, l.Addr().String()); err == nil {
				err = live.RunDispatch(ctx, live.DispatchConfig{System: s, Fleet: fleet, Dir: dir, Listener: l})
			}
		}
		if err != nil {
			fmt.Println(err)
		}
	})
	running.Go(func() {
		s, err := newSystem()
		if err == nil {
			var fleet live.Fleet
			if fleet, err = live.Divide(s, l.Addr().String()); err == nil {
				err = live.RunAgent(ctx, live.AgentConfig{System: s, Fleet: fleet, Name: "here", Workers: 2, Executor: printer{}})
			}
		}
		if err != nil {
			fmt.Println(err)
		}
	})
	if err := submit(ctx, l.Addr().String()); err != nil {
		fmt.Println(err)
	}
	stop()
	running.Wait()
	// Output:
	// hello
	// done: true
}

// submit submits a job and waits for it.
func submit(ctx context.Context, address string) error {
	client, err := live.Dial(address, nil)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	err = client.Submit(ctx, live.Job{Name: "first", Tasks: 1, Command: live.Command{Args: []string{"hello"}}})
	if err != nil {
		return err
	}
	s, err := client.Wait(ctx, "first")
	fmt.Println("done:", s.Done)
	return err
}

// printer is an executor whose attempts end at once.
type printer struct{}

func (printer) Start(a live.Attempt) (live.Running, error) {
	if len(a.Args) != 1 {
		return nil, errors.New("expected a word")
	}
	fmt.Println(a.Args[0])
	return ended{}, nil
}

type ended struct{}

func (ended) Pause() error  { return nil }
func (ended) Resume() error { return nil }
func (ended) Kill() error   { return nil }
func (ended) Wait() error   { return nil }

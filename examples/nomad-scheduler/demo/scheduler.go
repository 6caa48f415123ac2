package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/hashicorp/nomad/api"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/examples/internal/demo"
)

// scheduler is hedge's process.
type scheduler struct {
	cmd  *exec.Cmd
	log  string
	done chan struct{} // closed when it has ended
}

// start starts the scheduler with a history of what ran before, and waits until it leads.
func (f *field) start(ctx context.Context, w *demo.Workload, url string, cycle time.Duration) (*scheduler, error) {
	h, err := w.History()
	if err != nil {
		return nil, err
	}
	history := filepath.Join(f.dir, "history")
	if err := adapters.HistoryFile(history).Save(h, time.Now()); err != nil {
		return nil, err
	}
	config, err := yaml.Marshal(map[string]string{"address": url, "cycle": cycle.String(), "window": w.Window.String(), "slot": w.Slot.String(),
		"history": history, "listen": "127.0.0.1:0"})
	if err != nil {
		return nil, err
	}
	file := filepath.Join(f.dir, "config.yaml")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		return nil, err
	}
	s := &scheduler{cmd: exec.Command(f.scheduler, "-config="+file), log: filepath.Join(f.dir, "scheduler.log"), done: make(chan struct{})}
	if err := s.launch(); err != nil {
		return nil, err
	}
	err = until(ctx, "the scheduler leads", func() (bool, error) {
		v, _, err := f.client.Variables().Read("hedge/lease", nil)
		if errors.Is(err, api.ErrVariablePathNotFound) {
			return false, s.failure()
		}
		return err == nil && v.Items["holder"] != "", err
	})
	if err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// launch starts the process, which ends with this one, however that ends.
func (s *scheduler) launch() error {
	log, err := os.Create(s.log)
	if err != nil {
		return err
	}
	s.cmd.Stderr, s.cmd.SysProcAttr = log, &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // the kernel sends Pdeathsig when the thread that started the process ends
		defer runtime.UnlockOSThread()
		defer close(s.done)
		defer log.Close()
		err := s.cmd.Start()
		started <- err
		if err == nil {
			_ = s.cmd.Wait() // how it ends is in its log
		}
	}()
	return <-started
}

// stop ends it, by force if it does not end by itself.
func (s *scheduler) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-s.done:
	case <-time.After(10 * time.Second):
		_ = s.cmd.Process.Kill() // as above
		<-s.done
	}
}

// failure is why it has ended, if it has.
func (s *scheduler) failure() error {
	select {
	case <-s.done:
	default:
		return nil
	}
	text, err := os.ReadFile(s.log)
	return errors.Join(fmt.Errorf("the scheduler has ended: %s", text), err)
}

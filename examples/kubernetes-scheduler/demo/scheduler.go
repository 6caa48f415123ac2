package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/examples/internal/demo"
)

// program is the path of the scheduler's program.
func (s *settings) program(ctx context.Context, dir string) (string, error) {
	if s.scheduler != "" {
		return s.scheduler, nil
	}
	path := filepath.Join(dir, "kubernetes-scheduler")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, "github.com/hedgesched/hedge/examples/kubernetes-scheduler")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the scheduler: %w: %s", err, bytes.TrimSpace(text))
	}
	return path, nil
}

// schedulerOptions say how the scheduler is run.
type schedulerOptions struct {
	path, dir, kubeconfig string
	cycle                 time.Duration
}

// scheduler is hedge's process.
type scheduler struct {
	cmd  *exec.Cmd
	log  string
	done chan struct{} // closed when it has ended
}

// start starts the scheduler with a history of what ran before, and waits until it leads.
func start(ctx context.Context, w *demo.Workload, c *cluster, o schedulerOptions) (*scheduler, error) {
	h, err := w.History()
	if err != nil {
		return nil, err
	}
	history := filepath.Join(o.dir, "history")
	if err := adapters.HistoryFile(history).Save(h, time.Now()); err != nil {
		return nil, err
	}
	config, err := yaml.Marshal(map[string]string{"namespace": "hedge", "cycle": o.cycle.String(), "window": w.Window.String(), "slot": w.Slot.String(),
		"history": history, "address": "127.0.0.1:0"})
	if err != nil {
		return nil, err
	}
	file := filepath.Join(o.dir, "config.yaml")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		return nil, err
	}
	s := &scheduler{log: filepath.Join(o.dir, "scheduler.log"), done: make(chan struct{})}
	s.cmd = exec.Command(o.path, "-config="+file, "-kubeconfig="+o.kubeconfig)
	if err := s.launch(); err != nil {
		return nil, err
	}
	err = c.until(ctx, "the scheduler leads", func() (bool, error) {
		select {
		case <-s.done:
			return false, s.failure()
		default:
		}
		l, err := c.client.CoordinationV1().Leases("hedge-system").Get(ctx, "hedge", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil && l.Spec.HolderIdentity != nil && *l.Spec.HolderIdentity != "", err
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
		_ = s.cmd.Process.Kill()
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

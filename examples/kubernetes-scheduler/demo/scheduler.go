package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/hedgesched/hedge/examples/internal/demo"
)

// program is the path of the scheduler's program.
func (s *settings) program(ctx context.Context, dir string) (string, error) {
	if s.scheduler != "" {
		return s.scheduler, nil
	}
	return demo.Build(ctx, dir, "github.com/hedgesched/hedge/examples/kubernetes-scheduler")
}

// schedulerOptions say how the scheduler is run.
type schedulerOptions struct {
	path, dir, kubeconfig string
	policy                string
	cycle                 time.Duration
}

// start starts the scheduler with a history of what ran before, and waits until it leads.
func start(ctx context.Context, w *demo.Workload, c *cluster, o schedulerOptions) (*demo.Process, error) {
	history, file := filepath.Join(o.dir, "history"), filepath.Join(o.dir, "config.yaml")
	if err := w.SaveHistory(history); err != nil {
		return nil, err
	}
	config, err := yaml.Marshal(map[string]string{"namespace": "hedge", "policy": o.policy, "cycle": o.cycle.String(),
		"window": w.Window.String(), "slot": w.Slot.String(),
		"history": history, "listen": "127.0.0.1:0"})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(file, config, 0o600); err != nil {
		return nil, err
	}
	p, err := demo.Start(filepath.Join(o.dir, "scheduler.log"), o.path, "-config="+file, "-kubeconfig="+o.kubeconfig)
	if err != nil {
		return nil, err
	}
	err = demo.Until(ctx, patience, "the scheduler leads", func() (bool, error) {
		l, err := c.client.CoordinationV1().Leases("hedge-system").Get(ctx, "hedge", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, p.Err()
		}
		return err == nil && l.Spec.HolderIdentity != nil && *l.Spec.HolderIdentity != "", errors.Join(err, p.Err())
	})
	if err != nil {
		p.Stop()
		return nil, err
	}
	return p, nil
}

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/hashicorp/nomad/api"

	"github.com/hedgesched/hedge/examples/internal/demo"
)

// program is the path of the scheduler's program.
func (s *settings) program(ctx context.Context, dir string) (string, error) {
	if s.scheduler != "" {
		return s.scheduler, nil
	}
	return demo.Build(ctx, dir, "github.com/hedgesched/hedge/examples/nomad-scheduler")
}

// start starts the scheduler with a history of what ran before, and waits until it leads.
func (f *field) start(ctx context.Context, w *demo.Workload, url string, cycle time.Duration) (*demo.Process, error) {
	history, file := filepath.Join(f.dir, "history"), filepath.Join(f.dir, "config.yaml")
	if err := w.SaveHistory(history); err != nil {
		return nil, err
	}
	config, err := yaml.Marshal(
		map[string]string{"nomad_address": url, "policy": f.Policy, "cycle": cycle.String(),
			"window": w.Window.String(), "slot": w.Slot.String(), "history": history, "listen": "127.0.0.1:0"})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(file, config, 0o600); err != nil {
		return nil, err
	}
	p, err := demo.Start(filepath.Join(f.dir, "scheduler.log"), f.scheduler, "-config="+file)
	if err != nil {
		return nil, err
	}
	err = demo.Until(ctx, patience, "the scheduler leads", func() (bool, error) {
		v, _, err := f.client.Variables().Read("hedge/lease", nil)
		if errors.Is(err, api.ErrVariablePathNotFound) {
			return false, p.Err()
		}
		return err == nil && v.Items["holder"] != "", errors.Join(err, p.Err())
	})
	if err != nil {
		p.Stop()
		return nil, err
	}
	return p, nil
}

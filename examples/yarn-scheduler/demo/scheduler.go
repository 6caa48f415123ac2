package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/hedgesched/hedge/examples/internal/demo"
)

// program is the path of the scheduler's program.
func (s *settings) program(ctx context.Context, dir string) (string, error) {
	if s.scheduler != "" {
		return s.scheduler, nil
	}
	return demo.Build(ctx, dir, "github.com/hedgesched/hedge/examples/yarn-scheduler")
}

// start starts the scheduler with a history of what ran before, and waits until it leads.
func (f *field) start(ctx context.Context, w *demo.Workload, cycle time.Duration) (*demo.Process, error) {
	history, file := filepath.Join(f.dir, "history"), filepath.Join(f.dir, "config.yaml")
	if err := w.SaveHistory(history); err != nil {
		return nil, err
	}
	config, err := yaml.Marshal(map[string]any{
		"resource_managers": []string{f.servers.URL()}, "spool": f.spool(), "user": f.user, "policy": f.Policy,
		"cycle": cycle.String(), "window": w.Window.String(), "slot": w.Slot.String(),
		"history": history, "listen": "127.0.0.1:0",
		"application_master": map[string]any{
			"classpath": f.jar + ":" + f.servers.Classpath(), "archive": f.archive, "memory_mb": masterMB, "vcores": 1,
			"label": masters,
		},
	})
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
		leads, err := leads(filepath.Join(f.spool(), "lease.json"))
		return leads, errors.Join(err, p.Err())
	})
	if err != nil {
		p.Stop()
		return nil, err
	}
	return p, nil
}

// leads tells whether a spool's lease has a holder.
func leads(file string) (bool, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	var lease struct{ Holder string }
	if err == nil {
		err = json.Unmarshal(text, &lease)
	}
	return lease.Holder != "", err
}

package results

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/trace"

	"github.com/hedgesched/hedge/cmd/hedge/internal/experiment"
	"github.com/hedgesched/hedge/cmd/hedge/internal/profile"
)

// kept is a finished cell as it stands in the cache.
type kept struct {
	Section  string               `json:"section"`
	Trace    string               `json:"trace"`
	Setting  string               `json:"setting"`
	Commit   string               `json:"commit"`
	Document *experiment.Document `json:"document,omitempty"`
	Profile  *profile.Document    `json:"profile,omitempty"`
}

// ErrInput marks what is wrong with the logs, the notes or the settings, not with the work.
var ErrInput = errors.New("bad input")

// inputError is an error that is also [ErrInput], without more words.
type inputError struct{ error }

func (e inputError) Unwrap() []error { return []error{e.error, ErrInput} }

func input(err error) error {
	if err == nil {
		return nil
	}
	return inputError{err}
}

// runner runs and keeps cells; logs are read once, the latest is held.
type runner struct {
	*Plan
	path string
	log  *trace.Log
}

// Run runs what is missing of the plan and returns the page.
func Run(ctx context.Context, p *Plan) (string, error) {
	if err := os.MkdirAll(p.Cache, 0o755); err != nil {
		return "", err
	}
	r := &runner{Plan: p}
	found := map[string][]kept{}
	for i := range p.Traces {
		for _, section := range Sections() {
			if !p.takesPart(section, &p.Traces[i]) {
				continue
			}
			cells, err := r.section(ctx, section, &p.Traces[i])
			if err != nil {
				return "", fmt.Errorf("%s on %s: %w", section, p.Traces[i].Name, err)
			}
			found[section] = append(found[section], cells...)
		}
	}
	return p.markdown(found)
}

// section returns the cells of a section on one trace, run now or kept. A section that is not to be
// run has those that are kept.
func (r *runner) section(ctx context.Context, section string, t *Trace) ([]kept, error) {
	may := contains(r.Only, section)
	if section == "prediction" {
		c := cell{section: section, trace: t.Name, spec: experiment.Spec{Trace: t.Path}}
		k, err := r.cell(&c, may, func() (k kept, err error) {
			if err = r.read(t.Path); err != nil {
				return k, err
			}
			k.Profile, err = experiment.Profile(r.log, []string{"3sigma", "jvupredict"}, 0.5, r.Now, func(int) {})
			return k, err
		})
		return one(k, err)
	}
	var out []kept
	for _, c := range r.cells(section, t) {
		k, err := r.cell(&c, may, func() (k kept, err error) {
			if err = r.read(t.Path); err != nil {
				return k, err
			}
			e, err := experiment.Prepare(r.log, &c.spec)
			if err != nil {
				return k, input(err)
			}
			k.Document, err = e.Run(ctx, func(int, string) {})
			return k, err
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.setting, err)
		}
		if k != nil {
			out = append(out, *k)
		}
	}
	return out, nil
}

func one(k *kept, err error) ([]kept, error) {
	if k == nil || err != nil {
		return nil, err
	}
	return []kept{*k}, nil
}

func (r *runner) read(path string) error {
	if r.log != nil && r.path == path {
		return nil
	}
	log, err := experiment.ReadLog(path, "", nil)
	r.path, r.log = path, log
	return input(err)
}

// cell returns a kept cell or runs and keeps it; nil if there is none and it may not be run.
func (r *runner) cell(c *cell, may bool, run func() (kept, error)) (*kept, error) {
	path, err := r.file(c)
	if err != nil {
		return nil, err
	}
	if !r.Fresh || !may {
		k, err := load(path)
		if k != nil || err != nil {
			return k, err
		}
	}
	if !may {
		return nil, nil
	}
	began := time.Now()
	r.Tell(fmt.Sprintf("%s on %s %s …", c.section, c.trace, c.setting))
	k, err := run()
	if err != nil {
		return nil, err
	}
	k.Section, k.Trace, k.Setting, k.Commit = c.section, c.trace, c.setting, r.Commit
	data, err := json.Marshal(k)
	if err != nil {
		return nil, err
	}
	r.Tell(fmt.Sprintf("%s on %s %s took %s", c.section, c.trace, c.setting, time.Since(began).Round(time.Second)))
	// Written whole or not at all, since a run may be interrupted.
	if err := os.WriteFile(path+".tmp", data, 0o644); err != nil {
		return nil, err
	}
	return &k, os.Rename(path+".tmp", path)
}

// file names a cell's file by all that decides its numbers but the code.
func (r *runner) file(c *cell) (string, error) {
	data, err := json.Marshal(c.spec)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(append(data, c.section...))
	return filepath.Join(r.Cache, fmt.Sprintf("%s-%s-%s.json", c.section, c.trace, hex.EncodeToString(sum[:6]))), nil
}

// load reads a kept cell; nil if there is none.
func load(path string) (*kept, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var k kept
	if err := json.Unmarshal(data, &k); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &k, nil
}

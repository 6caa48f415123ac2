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
	"slices"
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
	// Reliability counts the probabilities told, by bin.
	Reliability []bin `json:"reliability,omitempty"`
	// Tasks is of section tasks.
	Tasks *taskDocument `json:"tasks,omitempty"`
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

// ErrMixed marks a kept cell of another commit.
var ErrMixed = errors.New("kept from another commit")

// runner runs and keeps cells; logs are read once, the latest is held.
type runner struct {
	*Plan
	path string
	log  *trace.Log
	// digests are of the contents of the logs, by path.
	digests map[string][sha256.Size]byte
	// began, done and total measure the work: a unit is a simulation of one policy with one seed.
	began       time.Time
	done, total int
}

// job is a cell to be looked up or run.
type job struct {
	cell
	file string
	kept *kept
}

func newRunner(p *Plan) *runner {
	return &runner{Plan: p, began: time.Now(), digests: map[string][sha256.Size]byte{}}
}

// Run runs what is missing of the plan and returns the page.
func Run(ctx context.Context, p *Plan) (string, error) {
	if err := os.MkdirAll(p.Cache, 0o755); err != nil {
		return "", err
	}
	r := newRunner(p)
	jobs, err := r.jobs()
	if err != nil {
		return "", err
	}
	found := map[string][]kept{}
	for i := range jobs {
		j := &jobs[i]
		if j.kept == nil && !slices.Contains(p.Only, j.section) {
			continue
		}
		if err := r.fill(ctx, j); err != nil {
			return "", fmt.Errorf("%s: %w", j.what(), err)
		}
		found[j.section] = append(found[j.section], *j.kept)
	}
	return p.markdown(found)
}

// jobs lists every cell of the plan with what is kept of it, and adds up the work that is left.
func (r *runner) jobs() ([]job, error) {
	var out []job
	for i := range r.Traces {
		t := &r.Traces[i]
		for _, section := range Sections() {
			if !r.takesPart(section, t) {
				continue
			}
			may := slices.Contains(r.Only, section)
			for _, c := range r.cells(section, t) {
				j := job{cell: c}
				var err error
				if j.file, err = r.file(&c); err != nil {
					return nil, err
				}
				if !r.Fresh || !may {
					if j.kept, err = r.load(j.file); err != nil {
						return nil, err
					}
				}
				if j.kept == nil && may {
					r.total += j.work()
				}
				out = append(out, j)
			}
		}
	}
	return out, nil
}

// what names a cell.
func (c *cell) what() string {
	text := c.section + " on " + c.trace
	if c.setting != "" {
		text += " at " + c.setting
	}
	return text
}

// work is how much of the whole a cell is, about.
func (c *cell) work() int { return max(1, len(c.spec.Policies)*len(c.spec.Seeds)) }

// fill runs a cell that is not kept, and keeps it.
func (r *runner) fill(ctx context.Context, j *job) error {
	if j.kept != nil {
		return nil
	}
	began := time.Now()
	r.Tell(fmt.Sprintf("%s … (%.0f %% done%s)", j.what(), 100*float64(r.done)/float64(r.total), r.left()))
	k, err := r.run(ctx, &j.cell)
	if err != nil {
		return err
	}
	r.done += j.work()
	r.Tell(fmt.Sprintf("%s took %s", j.what(), time.Since(began).Round(time.Second)))
	k.Section, k.Trace, k.Setting, k.Commit = j.section, j.trace, j.setting, r.Commit
	j.kept = k
	return keep(j.file, k)
}

// left says how long the rest will take, at the pace so far.
func (r *runner) left() string {
	if r.done == 0 {
		return ""
	}
	rest := time.Duration(float64(time.Since(r.began)) * float64(r.total-r.done) / float64(r.done))
	return ", about " + rest.Round(time.Second).String() + " left"
}

// run runs a cell.
func (r *runner) run(ctx context.Context, c *cell) (*kept, error) {
	if c.section == "tasks" {
		return r.compareTasks(ctx, c)
	}
	if err := r.read(c.spec.Trace); err != nil {
		return nil, err
	}
	step := func(share float64) {
		r.Step(r.done*stepsPerUnit+int(share*float64(c.work()*stepsPerUnit)), r.total*stepsPerUnit, c.what())
	}
	if c.section == "prediction" {
		names := []string{"3sigma", "jvupredict"}
		p, err := experiment.Profile(r.log, names, 0.5, r.Now,
			func(done int) { step(float64(done) / float64(len(names)*len(r.log.Jobs))) })
		return &kept{Profile: p}, err
	}
	e, err := experiment.Prepare(r.log, &c.spec, r.Engines, r.Systems)
	if err != nil {
		return nil, input(err)
	}
	d, err := e.Run(ctx, func(done int, _ string) { step(float64(done) / float64(e.Steps())) })
	if err != nil || c.section != "reliability" {
		return &kept{Document: d}, err
	}
	return &kept{Reliability: reliability(d.Runs)}, nil
}

// stepsPerUnit is the resolution of Plan.Step.
const stepsPerUnit = 100

func (r *runner) read(path string) error {
	if r.log != nil && r.path == path {
		return nil
	}
	log, err := experiment.ReadLog(path, nil, r.Base.Reading())
	r.path, r.log = path, log
	return input(err)
}

// keep writes a cell, whole or not at all, since a run may be interrupted.
func keep(path string, k *kept) error {
	data, err := json.Marshal(k)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".tmp", data, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

// file names a cell's file by all that decides its numbers but the code: its settings and what its logs hold.
func (r *runner) file(c *cell) (string, error) {
	data, err := json.Marshal(c.spec)
	if err != nil {
		return "", err
	}
	if data = append(data, c.section...); c.section == "tasks" {
		data = append(data, c.setting...)
	}
	for _, path := range c.spec.Logs() {
		digest, err := r.digest(path)
		if err != nil {
			return "", err
		}
		data = append(data, digest[:]...)
	}
	sum := sha256.Sum256(data)
	return filepath.Join(r.Cache, fmt.Sprintf("%s-%s-%s.json", c.section, c.trace, hex.EncodeToString(sum[:6]))), nil
}

// digest is that of the contents of a log, which is read once.
func (r *runner) digest(path string) ([sha256.Size]byte, error) {
	digest, ok := r.digests[path]
	if ok {
		return digest, nil
	}
	digest, err := experiment.Digest(path)
	if err == nil {
		r.digests[path] = digest
	}
	return digest, input(err)
}

// load reads a kept cell; nil if there is none. One of another commit is refused unless Mix.
func (r *runner) load(path string) (*kept, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var k kept
	if err := json.Unmarshal(data, &k); err != nil {
		return nil, input(fmt.Errorf("%s: %w", path, err))
	}
	if k.Commit != r.Commit && !r.Mix {
		return nil, input(fmt.Errorf("%s: found numbers of commit %s, expected %s: --fresh runs them again, --mix takes "+
			"them and names both: %w",
			path, k.Commit, r.Commit, ErrMixed))
	}
	if d := k.Document; d != nil { // so that what the summary holds is decided here and now
		names := make([]string, len(d.Summary))
		for i := range d.Summary {
			names[i] = d.Summary[i].Policy
		}
		d.Summary = experiment.Summarise(names, d.Runs)
	}
	return &k, nil
}

// Package results runs the paper's experiments on real logs and writes docs/results.md: tables with
// 95 % confidence intervals, beside each the paper's claim and a verdict worked out from
// the numbers, and hand-written explanations from a notes file. Finished cells
// are kept in a directory, so that a long run can be done in parts and resumed.
package results

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hedgesched/hedge/cmd/hedge/internal/experiment"
	"github.com/hedgesched/hedge/sched/systems"
	"github.com/hedgesched/hedge/solver/engines"
)

// Sections are the parts of the page, in its order.
func Sections() []string {
	return []string{"prediction", "variants", "slack", "load", "samples", "perturbation", "reliability", "starts", "tasks"}
}

// Trace is a log and what differs from the base for it.
type Trace struct {
	Name, Path, Train, Workload string
	TasksPerNode                int
	// Hours and Cycle replace the base's where they are more than 0.
	Hours float64
	Cycle time.Duration
	// Only are the sections it takes part in; nil is all.
	Only []string
	// Source says where the log is from, for the page; "" says nothing.
	Source string
	// Optional logs are left out where their file is missing.
	Optional bool
	// Tasks are flags of hedge compare --workload tasks, a comparison each.
	Tasks []string
}

// Plan says what to run.
type Plan struct {
	Traces []Trace
	// Sweeps names the traces that the sweeps (slack, load, samples, perturbation) run on.
	Sweeps []string
	// Only are the sections to run; others are written from what is kept.
	Only []string
	Base experiment.Spec
	// Engines are those that Base can name.
	Engines *engines.Set
	// Systems are those that are compared.
	Systems *systems.Set
	// Cache is the directory of finished cells; Fresh runs them again. Mix accepts cells of other
	// commits, which the page then names.
	Cache      string
	Fresh, Mix bool
	// Command, Commit and Machine head the page; Notes is the text of the notes file.
	Command, Commit, Machine, Notes string
	// Compare runs hedge compare --workload tasks with the arguments, and returns its document.
	Compare func(ctx context.Context, args []string) ([]byte, error)
	// Now times predictions; nil reports no times.
	Now func() time.Time
	// Tell is told of each cell as it begins, with how many are left.
	Tell func(what string)
	// Step is told how much of the work is done.
	Step func(done, total int, what string)
}

// Builtin is the path of the built-in sample.
const Builtin = "builtin"

// ParseTraces reads name=path[?tasks-per-node=N&hours=H&cycle=D&train=FILE&workload=KIND&only=SECTION&optional=true]
// separated by commas. In a file there may also be &tasks=FLAGS, the flags of a comparison of section tasks, with + for
// blanks.
func ParseTraces(list string) ([]Trace, error) {
	return parseTraces(strings.Split(list, ","), func(int) string { return "" })
}

// ParseTraceFile reads the same, one a line, each followed by a blank and where the log is from; lines that
// begin with # say nothing.
func ParseTraceFile(name, text string) ([]Trace, error) {
	var items, sources []string
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		item, source, _ := strings.Cut(line, " ")
		if _, err := parseTrace(item); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
		items, sources = append(items, item), append(sources, strings.TrimSpace(source))
	}
	out, err := parseTraces(items, func(i int) string { return sources[i] })
	if err != nil || len(out) == 0 {
		return nil, fmt.Errorf("%s: %w", name, cmp.Or(err, errors.New("found no logs, expected one a line")))
	}
	return out, nil
}

func parseTraces(items []string, source func(int) string) ([]Trace, error) {
	var out []Trace
	for i, item := range items {
		t, err := parseTrace(strings.TrimSpace(item))
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(out, func(other Trace) bool { return other.Name == t.Name }) {
			return nil, fmt.Errorf("found %q twice", t.Name)
		}
		t.Source = source(i)
		out = append(out, t)
	}
	return out, nil
}

func parseTrace(item string) (Trace, error) {
	name, rest, ok := strings.Cut(item, "=")
	if !ok || name == "" || rest == "" {
		return Trace{}, fmt.Errorf("found %q, expected name=path", item)
	}
	t := Trace{Name: name, TasksPerNode: 1}
	path, query, _ := strings.Cut(rest, "?")
	if path != Builtin {
		t.Path = path
	}
	options, err := url.ParseQuery(query)
	if err != nil {
		return t, fmt.Errorf("%s: %w", name, err)
	}
	for _, key := range slices.Sorted(maps.Keys(options)) {
		if err := t.set(key, options[key]); err != nil {
			return t, fmt.Errorf("%s: %w", name, err)
		}
	}
	return t, nil
}

func (t *Trace) set(key string, values []string) error {
	switch value := values[0]; key {
	case "tasks-per-node":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return fmt.Errorf("tasks-per-node: found %q, expected a number from 1", value)
		}
		t.TasksPerNode = n
	case "train":
		t.Train = value
	case "workload":
		if !slices.Contains([]string{"window", "e2e", "replay"}, value) {
			return fmt.Errorf("workload: found %q, expected window, e2e or replay", value)
		}
		t.Workload = value
	case "tasks":
		t.Tasks = values
	case "optional":
		t.Optional = value == "true"
	case "hours":
		h, err := strconv.ParseFloat(value, 64)
		if err != nil || !(h > 0) {
			return fmt.Errorf("hours: found %q, expected a number above 0", value)
		}
		t.Hours = h
	case "cycle":
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 {
			return fmt.Errorf("cycle: found %q, expected a duration above 0", value)
		}
		t.Cycle = d
	case "only":
		for _, section := range values {
			if !slices.Contains(Sections(), section) {
				return fmt.Errorf("only: found %q, expected one of %s", section, strings.Join(Sections(), ", "))
			}
		}
		t.Only = values
	default:
		return fmt.Errorf("found option %q, expected tasks-per-node, hours, cycle, train, workload, only, tasks or "+
			"optional", key)
	}
	return nil
}

// cell is one comparison: a trace at one setting.
type cell struct {
	section, trace, setting string
	spec                    experiment.Spec
}

var (
	variantPolicies = []string{"3sigma", "3sigma-nodist", "3sigma-nooe", "3sigma-noadapt", "point-perfect", "point-real",
		"prio", "fifo", "edf", "sjf"}
	slackPolicies  = []string{"3sigma", "3sigma-nodist", "3sigma-nooe", "3sigma-noadapt", "point-perfect", "point-real"}
	loadPolicies   = []string{"3sigma", "point-perfect", "point-real", "prio"}
	samplePolicies = []string{"3sigma", "point-perfect", "point-real"}
	slacks         = []float64{20, 40, 60, 80, 100, 140, 180}
	loads          = []float64{1.0, 1.2, 1.4, 1.6}
	sampleSizes    = []int{5, 10, 25, 50, 75, 100}
	shifts         = []float64{-.5, -.2, 0, .2, .5}
	covs           = []float64{0, .1, .2, .5}
)

// base is the specification of a trace before a section changes it.
func (p *Plan) base(t *Trace) experiment.Spec {
	base := p.Base
	base.Trace, base.Train, base.TasksPerNode = t.Path, t.Train, t.TasksPerNode
	base.Workload = cmp.Or(t.Workload, base.Workload)
	base.Hours, base.Cycle = cmp.Or(t.Hours, base.Hours), cmp.Or(t.Cycle, base.Cycle)
	return base
}

// cells are the comparisons of a section on one trace.
func (p *Plan) cells(section string, t *Trace) []cell {
	base := p.base(t)
	var out []cell
	add := func(setting string, policies []string, change func(*experiment.Spec)) {
		s := base
		s.Policies = policies
		change(&s)
		out = append(out, cell{section, t.Name, setting, s})
	}
	switch section {
	case "prediction":
		out = append(out, cell{section, t.Name, "", experiment.Spec{Trace: t.Path}})
	case "variants":
		add("base", variantPolicies, func(*experiment.Spec) {})
	case "reliability":
		add("base", []string{"3sigma"}, func(s *experiment.Spec) { s.Observe = true })
	case "starts":
		add("base", startPolicies, func(s *experiment.Spec) { s.Estimates = true })
	case "tasks":
		for _, flags := range t.Tasks {
			out = append(out, cell{section, t.Name, flags, experiment.Spec{Trace: t.Path}})
		}
	case "slack":
		for _, v := range slacks {
			add(fmt.Sprintf("%g %%", v), slackPolicies, func(s *experiment.Spec) { s.Slack = []float64{v / 100} })
		}
	case "load":
		for _, v := range loads {
			add(fmt.Sprintf("%.1f", v), loadPolicies, func(s *experiment.Spec) { s.Load = v })
		}
	case "samples":
		for _, v := range sampleSizes {
			add(fmt.Sprint(v), samplePolicies, func(s *experiment.Spec) { s.MaxSamples = v })
		}
	case "perturbation":
		for _, shift := range shifts {
			for _, cov := range covs {
				add(perturbName(shift, cov), []string{"3sigma"}, func(s *experiment.Spec) {
					s.Perturb = &experiment.Perturb{Shift: shift, CoV: cov}
				})
			}
		}
	}
	return out
}

func perturbName(shift, cov float64) string {
	if cov == 0 {
		return fmt.Sprintf("shift %+.0f %%, point", 100*shift)
	}
	return fmt.Sprintf("shift %+.0f %%, CoV %.0f %%", 100*shift, 100*cov)
}

// takesPart tells whether a section runs on a trace.
func (p *Plan) takesPart(section string, t *Trace) bool {
	if t.Only != nil && !slices.Contains(t.Only, section) {
		return false
	}
	switch section {
	case "starts": // beside other sections only where a log asks for it
		return t.Only != nil || slices.Equal(p.Only, []string{section})
	case "tasks":
		return len(t.Tasks) > 0
	case "prediction", "variants", "reliability":
		return true
	}
	return slices.Contains(p.Sweeps, t.Name)
}

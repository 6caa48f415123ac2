// Package systems has the schedulers that can be run by name, each with the paper that it is from: what the command
// line, an experiment or a program of yours may choose from.
//
// A system is of one of two kinds. One has a policy, which decides about gangs in the cycles of a [sched.Loop], and a
// predictor, which says what the policy is told of runtimes. The other is made of agents, which place each task by
// itself as things happen. [Builtin] has all of this module. A [Set] takes others, too:
//
//	set := systems.Builtin()
//	err := set.Register(systems.System{Name: "mine", Summary: "starts what is widest", Policy: newMine})
//	system, err := set.Find("mine")
package systems

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/backfill"
	"github.com/hedgesched/hedge/solver"
)

// The sentinels of errors of a [Set].
var (
	// ErrUnknown is wrapped by the error about a name that no system has.
	ErrUnknown = errors.New("systems: unknown system")
	// ErrDuplicate is wrapped by the error about a name that a system has already.
	ErrDuplicate = errors.New("systems: name is taken")
	// ErrInvalid is wrapped by the error about a system that cannot be registered.
	ErrInvalid = errors.New("systems: invalid system")
)

// System is a scheduler. It has a Policy or Agents, and never both.
type System struct {
	// Name is what users type: lower-case letters, digits, dots and hyphens, the first no hyphen. It is not "all".
	Name string
	// Summary says in a line what it does. It is not empty.
	Summary string
	// Paper is where it is described; empty if there is no such place.
	Paper string
	// Policy makes a new policy for a run. A policy with a solver asks for it by [Planning.Solver].
	Policy func(*Planning) (sched.Policy, error)
	// Predictor makes what forecasts runtimes for the policy, for one run. If it is nil, [Knowledge.History] does. Systems
	// of a Set have one if they have a policy.
	Predictor func(*Knowledge) (predict.Predictor, error)
	// Shares tells that the policy is for machines that tasks share: it goes by what tasks use, and promises CPU and
	// memory twice ([sched.Plan].Overpacks). A host without such machines leaves it out.
	Shares bool
	// Agents is what a host makes the agents of: an eagle.Switches in Eagle's family, a pigeon.Config,
	// kairos.Choice, bigc.Config, a slearn.Scheme, a slearn.Staged, or a kairos.Config for a plain queue. A value of a
	// type of yours is for a host of yours; the others refuse it.
	Agents any
	// Stages tells that it is for jobs with stages ([sched.Job.After]) only.
	Stages bool
}

// Planning is what a policy plans with. The zero value leaves all to the policy.
type Planning struct {
	// Solver opens the solver. A policy that solves nothing does not call it. If it is nil, policies take their own.
	Solver func() (solver.Solver, error)
	// Options limit each solve; zero values are the policy's defaults.
	Options solver.Options
	// Window and Slot are the plan-ahead window and its slots; 0 leaves them to the policy.
	Window, Slot time.Duration
	// Risk is the largest probability with which memory may run short on a machine that tasks share; 0 leaves it to the
	// policy, and policies of other systems do not know it.
	Risk float64
	// Estimate is by which runtimes backfill plans; the zero value is the times that users ask for.
	Estimate backfill.Estimate
	// Stopwatch reads a monotonic clock, for the times in [sched.Stats]; nil leaves them 0.
	Stopwatch func() time.Duration
}

// Knowledge is what can be known of runtimes.
type Knowledge struct {
	// History makes a predictor that has learnt from earlier jobs and goes on learning. It must not be nil.
	History func() (predict.Predictor, error)
	// Truth is a job's true runtime in seconds, and whether it is known. Only a simulator has it; others leave it nil.
	Truth func(predict.Job) (seconds float64, ok bool)
	// Used is what a task of a job truly uses. Only a simulator of shared machines has it; others leave it nil.
	Used func(predict.Job) []predict.Used
	// Shared tells that somebody besides the policy reads the forecasts. Policies that look at none then get those of
	// History, too.
	Shared bool
}

// Set is systems in the order in which they were registered. Its zero value is empty and ready for use. It is safe for
// concurrent use once nothing is registered any more.
type Set struct{ list []System }

// Register adds a system. Its errors wrap [ErrDuplicate] or [ErrInvalid]; the set is then as it was.
func (s *Set) Register(system System) error {
	wrong := func(what string) error { return fmt.Errorf("%w: %q %s", ErrInvalid, system.Name, what) }
	switch _, taken := s.at(system.Name); {
	case taken:
		return fmt.Errorf("%w: %q", ErrDuplicate, system.Name)
	case !isName(system.Name):
		return wrong("is no name")
	case system.Summary == "" || strings.Contains(system.Summary, "\n"):
		return wrong("has no summary of one line")
	case (system.Policy == nil) == (system.Agents == nil):
		return wrong("has neither a policy nor agents, or has both")
	case system.Agents != nil && system.Predictor != nil:
		return wrong("has agents with a predictor")
	}
	if system.Policy != nil && system.Predictor == nil {
		system.Predictor = fromHistory
	}
	s.list = append(s.list, system)
	return nil
}

func isName(s string) bool {
	const may = "abcdefghijklmnopqrstuvwxyz0123456789.-"
	foreign := func(r rune) bool { return !strings.ContainsRune(may, r) }
	return s != "" && s != "all" && s[0] != '-' && !strings.ContainsFunc(s, foreign)
}

// List returns the systems in the order in which they were registered.
func (s *Set) List() []System { return slices.Clone(s.list) }

// Find returns the system of that name. Its error wraps [ErrUnknown] and lists the names that are known.
func (s *Set) Find(name string) (System, error) {
	if i, ok := s.at(name); ok {
		return s.list[i], nil
	}
	known := make([]string, len(s.list))
	for i := range s.list {
		known[i] = s.list[i].Name
	}
	return System{}, fmt.Errorf("%w: found %q, expected one of %s", ErrUnknown, name, strings.Join(known, ", "))
}

func (s *Set) at(name string) (int, bool) {
	i := slices.IndexFunc(s.list, func(known System) bool { return known.Name == name })
	return i, i >= 0
}

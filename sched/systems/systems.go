// Package systems lists schedulers by name, with their papers. The command line, experiments and other programs choose
// from it. It runs nothing itself.
//
// There are two kinds of systems. The first has a policy, which plans gangs in the cycles of a [sched.Loop], and a
// predictor, which forecasts runtimes for it. The second is made of agents, which place each task by itself as events
// occur. [Builtin] returns all systems of this module. Others can be registered in a [Set]:
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

// Errors of a [Set] wrap one of these.
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
	// Name is what users type: lower-case letters, digits, dots and hyphens. It does not begin with a hyphen and is not
	// "all".
	Name string
	// Summary is one line that says what the system does. It is not empty.
	Summary string
	// Paper is the paper that describes it. It may be empty.
	Paper string
	// Policy makes a new policy for a run. A policy that needs a solver calls [Planning.Solver].
	Policy func(*Planning) (sched.Policy, error)
	// Predictor makes the policy's predictor for a run. Nil stands for [Knowledge.History]; [Set.Register] replaces it.
	Predictor func(*Knowledge) (predict.Predictor, error)
	// Shares marks a policy for machines that tasks share. It goes by what tasks use, and overcommits CPU and memory
	// ([sched.Plan].Overpacks). A host without such machines should not offer it.
	Shares bool
	// Agents configures the agents that a host makes: an eagle.Switches for Eagle's family, a pigeon.Config,
	// siding.Config, kairos.Choice, bigc.Config, slearn.Scheme or slearn.Staged, or a kairos.Config for a plain queue. A
	// host refuses values of types that it does not know.
	Agents any
	// Apart marks a system that a host runs only where it is named: one that is made for few machines or jobs, or that
	// differs from another in its predictor alone.
	Apart bool
	// Stages marks a system that is only for jobs with stages ([sched.Job.After]).
	Stages bool
	// Strictness is the parameter by which the policy trades admitted work against overload. Only policies that Shares
	// marks may have one.
	Strictness Strictness
}

// Risk is the name of the [Strictness] of policies that heed [Planning].Risk.
const Risk = "risk"

// Strictness is a parameter of a policy, with the values that trace its frontier: how much work it admits, at how much
// overload. Its zero value is no parameter.
type Strictness struct {
	// Name is one word, such as risk.
	Name string
	// Values are above 0, the strictest first.
	Values []float64
}

// Planning configures a policy. Zero fields leave the choice to the policy.
type Planning struct {
	// Solver opens the solver. Only policies that solve call it. If it is nil, they use their default engine.
	Solver func() (solver.Solver, error)
	// Options limit each solve. Zero fields mean the policy's defaults.
	Options solver.Options
	// Window is the plan-ahead window, Slot the length of its slots. 0 means the policy's default.
	Window, Slot time.Duration
	// Risk bounds the probability that the memory of a shared machine runs short, in [0, 1]; 0 means the policy's default.
	// Policies without such a bound ignore it.
	Risk float64
	// Strictness is the value of the policy's [System.Strictness]; 0 means the policy's default. Policies without one
	// ignore it.
	Strictness float64
	// Reserve is for how long a job may wait before nodes are kept for it; 0 means for ever. Only 3Sigma, its variants and
	// keep have such reservations ([threesigma.Config].Reserve).
	Reserve time.Duration
	// MachineHours is the work, in machine-hours, that one more met deadline is worth to keep
	// ([keep.Config].MachineHours); 0 means its default. Other policies ignore it.
	MachineHours float64
	// Estimate selects the runtimes by which backfill plans. The zero value means the times that users request.
	Estimate backfill.Estimate
	// Stopwatch reads a monotonic clock, for the times in [sched.Stats]; nil leaves them 0.
	Stopwatch func() time.Duration
}

// Knowledge is what the host knows about runtimes and usage.
type Knowledge struct {
	// History makes a predictor that has learnt from earlier jobs and keeps learning. It must not be nil.
	History func() (predict.Predictor, error)
	// Truth returns a job's true runtime in seconds, and whether it is known. Only a simulator has it; others leave it
	// nil.
	Truth func(predict.Job) (seconds float64, ok bool)
	// Used returns what a task of a job truly uses. Only a simulator of shared machines has it; others leave it nil.
	Used func(predict.Job) []predict.Used
	// Shared tells that the host itself reads the forecasts, too. Policies that use no forecasts then still get History's.
	Shared bool
}

// Set is a list of systems, in order of registration. Its zero value is empty and ready for use. It is safe for
// concurrent use while nothing is registered.
type Set struct{ list []System }

// Register adds a system. Its errors wrap [ErrDuplicate] or [ErrInvalid]; on an error the set stays unchanged.
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

// List returns the systems in order of registration.
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

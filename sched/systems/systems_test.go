package systems_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/distsched"
	"github.com/hedgesched/hedge/sched/eagle"
	"github.com/hedgesched/hedge/sched/keep"
	"github.com/hedgesched/hedge/sched/overcommit"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/sched/siding"
	"github.com/hedgesched/hedge/sched/systems"
	"github.com/hedgesched/hedge/sched/threesigma"
	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/greedy"
)

var update = flag.Bool("update", false, "write docs/systems.md")

// names are those of systems, in their order.
func names(list []systems.System) (out []string) {
	for i := range list {
		out = append(out, list[i].Name)
	}
	return out
}

// TestBuiltinIsWhole: every variant that a package names is there, and each could be registered.
func TestBuiltinIsWhole(t *testing.T) {
	list := systems.Builtin().List()
	got := names(list)
	assert.Equal(t, strings.Fields("3sigma 3sigma-nodist 3sigma-nooe 3sigma-noadapt point-perfect point-real "+
		"keep keep-perfect keep-doubt chronus hydra hydra-bab prio fifo edf edf-share critical-path 3sigma-posterior "+
		"sjf easy conservative "+
		"dist dist-max actual actual-max point point-max request dist-nodist dist-nopack dist-noover dist-noobs "+
		"dist-nopreempt dist-nocond dist-chance dist-trust dist-density dist-edf dist-sjf "+
		"overcommit-1.5 overcommit-2 borg-default rc-like n-sigma borg-max "+
		"eagle eagle-nosss eagle-nosbp eagle-nosrpt eagle-nosbpsrpt eagle-nomin ideal-eagle dlwl clwl hawk sparrow "+
		"pigeon siding siding-nopause siding-nobound siding-nopatience siding-fifo siding-noyard "+
		"kairos kairos-random kairos-sum big-c yarn-fifo "+
		"gs-slearn gs-joint gs-3sigma gs-3sigmatl gs-point gs-las gs-fifo gs-oracle "+
		"gs-slearn-dag gs-3sigma-dag gs-point-dag gs-las-dag gs-oracle-dag"), got)
	assert.Subset(t, got, threesigma.Variants())
	assert.Subset(t, got, distsched.Variants())
	assert.Subset(t, got, overcommit.Variants())
	assert.Subset(t, got, eagle.Names())
	assert.Subset(t, got, siding.Names())
	var again systems.Set
	for i := range list {
		require.NoError(t, again.Register(list[i]), got[i])
	}
	assert.Equal(t, got, names(again.List()))
}

// told is what a system says of a job that runs 7 s and, by its history, 3 s.
func told(t *testing.T, s *systems.System) float64 {
	t.Helper()
	p, err := s.Predictor(&systems.Knowledge{
		History: func() (predict.Predictor, error) {
			three, err := dist.NewPoint(3)
			require.NoError(t, err)
			return predict.NewFixed(three)
		},
		Truth: func(predict.Job) (float64, bool) { return 7, true },
		Used:  func(predict.Job) []predict.Used { return nil },
	})
	require.NoError(t, err)
	return p.Predict(predict.Job{ID: "a"}).Point
}

// TestPolicies: each has its name, is told what its paper says, and starts what there is room for.
func TestPolicies(t *testing.T) {
	runtimes := map[string]float64{"point-perfect": 7, "actual": 7, "actual-max": 7, "prio": 0, "fifo": 0, "edf": 0,
		"overcommit-1.5": 0, "overcommit-2": 0, "borg-default": 0, "rc-like": 0, "n-sigma": 0, "borg-max": 0,
		"critical-path": 7, "keep-perfect": 7, "hydra": 7, "hydra-bab": 7}
	for _, system := range systems.Builtin().List() {
		if system.Agents != nil {
			if switches, err := eagle.Named(system.Name); err == nil {
				assert.Equal(t, switches, system.Agents)
			} else {
				_, of := system.Agents.(eagle.Switches)
				assert.False(t, of, "%s is none of Eagle's", system.Name)
			}
			assert.Nil(t, system.Policy)
			continue
		}
		t.Run(system.Name, func(t *testing.T) {
			want, known := runtimes[system.Name]
			if !known {
				want = 3
			}
			assert.InDelta(t, want, told(t, &system), 0)
			p, err := system.Policy(&systems.Planning{Options: solver.Options{Work: 100}})
			require.NoError(t, err)
			assert.Equal(t, system.Name, p.Name())
			s, err := schedtest.Snapshot(schedtest.Nodes(2, 1)).Pending(schedtest.Job("a", 2)).Build()
			require.NoError(t, err)
			plan, err := p.Plan(context.Background(), s)
			require.NoError(t, err)
			assert.Contains(t, schedtest.Started(plan), "a")
		})
	}
}

// TestReserve: 3Sigma and keep have nodes kept for a job that has waited for long, where that is asked for.
func TestReserve(t *testing.T) {
	s, err := schedtest.Snapshot(schedtest.Nodes(2, 1)).Now(4000).
		Running(schedtest.Job("run", 1).Runs(9000), 0, "n0").Pending(schedtest.Job("wide", 2).Submitted(10).Runs(60)).Build()
	require.NoError(t, err)
	set := systems.Builtin()
	for _, name := range []string{"3sigma", "3sigma-nodist", "point-real", "keep"} {
		for reserve, want := range map[time.Duration]bool{0: false, time.Hour: true, 2 * time.Hour: false} {
			system, err := set.Find(name)
			require.NoError(t, err)
			policy, err := system.Policy(&systems.Planning{Reserve: reserve})
			require.NoError(t, err)
			plan, err := policy.Plan(context.Background(), s)
			require.NoError(t, err)
			require.Len(t, plan.Decisions, 1)
			assert.Equal(t, want, plan.Decisions[0].Reason.Code == threesigma.ReasonReserved, "%s, %v", name, reserve)
		}
	}
}

// TestSolver: a policy that solves opens the solver, once; one that does not leaves it shut. Its error is the policy's.
// Every value of a parameter of strictness makes a policy, and a system without one has none.
func TestStrictness(t *testing.T) {
	set, some := systems.Builtin(), 0
	for _, s := range set.List() {
		if !s.Shares {
			require.Empty(t, s.Strictness.Values, s.Name)
			continue
		}
		require.Equal(t, s.Strictness.Name == "", len(s.Strictness.Values) == 0, s.Name)
		for _, v := range s.Strictness.Values {
			p, err := s.Policy(&systems.Planning{Strictness: v})
			require.NoError(t, err, s.Name)
			require.Equal(t, s.Name, p.Name())
			some++
		}
	}
	require.Greater(t, some, 40)
}

func TestSolver(t *testing.T) {
	for name, want := range map[string]int{"3sigma": 1, "point-real": 1, "fifo": 0, "prio": 0} {
		system, err := systems.Builtin().Find(name)
		require.NoError(t, err)
		opened, broken := 0, error(nil)
		planning := &systems.Planning{Solver: func() (solver.Solver, error) { opened++; return greedy.New(), broken }}
		p, err := system.Policy(planning)
		require.NoError(t, err)
		assert.Equal(t, name, p.Name())
		assert.Equal(t, want, opened, name)
		broken = fmt.Errorf("no licence")
		if p, err = system.Policy(planning); want > 0 {
			require.ErrorIs(t, err, broken, name)
			assert.Nil(t, p)
		}
	}
}

// TestNobodyKnowsTheTruth: outside a simulator there is no perfect prediction.
func TestNobodyKnowsTheTruth(t *testing.T) {
	system, err := systems.Builtin().Find("point-perfect")
	require.NoError(t, err)
	_, err = system.Predictor(&systems.Knowledge{})
	require.ErrorIs(t, err, predict.ErrOptions)
}

func TestRegisterRefuses(t *testing.T) {
	policy := func(*systems.Planning) (sched.Policy, error) { return baseline.NewFIFO(), nil }
	forecast := func(k *systems.Knowledge) (predict.Predictor, error) { return k.History() }
	one := eagle.Switches{}
	for name, c := range map[string]struct {
		system systems.System
		is     error
	}{
		"taken":                  {systems.System{Name: "prio", Summary: "s", Policy: policy}, systems.ErrDuplicate},
		"taken by agents":        {systems.System{Name: "eagle", Summary: "s", Policy: policy}, systems.ErrDuplicate},
		"no name":                {systems.System{Summary: "s", Policy: policy}, systems.ErrInvalid},
		"all":                    {systems.System{Name: "all", Summary: "s", Policy: policy}, systems.ErrInvalid},
		"a list":                 {systems.System{Name: "a,b", Summary: "s", Policy: policy}, systems.ErrInvalid},
		"a flag":                 {systems.System{Name: "-a", Summary: "s", Policy: policy}, systems.ErrInvalid},
		"a path":                 {systems.System{Name: "a/b", Summary: "s", Policy: policy}, systems.ErrInvalid},
		"no summary":             {systems.System{Name: "a", Policy: policy}, systems.ErrInvalid},
		"a summary of two lines": {systems.System{Name: "a", Summary: "s\nt", Policy: policy}, systems.ErrInvalid},
		"neither":                {systems.System{Name: "a", Summary: "s"}, systems.ErrInvalid},
		"both":                   {systems.System{Name: "a", Summary: "s", Policy: policy, Agents: one}, systems.ErrInvalid},
		"told agents": {systems.System{Name: "a", Summary: "s", Agents: one, Predictor: forecast},
			systems.ErrInvalid},
	} {
		set := systems.Builtin()
		before := names(set.List())
		require.ErrorIs(t, set.Register(c.system), c.is, name)
		assert.Equal(t, before, names(set.List()), name)
	}
}

// TestSetsAreApart: what is registered in one set, or done to its list, does not show in another.
func TestSetsAreApart(t *testing.T) {
	one, other := systems.Builtin(), systems.Builtin()
	require.NoError(t, one.Register(systems.System{Name: "mine", Summary: "s", Agents: "of a type of mine"}))
	one.List()[0].Name = "gone"
	_, err := one.Find("3sigma")
	require.NoError(t, err)
	_, err = one.Find("mine")
	require.NoError(t, err)
	_, err = other.Find("mine")
	require.ErrorIs(t, err, systems.ErrUnknown)
	assert.ErrorContains(t, err, `found "mine", expected one of 3sigma, 3sigma-nodist, `)
}

// TestDocumented: docs/systems.md has every system. With -update it is written.
func TestDocumented(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Systems\n\nThe schedulers that `hedge compare` and `hedge simulate` know by name; " +
		"package `sched/systems` has them for programs.\n" +
		"This page is written by `go test ./sched/systems -run Documented -update`.\n")
	table := func(title string, of func(*systems.System) bool) {
		fmt.Fprintf(&b, "\n## %s\n\n| name | what it does | paper |\n| --- | --- | --- |\n", title)
		for _, s := range systems.Builtin().List() {
			if of(&s) {
				fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.Name, s.Summary, s.Paper)
			}
		}
	}
	table("Policies: gangs, in cycles", func(s *systems.System) bool { return s.Policy != nil && !s.Stages && !s.Shares })
	table("Policies for machines that tasks share (`--workload shared`)", func(s *systems.System) bool { return s.Shares })
	table("Agents: tasks, one by one (`--workload tasks`)", func(s *systems.System) bool {
		return s.Agents != nil && !s.Stages
	})
	table("Systems for jobs with stages (`--workload dag`, beside the policies)",
		func(s *systems.System) bool { return s.Stages })
	const file = "../../docs/systems.md"
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, b.String(), string(text))
}

// TestMachineHours: keep and its variants are told what a met deadline is worth.
func TestMachineHours(t *testing.T) {
	set := systems.Builtin()
	for _, name := range []string{"keep", "keep-perfect", "keep-doubt"} {
		system, err := set.Find(name)
		require.NoError(t, err)
		_, err = system.Policy(&systems.Planning{MachineHours: -1})
		require.ErrorIs(t, err, keep.ErrConfig, name)
	}
}

package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hedgesched/hedge/cmd/hedge/internal/experiment"
	"github.com/hedgesched/hedge/sched/systems"
)

// The workloads that need systems made for them.
const (
	workloadDAG    = "dag"    // of jobs with stages; systems of gangs run it, too
	workloadShared = "shared" // on machines that tasks share
)

// suits tells whether a system schedules what a workload has: tasks one by one, or gangs, or stages, on machines that
// they share or have to themselves.
func suits(s *systems.System, workload string) bool {
	switch {
	case s.Shares || workload == workloadShared:
		return s.Shares && workload == workloadShared
	case s.Stages:
		return workload == workloadDAG || s.Agents == nil && workload == "replay"
	}
	return (s.Agents != nil) == (workload == workloadTasks)
}

// runs tells whether a system can run a workload, if it is named: a policy for gangs runs tasks, too, each as a job.
func runs(s *systems.System, workload string) bool {
	return suits(s, workload) || workload == workloadTasks && plans(s)
}

// choose reads a list of systems that can run the workload; "all" is every one that is made for it, but those that
// stand apart.
func choose(set *systems.Set, list, workload string) ([]string, error) {
	for _, name := range strings.Split(list, ",") {
		if s, err := set.Find(strings.TrimSpace(name)); err == nil && !runs(&s, workload) {
			return nil, unsuited(&s, workload)
		}
	}
	names := suiting(set, workload)
	if strings.TrimSpace(list) == "all" {
		names = slices.DeleteFunc(names, func(name string) bool {
			s, err := set.Find(name)
			return err == nil && s.Apart
		})
	} else if workload == workloadTasks {
		names = append(names, planners(set)...)
	}
	return experiment.ParseNames(list, names)
}

// chooseOne is the system of that name, if it suits the workload.
func chooseOne(set *systems.Set, name, workload string) (systems.System, error) {
	s, err := set.Find(name)
	switch {
	case err != nil:
		return s, fmt.Errorf("found %q, expected one of %s", name, strings.Join(suiting(set, workload), ", "))
	case !runs(&s, workload):
		return s, unsuited(&s, workload)
	}
	return s, nil
}

func unsuited(s *systems.System, workload string) error {
	if s.Stages {
		return fmt.Errorf("found %q with --workload %s, expected --workload %s: it is for jobs with stages", s.Name, workload,
			workloadDAG)
	}
	if s.Agents != nil {
		return fmt.Errorf("found %q with --workload %s, expected --workload tasks: it places tasks one by one",
			s.Name, workload)
	}
	if s.Shares {
		return fmt.Errorf("found %q with --workload %s, expected --workload shared: it is for machines that tasks share",
			s.Name, workload)
	}
	return fmt.Errorf("found %q with --workload %s, expected another workload: it plans for gangs", s.Name, workload)
}

// suiting are the names of the systems that suit a workload.
func suiting(set *systems.Set, workload string) (names []string) {
	for _, s := range set.List() {
		if suits(&s, workload) {
			names = append(names, s.Name)
		}
	}
	return names
}

// staged are the systems that are for jobs with stages alone.
func staged(list []systems.System) []systems.System {
	return slices.DeleteFunc(list, func(s systems.System) bool { return !s.Stages })
}

// explained says, for the help of a command, what each system does that suits a workload, under the paper it is from.
func explained(list []systems.System, workload string) string {
	var papers []string
	of := map[string]string{} // by paper, in the order of the list
	for i := range list {
		s := &list[i]
		if !suits(s, workload) {
			continue
		}
		if _, known := of[s.Paper]; !known {
			papers = append(papers, s.Paper)
		}
		of[s.Paper] += fmt.Sprintf("    %-16s %s\n", s.Name, s.Summary)
	}
	var b strings.Builder
	for _, paper := range papers {
		fmt.Fprintf(&b, "  %s:\n%s", cmp.Or(paper, "of no paper"), of[paper])
	}
	return b.String()
}

package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/hedgesched/hedge/sched/bigc"
	"github.com/hedgesched/hedge/sched/kairos"
	"github.com/hedgesched/hedge/sched/pigeon"
	"github.com/hedgesched/hedge/sched/siding"
	"github.com/hedgesched/hedge/sched/slearn"
	"github.com/hedgesched/hedge/sched/systems"
)

// heeds tells whether a system of tasks heeds a flag. Flags of the log, of the run and of the workload are heeded by
// all, and so are --short-share, --min-probes and --heartbeat, which Eagle's authors chose by log.
func heeds(flag string, s *systems.System) bool {
	agents := s.Agents != nil
	switch flag {
	case "cycle", "engine", "work", "window", "slot":
		return plans(s)
	case "delay", "fail", "pause-cost", "resume-cost":
		return agents
	case "group-size", "reserved", "weight":
		c, ok := s.Agents.(siding.Config)
		_, birds := s.Agents.(pigeon.Config)
		return birds || ok && (flag != "reserved" || c.Reserved > 0)
	case "quantum", "queue", "guard", "guard-quanta", "guard-waits", "interval":
		_, ok := s.Agents.(kairos.Choice)
		_, queue := s.Agents.(kairos.Config)
		return ok || queue && flag == "interval"
	case "short-nodes":
		_, ok := s.Agents.(bigc.Config)
		return ok
	}
	if slices.Contains(gsFlagNames(), flag) {
		_, ok := s.Agents.(slearn.Scheme)
		return ok
	}
	return true
}

// checkOwners refuses flags that none of the systems heeds.
func checkOwners(fs *pflag.FlagSet, set *systems.Set, found []systems.System) error {
	var err error
	fs.Visit(func(f *pflag.Flag) {
		if err != nil || slices.ContainsFunc(found, func(s systems.System) bool { return heeds(f.Name, &s) }) {
			return
		}
		var owners []string
		for _, s := range set.List() {
			if (suits(&s, workloadTasks) || plans(&s)) && heeds(f.Name, &s) {
				owners = append(owners, s.Name)
			}
		}
		var names []string
		for i := range found {
			names = append(names, found[i].Name)
		}
		err = fmt.Errorf("--%s: found with %s, expected one of %s", f.Name, strings.Join(names, ", "),
			strings.Join(owners, ", "))
	})
	return err
}

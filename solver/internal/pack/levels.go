package pack

import (
	"math"
	"slices"
	"strconv"

	"github.com/hedgesched/hedge/solver"
)

// Priorities become resources. Some jobs may not take the room of some running jobs. What these jobs use together is at
// most what is free and what the other running jobs release. So there is a copy of the resource that only these jobs
// use and only those others release. The sets of such jobs are nested, so that one copy for each of them says it all:
// room can be divided among the jobs if and only if no copy is exceeded (Hall's condition).

// level is a copy of a resource for the jobs below a priority. It is released by the running jobs whose MinPriority is
// below it, too.
type level struct{ resource, below int }

// loadLevels finds the copies that the problem needs: none if every job may take the room of every running job.
func (in *Instance) loadLevels() {
	p := in.P
	in.levels, in.least, in.top = in.levels[:0], in.least[:0], math.MinInt
	for j := range p.Jobs {
		in.top = max(in.top, p.Jobs[j].Priority)
	}
	for m := range p.Running {
		if at := p.Running[m].MinPriority; at <= in.top {
			in.least = append(in.least, at)
		}
	}
	slices.Sort(in.least)
	in.least = slices.Compact(in.least)
	// Jobs between two thresholds may take the same room. Where there are none, the copy below tells as much.
	for i, below := range in.least {
		if slices.ContainsFunc(p.Jobs, func(j solver.Job) bool {
			return j.Priority < below && (i == 0 || j.Priority >= in.least[i-1])
		}) {
			in.addLevels(below)
		}
	}
}

// addLevels adds copies of the resources that jobs below that priority may not take from some running job.
func (in *Instance) addLevels(below int) {
	for r := range in.P.Resources {
		if slices.ContainsFunc(in.P.Running, func(run solver.Running) bool {
			return run.MinPriority >= below && in.releases(&run, r) && run.Demand[r] > 0
		}) {
			in.levels = append(in.levels, level{resource: r, below: below})
		}
	}
}

// resource is the problem's resource behind r, which may be a copy of it.
func (in *Instance) resource(r int) int {
	if k := r - len(in.P.Resources); k >= 0 {
		return in.levels[k].resource
	}
	return r
}

// releases says whether preempting the running job frees some of resource r, if it holds any.
func (in *Instance) releases(run *solver.Running, r int) bool {
	if k := r - len(in.P.Resources); k >= 0 {
		return run.MinPriority < in.levels[k].below
	}
	return run.MinPriority <= in.top
}

// uses says whether the job counts for resource r, if it demands it.
func (in *Instance) uses(job *solver.Job, r int) bool {
	k := r - len(in.P.Resources)
	return k < 0 || job.Priority < in.levels[k].below
}

// Names are the resources' names. Copies for the jobs below a priority are named after both.
func (in *Instance) Names() []string {
	names := slices.Clone(in.P.Resources)
	for _, l := range in.levels {
		names = append(names, in.P.Resources[l.resource]+" below "+strconv.Itoa(l.below))
	}
	return names
}

// relax gives the copies' rows in which nothing is kept from the jobs below all that there can be. The resource's own
// row says as much.
func (in *Instance) relax() {
	for k, l := range in.levels {
		for x := range in.Parts {
			row := (x*in.R + len(in.P.Resources) + k) * in.T
			of := (x*in.R + l.resource) * in.T
			for t := range in.T {
				if in.maxCap[row+t] == in.maxCap[of+t] {
					in.Cap[row+t] = in.maxCap[of+t]
				}
			}
		}
	}
}

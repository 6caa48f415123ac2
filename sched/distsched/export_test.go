package distsched

import "github.com/hedgesched/hedge/utility"

// OptionOf is what the policy found of a job's option.
func (p *Policy) OptionOf(job string) (value, inTime, eviction float64) {
	o := &p.jobs[job].option
	return o.value, o.inTime, o.eviction
}

// WorthOf is the utility that a job is planned with.
func (p *Policy) WorthOf(job string) utility.Utility { return p.jobs[job].worth.curve }

// WorkOf is the CPU time that a task of a job is planned with.
func (p *Policy) WorkOf(job string) float64 { return p.jobs[job].profile.work }

// Combined counts the machines that were summed again.
func (p *Policy) Combined() int { return p.machines.combined }

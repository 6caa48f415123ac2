// Package distsched is DistSched, the second system of Jun Woo Park's thesis (Distribution-based cluster scheduling,
// CMU 2019, chapter 5). Several tasks share a machine. CPU is shared in time: a task that gets less than it wants takes
// longer. If memory runs short, tasks are evicted. A task's future use is forecast as a distribution. In every cycle
// the scheduler
//   - sums the distributions of the tasks on each machine,
//   - finds for each pending job the machines that its tasks are least likely to overload,
//   - values that option by its expected utility: the probability that no task is evicted, times the expected utility
//     of the job's completion time, and
//   - starts the job with the highest value, and repeats until no job fits.
//
// Each mechanism can be switched off. [Variant] names the systems that the thesis compares.
//
// docs/distsched.md lists what the thesis leaves open and how this package settles it.
//
// The package reads no clock but [Config.Stopwatch] and measures nothing: forecasts and measurements come with the
// snapshot. Plans learn nothing; [Policy.Eviction] does, and decides nothing. Ties between machines are broken by
// numbers derived from [Config.Seed] and the jobs' IDs.
package distsched

// Package distsched is DistSched, the second system of Jun Woo Park's thesis (Distribution-based cluster scheduling,
// CMU 2019, chapter 5). Several tasks share a machine. CPU is shared in time, so a task that gets less of it takes
// longer; where memory runs short, tasks are evicted. What a task will use is known as a distribution. In every cycle
// the scheduler
//   - sums what the tasks on each machine are believed to use, as distributions,
//   - finds for each pending job the machines on which its tasks are least likely to be too many,
//   - values that option by its expected utility: the probability that no task is evicted, times what the job is
//     expected to be worth when it is done, and
//   - starts the job that is worth most, again and again, until none fits.
//
// Each mechanism can be switched off. [Variant] names the systems that the thesis compares.
//
// docs/distsched.md tells what the thesis leaves open, and how it is settled here.
//
// The package reads no clock but [Config.Stopwatch], measures nothing and learns nothing: forecasts come with the
// snapshot, as predict.History makes them of usage, and so does what is measured. Ties between machines are broken by
// numbers that follow from [Config.Seed] and the names of jobs.
package distsched

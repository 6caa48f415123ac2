// Package demo is what the demonstrations on real clusters have in common. It makes a workload from a real log, with
// time compressed so that a run takes minutes. It hands the jobs in at their times. And it writes a table of what
// became of them, beside what the simulator says of the same run.
//
// A demonstration writes a [Cluster] and has a [Comparison] run it: in each of its turns the demonstration starts
// servers and calls [Run]. In the end there is a table of the schedulers' runs, beside [Workload.Predict] with the
// runs' own [Delays]. The scheduler that it shows is a program, which it has built by [Build] and runs by [Start], on
// Linux alone. The package starts no servers and knows no scheduler of a cluster. Its errors do not name it, since the
// programs that print them do.
//
// # What is compressed
//
// Arrivals, runtimes, deadlines, the history and the plan-ahead window are all divided by [Options].Compress. What the
// cluster and the scheduler do themselves takes as long as ever, so it weighs Compress times as much as in life. Jobs
// whose runtime is below Options.Shortest are left out, since they would consist of little else.
package demo

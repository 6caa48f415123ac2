// Package demo is what the demonstrations on real clusters have in common: a workload made from a real log, with its
// time compressed so that a run takes minutes; handing it in at the right times; and what came of it in a table, beside
// what the simulator says of the same run.
//
// A demonstration writes a [Cluster] and has a [Comparison] run it: in each of its turns the demonstration starts
// servers and calls [Run]. In the end there is a table of the schedulers' runs, beside [Workload.Predict] with the
// runs' own [Delays]. The scheduler that it shows is a program, which it has built by [Build] and runs by [Start], on
// Linux alone. The package starts no servers and knows no scheduler of a cluster.
//
// # What is compressed
//
// Arrivals, runtimes, deadlines, the history and the plan-ahead window are all divided by [Options].Compress. What the
// cluster and the scheduler do themselves takes as long as ever, which weighs that many times as much as it would in
// life. Jobs whose runtime is below Options.Shortest are left out, since it would be all that they consist of.
package demo

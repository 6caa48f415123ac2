// Package yarn is the [adapters.Driver] of Apache Hadoop YARN: a scheduler for gangs of plain tasks, each on the node
// it was planned on, and for applications of any kind (Spark, MapReduce, ...) that hedge keeps until their start. It
// talks to the ResourceManager's REST API and to a folder, the spool; YARN stays as it is. It never places what is not
// in its spool, never stops work of others, and takes no part in how applications get their containers.
//
// # Jobs
//
// A job is a file in the folder jobs of the spool, NAME.yaml or NAME.json (see [File] for what it may say), put there
// in one piece, as by [Submit] or a rename. It is withdrawn by taking the file away, as by [Withdraw]. What counts is
// what the file says: one that is indented in another way is the same job and does not run again, and one that says
// something else is another job, which waits until nothing of the one before is left. [Submit] has each submission be
// one of its own, though it says the same. A file that makes no sense is that job's problem only; its user is told.
//
// A job with a command is a gang: hedge submits an application of the type HEDGE whose ApplicationMaster, the small
// program in the folder am, asks for each task strictly on its node, starts all of them once it has all containers, and
// gives up if it does not get them in time. A gang is of one node label, since YARN takes no named nodes from several.
// A job with an application is one that hedge submits as it is, with queue, priority and node label. Its containers go
// where YARN puts them, so such jobs run in labels of their own ([Options].Pools), each of which hedge takes for one
// big node.
//
// # What is kept where
//
// What hedge has asked for stands in the spool's folder state, one file a job, which is written before YARN is called;
// what became of it is read from the ResourceManager. An application's id is drawn when the file is written, so that a
// submission that is sent twice does nothing the second time, and one that must not arrive any more is made void: an
// application of that id is submitted that YARN refuses. All changes are compare-and-set on the state file, under a
// lock that holds on network file systems with flock, too. Active and standby instances share the spool, and nothing is
// in the memory of one that the others could not read.
//
// The ResourceManager must remember applications that are over for as long as hedge may be away
// (yarn.resourcemanager.max-completed-applications), and have recovery enabled. A gang whose application it does not
// know any more starts again.
//
// # What is read
//
// Each look asks for the live applications with the tag of the instance, those that have just ended, and the nodes.
// Files are read again when they have changed. Runtimes are those that the ApplicationMaster measures. Nodes are known
// by their YARN id, host:port (yarn.scheduler.include-port-in-node-name must be true), with the labels node, host,
// rack, label (the partition, "" for the default one) and kind: node, or pool for a pool. Resources are [Memory] and
// [VCores]. The share of ApplicationMasters ([Options].HeadroomMB, HeadroomVCores) is left out of each node's capacity;
// what is used beyond them and hedge's own tasks is foreign.
//
// # What is not understood
//
// A read that fails is made again in the next look, whatever the answer: one that is refused, too, since tickets are
// renewed and a ResourceManager that is just starting answers that it knows nothing. An application counts as unknown
// only if the ResourceManager was active before and after it said so. An application or a node of which it says what
// makes no sense counts as it was before, and [Options].Told is told; the others are believed.
//
// # Fences
//
// A node that is lost may go on running what it had until its NodeManager is back and ends it. Its tasks count as lost,
// their gang is stopped and starts elsewhere. [Lease] keeps one instance at a time active, in a file of the spool, and
// state files are written under the same lock as the lease: an instance of another epoch than the lease's writes
// nothing, and none does where the lease's file was taken away, until an instance has taken the lease anew.
//
// # Reasons
//
// Why a job waits stands in the file NAME.txt in the spool's folder notes. Why an application was stopped stands in its
// diagnostics.
package yarn

// Package yarn is the [adapters.Driver] for Apache Hadoop YARN. It schedules gangs of plain tasks, each task on its
// planned node. It also schedules applications of any kind (Spark, MapReduce, ...), which hedge keeps until their
// start. The driver uses the ResourceManager's REST API and a folder, the spool. YARN needs no changes. The driver
// never places what is not in its spool, never stops other work, and takes no part in how applications get their
// containers.
//
// # Jobs
//
// A job is a file in the spool's folder jobs, NAME.yaml or NAME.json; [File] has its fields. Put it there atomically,
// with [Submit] or by a rename. To withdraw the job, delete the file, or call [Withdraw]. The job is what the file
// says: reformatting a file changes nothing, and the job does not run again. If the file says something else, it is
// another job, which waits until nothing of the old one is left. Each call of [Submit] is a submission of its own, even
// with the same content. A file that makes no sense is a problem of that job only, and its user is told.
//
// A job with a command is a gang. hedge submits an application of the type HEDGE, whose ApplicationMaster is the small
// program in the folder am. It requests each task strictly on its node, starts all tasks once it has all containers,
// and gives up if it does not get them in time. A gang has a single node label, since YARN does not allocate named
// nodes of several labels.
//
// A job with an application is submitted as it is, with its queue, priority and node label. YARN places its containers.
// So such jobs run in node labels of their own ([Options].Pools). hedge treats each of these as one big node.
//
// # What is kept where
//
// What hedge has requested is recorded in the spool's folder state, one file per job. The file is written before YARN
// is called. What became of the request is read from the ResourceManager. An application's id is chosen when the file
// is written, so sending a submission twice has no further effect. A submission that must no longer arrive is made
// void: hedge submits an application with the same id that YARN refuses.
//
// All changes are compare-and-set on the state file, under a flock lock that also works on network file systems. Active
// and standby instances share the spool, and everything that an instance knows can be read by the others.
//
// The ResourceManager must have recovery enabled, and must remember finished applications for as long as hedge may be
// away (yarn.resourcemanager.max-completed-applications). A gang whose application it no longer knows starts again.
//
// # What is read
//
// Each observation asks for the live applications with the instance's tag, those that have just ended, and the nodes.
// Changed files are read again. Runtimes are measured by the ApplicationMaster. Nodes are known by their YARN id,
// host:port (yarn.scheduler.include-port-in-node-name must be true). They have the labels node, host, rack, label (the
// partition, "" for the default one) and kind (node, or pool for a pool). Resources are [Memory] and [VCores]. The
// share of ApplicationMasters ([Options].HeadroomMB, HeadroomVCores) is subtracted from each node's capacity. Usage
// beyond that share and hedge's own tasks is foreign.
//
// # What is not understood
//
// A failed read is repeated in the next observation, whatever the answer was. That includes a refused one, since
// tickets are renewed and a ResourceManager that is just starting answers that it knows nothing. An application counts
// as unknown only if the ResourceManager was active before and after it said so. If the ResourceManager's answer about
// an application or a node makes no sense, the application or node stays as it was, and [Options].OnError is called.
// All others are read as usual.
//
// # Fences
//
// A lost node may go on running its tasks until its NodeManager is back and ends them. These tasks count as lost, and
// their gang is stopped and starts elsewhere. [Lease] keeps one instance at a time active, in a file of the spool.
// State files are written under the same lock as the lease: an instance with another epoch than the lease's writes
// nothing. If the lease's file is deleted, no instance writes until one has taken the lease again.
//
// # Reasons
//
// The reason why a job waits is in the file NAME.txt in the spool's folder notes. The reason why an application was
// stopped is in its diagnostics.
package yarn

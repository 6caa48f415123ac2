// Package nomad is the [adapters.Driver] for HashiCorp Nomad. Users register batch jobs held, with count 0, and hedge
// releases them onto named nodes. The driver uses Nomad's HTTP API through the ordinary client, and needs no changes to
// servers or agents. It never places a job that is not marked for hedge, never stops other work, and keeps all its
// state in Nomad.
//
// # Jobs
//
// A job is hedge's if its meta has hedge = "true". It is of type batch and has one group with count 0, which is the
// template of its tasks. [Describe] lists the hints that its meta may have, and says what hedge makes of them. Until
// its start such a job has nothing to run, and Nomad calls it dead. So set the servers' job_gc_threshold well above the
// longest wait.
//
// A start registers the job again, with one more group per node of the gang. Such a group has the number of tasks that
// the plan puts on the node. A hard constraint binds it to the node, and Nomad neither restarts nor reschedules it. The
// registration is a compare-and-set on the job's modify index. A gang is tried in Nomad's own planner first. A task's
// rank is NOMAD_META_hedge_first_rank plus NOMAD_ALLOC_INDEX.
//
// A stop is a compare-and-set, too, which leaves only the template. What hedge must know later is in the job's meta,
// under keys of its own (hedge_attempt, hedge_start, ...). Users must not set these. A job that is registered without
// them, or registered again after it was stopped, is a new submission.
//
// # What is read
//
// Nodes, jobs and allocations are listed once and then followed by the event stream. Whenever the stream breaks,
// everything is listed again. Without a stream, everything is listed at most once per second, and for at most a tenth
// of the time; [Driver.Observe] says what happens if that lasts. The stream does not report purged jobs, but
// evaluations show that a job must be looked up.
//
// Starts, ends and runtimes are always taken from the task states of allocations. A list with a lower index than was
// known before, for example after "nomad operator snapshot restore", ends the driver; see [adapters.ErrRestored]. Then
// a new driver is made, which knows nothing. Allocations of other jobs count as foreign use.
//
// A node is known by its name. If two nodes that are not down share a name, they are known by name and id. A node's
// labels are node.unique.id, node.unique.name, node.datacenter, node.class, node.pool, driver.NAME for each healthy
// driver, meta.KEY and attr.KEY. Constraints on equality and presence become equivalence sets of these labels. Each
// other comparison becomes a label of its own, which is computed for each node.
//
// # What is measured and resized
//
// [Driver.Measure] reads what allocations use from their agents. If a job's meta allows it ([KeyResize]), a start sets
// cpu, memory and memory_max of the placed groups to what was forecast, never above what the job asks for. The template
// is left alone. What the placed groups reserve is read back from the job, so another instance knows it.
//
// # Fences
//
// A lost node may go on running its tasks. These tasks count as lost, and their gang is stopped and starts elsewhere. A
// job that must never run twice sets stop_after_client_disconnect on its group. Its lost tasks then hold the job back
// for that time and for their kill_timeout.
//
// When the node is back, what still runs there holds its room until the node's agent says otherwise, for at most
// [Options].Fence. At that time Nomad runs lost tasks again by itself. Such a task is not part of its gang's run,
// unless it is the whole gang. If the agent reports that the lost task had finished, the new one merely holds its room
// until it ends.
//
// [Lease] keeps one instance at a time active, in a Nomad variable with check-and-set. The variable holds the epoch.
// Actions read it first, or trust an earlier read for [Options].CheckLease. Actions of other epochs are refused. A call
// that is already under way may still arrive. But it changes no job that the new leader has changed, and Nomad puts
// nothing on a node that has no room.
//
// Nomad 1.6.1 checks a job's index just before it writes, and not together with the write. So of two changes within the
// same milliseconds it may accept both, and the later one remains. In this way a user's stop may be lost if hedge
// starts the job at that moment.
//
// If the variable is deleted, nobody leads until an instance has recreated it. Epochs go on from the index of Nomad's
// last change of a variable, so an epoch never occurs twice.
//
// # Reasons
//
// The reason why a job waits is in the Nomad variable hedge/jobs/ID of the job's namespace; see [NotePath]. A note in
// the job itself would be a new version of the job. A start deletes the note. If a job has failed for good, the note
// says why, and stays. Notes of jobs that are gone or run are deleted when everything is listed, at most once in five
// minutes.
package nomad

// Package nomad is the [adapters.Driver] of HashiCorp Nomad: a scheduler for batch jobs that their users register held,
// at count 0, and that hedge releases onto named nodes. It talks to Nomad's HTTP API with the ordinary client; the
// servers and agents stay as they are. It never places what is not marked as its own, never stops work of others, and
// keeps nothing outside of Nomad.
//
// # Jobs
//
// A job is hedge's if its meta says hedge = "true". It is of type batch and has one group, at count 0, which is the
// template of its tasks: [Describe] lists the keys that hints may have and says what is made of them. Until its start
// such a job has nothing to run, and Nomad calls it dead: set the servers' job_gc_threshold well above the longest
// wait.
//
// A start registers the job again, with a group for each node of the gang beside the template: as many tasks as the
// plan puts there, bound to the node by a hard constraint, neither restarted nor rescheduled by Nomad. The registration
// is a compare-and-set on the job's modify index; a gang is tried in Nomad's own planner first. Tasks find their rank
// as NOMAD_META_hedge_first_rank plus NOMAD_ALLOC_INDEX. A stop is a compare-and-set, too, that leaves only the
// template. What hedge must know later stands in the job's meta, under keys of its own (hedge_attempt, hedge_start,
// ...), which users leave alone: a job that is registered without them, or that was stopped and is registered again, is
// another submission.
//
// # What is read
//
// Nodes, jobs and allocations are listed once and then followed by the event stream; whenever that breaks, all is
// listed. While it is not there, all is listed once in a second at most, and for no more than a tenth of the time; see
// [Driver.Observe] for what is told when that lasts. The stream tells nothing of jobs that were purged; evaluations
// tell that there is something to ask for. Starts and ends of tasks, and so runtimes, are always those of the
// allocations' task states. A listing that is of a lower index than what was known before, as after "nomad operator
// snapshot restore", ends the driver, see [adapters.ErrRestored]: another one is made, which knows nothing. What
// allocations of other jobs hold is foreign use.
//
// Every node is known by its name; where two that are not down share one, by name and id. Its labels are
// node.unique.id, node.unique.name, node.datacenter, node.class, node.pool, driver.NAME for each healthy driver,
// meta.KEY and attr.KEY. Constraints on equality and presence become equivalence sets over these; all other comparisons
// become labels of their own that are worked out for each node.
//
// # Fences
//
// A node that is lost may go on running what it had. Its tasks count as lost, their gang is stopped and starts
// elsewhere. A job that must not run twice, not even then, sets stop_after_client_disconnect on its group: its lost
// tasks then hold the job back for as long, and for their kill_timeout. When the node is back, what it still runs holds
// its room until its agent says otherwise, at most for [Options].Fence. Nomad by itself runs again then what was lost:
// a task that ran so is not its gang's run, unless it is all of the gang. If its agent tells that the lost one had
// finished, the other only holds its room until it ends.
//
// [Lease] keeps one instance at a time active, in a Nomad variable with check-and-set. The variable holds the epoch.
// Actions read it first, or believe for [Options].CheckLease what was read, and those of another epoch are refused; a
// call that is under way just then may still arrive, but changes no job that the new leader has changed, and Nomad puts
// nothing on a node that has no room. (Nomad 1.6.1 looks at a job's index just before it writes, not as it writes: of
// two changes within the same milliseconds it may accept both, and the later stands. So may a user's stop be lost who
// stops a job just as hedge starts it.) If the variable is deleted, nobody leads any more until an instance has made it
// anew; epochs go on from the index of Nomad's last change of a variable, and so never come twice.
//
// # Reasons
//
// Why a job waits stands in the Nomad variable hedge/jobs/ID of the job's namespace (see [NotePath]): a note in the job
// itself would be a new version of it. A start takes the note away. Of a job that has failed for good the note says
// why, and stays. Notes of jobs that are gone, or that run, are taken away when all is listed, once in five minutes at
// most.
package nomad

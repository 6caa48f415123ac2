// Package live runs a system of package agent in real processes. The state machines are those that adapters/sim
// simulates. A fleet has dispatches, which run the schedulers, and agents, which run the workers; they talk over gRPC.
// Agents run the commands of tasks through an [Executor], such as package process.
//
// It is no orchestrator: it starts no agents, distributes no files, and isolates no users from one another. It logs
// only to the logger that it is given.
//
// # Who is where
//
// The first dispatch is the fleet's registrar: it accepts jobs, and assigns workers to agents. Every agent connects to
// every dispatch, and every dispatch connects to those before it in the list. A message from a worker to a worker of
// another agent goes through the registrar.
//
// # What survives what
//
//   - A dispatch may end at any moment. Started again with its folder, it goes on where it was. The folder has a
//     journal for each part of the dispatch. Every input of the part is on the disk before any output that it caused
//     leaves the dispatch. A part is a deterministic function of its inputs, so replaying the journal restores it,
//     down to its random numbers. Messages that were not acknowledged are sent again; messages that were received are
//     not taken twice.
//   - While a dispatch is away, tasks go on, and so does everything else that does not need the dispatch.
//   - When an agent ends, its tasks end. Its workers begin another life, without state. If the agent comes back under
//     the same name, it gets the same workers. If it does not come back within [DispatchConfig].LostAfter, other
//     agents get them, so an agent may have more workers than it asked for. A new agent takes such surplus workers
//     over.
//   - So a task may run more than once. It may even run in two places at a time, while an agent works but cannot be
//     reached. A task should publish its result by one step that is harmless the second time, such as a link to a name
//     made from the job's name and the task's index.
//
// # What it costs, and what it does not do
//
// A journal grows with every message, by some 100 bytes, and is never shortened. To shorten journals, stop the fleet
// when it has nothing to do, empty all folders, and start all dispatches anew; agents notice and begin anew. If only
// some folders are emptied, dispatches refuse one another.
//
// Parts on different machines compare times, so clocks should agree to within the system's intervals. A process with a
// certificate of the fleet's authorities is trusted: whether it is an agent or a dispatch is what it says. Messages of
// such a process that make no sense stop nobody else: what a codec does not take is refused, and a message that a part
// cannot take causes nothing. They may still change what the part knows of its tasks.
package live

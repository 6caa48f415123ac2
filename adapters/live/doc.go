// Package live runs a system of package agent in real processes: the same state machines that adapters/sim simulates.
// A fleet is some dispatches, which have the schedulers' parts, and many agents, which have the workers'. They talk
// over gRPC. Agents run the commands of tasks by an [Executor], such as package process.
//
// It is no orchestrator: it starts no agents, keeps no files of jobs and restricts no user. It logs only to the logger
// that it is given.
//
// # Who is where
//
// The first dispatch is the fleet's registrar: jobs are submitted to it, and it gives each agent its workers. Every
// agent connects to every dispatch, and every dispatch to those in front of it in the list. A message from one worker
// to another goes through the registrar.
//
// # What survives what
//
//   - A dispatch that ends, at any moment, goes on where it was when it is started again with its folder. Each of its
//     parts has a journal there. What happens to the part is written to the disk before anybody can see what the part
//     did about it. A part is a function of what happens to it, so the journal, played again, makes the same part, down
//     to its random numbers. What was sent and not acknowledged is sent again; what was received is not taken again.
//   - Tasks go on while a dispatch is away, and so does all that does not need it.
//   - An agent that ends takes its tasks with it; its workers begin another life, empty. Started again under the same
//     name, it gets the same workers. If it does not come back within [DispatchConfig].LostAfter, other agents get
//     them, so an agent may have more workers than it asked for. A new agent takes such workers over.
//   - A task may therefore run more than once. It may run in two places for a while, if an agent still works but cannot
//     be reached. It should publish what it has done by a step that does no harm a second time, such as a link to a
//     name that is made of the job's and the task's.
//
// # What it costs, and what it does not do
//
// A journal grows with every message, and is never made shorter: some 100 bytes a message. A fleet that has nothing to
// do may be ended, its folders emptied, and started again; agents notice that and begin anew. All dispatches must be
// begun anew together. A dispatch whose folder is lost is refused by a fleet that goes on.
//
// Parts of different machines compare times, so clocks should agree to within the system's intervals. Whoever has a
// certificate of the fleet's authorities is trusted: agents and dispatches are told apart by what they say.
package live

// Package hedge is the root of an embeddable SDK for cluster scheduling under
// uncertainty. A host program (an orchestrator, a simulator) tells it what is pending and what
// runs, and gets a plan: what to start where, what to defer, what to preempt, and why. Runtimes are
// predicted as distributions, and plans maximise expected utility.
//
// # Rooms
//
// Imports point upwards in this list only.
//
//	dist       what is known of a number that is not known yet
//	utility    what finishing at a given time is worth, and its expectation
//	predict    from history to a distribution
//	solver     the placement problem in plain numbers; engines greedy and native; solver/milp has models,
//	           backends (cbc, clp, lpsolve, highs, ortools, process) and an engine on them; solver/engines
//	           opens any of them by a string
//	sched      jobs, nodes, snapshots, plans, the cycle; policies threesigma, keep (ours), distsched, baseline,
//	           backfill, and to compare with, chronus and hydra; overcommit runs others on machines that
//	           are promised twice; sched/place has what policies share: it packs gangs and divides nodes;
//	           sched/ranges is where gangs run, by ranges of nodes; sched/usage is what tasks are measured
//	           to use; sched/paths forecasts the rest of jobs that have stages; sched/record keeps snapshots,
//	           to be planned again; sched/outlook tells when jobs start, sched/whatif changes a snapshot,
//	           sched/why explains jobs that wait;
//	           sched/agent is the shape of schedulers made of messages, with a suite:
//	           sched/eagle (Hawk, Sparrow and others too), sched/pigeon, sched/kairos, sched/bigc,
//	           sched/siding (ours), sched/slearn (GS); sched/systems has all of them by name, with their papers
//	adapters   where jobs and nodes live: what real clusters share, with adapters/fake, a cluster in
//	           memory, and the suite adapters/adaptertest; adapters/sim is a simulator, with trace
//	           readers and workload builders, adapters/sim/forward simulates a snapshot onwards, and adapters/sim/central
//	           has policies plan for workloads of tasks;
//	           adapters/live runs systems of agents as processes, a module of its own; adapters/shadow
//	           watches a cluster that another scheduler runs, adapters/testservers runs
//	           real servers for tests, adapters/service is a scheduler as a program that goes on, with
//	           adapters/service/settings, what users set in it, and
//	           adapters/metrics has the loop's metrics for Prometheus, and a dashboard of them
//	otelhedge  OpenTelemetry spans of the loop's cycles, a module of its own
//	fxhedge    all of it as modules for go.uber.org/fx, a module of its own
//	examples   programs to run and to copy
//	cmd/hedge  the command line, a module of its own; cmd/hedge/program is for building one with policies of one's own
//
// # Rooms of solver/native
//
// A room is given the problem, the budget and the best plan so far. Imports point upwards here, too.
//
//	solver/native/internal/search  what a search may take (budget), what it has found (incumbent), random numbers
//	solver/native/internal/lp      the linear program of sets and rows, and the simplex method on it
//	solver/native/internal/relax   the relaxation: prices and what they prove, ascent, column generation
//	solver/native/internal/cuts    finds cuts
//	solver/native/internal/plan    plans: greedy, ruin and recreate, ejection chains
//	solver/native/internal/warm    what one solve hands on to the next
//	solver/native/internal/tree    the problem divided: sub-problems, rounding, dives, branching, cuts added
//	solver/native                  what comes when, shares of the work, threads
//
// # Below the rooms
//
// Below all rooms, internal/form reads JSON strictly and says what is wrong with it. internal/release is for
// making releases, and no part of one.
//
// # The way of one job
//
//	cluster -- Submitted --> sched.Loop -- Predict --> predict.Predictor
//	                             | every cycle: an immutable sched.Snapshot
//	                             v
//	                         sched.Policy -- options x expected utility --> solver.Solve
//	                             |
//	cluster <- Start, Preempt -- sched.Plan, each decision with its reason
//	cluster -- Finished -----> predict.Observe
//
// One direction, no call-backs up the stack: a cycle is a function of its snapshot, and the same
// input with the same seed gives the same plan on any machine and any number of cores.
//
// # Where is what
//
//	an option is valued            sched/threesigma/value.go
//	a preemption is priced         sched/threesigma/running.go, Policy.price
//	an engine's plan is verified   solver/verify.go, which Solve calls for every plan
//	a policy's plan is checked     sched/check.go, which Loop.Step calls
//	a decision log is checked      adapters/sim/decisionlog/check.go, which shares no code with the simulator
//	a column is generated          solver/native/internal/relax/pricing.go
//	a cut is found, and added      solver/native/internal/cuts/separate.go, solver/native/internal/tree/cutting.go
//	a plan is bettered             solver/native/internal/plan/local.go
//	a node is branched             solver/native/internal/tree/branching.go, which tree.go asks
//	a gang is bound                adapters/kubernetes/start.go
//	a task is resized              adapters/resize.go; what it uses comes from meter.go there
//	a job's waiting is explained   sched/why/remedy.go, with room.go for who holds what
//	a job's start is told          sched/outlook/teller.go, by outlook.go and look.go
//	a probe is answered            sched/eagle/worker.go
//	a long task gives way          sched/siding/master.go, master.place
//	a job's size is told           sched/slearn/sampling.go, history.go and joint.go
//	a message survives a crash     adapters/live/part.go, part.commit
//
// # The same digits everywhere
//
// Go may fuse x*y + z into one instruction that rounds once, and does so on arm64 and others but not on
// amd64: last digits differ, then orders, then plans. An explicit conversion forbids it, so a product that is added to
// or subtracted from something is written float64(x*y), also where x*y is a function's result or a variable.
// internal/check/fused reads the compiler's listing and fails where one is fused.
//
// The promise ends at the functions of package math that round differently from machine to machine: Exp, Log and their
// kin, Erfc, and Pow but for whole powers. Histograms, points and uniforms, and what history predicts, use none. The
// families Normal, Lognormal and Exponential do, and so do perturbed predictors and the maxima of gangs (dist.MaxOf):
// these may differ by a last digit. So may the probabilities that 3Sigma tells and the estimates of sched/outlook; no
// decision depends on them, and reasons show whole percents. What the e2e workload draws hides it, rounded to
// microseconds but for once in some 10⁸ draws. The solver's search draws exponential variates: one in some millions
// differs so, and decides otherwise only in what is a tie but for that digit.
//
// # Rules of the house
//
// Seconds are float64 inside and time.Duration or time.Time at the edge. The library never logs, but to a
// logger that adapters/service is given, never
// exits, and reads no clock and no random source but those it is given. It stops the goroutines it starts,
// but for the one of a solving engine that does not hear its deadline, which lives until it does: see
// solver.Solve.
// The root module needs no C compiler and imports, outside its tests, the standard library and one JSON
// reader: github.com/go-json-experiment/json.
package hedge

// Package process is for solving models with a solver's own executable, found on the machine when it is needed: nothing
// is linked in and no C compiler is needed. [New] makes a [milp.Backend] of one of these:
//
//	program  apt package     versions tested  at a limit
//	cbc      coinor-cbc      2.10.8           stops at SIGINT and writes its best point
//	glpsol   glpk-utils      5.0              writes its best point at its own limit, of whole seconds; loses it if killed
//	highs    none            1.15.1           writes every better point at once, so that none is lost
//	scip     none            10.0.2           stops at SIGINT and writes its best point
//
// Debian has no package of the last two: PyPI's highsbox holds an executable of HiGHS, and scipopt.org has packages of
// SCIP (the tests here have also run the library of PyPI's pyscipopt, which contains SCIP's shell). lp_solve's
// executable is not among them since it prints six digits, too few for points to be checked; it has a backend of its
// own.
//
// # How a solve goes
//
// The model is written into a new temporary folder by [format.WriteMinimized]: every solver is given a minimisation in
// the same MPS dialect, so that senses, signs of offsets and names cannot be taken differently. Log lines therefore
// have negated objectives where the model maximises. The child runs in a process group of its own. Its own time limit
// ends somewhat before the deadline; those that listen get a SIGINT after that; and shortly before the deadline, or 20
// ms after the context is cancelled, the whole group is killed. Then the folder is removed. Nothing is left behind: no
// file, no process, no goroutine, except for processes that a solver has put into a group of their own. A program that
// itself ends, or is killed, in the middle of a solve, one that milp.Solve has abandoned included, leaves the folder
// behind, hedge-cbc-* or the like in Config.Dir, and the child until its own limit: the folders can be removed at any
// time when no such program runs.
//
// What a solver says of itself is taken with care: a point is taken from limits only if it is one; a bound is widened
// by what its printed digits leave open; an optimum outside of the gap that was asked for is [milp.StopOther].
//
// # Known wrong answers
//
// No check of one answer sees these; solving the model with another backend does.
//
//   - cbc 2.10.8: its integer preprocessing is wrong about one or two in a thousand small random models with equations or ranges (calls
//     them infeasible, or a worse point optimal), and was about none of 1,641 placement problems. The maximum of 3x-5y for whole
//     -3 <= x <= 4 and 4 <= y <= 6 with -5.5 <= 4x-2y <= -3 is -17, and cbc says -24, unless it is told -preprocess off: Config.Args.
//   - cbc may call unbounded models infeasible. So where a variable pays without end, it is asked again: for a point without costs, and
//     for a direction without end, so that such models take up to three runs.
//   - glpsol 5.0 calls unbounded models optimal whose costs are small, 1e-3 and less: its preprocessor takes them for zero. An example is
//     the maximum of 0.001x for x-y <= 1, x >= 0 and any y. Scale costs up, or bound the variables.
//
// The package never uses the network, and never changes anything outside of its temporary folder.
package process

// Package process solves models with a solver's own executable, which is looked up at run time. It links nothing and
// needs no C compiler. [New] makes a [milp.Backend] for one of these:
//
//	program  apt package     versions tested  at a limit
//	cbc      coinor-cbc      2.10.8           stops at SIGINT and writes its best point
//	glpsol   glpk-utils      5.0              has a limit in whole seconds, at which it writes its best point
//	highs    none            1.15.1           writes every better point at once, so that none is lost
//	scip     none            10.0.2           stops at SIGINT and writes its best point
//
// Debian has no package of the last two. PyPI's highsbox has an executable of HiGHS, and scipopt.org has packages of
// SCIP. (The tests have also run the library in PyPI's pyscipopt, which contains SCIP's shell.) lp_solve's executable
// is not supported, since it prints six digits, too few for checking points. lp_solve has a backend of its own.
//
// # How a solve goes
//
// [format.WriteMinimized] writes the model into a new temporary folder. Every solver gets a minimisation in the same
// MPS dialect, so that senses, signs of offsets and names cannot be misunderstood. Therefore log lines have negated
// objectives if the model maximises.
//
// The child runs in a process group of its own. Its own time limit ends somewhat before the deadline. Solvers that
// handle SIGINT get it after that. The whole group is killed shortly before the deadline, or 20 ms after the context is
// cancelled. Then the folder is removed. No file, process or goroutine remains, except for processes that a solver has
// put into a group of their own.
//
// If a program ends or is killed during a solve, including one that milp.Solve has abandoned, the folder remains
// (hedge-cbc-* or similar in Config.Dir), and so does the child until its own limit. These folders can be removed
// whenever no such program runs.
//
// What a solver reports is used with care. After a limit, a point is used only if it is feasible. A bound is widened by
// the precision of its printed digits. An optimum outside the requested gap is [milp.StopOther].
//
// # Known wrong answers
//
// Checking a single answer does not find these. Solving the model with another backend does.
//
//   - cbc 2.10.8: its integer preprocessing is wrong for one or two in a thousand small random models with equations or
//     ranges. It calls them infeasible, or a worse point optimal. It was right for all of 1,641 placement problems.
//     Example: the maximum of 3x-5y for whole -3 <= x <= 4 and 4 <= y <= 6 with -5.5 <= 4x-2y <= -3 is -17, and cbc
//     says -24, unless it gets -preprocess off by Config.Args.
//   - cbc may call unbounded models infeasible. If a variable pays without limit, it is run again: for a point without
//     costs, and for an unbounded direction. So such models take up to three runs.
//   - glpsol 5.0 calls unbounded models optimal if their costs are small, 1e-3 or less: its preprocessor treats them as
//     zero. An example is the maximum of 0.001x for x-y <= 1, x >= 0 and any y. Scale costs up, or bound the variables.
//
// The package never uses the network, and never changes anything outside its temporary folder.
package process

// Package process is for solving models with a solver's own executable, found on the machine when it is needed: nothing is linked in
// and no C compiler is needed. [New] makes a [milp.Backend] of one of these:
//
//	program  apt package     versions tested  at a limit
//	cbc      coinor-cbc      2.10.8           stops at SIGINT and writes its best point
//	glpsol   glpk-utils      5.0              writes its best point at its own limit, of whole seconds; loses it if killed
//	highs    none            1.15.1           writes every better point at once, so that none is lost
//	scip     none            10.0.2           stops at SIGINT and writes its best point
//
// Debian has no package of the last two: PyPI's highsbox holds an executable of HiGHS, and scipopt.org has packages of SCIP (the tests here have also run the
// library of PyPI's pyscipopt, which contains SCIP's shell). lp_solve's executable is not among them since it prints six digits, too few for
// points to be checked; it has a backend of its own.
//
// # How a solve goes
//
// The model is written into a new temporary folder by [format.WriteMinimized]: every solver is given a minimisation in the same MPS dialect, so
// that senses, signs of offsets and names cannot be taken differently. Log lines therefore have negated objectives where the model maximises. The
// child runs in a process group of its own. Its own time limit ends somewhat before the deadline; those that listen get a
// SIGINT after that; and shortly before the deadline, or 20 ms after the context is cancelled, the whole group is killed. Then the folder is removed. Nothing is left behind:
// no file, no process, no goroutine, except for processes that a solver has put into a group of their own.
//
// What a solver says of itself is taken with care: a point is taken from limits only if it is one; a bound is widened by
// what its printed digits leave open; an optimum outside of the gap that was asked for is [milp.StopOther].
//
// The package never uses the network, and never changes anything outside of its temporary folder.
package process

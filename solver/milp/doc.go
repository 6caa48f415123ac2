// Package milp is for anybody who needs a mixed-integer linear program solved from Go: a [Model] that
// is cheap to build and to hand over, one small interface for solvers, [Backend], and the function
// [Solve] that callers talk to. None of that knows anything of scheduling; [New] does, which makes a
// backend into an engine for placement problems, a [solver.Solver] like native and greedy.
//
// # Three facts
//
// A [Result] keeps apart what solvers like to mix: why it stopped (Stop), what point is in hand (X), and
// what is proven of any point (Bound). A limit says nothing of the point, and no limit loses it: the best
// point that a backend has told of is in the result however it ended. The zero Stop means that nothing was
// solved. The solver's own word is kept in Raw.
//
// # Trust
//
// Solve believes no backend: it checks every point against the model with arithmetic of its own, computes the objective
// itself, refuses contradictions (an optimum away from its bound, a point of an infeasible model), and keeps deadlines
// also for libraries that do not. Models without variables and bounds that cross, of which solvers do not agree what
// they are, it answers itself. What it cannot see from one answer alone, such as a bound that is wrong, the suite
// milptest looks for.
//
// # Backends
//
// Most are nested modules, each with a README of its own: cbc, clp and lpsolve on C libraries, highs on a shared
// library that is loaded at run time, ortools on a service over gRPC. Package process, any executable that reads MPS
// files, is pure Go and part of the root module, and so is format, which writes and reads LP and MPS. [Diving] makes a
// backend of linear programs into one that finds points of models with integer variables. This package never logs, and
// reads no clock but to keep deadlines.
package milp

// Package milp solves mixed-integer linear programs from Go. A [Model] is cheap to build and to transfer. [Backend] is
// a small interface for solvers. Callers use the function [Solve]. None of these know anything about scheduling. [New]
// does: it turns a backend into an engine for placement problems, a [solver.Solver] like native and greedy.
//
// # Three facts
//
// A [Result] separates what solvers tend to mix: why the solve stopped (Stop), the best point (X), and what is proven
// about all points (Bound). A limit says nothing about the point and never loses it: the best point that a backend has
// reported is in the result, however the solve ended. The zero Stop means that nothing was solved. Raw has the solver's
// own text.
//
// # Trust
//
// Solve trusts no backend. It checks every point against the model with arithmetic of its own, computes the objective
// itself, refuses contradictions (an optimum away from its bound, a point of an infeasible model), and keeps deadlines
// even if libraries do not. It answers models without variables and models with crossing bounds itself, since solvers
// disagree about them. A single answer does not show everything, for example a wrong bound. The test suite milptest
// looks for such errors.
//
// # Backends
//
// Most backends are nested modules, each with a README: cbc, clp and lpsolve for C libraries, highs for a shared
// library that is loaded at run time, ortools for a service over gRPC. Package process, for executables that read MPS
// files, is pure Go and part of the root module. So is format, which writes and reads LP and MPS files. [Diving] turns
// a backend for linear programs into one that finds points of models with integer variables. This package never logs,
// and uses the clock only for deadlines.
package milp

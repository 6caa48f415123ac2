// Package reference is a backend of milp that is correct and easy to read, but not fast: a two-phase primal simplex
// method with bounds, and a depth-first branch and bound. The conformance suite milptest gets optima from it, and tests
// itself with it.
//
// It keeps a dense inverse of the basis and solves every node's relaxation from scratch. So it is for models of up to a
// few hundred entries; linear programs may have many columns if they have few rows. It has no presolve, cuts,
// heuristics or scaling, and is not made for badly scaled models.
package reference

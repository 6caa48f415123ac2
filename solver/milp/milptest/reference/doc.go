// Package reference is a backend of milp that is meant to be right and easy to read, not fast: a two-phase primal
// simplex method with bounds, and a depth-first branch and bound. The conformance suite milptest asks it for optima,
// and tests itself with it.
//
// It keeps a dense inverse of the basis and solves every node's relaxation from the beginning, so that it is for models
// of up to some hundred entries; linear programs may have many columns if they have few rows. It has no presolve, no
// cuts, no heuristics and no scaling, and is not made for badly scaled models.
package reference

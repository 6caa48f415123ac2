// Package lpsolve makes lp_solve 5.5 available through [milp.Solve]. lp_solve is a small solver of mixed-integer linear
// programs that every distribution has. The package binds the C library through github.com/draffensperger/golp, and
// adds C functions for what the binding lacks.
//
// It never prints, has no settings, and starts no thread. Building it needs a C compiler, Debian's packages
// liblpsolve55-dev and lp-solve, and an environment variable for the binding; see the README.
package lpsolve

// Package lpsolve is for programs that want lp_solve 5.5 behind [milp.Solve]: a small solver of mixed-integer linear
// programs that every distribution has. It binds the C library through github.com/draffensperger/golp and a few C
// functions of its own for what the binding lacks.
//
// It never prints, has no settings of its own, and starts no thread. Building it needs a C compiler, Debian's packages
// liblpsolve55-dev and lp-solve, and one variable that the binding asks for: see the README.
package lpsolve

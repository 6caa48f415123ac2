// Package clp makes COIN-OR's Clp, a fast solver of linear programs, available through [milp.Solve]. It binds the C++
// library through github.com/lanl/clp, and adds functions that the binding lacks. For models with integer variables,
// use milp.Diving(clp.New()), which rounds Clp's points and then branches for as long as it has time.
//
// It never prints, has no setting but the method, and starts no thread. Building it needs a C++ compiler and Debian's
// package coinor-libclp-dev.
package clp

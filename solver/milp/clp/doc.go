// Package clp is for programs that want COIN-OR's Clp, a fast solver of linear programs, behind [milp.Solve]. It binds
// the C++ library through github.com/lanl/clp and a few functions of its own for what the binding lacks. Models with
// integer variables are for milp.Diving(clp.New()), which rounds what Clp finds, and then branches for as long as it
// has time.
//
// It never prints, has no settings but the method, and starts no thread. Building it needs a C++ compiler and Debian's
// package coinor-libclp-dev.
package clp

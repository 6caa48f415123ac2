// Package cbc is a [milp.Backend] on CBC, COIN-OR's branch and cut, as the C++ libraries of Debian 12's
// coinor-libcbc-dev 2.10.8 have it. It needs cgo, and gcc and g++ to build; the README says how to install them. It
// writes to no file and no standard output, and starts no process and no thread of its own.
//
// # What it calls
//
// A model is handed over whole and by column, then CbcMain1 solves it, as the C interface's Cbc_solve does; models
// without integers go to CLP alone. A shim of C++ stands between, since the C interface of 2.10.8 can neither stop a
// solve nor tell of a point before the end: it installs the handlers of events that the C++ classes have. The library
// is always asked to minimise, without offset; signs and offset are put back here.
//
// # Stopping
//
// The end of a context sets a flag that the handlers look at: between the simplex steps of the first relaxation, and in
// the tree after each relaxation, cut pass, heuristic and node. CBC's cut generators and presolve look at nothing, so
// that it is [milp.Caps].Deaf: it may go on for a while, which [milp.Solve] does not wait for. CBC's own limit of
// seconds is not used: it makes CLP give up within the root node, and CBC then uses memory that it has freed. What a
// stopped solve says of bounds and infeasibility is not believed; its bound is the last one from before.
//
// # Points
//
// Better points are told of as they are found. CBC finds them for its preprocessed problem: the integers are put
// into the whole one, and CLP completes it. What does not pass [milp.Check] then is kept back.
//
// # Starts
//
// A start is kept as the point in hand, and ends the search once the bound is close enough to it. CBC itself is not
// told: over 72 starts of 24 models a cutoff at the start's value made it take 1.7 times the steps of the simplex
// method, and at worst 4.9 times, and handing the start over as its MIP start failed on some. So a start never makes a
// solve slower. One that is not a point, or has NaN in it, is completed first, its integers fixed, in at most 100
// nodes, five seconds, and a tenth of the time there is.
//
// # Wrong answers
//
// The integer preprocessing of CBC 2.10.8 is wrong about a few small models with equations or ranges; the README has an
// example.
//
// # Concurrency
//
// CbcMain1 keeps its place among its arguments in a variable of the process, so models with integers take turns, in all
// of the process; who waits for a turn heeds its context. Linear programs need not wait. One thread is used for a
// solve.
package cbc

// Package cbc is a [milp.Backend] for CBC, COIN-OR's branch and cut, in the version of Debian 12's C++ libraries,
// coinor-libcbc-dev 2.10.8. Building it needs cgo, gcc and g++; the README says how to install them. It writes to no
// file and not to standard output. It starts no process, and no thread of its own.
//
// # What it calls
//
// A model is transferred in one call, by column. Then CbcMain1 solves it, as the C interface's Cbc_solve does. Models
// without integers go to CLP alone. The C interface of 2.10.8 can neither stop a solve nor report a point before the
// end. So a C++ shim installs event handlers of the C++ classes. The library always minimises, without an offset; this
// package restores signs and the offset.
//
// # Stopping
//
// The end of a context sets a flag. Event handlers check it between the simplex steps of the first relaxation, and in
// the tree after each relaxation, cut pass, heuristic and node. CBC's cut generators and presolve do not check it. So
// the backend is [milp.Caps].Deaf: it may go on for a while, and [milp.Solve] does not wait for it. CBC's own time
// limit is not used: it makes CLP give up within the root node, and CBC then uses memory that it has freed. Bounds and
// infeasibility from a stopped solve are not trusted; the bound is the last one from before.
//
// # Points
//
// Better points are reported as they are found. CBC finds them for its preprocessed problem. Their integers are put
// into the original problem, and CLP completes the point. A point that then fails [milp.Check] is dropped.
//
// # Starts
//
// A start is kept as the best point, and ends the search once the bound is close enough to it. CBC itself does not get
// it. Over 72 starts of 24 models, a cutoff at the start's value made CBC take 1.7 times as many simplex steps, and 4.9
// times at worst. Passing the start as a MIP start failed on some models. So a start never makes a solve slower. A
// start that is infeasible or has NaN is completed first, with its integers fixed, in at most 100 nodes, five seconds,
// and a tenth of the time limit.
//
// # Wrong answers
//
// The integer preprocessing of CBC 2.10.8 is wrong for a few small models with equations or ranges. The README has an
// example.
//
// # Concurrency
//
// CbcMain1 keeps state in a global variable. So models with integers take turns in the whole process; a call that waits
// for its turn obeys its context. Linear programs do not wait. A solve uses one thread.
package cbc

// Package milptest is the conformance suite for [milp.Backend]. If you write a backend, call [Run] from a test. The
// suite has many small models whose optima are known by hand, by enumeration, by duality or from an independent solver.
// It stops backends in every possible way, and gives them unusual but valid models.
//
// # Use
//
//	func TestConformance(t *testing.T) {
//		milptest.Run(t, mybackend.New(), milptest.Config{})
//	}
//
// [milp.Caps] alone determines what a backend need not do: cases that need more are skipped, and say so. Every backend
// must report statuses and solve linear programs. Config.Skip skips single cases, each with a reason that is printed.
// An unknown name in it fails the suite, so that no skip outlives its case.
//
// # Order of work
//
// Begin by skipping all names of [Cases] except "lp:…". Make linear programs work first, then integer variables
// ("mip:…"), then limits ("limit:…"), then starts, callbacks and concurrency ("call:…"). Remove the skips one at a
// time. Document a skip that stays in the backend's README. Each failure says what its case guards against.
//
// # Clocks
//
// No case asserts how long something takes, except that a call that does not return within Config.Patience fails. Time
// limits are tested on models that nobody solves within them. Run must not run in parallel with other tests of the same
// process, because it counts goroutines.
package milptest

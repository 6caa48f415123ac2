// Package milptest is the conformance suite of [milp.Backend]: whoever writes a backend calls [Run] from a test.
// It knows many small models' optima by hand, by enumeration, by duality and by an independent solver, stops
// backends in every way there is, and feeds them awkward but valid models.
//
// # Use
//
//	func TestConformance(t *testing.T) {
//		milptest.Run(t, mybackend.New(), milptest.Config{})
//	}
//
// What a backend need not do follows from its [milp.Caps] alone: cases that need more are skipped, and say so. Statuses
// and linear programs are asked of all. Config.Skip takes out single cases, each with a reason that is printed; a name
// that is no case fails the suite, so that no skip outlives its case.
//
// # Order of work
//
// Begin with the broad names of [Cases] skipped, all but "lp:…"; make linear programs right, then integer variables
// ("mip:…"), then limits ("limit:…"), then starts, call-backs and concurrency ("call:…"), and take the skips away one
// at a time. A skip that stays belongs into the backend's README. Each case's failure says what it guards against.
//
// # Clocks
//
// No case asserts how long something takes, except that a call that does not return within Config.Patience fails. Time
// limits are tried on models that nobody solves within them. Run must not run beside other tests of the same process,
// because it counts goroutines.
package milptest

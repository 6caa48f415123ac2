// Package ortools solves models with OR-Tools. [New] makes a milp.Backend that is the client of a solver service over
// gRPC. So the program itself needs neither OR-Tools nor a C compiler.
//
// The service is OR-Tools' Python wheel behind a small server. Package serve starts it, and so does `hedge solver
// serve` on the command line. It offers GSCIP, HiGHS and CP-SAT, and for models without integer variables also GLOP and
// PDLP. It reports points and log lines during a solve if the solver does, and stops a solve if its client is gone. A
// server that has only OR-Tools' own API, operations_research.service.v1.Optimization, works, too, but reports nothing
// before the end.
//
// The package starts no process and solves nothing itself. It repeats a call only if nothing was solved.
package ortools

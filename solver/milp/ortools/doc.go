// Package ortools is for anybody who has OR-Tools solve their models: [New] makes a milp.Backend that is the client of
// a solver service over gRPC, so that the program itself needs neither OR-Tools nor a C compiler.
//
// The service is OR-Tools' Python wheel behind a small server; package serve starts it, and
// `hedge solver serve` does so from the command line. It offers GSCIP, HiGHS and CP-SAT, and for models
// without integer variables GLOP and PDLP. It tells of points and of its log while it solves, where the solver
// does, and gives up a solve whose client has gone. A server that has only OR-Tools' own API,
// operations_research.service.v1.Optimization, works too: then nothing is heard until the end.
//
// The package starts no process, never solves anything itself, and asks the service again only where
// nothing was solved.
package ortools

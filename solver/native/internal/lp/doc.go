// Package lp is the linear program that the native engine's column generation solves again and again:
//
//	maximise    Σ value·x
//	subject to  Σ amount·x ≤ limit       for each row
//	            Σ x = 1                  for each set, of which every column is in one
//	            x ≥ 0
//
// It knows sets and rows, and nothing of jobs or partitions. Columns come at any time. They can be made worth less,
// by a penalty, which leaves the basis feasible: so a search can decide and take back what it likes. The primal
// simplex method works on a basis with a row for each row of the program only, and none for the sets (generalised
// upper bounds; Dantzig and Van Slyke, 1967), kept as a sparse factorisation (Markowitz, 1957; Forrest and Tomlin,
// 1972).
//
// Nothing here is safe for concurrent use, and nothing returns errors: numerical trouble is met by a new factorisation.
package lp

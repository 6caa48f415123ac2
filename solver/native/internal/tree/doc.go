// Package tree divides the problem: Subproblem is the problem with what has been decided, and its program. Dive decides
// down to a plan, Tree divides until the best plan is proven (branch and price; Barnhart and others, 1998), Rounding
// makes plans of what the program says, and Cutting adds cuts to it. There is one Subproblem, which all of them are
// given: each changes it, and changes it back.
//
// Nothing here says when a dive or the tree ends: the budget does. None of it is safe for concurrent use.
package tree

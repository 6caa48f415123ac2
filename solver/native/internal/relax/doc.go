// Package relax is what the native engine's linear relaxation is made of: what has been decided at a node
// ([Decisions]), what options cost at prices of rows ([Pricing]), what prices prove ([Dual]), the inequalities beside
// capacity that have prices too ([Cuts]), and the linear program over the columns known ([Master]). Each is given the
// problem and values; none knows what search it is part of.
//
// A bound is always that of Dual, for whichever prices: nothing rests on the linear program being solved exactly.
// None of it is safe for concurrent use.
package relax

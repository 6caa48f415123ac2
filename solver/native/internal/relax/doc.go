// Package relax solves the native engine's linear relaxation: [Ascent] finds rough prices by steps, [Relaxation] the
// exact ones by column generation. They are made of what has been decided at a node ([Decisions]), what options cost at
// prices of rows ([Pricing]), what prices prove ([Dual]), the inequalities beside capacity that have prices too
// ([Cuts]), and the linear program over the columns known ([Master]). Each is given the problem and values. None makes
// plans, and none knows what search it is part of.
//
// A bound is always that of Dual, for whichever prices: nothing rests on the linear program being solved exactly.
// None of it is safe for concurrent use.
package relax

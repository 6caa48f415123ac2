package native

// The numbers that the search goes by, here and in the rooms' own files: none of them can make a plan infeasible or a
// bound wrong, all of them decide what is found within some work. What they were tried against is said with them, or
// in docs/notes-native.md; where nothing is said, no trials are on record, and others may be as good.

// How the work is shared out: each is the n of one n-th of what is left then. Ruin and recreate for a tenth, a
// quarter and four tenths before the relaxation, and alone after it, were tried and were no better.
const (
	cutShare         = 6 // cuts to the root
	firstProofShare  = 3 // the tree, when it is begun; a tenth left larger gaps
	firstDiveShare   = 2 // the first dive, where bounds have come first,
	earlyDiveShare   = 3 // and where they have not
	afterDiveShare   = 5 // ruin and recreate after it
	adviceDiveShare  = 2 // the dive by the advice with all that is known then
	againstDiveShare = 4 // dives against a piece of advice
	improveShare     = 4 // ruin and recreate between proofs
	proofShare       = 2 // the tree in each round, where there are no other workers to look for plans
	helperShare      = 2 // a helper's relaxation
)

// relaxationPercent is the most that the root relaxation may take of what is left.
const relaxationPercent = 60

// mostPerCuts is how many times the cuts' share the relaxation may have taken for cuts to be looked for: each round
// solves it anew, if from its basis.
const mostPerCuts = 2

// Dives stop after maxMisses that have found nothing, and turn around a few pieces of advice at most: the first ones
// matter the most.
const (
	maxMisses = 3
	maxDives  = 12
)

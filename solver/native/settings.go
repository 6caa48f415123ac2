package native

// The numbers that the search goes by: none of them can make a plan infeasible or a bound wrong, all of them decide
// what is found within some work. What they were tried against is said with them, or in docs/notes-native.md;
// where nothing is said, no trials are on record, and others may be as good.

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

// When a relaxation is expected to be solved in time: ops for each row and entry of in.Part, or for each row and job,
// by what it took on random cycles.
const (
	opsPerRowEntry = 10
	opsPerRowJob   = 730
)

// Dives stop after maxMisses that have found nothing, and turn around a few pieces of advice at most: the first ones
// matter the most.
const (
	maxMisses = 3
	maxDives  = 12
)

// Which part of the work an ascent may take, in percent, and how many steps: most where prices will not be bettered
// by the relaxation, little where they will, and more again before a large relaxation, which has its columns from the
// steps.
const (
	aloneShare, aloneSteps   = 45, 1000
	beforeShare, beforeSteps = 8, 30
	levelShare, levelSteps   = 12, 40
	mostRestarts             = 3 // from the best prices with averaged subgradients
)

// The steps of an ascent, as parts of Polyak's, and what they are multiplied by.
const (
	patience     = 5    // steps without progress that shorten the steps
	shorter      = 0.6  // by that
	longer       = 1.2  // and with progress, if subgradients are averaged
	longestStep  = 2.0  // Polyak's bound for convergence
	minTheta     = 2e-3 // the shortest step, after which there are no more
	restartTheta = 0.3  // the first step of averaged subgradients
	progressPart = 1e-6 // of the bound, that counts as progress
)

// How directions are made of subgradients: deflected from the last direction where they turn against it (Camerini,
// Fratta and Maffioli, 1975, have 1.5), a little along it where they do not; averaged with a weight that falls.
const (
	deflection    = 1.5
	momentum      = 0.3
	firstWeight   = 0.4 // of the newest subgradient
	weightDecay   = 0.97
	averaging     = 0.07 // the least weight
	newest        = 0.15 // the weight in levelStep, which stays
	goodPart      = 0.2  // of the level, that a step must gain for the next to be longer
	levelPatience = 4    // steps that gain less, before they are shorter
)

// Ruin and recreate. Twenty jobs taken out at once and twice the noise are better where it is the whole search, and
// worse in it.
const (
	noisePart   = 0.05 // of a placed job's value in the mean: what an iteration may lose at first
	firstCycle  = 2000 // iterations in which that falls to nothing; every cycle is twice the last
	mostRuined  = 6    // jobs taken out at once
	mostFree    = 8    // free jobs that are tried in their place
	mostEvicted = 8    // jobs that give way to one
	mostLooked  = 12   // placed jobs looked at for one that gives way,
	mostVictims = 3    // and how many of these may be in the way
)

// Ejection chains: how deep chains of moves go, which part of all work it may take, and the most that one gang
// may, in units, in rounding and in ruin and recreate, where one iteration in ejectionEvery tries it, for each job's
// best ejectionOptions. In rounding, chains of depth none, two and three, and 10 and 100 units, were tried and were no
// better.
const (
	ejectionDepth   = 1
	ejectionPart    = 4
	ejectionUnits   = 40
	leastUnits      = 4
	ejectionEvery   = 4
	ejectionOptions = 2
)

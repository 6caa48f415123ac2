// Package plan makes plans and betters them: from nothing (Greedy), by ruin and recreate (Local), and by moving tasks
// of others out of a gang's way (Ejection). All go by the Orders that prices give. Each is given the problem, the
// budget, the plan in hand and the best one; none proves anything, and none knows what it is called for.
//
// None of it is safe for concurrent use.
package plan

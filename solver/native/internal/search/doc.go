// Package search is what every part of a search of the native engine is given beside the problem: how much work and
// time it may take (Budget), the best plan and bound so far (Incumbent), and random numbers that are the same on any
// machine (Random). It looks for no plan and proves no bound itself, and knows no other part.
package search

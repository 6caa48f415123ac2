// Package search is what every part of a search of the native engine is given beside the problem: how much work and
// time it may take, and random numbers that are the same on any machine. It knows nothing of placement.
package search

// Package highs is a backend of milp.
package highs

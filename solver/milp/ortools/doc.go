// Package ortools is a backend of milp.
package ortools

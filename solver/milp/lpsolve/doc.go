// Package lpsolve is a backend of milp.
package lpsolve

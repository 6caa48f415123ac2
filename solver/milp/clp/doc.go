// Package clp is a backend of milp.
package clp

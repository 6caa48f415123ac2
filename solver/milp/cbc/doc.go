// Package cbc is a backend of milp.
package cbc

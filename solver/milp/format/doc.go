// Package format writes and reads the two common file formats for mixed-integer linear programs: the LP format of
// CPLEX, for people, and free MPS, for machines. Use it to pass a [milp.Model] to a program that is not linked in, or
// to keep a model with which a solver had trouble.
//
// # What is written
//
// Files use only what the executables of CBC 2.10, GLPK 5.0, HiGHS 1.15 and SCIP 10 all read, and for MPS also lp_solve
// 5.5. The tests give them files and compare optima. Reading a file returns the model that was written, with these
// differences:
//
//   - Names. Empty names become x0, x1, ... and c0, c1, ..., by the indices of variables and rows. The same happens to
//     a name that is already taken, or that some reader rejects: only ASCII letters, digits, _ and . are written, up to
//     95 characters. Only MPS has the model's name.
//   - Duplicate coefficients are added up, and zeros left out.
//   - The offset becomes a variable, ~offset, fixed at 1. GLPK reads no constants in LP files, and GLPK and lp_solve
//     read those of MPS files with the opposite sign. The readers here turn the variable into the offset again.
//   - Ranges. Only CPLEX reads two-sided rows in LP. So such a row becomes two: "c3" with the lower bound and "c3_hi"
//     with the upper one. MPS has ranges, but a row whose bounds cross, or whose bounds the arithmetic of MPS does not
//     reproduce exactly, becomes two rows there, too.
//   - A model without variables gets a variable fixed at 0. A model without rows gets an empty row.
//   - Bounds of 1e30 and beyond are infinite, as they are for readers.
//
// In MPS, a model that maximises has the section OBJSENSE. HiGHS, SCIP and lp_solve obey it, CBC ignores it and GLPK
// refuses it. Give those two LP files, or the output of [WriteMinimized].
//
// # What is read
//
// The readers accept the linear part of both formats as these solvers write them, including LP rows with two bounds.
// [Reader.LP] and [Reader.MPS] describe the choices where solvers disagree. What could have two meanings is an error,
// or is reported to [Reader.Warn]. In the tests, each of the five solvers writes unusual models and reads them with the
// same optimum. The readers refuse what a milp.Model does not have: quadratic terms, special ordered sets,
// semi-continuous variables, indicators and lazy rows. Their errors are of type [*SyntaxError].
//
// The package uses only the given readers and writers. It keeps no state, and all its functions are safe for concurrent
// use.
package format

import (
	"fmt"

	"github.com/hedgesched/hedge/solver/milp"
)

// SyntaxError says what a reader does not understand, and where. It is [milp.ErrInvalid].
type SyntaxError struct {
	// Line and Column are counted from 1, Column in bytes.
	Line, Column int
	// Found is the text in the file. Expected says what could have been there.
	Found, Expected string
}

// Error gives the place, what was found and what was expected.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d:%d: found %s, expected %s", e.Line, e.Column, e.Found, e.Expected)
}

// Unwrap is milp.ErrInvalid.
func (e *SyntaxError) Unwrap() error { return milp.ErrInvalid }

// Infinite is the size from which readers treat a bound as infinite.
const Infinite = 1e30

// offsetName is the variable for the objective's offset. No variable of a model is written with this name, since names
// with ~ are replaced.
const offsetName = "~offset"

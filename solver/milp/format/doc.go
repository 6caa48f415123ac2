// Package format writes and reads the two file formats that solvers of mixed-integer linear programs have in common:
// the LP format of CPLEX, for people, and free MPS, for machines. It is for handing a [milp.Model] to a program that is
// not linked in, and for keeping a model that a solver did badly on.
//
// # What is written
//
// Files keep to what the executables of CBC 2.10, GLPK 5.0, HiGHS 1.15 and SCIP 10 all read, and for MPS lp_solve 5.5
// too; the tests hand them files and compare optima. A model read back is the one written, with these differences:
//
//   - Names. Empty names become x0, x1, ... and c0, c1, ..., counted as variables and rows are. A name that some reader would
//     not take (only ASCII letters, digits, _ and . are written, up to 95 of them) or that is taken already is
//     replaced in the same way. The model's name is in MPS alone.
//   - Duplicate coefficients are added up, and zeros left out.
//   - The offset is a variable of its own, ~offset, fixed at 1, since GLPK reads no constants in LP files, and GLPK and lp_solve
//     read those of MPS files with the other sign. The readers here make it the offset again.
//   - Ranges. No reader but CPLEX's takes two-sided rows in LP, so that they are two rows there: "c3" with the
//     lower bound and "c3_hi" with the upper. MPS has them as they are, but for those whose ends its arithmetic does not give exactly
//     or that cross; they are two rows there too.
//   - A model without variables has one fixed at 0; one without rows has an empty one.
//   - Bounds of 1e30 and beyond are none: that is what readers take for infinity.
//
// A model that maximises has the section OBJSENSE in MPS, which HiGHS, SCIP and lp_solve honour, CBC ignores and GLPK
// refuses. Give those two LP files, or what [WriteMinimized] writes.
//
// # What is read
//
// The readers take the linear part of both formats as these solvers write them, including rows with two bounds in LP.
// [Reader.LP] and [Reader.MPS] say what they do where solvers do not agree; what could be meant in two ways is an
// error, or is told to [Reader.Warn]. The tests have each of the five write models with odd things in them, and read
// them to the same optimum. The readers refuse what a milp.Model does not have: quadratic terms, special ordered sets,
// semi-continuous variables, indicators and lazy rows. Their errors are of type [*SyntaxError].
//
// The package does no input or output but through what it is given, keeps nothing, and all its functions may be called
// concurrently.
package format

import (
	"fmt"

	"github.com/hedgesched/hedge/solver/milp"
)

// SyntaxError is what a reader does not understand, and where. It is [milp.ErrInvalid].
type SyntaxError struct {
	// Line and Column are counted from 1, Column in bytes.
	Line, Column int
	// Found is the text that is there, and Expected what could have been.
	Found, Expected string
}

// Error says where it is, what was found and what was expected.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d:%d: found %s, expected %s", e.Line, e.Column, e.Found, e.Expected)
}

// Unwrap is milp.ErrInvalid.
func (e *SyntaxError) Unwrap() error { return milp.ErrInvalid }

// Infinite is the size from which on readers take a bound for none.
const Infinite = 1e30

// offsetName is the variable that stands for the objective's offset. No variable of a model is written by
// this name, since ~ is not among the characters that are.
const offsetName = "~offset"

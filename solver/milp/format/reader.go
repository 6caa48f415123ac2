package format

import (
	"fmt"
	"io"

	"github.com/hedgesched/hedge/solver/milp"
)

// Reader reads models. Its zero value is ready to use; [ReadLP] and [ReadMPS] use that. It has no state.
type Reader struct {
	// Warn, if not nil, is called during reading, with the line, about text that is read in one way but might be meant in
	// another: a variable that occurs only in a section of bounds or kinds, a bound that replaces an earlier one, a range
	// of a free row, integer variables of an MPS file without bounds, text after the end.
	Warn func(line int, text string)
}

// ReadLP is [Reader.LP] of the zero Reader.
func ReadLP(r io.Reader) (*milp.Model, error) { return Reader{}.LP(r) }

// ReadMPS is [Reader.MPS] of the zero Reader.
func ReadMPS(r io.Reader) (*milp.Model, error) { return Reader{}.MPS(r) }

func (r Reader) warn(line int, form string, args ...any) {
	if r.Warn != nil {
		r.Warn(line, fmt.Sprintf(form, args...))
	}
}

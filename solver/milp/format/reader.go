package format

import (
	"fmt"
	"io"

	"github.com/hedgesched/hedge/solver/milp"
)

// Reader reads models. Its zero value is ready, and is what [ReadLP] and [ReadMPS] use. It keeps nothing.
type Reader struct {
	// Warn is told, with the line, of what is read in one way though it may be meant otherwise: a variable that only a
	// section of bounds or kinds names, a bound that replaces one that was given before, a range of a row that is free,
	// integer variables of an MPS file without bounds, text behind the end. Nil passes it over. It is called while the model is read.
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

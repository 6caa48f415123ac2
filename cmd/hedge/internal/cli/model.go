package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/format"
)

// writeModel writes the problem as a mixed-integer program, in the format that the file's name ends in.
func (f *solveFlags) writeModel(s *Host) error {
	write := map[string]func(io.Writer, *milp.Model) error{".lp": format.WriteLP,
		".mps": format.WriteMPS}[filepath.Ext(f.model)]
	switch {
	case write == nil:
		return fmt.Errorf("--model: found %q, expected a name that ends in .lp or .mps", f.model)
	case f.problem == "-":
		return errors.New("--model: found --problem -, expected a file, since it may be read again")
	}
	if err := outputFile("--model", f.model); err != nil {
		return err
	}
	p, err := readProblem(f.problem, s.In)
	if err != nil {
		return err
	}
	c, err := milp.CompileNamed(p, f.options.Splits, milp.RelaxNone)
	if err != nil {
		return fmt.Errorf("%s: %w", f.problem, err)
	}
	file, err := os.Create(f.model)
	if err != nil {
		return failed(pathError(err))
	}
	if err := errors.Join(write(file, c.Model), file.Close()); err != nil {
		return failed(fmt.Errorf("--model: %w", err))
	}
	note(s, "%s: %d variables, %d rows, %d entries; %s", f.model, c.Model.Vars(), c.Model.Rows(), c.Model.Entries(),
		scaled(c.Scale))
	return nil
}

// scaled says how the model's objective and the plan's differ.
func scaled(scale float64) string {
	if scale == 1 {
		return "its objective is the plan's value"
	}
	return fmt.Sprintf("its objective is the plan's value times %g", scale)
}

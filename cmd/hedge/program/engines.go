package program

import (
	"github.com/hedgesched/hedge/solver/engines"
	"github.com/hedgesched/hedge/solver/milp/highs"
	"github.com/hedgesched/hedge/solver/milp/ortools"
)

// Engines are the engines that need no C compiler: the pure-Go ones, solvers' executables, HiGHS from its shared
// library, and the OR-Tools service.
func Engines() *engines.Set {
	s := engines.Builtin()
	highs.Register(s)
	ortools.Register(s)
	return s
}

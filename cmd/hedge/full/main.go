// Command hedge-full is hedge with the engines that need a C compiler: CBC, CLP and lp_solve.
package main

import (
	"os"

	"github.com/hedgesched/hedge/cmd/hedge/program"
	"github.com/hedgesched/hedge/solver/engines"
	"github.com/hedgesched/hedge/solver/milp/cbc"
	"github.com/hedgesched/hedge/solver/milp/clp"
	"github.com/hedgesched/hedge/solver/milp/lpsolve"
)

func main() { os.Exit(program.Program{Engines: known()}.Main()) }

// known are all engines there are.
func known() *engines.Set {
	s := program.Engines()
	cbc.Register(s)
	clp.Register(s)
	lpsolve.Register(s)
	return s
}

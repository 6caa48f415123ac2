// Command hedge-full is hedge with the engines that need a C compiler: CBC, CLP and lp_solve.
package main

import (
	"os"

	"github.com/hedgesched/hedge/cmd/hedge/internal/program"
	"github.com/hedgesched/hedge/solver/engines"
	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/cbc"
	"github.com/hedgesched/hedge/solver/milp/clp"
	"github.com/hedgesched/hedge/solver/milp/lpsolve"
)

func main() { os.Exit(program.Main(known())) }

// known are all engines there are.
func known() *engines.Set {
	s := program.Engines()
	s.AddBackend("cbc", "COIN-OR CBC in the process", true, func(engines.Spec) (milp.Backend, error) { return cbc.New(), nil })
	s.AddBackend("clp", "COIN-OR CLP in the process: linear relaxation, dives, branch and bound", false,
		func(engines.Spec) (milp.Backend, error) { return milp.Diving(clp.New()), nil })
	s.AddBackend("lpsolve", "lp_solve in the process", true, func(engines.Spec) (milp.Backend, error) { return lpsolve.New(), nil })
	return s
}

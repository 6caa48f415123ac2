package clp

import (
	"github.com/hedgesched/hedge/solver/engines"
	"github.com/hedgesched/hedge/solver/milp"
)

// Register adds the engine milp+clp to set. It uses Clp's linear relaxations with [milp.Diving].
func Register(set *engines.Set) {
	set.AddBackend("clp", "COIN-OR CLP in the process: linear relaxation, dives, branch and bound", false,
		func(engines.Spec) (milp.Backend, error) { return milp.Diving(New()), nil })
}

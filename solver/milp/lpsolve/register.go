package lpsolve

import (
	"github.com/hedgesched/hedge/solver/engines"
	"github.com/hedgesched/hedge/solver/milp"
)

// Register adds the engine milp+lpsolve to set.
func Register(set *engines.Set) {
	set.AddBackend("lpsolve", "lp_solve in the process", true, func(engines.Spec) (milp.Backend, error) {
		return New(), nil
	})
}
